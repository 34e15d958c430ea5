//! Sweeps that tests draw.

use super::super::{Band, Body, Figure, Line, Panel, Print, Quantity, Spot, Sweep, Zone};
use super::figures::{HOSTILE, figure};
use crate::metric::Unit;
use crate::notebook::AxisScale;
use crate::stats::Interval;

fn spot(x: f64, y: f64) -> Spot {
    Spot { x, y: Some(y), interval: Some(Interval { lo: y * 0.9, hi: y * 1.15 }) }
}

fn line(name: &str, series: usize, spots: Vec<Spot>) -> Line {
    Line { name: name.to_owned(), series, free: false, spots }
}

fn panel(name: &str, unit: Unit, lines: Vec<Line>) -> Panel {
    let quantity = Quantity { name: name.to_owned(), unit: unit.into() };
    Panel { quantity, scale: AxisScale::Auto, lines, zones: Vec::new(), main: true }
}

fn over(name: &str, panels: Vec<Panel>) -> Sweep {
    let x = Quantity { name: name.to_owned(), unit: Print::Unit(Unit::Count) };
    Sweep { x, x_scale: AxisScale::Auto, categories: Vec::new(), bands: Vec::new(), panels }
}

/// Two forced arms that cross, the planner's choice, and what it had estimated.
pub(super) fn crossing() -> Sweep {
    const SHARES: [f64; 6] = [0.001, 0.005, 0.02, 0.1, 0.3, 0.9];
    let of = |value: fn(f64) -> f64| SHARES.map(|share| spot(share, value(share))).to_vec();
    let index = line("forced Index Scan", 0, of(|share| 7600.0 * share));
    let seq = line("forced Seq Scan", 1, of(|share| 560.0 + 100.0 * share));
    let free =
        Line { free: true, ..line("the planner's choice", 2, of(|share| (2000.0 * share).min(640.0))) };
    let zone = Zone {
        lo: 0.05,
        hi: 0.1,
        label: "neither surely faster: 5% to 10%".to_owned(),
        sides: ["index surely faster".to_owned(), "seq surely faster".to_owned()],
    };
    let estimated = |value: fn(f64) -> f64| -> Vec<Spot> {
        (1..=300)
            .map(|n| Spot { x: f64::from(n) / 330.0, y: Some(value(f64::from(n) / 330.0)), interval: None })
            .collect()
    };
    let costs = Panel {
        main: false,
        ..panel(
            "estimated cost",
            Unit::Cost,
            vec![
                line("forced Index Scan", 0, estimated(|share| 4.0e6 * share)),
                line("forced Seq Scan", 1, estimated(|share| 9.0e4 + 2.0e4 * share)),
            ],
        )
    };
    let measured =
        Panel { zones: vec![zone], ..panel("median latency", Unit::Milliseconds, vec![index, seq, free]) };
    let band = |lo, hi, node: &str| Band { lo, hi, node: node.to_owned() };
    Sweep {
        x: Quantity { name: "selectivity: share of rows that match".to_owned(), unit: Print::Percent },
        bands: vec![band(0.001, 0.5, "Bitmap Heap Scan on events"), band(0.501, 0.9, "Seq Scan on events")],
        ..over("", vec![measured, costs])
    }
}

/// Everything that may go wrong, by name.
pub(super) fn unlucky() -> Vec<(String, Figure)> {
    let ms = Unit::Milliseconds;
    let one = |lines| over("n", vec![panel("median latency", ms, lines)]);
    let nothing = || vec![Spot { x: 1.0, y: None, interval: None }, Spot { x: 2.0, y: None, interval: None }];
    let many = (0..12).map(|arm| {
        let spots =
            (1..=500).map(|n| spot(f64::from(n), 1.0 + f64::from(arm) / 10.0 + f64::from(n % 7) / 50.0));
        line(&format!("arm {arm} with a name that needs room"), arm as usize, spots.collect())
    });
    let gap = vec![spot(1.0, 5.0), spot(2.0, 6.0), Spot { x: 3.0, y: None, interval: None }, spot(4.0, 7.0)];
    let flips = (0..30).map(|at| Band {
        lo: f64::from(at * 10 + 1),
        hi: f64::from(at * 10 + 10),
        node: format!("Index Scan using a_rather_long_name_{} on events", at % 3),
    });
    let zone = |lo, hi| Zone {
        lo,
        hi,
        label: "neither surely faster".to_owned(),
        sides: ["one surely faster".to_owned(), "the other surely faster".to_owned()],
    };
    let edges = Panel {
        zones: vec![zone(1.0, 1.0), zone(2.0, 300.0), zone(299.0, 300.0)],
        ..panel("median latency", ms, vec![line("a", 0, vec![spot(1.0, 5.0), spot(300.0, 5.0)])])
    };
    let named = Sweep {
        categories: vec!["off".to_owned(), HOSTILE.to_owned(), "on".to_owned()],
        ..one(vec![line("a", 0, vec![spot(0.0, 5.0), spot(1.0, 9.0), spot(2.0, 7.0)])])
    };
    let hostile = Sweep {
        x: Quantity { name: HOSTILE.to_owned(), unit: Print::Percent },
        bands: vec![Band { lo: 0.1, hi: 0.2, node: HOSTILE.to_owned() }],
        ..over(
            HOSTILE,
            vec![Panel {
                zones: vec![Zone {
                    lo: 0.1,
                    hi: 0.15,
                    label: HOSTILE.to_owned(),
                    sides: [HOSTILE.to_owned(), HOSTILE.to_owned()],
                }],
                ..panel(HOSTILE, ms, vec![line(HOSTILE, 0, vec![spot(0.1, 5.0), spot(0.2, 6.0)])])
            }],
        )
    };
    let figures = [
        ("many arms and points of a sweep", one(many.collect())),
        ("no samples of a sweep", one(vec![line("a", 0, nothing()), line("b", 1, nothing())])),
        (
            "no samples of one line",
            one(vec![line("a", 0, nothing()), line("b", 1, vec![spot(1.0, 5.0), spot(2.0, 6.0)])]),
        ),
        ("a gap", one(vec![line("a", 0, gap)])),
        ("one point", one(vec![line("a", 0, vec![spot(5.0, 5.0)])])),
        (
            "all alike",
            one(vec![
                line("a", 0, vec![spot(1.0, 5.0), spot(2.0, 5.0)]),
                line("b", 1, vec![spot(1.0, 5.0), spot(2.0, 5.0)]),
            ]),
        ),
        (
            "zeros of a sweep",
            one(vec![line(
                "a",
                0,
                vec![
                    Spot { x: 0.0, y: Some(0.0), interval: None },
                    Spot { x: 9.0, y: Some(0.0), interval: None },
                ],
            )]),
        ),
        (
            "many flips",
            Sweep {
                bands: flips.collect(),
                ..one(vec![line("a", 0, vec![spot(1.0, 5.0), spot(300.0, 50.0)])])
            },
        ),
        ("zones at the edges", over("n", vec![edges])),
        ("named values", named),
        ("hostile sweep", hostile),
    ];
    figures.into_iter().map(|(name, sweep)| (name.to_owned(), figure(name, Body::Sweep(sweep)))).collect()
}
