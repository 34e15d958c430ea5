//! Figures that tests draw: usual ones, and what a hostile or unlucky recording makes of them.

use super::super::{Bar, Bars, Body, Figure, Name, Quantity, Row, Samples};
use crate::metric::Unit;
use crate::notebook::AxisScale;
use crate::number::NOT_MEASURED;
use crate::stats::{self, Interval};

/// Text that would do something, were it not taken for text; and more of it than fits anywhere.
pub(super) const HOSTILE: &str = "</text><script>alert('x')</script> <b>&amp; \"{{ 7 * 7 }}\" {% raw %} 😀🐘 \u{202e}dlrow \u{0}\u{1} ]]> \
    ``` | =1+1 and_a_name_without_any_blank_in_it_that_goes_on_and_on_until_it_cannot_fit_a_line";

/// Numbers between 0 and 1, always the same.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// An arm with samples around `level`, in turns of `reps`.
pub(super) fn row(label: &str, level: f64, (turns, reps): (usize, usize)) -> Row {
    let mut noise = noise(label.len() as u64 + level.to_bits());
    let mut sample = || level * (0.8 + 0.5 * noise.next().unwrap_or(0.5).powi(3));
    let turns: Vec<Vec<f64>> = (0..turns).map(|_| (0..reps).map(|_| sample()).collect()).collect();
    let mut sorted: Vec<f64> = turns.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let median = stats::median(&sorted);
    Row {
        name: Name { group: None, label: label.to_owned() },
        turns,
        median: median.is_finite().then_some(median),
        interval: median.is_finite().then_some(Interval { lo: median * 0.97, hi: median * 1.04 }),
        absent: NOT_MEASURED,
    }
}

pub(super) fn grouped(group: &str, row: Row) -> Row {
    Row { name: Name { group: Some(group.to_owned()), ..row.name }, ..row }
}

pub(super) fn samples(rows: Vec<Row>, scale: AxisScale) -> Samples {
    Samples {
        quantity: Quantity { name: "latency".to_owned(), unit: Unit::Milliseconds.into() },
        scale,
        rows,
    }
}

pub(super) fn bar(label: &str, value: Option<f64>, read: Option<f64>) -> Bar {
    let name = Name { group: None, label: label.to_owned() };
    Bar { name, value, read, interval: None, absent: NOT_MEASURED }
}

pub(super) fn bars(unit: Unit, split: bool, bars: Vec<Bar>) -> Bars {
    Bars { quantity: Quantity { name: "blocks of 8 kB".to_owned(), unit: unit.into() }, bars, split }
}

pub(super) fn figure(title: &str, body: Body) -> Figure {
    Figure {
        title: title.to_owned(),
        reading: "How it is to be read, in one sentence.".to_owned(),
        source: "a-notebook · PostgreSQL 16.14".to_owned(),
        description: "What it shows, in words.".to_owned(),
        body,
    }
}

/// One of each kind, as small as it can be and still be one.
pub(super) fn small() -> Vec<(&'static str, Figure)> {
    let rows = || vec![row("plain", 20.0, (5, 2)), row("covering", 4.0, (5, 2))];
    vec![
        ("distribution", figure("Two arms", Body::Distribution(samples(rows(), AxisScale::Auto)))),
        ("timeline", figure("In order", Body::Timeline(samples(rows(), AxisScale::Auto)))),
        (
            "bars",
            figure(
                "Blocks touched",
                Body::Bars(bars(
                    Unit::Blocks,
                    true,
                    vec![bar("scan", Some(41_667.0), Some(16_000.0)), bar("index", Some(8.0), Some(0.0))],
                )),
            ),
        ),
        ("sweep", figure("Where an index stops paying", Body::Sweep(super::sweeps::crossing()))),
    ]
}

/// Everything that may go wrong, by name.
pub(super) fn unlucky() -> Vec<(String, Figure)> {
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let mut both = |name: &str, rows: Vec<Row>, scale| {
        let distribution = Body::Distribution(samples(rows.clone(), scale));
        figures.push((format!("{name} distribution"), figure(name, distribution)));
        figures.push((format!("{name} timeline"), figure(name, Body::Timeline(samples(rows, scale)))));
    };
    let many = |count: usize, turns| {
        (0..count).map(|at| row(&format!("arm {at}"), 3.0 + at as f64, turns)).collect()
    };
    both("one arm", vec![row("alone", 5.0, (10, 2))], AxisScale::Auto);
    both("many arms and points", many(12, (20, 25)), AxisScale::Auto);
    both("as many arms as there may be", many(24, (3, 1)), AxisScale::Log);
    both("far apart", vec![row("slow", 9000.0, (10, 2)), row("fast", 0.03, (10, 2))], AxisScale::Auto);
    both(
        "far apart, linear",
        vec![row("slow", 9000.0, (10, 2)), row("fast", 0.03, (10, 2))],
        AxisScale::Linear,
    );
    both("less than a decade, log", vec![row("a", 10.0, (10, 2)), row("b", 11.0, (10, 2))], AxisScale::Log);
    both(
        "no samples of one",
        vec![row("there", 5.0, (10, 2)), row("not there", 5.0, (0, 0))],
        AxisScale::Auto,
    );
    both("no samples at all", vec![row("a", 5.0, (0, 0)), row("b", 5.0, (0, 0))], AxisScale::Auto);
    let same = |value: f64| {
        let mut row = row("all the same", value, (6, 4));
        row.turns.iter_mut().flatten().for_each(|sample| *sample = value);
        Row { median: Some(value), interval: Some(Interval { lo: value, hi: value }), ..row }
    };
    both("min is max", vec![same(7.0)], AxisScale::Auto);
    both("min is max, log", vec![same(7.0), same(7.0)], AxisScale::Log);
    both("zeros", vec![same(0.0)], AxisScale::Log);
    both(
        "hostile",
        vec![grouped(HOSTILE, row(HOSTILE, 5.0, (10, 2))), row("", 5.0, (10, 2))],
        AxisScale::Auto,
    );
    both("a thousand turns", vec![row("long", 5.0, (1000, 1))], AxisScale::Auto);
    both(
        "groups",
        vec![
            grouped("first measure", row("one", 5.0, (10, 2))),
            grouped("first measure", row("two", 5.0, (10, 2))),
            grouped("second measure", row("one", 50.0, (10, 2))),
            row("a measure without arms", 1.0, (10, 2)),
        ],
        AxisScale::Auto,
    );
    figures.extend(unlucky_bars());
    for (_, figure) in figures.iter_mut().filter(|(name, _)| name.starts_with("hostile")) {
        figure.title = format!("{HOSTILE} {HOSTILE}");
        figure.reading = HOSTILE.to_owned();
        figure.source = HOSTILE.to_owned();
        figure.description = HOSTILE.to_owned();
    }
    figures
}

fn unlucky_bars() -> Vec<(String, Figure)> {
    let of = |name: &str, unit, split, list: Vec<Bar>| {
        (name.to_owned(), figure(name, Body::Bars(bars(unit, split, list))))
    };
    let timed = |label: &str, value: f64| Bar {
        interval: Some(Interval { lo: value * 0.7, hi: value * 1.6 }),
        ..bar(label, Some(value), None)
    };
    vec![
        of(
            "zero bars",
            Unit::Count,
            false,
            vec![bar("none", Some(0.0), None), bar("none either", Some(0.0), None)],
        ),
        of("no bars", Unit::Count, false, vec![bar("a", None, None), bar("b", None, None)]),
        of("one of them", Unit::Bytes, false, vec![bar("a", Some(5.0e9), None), bar("b", None, None)]),
        of(
            "both sides of zero",
            Unit::Bytes,
            false,
            vec![
                bar("shrank", Some(-3.0e6), None),
                bar("grew", Some(8.0e6), None),
                bar("stayed", Some(0.0), None),
            ],
        ),
        of(
            "below zero",
            Unit::Bytes,
            false,
            vec![bar("a", Some(-3.0e6), None), bar("b", Some(-8.0e6), None)],
        ),
        of(
            "all read",
            Unit::Blocks,
            true,
            vec![bar("cold", Some(900.0), Some(900.0)), bar("warm", Some(900.0), Some(0.0))],
        ),
        of("times", Unit::Milliseconds, false, vec![timed("slow", 1800.0), timed("fast", 0.2)]),
        of(
            "large numbers",
            Unit::Count,
            false,
            vec![bar("a", Some(1.0e15), None), bar("b", Some(123_456_789.0), None)],
        ),
        of("fractions", Unit::Ratio, false, vec![bar("a", Some(1.25), None), bar("b", Some(0.001), None)]),
        of("hostile bars", Unit::Count, false, vec![bar(HOSTILE, Some(5.0), None), bar("", Some(2.0), None)]),
        of(
            "many bars",
            Unit::Blocks,
            true,
            (0..24)
                .map(|at| bar(&format!("arm {at}"), Some(f64::from(at) * 1e3), Some(f64::from(at) * 300.0)))
                .collect(),
        ),
    ]
}
