//! Figures of one number per arm: `bars`.

use crate::analysis::ArmResult;
use crate::metric::{Metric, Nature};
use crate::notebook::{Plot, StepKind};
use crate::number;

use super::super::Subject;
use super::super::plot::{Bar, Bars, Body, Figure, Name, Quantity};
use super::{NOT_MEASURED, arms, axis, capital, heading, range, source, spoken, title};

/// What stands where the server reported no such number of an arm that was measured.
const NOT_REPORTED: &str = "not reported by this plan";

pub(super) fn figure(subject: Subject<'_>, plot: &Plot, metric: Metric) -> (Figure, String) {
    let arms = arms(subject, &plot.of);
    let bars: Vec<Bar> = arms.iter().map(|(name, arm)| bar(name, arm, metric)).collect();
    let split = bars.iter().any(|bar| bar.read.is_some_and(|read| read > 0.0));
    let reading = match metric {
        Metric::Blocks if split => "By where PostgreSQL found them.".to_owned(),
        Metric::Blocks if bars.iter().any(|bar| bar.read.is_some()) => {
            "All of them were found in PostgreSQL's buffers.".to_owned()
        }
        _ => format!("{}.", capital(metric.doc())),
    };
    let description: Vec<String> = bars.iter().map(|bar| described(bar, metric, split)).collect();
    let figure = Figure {
        title: title(subject, plot, &heading(metric)),
        reading,
        source: source(subject),
        description: description.join(" "),
        body: Body::Bars(Bars {
            quantity: Quantity { name: axis(subject, metric), unit: metric.unit().into() },
            bars,
            split,
        }),
    };
    (figure, facts(subject, plot, metric, &arms))
}

fn bar(name: &Name, arm: &ArmResult, metric: Metric) -> Bar {
    let value = arm.metrics.get(&metric).copied();
    Bar {
        name: name.clone(),
        value,
        read: value.and(arm.metrics.get(&Metric::Read).copied()).filter(|_| metric == Metric::Blocks),
        interval: arm.median_interval.filter(|_| metric == Metric::Median),
        absent: if arm.measured { NOT_REPORTED } else { NOT_MEASURED },
    }
}

fn described(bar: &Bar, metric: Metric, split: bool) -> String {
    let name = spoken(&bar.name);
    let Some(value) = bar.value else { return format!("{name}: {}.", bar.absent) };
    let value = number::metric(metric, value);
    let read = bar.read.filter(|_| split).map(|read| format!(", {} of them read", number::count(read)));
    let interval = bar.interval.map(|interval| {
        format!(" (95%: {} to {})", number::milliseconds(interval.lo), number::milliseconds(interval.hi))
    });
    format!("{name}: {value}{}{}.", read.unwrap_or_default(), interval.unwrap_or_default())
}

fn facts(subject: Subject<'_>, plot: &Plot, metric: Metric, arms: &[(Name, &ArmResult)]) -> String {
    let measured: Vec<&ArmResult> =
        arms.iter().filter(|(_, arm)| arm.measured).map(|(_, arm)| *arm).collect();
    if measured.is_empty() {
        return "Nothing of this was measured.".to_owned();
    }
    let samples: Vec<usize> = measured.iter().map(|arm| arm.samples).collect();
    let samples = range(&samples, "execution");
    let timed = plot.of.iter().all(|of| {
        let steps = &subject.notebook.steps;
        steps.iter().any(|step| matches!(&step.kind, StepKind::Time(time) if time.id == of.measure))
    });
    match metric.nature() {
        Nature::Timing
            if measured.iter().all(|arm| arm.median_interval.is_some()) && metric == Metric::Median =>
        {
            format!("Medians of {samples} of each arm, with their 95% intervals.")
        }
        Nature::Timing => format!("From {samples} of each arm."),
        Nature::SingleTime => "Of one execution under EXPLAIN, and not repeated.".to_owned(),
        Nature::Counter | Nature::Size if timed => format!("Medians of {samples} of each arm."),
        Nature::Counter => "As EXPLAIN counted, in one execution of each arm.".to_owned(),
        Nature::Size => "Sizes of the files on disk.".to_owned(),
    }
}
