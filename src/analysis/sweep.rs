//! The numbers of a sweep: its points by its arms, where two arms cross, where the planner changes its mind, and what
//! that costs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::metric::Metric;
use crate::notebook::{Point, Scalar, XFormat};
use crate::recording::ArmKey;
use crate::stats::{Interval, Winner};
use crate::template::{Context, Part, PointValues};

use super::{Analysis, named};

/// What a sweep came to.
#[derive(Debug, Clone)]
pub struct SweepResult {
    /// Its id.
    pub id: String,
    /// Its step.
    pub step: usize,
    /// Whether it came to its end. Where it did not, what was found over all points is not known.
    pub complete: bool,
    /// The swept parameters.
    pub axes: Vec<String>,
    /// What stands on the axis: the label of `x`, else the first parameter.
    pub label: String,
    /// How values on the axis are printed.
    pub format: XFormat,
    /// The points that were measured or listed: in ascending order where there is one numeric parameter, else as listed.
    pub points: Vec<PointResult>,
    /// The ids of the arms, in order; one without an id where the sweep has no `arms`.
    pub arms: Vec<Option<String>>,
    /// The arm in which the planner was free.
    pub free: Option<String>,
    /// The crossings of the two arms: by time, by blocks, by estimated cost. None where none was asked for.
    pub crossings: Vec<CrossingResult>,
    /// What EXPLAIN alone said, in ascending order: of the free planner and of the two arms.
    pub estimates: Vec<Estimate>,
    /// Where the planner's choice changes, in ascending order.
    pub flips: Vec<Flip>,
    /// The stretches of one choice, in ascending order; more than the flips by one, where anything is known.
    pub bands: Vec<Band>,
    /// The worst of the regrets by points, by ratio, the sure ones first; none where no arm is free or none was compared.
    pub regret: Option<Regret>,
}

/// One point of a sweep.
#[derive(Debug, Clone)]
pub struct PointResult {
    /// Its values.
    pub point: Point,
    /// Where it stands on the axis.
    pub x: Option<f64>,
    /// Whether it was added in search of the crossing.
    pub refined: bool,
    /// Its arms, to be found in `Analysis::arm`, in order.
    pub arms: Vec<ArmKey>,
    /// What the planner's choice cost here.
    pub regret: Option<Regret>,
}

/// Where two arms cross by one metric.
#[derive(Debug, Clone)]
pub struct CrossingResult {
    /// The metric: `median`, `blocks` or `cost`.
    pub metric: Metric,
    /// The two arms.
    pub of: [String; 2],
    /// Where neither arm surely wins, in ascending order.
    pub zones: Vec<ZoneResult>,
    /// Who wins at each point that was looked at, in ascending order of the parameter.
    pub winners: Vec<(f64, Winner)>,
    /// The one arm that wins wherever the samples decide, where there is no zone.
    pub sole_winner: Option<String>,
}

/// What is known of the inside of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// It was looked into, and the samples did not decide.
    Undecided,
    /// Nothing in it was looked at.
    Unknown,
    /// There is nothing in it: its ends are neighbours.
    Nothing,
}

impl CrossingResult {
    /// What is known of the inside of one of its zones.
    #[must_use]
    pub fn inside(&self, zone: &ZoneResult) -> Inside {
        let neighbours = zone.closed && zone.lo.fract() == 0.0 && zone.hi - zone.lo <= 1.0;
        let looked_at = |(at, _): &(f64, Winner)| zone.lo < *at && *at < zone.hi;
        match (zone.closed, self.winners.iter().any(looked_at)) {
            _ if neighbours => Inside::Nothing,
            (true, true) => Inside::Undecided,
            _ => Inside::Unknown,
        }
    }
}

/// From the last point where one arm surely wins to the first where the other does.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneResult {
    /// The last point at which `before` wins, as a value of the parameter.
    pub lo: f64,
    /// The first point at which `after` wins, as a value of the parameter.
    pub hi: f64,
    /// `lo` on the axis.
    pub x_lo: Option<f64>,
    /// `hi` on the axis.
    pub x_hi: Option<f64>,
    /// Who wins below.
    pub before: String,
    /// Who wins above.
    pub after: String,
    /// Whether nothing is left to measure between its ends and what lies next to them.
    pub closed: bool,
}

/// What EXPLAIN said of one arm at one value of the parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The value of the parameter.
    pub at: f64,
    /// The value on the axis.
    pub x: Option<f64>,
    /// The arm; absent for the sweep's own settings, where no arm is free.
    pub arm: Option<String>,
    /// Whether this is the planner's free choice.
    pub free: bool,
    /// The node that was chosen, as EXPLAIN prints it.
    pub node: String,
    /// The number of the plan's shape: equal numbers are the same plan.
    pub shape: usize,
    /// The planner's total cost.
    pub cost: Option<f64>,
    /// The rows that it expected of the root.
    pub rows: Option<f64>,
}

/// Where the free planner's choice changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Flip {
    /// The last value of the parameter with the plan before.
    pub lo: f64,
    /// The first with the plan after.
    pub hi: f64,
    /// `lo` on the axis.
    pub x_lo: Option<f64>,
    /// `hi` on the axis.
    pub x_hi: Option<f64>,
    /// The node chosen before.
    pub before: String,
    /// The node chosen after.
    pub after: String,
}

/// A stretch over which the planner's choice is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The first value of the parameter.
    pub lo: f64,
    /// The last.
    pub hi: f64,
    /// `lo` on the axis.
    pub x_lo: Option<f64>,
    /// `hi` on the axis.
    pub x_hi: Option<f64>,
    /// The node chosen.
    pub node: String,
}

/// How much slower the planner's choice was than the fastest of the other arms with another plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Regret {
    /// Where.
    pub point: Point,
    /// The fastest arm with another plan.
    pub best: String,
    /// Milliseconds lost at the median; 0 where the planner's choice was the fastest.
    pub ms: f64,
    /// Its 95% interval.
    pub ms_interval: Option<Interval>,
    /// The planner's median over the best arm's; 1 where the planner's choice was the fastest.
    pub ratio: f64,
    /// Its 95% interval.
    pub ratio_interval: Option<Interval>,
}

impl Regret {
    /// Whether the planner's choice was slower beyond doubt (95%).
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.ms_interval.is_some_and(|interval| interval.lo > 0.0)
    }
}

impl CrossingResult {
    /// What expressions call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.metric {
            Metric::Blocks => "blocks_crossing",
            Metric::Cost => "cost_crossing",
            _ => "crossing",
        }
    }

    /// Its numbers by their names: how many zones there are, and the ends of the first.
    #[must_use]
    pub fn numbers(&self) -> BTreeMap<String, Option<f64>> {
        let zone = self.zones.first();
        let known = !self.winners.is_empty();
        [
            ("count", known.then_some(self.zones.len() as f64)),
            ("lo", zone.map(|zone| zone.lo)),
            ("hi", zone.map(|zone| zone.hi)),
            ("x_lo", zone.and_then(|zone| zone.x_lo)),
            ("x_hi", zone.and_then(|zone| zone.x_hi)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// The numbers of the worst regret by their names.
#[must_use]
fn regret_numbers(regret: Option<&Regret>) -> BTreeMap<String, Option<f64>> {
    let end = |pick: fn(&Regret) -> Option<f64>| regret.and_then(pick);
    [
        ("ms", end(|regret| Some(regret.ms))),
        ("ms_lo", end(|regret| regret.ms_interval.map(|interval| interval.lo))),
        ("ms_hi", end(|regret| regret.ms_interval.map(|interval| interval.hi))),
        ("ratio", end(|regret| Some(regret.ratio))),
        ("ratio_lo", end(|regret| regret.ratio_interval.map(|interval| interval.lo))),
        ("ratio_hi", end(|regret| regret.ratio_interval.map(|interval| interval.hi))),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

impl SweepResult {
    /// What was found over all points, by the paths that expressions reach it by; nothing where the sweep was cut off.
    #[must_use]
    pub fn findings(&self) -> BTreeMap<String, Scalar> {
        if !self.complete {
            return BTreeMap::new();
        }
        let crossings = self.crossings.iter().map(|crossing| (crossing.name(), crossing.numbers()));
        let numbers = crossings.chain([("regret", regret_numbers(self.regret.as_ref()))]);
        let numbers = numbers.flat_map(|(name, numbers)| {
            let known = numbers.into_iter().filter_map(|(part, value)| Some((part, Scalar::Float(value?))));
            known.map(move |(part, value)| (format!("{name}.{part}"), value))
        });
        let flips = self.flips.iter().enumerate().flat_map(|(index, flip)| {
            flip.values().into_iter().map(move |(part, value)| (format!("flips[{index}].{part}"), value))
        });
        numbers.chain(flips).map(|(path, value)| (format!("{}.{path}", self.id), value)).collect()
    }

    /// The arm that is surely the faster of the two crossing ones at a point; none where neither is, or none was looked
    /// for.
    #[must_use]
    pub fn faster(&self, point: &PointResult) -> Option<String> {
        let at = point.point.position()?;
        let crossing = self.crossings.iter().find(|crossing| crossing.metric == Metric::Median)?;
        let (_, winner) = crossing.winners.iter().find(|(known, _)| *known == at)?;
        match winner {
            Winner::First => Some(crossing.of[0].clone()),
            Winner::Second => Some(crossing.of[1].clone()),
            Winner::Neither => None,
        }
    }

    /// Binds everything under the sweep's name that expressions can reach.
    pub(super) fn bind(&self, analysis: &Analysis, context: &mut Context) {
        for point in &self.points {
            for key in &point.arms {
                let arm = analysis.arm(key);
                context.set_point(
                    &self.id,
                    key.arm.as_deref().unwrap_or_default(),
                    PointValues {
                        values: point.point.values().clone(),
                        printed: point.point.to_string(),
                        x: point.x,
                        metrics: Arc::new(arm.map(|arm| named(&arm.metrics)).unwrap_or_default()),
                        probes: Arc::new(arm.map(|arm| arm.probes.clone()).unwrap_or_default()),
                    },
                );
            }
        }
        if !self.complete {
            return;
        }
        for crossing in &self.crossings {
            context.set_part(&self.id, crossing.name(), Part::Numbers(crossing.numbers()));
        }
        if !self.crossings.is_empty() {
            context.set_part(&self.id, "flips", Part::List(self.flips.iter().map(Flip::values).collect()));
        }
        let regret = Part::Estimates(regret_numbers(self.regret.as_ref()), &["ms", "ratio"]);
        context.set_part(&self.id, "regret", regret);
    }
}

impl Flip {
    fn values(&self) -> BTreeMap<String, Scalar> {
        let numbers =
            [("lo", Some(self.lo)), ("hi", Some(self.hi)), ("x_lo", self.x_lo), ("x_hi", self.x_hi)];
        let numbers =
            numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Scalar::Float(value?))));
        let words = [("before", &self.before), ("after", &self.after)];
        let words = words.map(|(name, word)| (name.to_owned(), Scalar::Text(word.clone())));
        numbers.chain(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(lo: f64, hi: f64, closed: bool, looked_at: &[f64]) -> Inside {
        let zone = ZoneResult {
            lo,
            hi,
            x_lo: None,
            x_hi: None,
            before: "index".to_owned(),
            after: "seq".to_owned(),
            closed,
        };
        let crossing = CrossingResult {
            metric: Metric::Median,
            of: ["index".to_owned(), "seq".to_owned()],
            zones: vec![zone.clone()],
            winners: looked_at.iter().map(|at| (*at, Winner::Neither)).collect(),
            sole_winner: None,
        };
        crossing.inside(&zone)
    }

    #[test]
    fn noise_is_said_only_where_something_was_measured() {
        assert_eq!(inside(168.0, 175.0, true, &[141.0, 168.0, 175.0]), Inside::Unknown);
        assert_eq!(inside(71.0, 92.0, true, &[71.0, 77.0, 92.0]), Inside::Undecided);
        assert_eq!(inside(1.0, 100.0, false, &[1.0, 50.0, 100.0]), Inside::Unknown);
        assert_eq!(inside(8.0, 9.0, true, &[8.0, 9.0]), Inside::Nothing);
    }
}
