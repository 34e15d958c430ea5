//! Figures of samples: `distribution` and `timeline`.

use crate::analysis::ArmResult;
use crate::metric::{Metric, Unit};
use crate::notebook::{Plot, StepKind};
use crate::number;

use super::super::Subject;
use super::super::plot::{Body, Figure, Name, Quantity, Row, Samples};
use super::{NOT_MEASURED, arms, range, source, spoken, title};

pub(super) fn distribution(subject: Subject<'_>, plot: &Plot) -> (Figure, String) {
    let (samples, description, facts) = samples(subject, plot);
    let interval = samples.rows.iter().any(|row| row.interval.is_some());
    let reading = if interval {
        "Each dot is one execution; the tall mark is the median, the bar at its foot the median's 95% interval."
    } else {
        "Each dot is one execution; the tall mark is the median."
    };
    let figure = Figure {
        title: title(subject, plot, "Latency of every execution"),
        reading: reading.to_owned(),
        source: source(subject),
        description,
        body: Body::Distribution(samples),
    };
    (figure, facts)
}

pub(super) fn timeline(subject: Subject<'_>, plot: &Plot) -> (Figure, String) {
    let (samples, description, facts) = samples(subject, plot);
    let several = samples.rows.iter().any(|row| row.turns.iter().any(|turn| turn.len() > 1));
    let line = if several { ", each line the median of a turn" } else { "" };
    let span = if samples.scale == crate::notebook::AxisScale::Linear {
        ""
    } else {
        " Equal heights are equal factors, in all strips."
    };
    let figure = Figure {
        title: title(subject, plot, "Latency in the order of execution"),
        reading: format!("Each dot is one execution{line}.{span}"),
        source: source(subject),
        description,
        body: Body::Timeline(samples),
    };
    (figure, facts)
}

fn samples(subject: Subject<'_>, plot: &Plot) -> (Samples, String, String) {
    let arms = arms(subject, &plot.of);
    let rows: Vec<Row> = arms.into_iter().map(|(name, arm)| row(subject, name, arm)).collect();
    let description: Vec<String> = rows.iter().map(described).collect();
    let facts = facts(subject, plot, &rows);
    let quantity = Quantity { name: "latency".to_owned(), unit: Unit::Milliseconds.into() };
    (Samples { quantity, scale: plot.scale, rows }, description.join(" "), facts)
}

fn row(subject: Subject<'_>, name: Name, arm: &ArmResult) -> Row {
    Row {
        name,
        turns: subject.recording.samples.get(&arm.key).cloned().unwrap_or_default(),
        median: arm.metrics.get(&Metric::Median).copied(),
        interval: arm.median_interval,
        absent: NOT_MEASURED,
    }
}

fn described(row: &Row) -> String {
    let name = spoken(&row.name);
    let Some(median) = row.median else { return format!("{name}: {}.", row.absent) };
    let count: usize = row.turns.iter().map(Vec::len).sum();
    let interval = row.interval.map(|interval| {
        format!(" (95%: {} to {})", number::milliseconds(interval.lo), number::milliseconds(interval.hi))
    });
    let interval = interval.unwrap_or_default();
    format!("{name}: median {}{interval}, {}.", number::milliseconds(median), range(&[count], "execution"))
}

/// What the figure rests on.
fn facts(subject: Subject<'_>, plot: &Plot, rows: &[Row]) -> String {
    let measured: Vec<&Row> = rows.iter().filter(|row| row.median.is_some()).collect();
    if measured.is_empty() {
        return "Nothing of this was measured.".to_owned();
    }
    let samples: Vec<usize> = measured.iter().map(|row| row.turns.iter().map(Vec::len).sum()).collect();
    let turns: Vec<usize> = measured.iter().map(|row| row.turns.len()).collect();
    let each = if measured.len() > 1 { " of each arm" } else { "" };
    let mut facts = vec![format!("{}{each} in {}.", range(&samples, "execution"), range(&turns, "turn"))];
    let one = plot.of.iter().all(|of| of.measure == plot.of[0].measure);
    let timed = |id: &str| {
        let steps = &subject.notebook.steps;
        steps.iter().any(|step| matches!(&step.kind, StepKind::Time(time) if time.id == id))
    };
    if one && measured.len() > 1 {
        facts.push("The arms took turns in random order.".to_owned());
    } else if !one {
        facts.push("The measures ran one after the other.".to_owned());
    }
    if plot.of.iter().any(|of| timed(&of.measure)) {
        facts.push("Each execution had a new clone of the database.".to_owned());
    }
    if measured.iter().all(|row| row.interval.is_some()) {
        facts.push("Intervals are of the median, 95%, from resampled turns.".to_owned());
    } else if let Some(least) = turns.iter().min().filter(|least| **least < crate::stats::MIN_TURNS) {
        let turns = range(&[*least], "turn");
        facts.push(format!("{turns} are too few for an interval."));
    }
    facts.join(" ")
}
