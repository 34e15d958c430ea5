//! From a recording to the numbers of a sweep. Everything here is computed from what the run left on disk.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::notebook::{Arm, Crossing, Point, Scalar, Step, Sweep, XFormat};
use crate::plan::Plan;
use crate::recording::{ArmKey, EstimatesEvent, Event, Recording, StepOutcome};
use crate::stats::{self, CrossingSearch, Interval, RESAMPLES, Winner};
use crate::template::Context;

use super::sweep::{Band, CrossingResult, Estimate, Flip, PointResult, Regret, SweepResult, ZoneResult};
use super::{ArmResult, arm_result, chosen_node};

/// The arms of a sweep at every point, listed and added, measured or not.
pub(super) fn arms(recording: &Recording, step: &Step, sweep: &Sweep) -> Vec<ArmResult> {
    let result = |point: &Point, arm: &Arm| {
        let key = ArmKey::new(&sweep.measure.id, arm.id.as_deref()).at(point);
        let probes = probes(recording, &key);
        ArmResult { probes, ..arm_result(recording, key, step.number, sweep.measure.reps) }
    };
    let points = points(recording, step, sweep);
    points
        .iter()
        .flat_map(|(point, _)| sweep.measure.arms.iter().map(move |arm| result(point, arm)))
        .collect()
}

/// Every point and whether it was added, in ascending order where there is one numeric parameter.
fn points(recording: &Recording, step: &Step, sweep: &Sweep) -> Vec<(Point, bool)> {
    let mut points: Vec<(Point, bool)> =
        sweep.points.iter().map(|listed| (listed.point.clone(), false)).collect();
    for event in &recording.events {
        let Event::Point(begun) = event else { continue };
        if begun.step == step.number && !points.iter().any(|(known, _)| *known == begun.point) {
            points.push((begun.point.clone(), true));
        }
    }
    if matches!(sweep.axes.as_slice(), [axis] if axis.is_numeric()) {
        points.sort_by(|one, other| one.0.cmp(&other.0));
    }
    points
}

fn probes(recording: &Recording, key: &ArmKey) -> BTreeMap<String, f64> {
    let of_arm = recording.events.iter().filter_map(|event| match event {
        Event::Probe(probe) if probe.key == *key => Some((probe.name.clone(), probe.value?)),
        _ => None,
    });
    of_arm.collect()
}

/// What a sweep came to, from its arms at its points.
pub(super) fn result(
    recording: &Recording,
    arms: &[ArmResult],
    values: &BTreeMap<String, Scalar>,
    step: &Step,
    sweep: &Sweep,
) -> SweepResult {
    let look = Look { recording, arms, values, sweep };
    let free = sweep.free_arm();
    let points: Vec<PointResult> = points(recording, step, sweep)
        .into_iter()
        .map(|(point, refined)| PointResult {
            x: look.x(&point),
            refined,
            arms: sweep.measure.arms.iter().map(|arm| look.key(arm.id.as_deref(), &point)).collect(),
            regret: free.and_then(|free| look.regret(free, &point)),
            point,
        })
        .collect();
    let told = recording.events.iter().find_map(|event| match event {
        Event::Estimates(estimates) if estimates.step == step.number => Some(estimates),
        _ => None,
    });
    let estimates = match told {
        Some(told) => look.estimates(told),
        None if sweep.crossing.is_some() => look.captured_estimates(free, &points),
        None => Vec::new(),
    };
    let bands = look.bands(&estimates);
    let crossings = sweep.crossing.as_ref().map(|crossing| look.crossings(crossing, &points, &estimates));
    let worst = points.iter().filter_map(|point| point.regret.as_ref());
    SweepResult {
        id: sweep.measure.id.clone(),
        step: step.number,
        complete: recording.events.iter().any(|event| {
            matches!(event, Event::Step { step: of, outcome: StepOutcome::Done, .. } if *of == step.number)
        }),
        axes: sweep.axes.iter().map(|axis| axis.name.clone()).collect(),
        label: match (&sweep.x, sweep.axes.first()) {
            (Some(x), _) => x.label.clone(),
            (None, axis) => axis.map(|axis| axis.name.clone()).unwrap_or_default(),
        },
        format: sweep.x.as_ref().map_or(XFormat::Number, |x| x.format),
        arms: sweep.measure.arms.iter().map(|arm| arm.id.clone()).collect(),
        free: free.and_then(|arm| arm.id.clone()),
        crossings: crossings.unwrap_or_default(),
        flips: flips(&bands),
        bands,
        estimates,
        regret: worst
            .max_by(|one, other| {
                one.is_sure().cmp(&other.is_sure()).then_with(|| one.ratio.total_cmp(&other.ratio))
            })
            .cloned(),
        points,
    }
}

/// Where the numbers are looked up.
struct Look<'a> {
    recording: &'a Recording,
    arms: &'a [ArmResult],
    values: &'a BTreeMap<String, Scalar>,
    sweep: &'a Sweep,
}

impl Look<'_> {
    fn key(&self, arm: Option<&str>, point: &Point) -> ArmKey {
        ArmKey::new(&self.sweep.measure.id, arm).at(point)
    }

    fn arm(&self, arm: Option<&str>, point: &Point) -> Option<&ArmResult> {
        let key = self.key(arm, point);
        self.arms.iter().find(|arm| arm.key == key)
    }

    fn turns(&self, arm: Option<&str>, point: &Point) -> Option<&Vec<Vec<f64>>> {
        self.recording.samples.get(&self.key(arm, point)).filter(|turns| !turns.is_empty())
    }

    /// Where a point stands on the axis.
    fn x(&self, point: &Point) -> Option<f64> {
        let Some(x) = &self.sweep.x else { return point.position() };
        let mut known = Context::new();
        self.values.iter().for_each(|(name, value)| known.set(name, value.clone()));
        x.at(known, point).ok()
    }

    /// The same for a value of the one parameter.
    fn x_at(&self, at: f64) -> Option<f64> {
        let axis = self.sweep.axes.first()?;
        let value = if axis.is_whole() { Scalar::Integer(at as i64) } else { Scalar::Float(at) };
        self.x(&Point::new(vec![(axis.name.clone(), value)]))
    }

    fn estimates(&self, told: &EstimatesEvent) -> Vec<Estimate> {
        let nodes: Vec<String> = told.plans.iter().map(|plan| node_of(plan)).collect();
        let rows = told.rows.iter().map(|row| Estimate {
            at: row.at,
            x: self.x_at(row.at),
            free: row.arm == told.free,
            arm: row.arm.clone(),
            node: nodes.get(row.plan - 1).cloned().unwrap_or_default(),
            shape: row.plan,
            cost: row.cost,
            rows: row.rows,
        });
        rows.collect()
    }

    /// Where the arms have databases of their own, the captures at the measured points are all that is known.
    fn captured_estimates(&self, free: Option<&Arm>, points: &[PointResult]) -> Vec<Estimate> {
        let mut shapes: Vec<String> = Vec::new();
        let mut estimates = Vec::new();
        for point in points {
            let Some(at) = point.point.position() else { continue };
            for key in &point.arms {
                let Some(captured) = self.recording.captures.get(key) else { continue };
                let shape = captured.plan.shape().to_string();
                let number = shapes.iter().position(|known| *known == shape).unwrap_or_else(|| {
                    shapes.push(shape);
                    shapes.len() - 1
                });
                let metric = |metric: Metric| captured.plan.root.measure(metric.name());
                estimates.push(Estimate {
                    at,
                    x: point.x,
                    arm: key.arm.clone(),
                    free: free.is_some_and(|free| free.id == key.arm),
                    node: chosen_node(&captured.plan).title(),
                    shape: number + 1,
                    cost: metric(Metric::Cost),
                    rows: metric(Metric::PlanRows),
                });
            }
        }
        estimates
    }

    /// The stretches of one free choice.
    fn bands(&self, estimates: &[Estimate]) -> Vec<Band> {
        let mut bands: Vec<(Band, usize)> = Vec::new();
        for estimate in estimates.iter().filter(|estimate| estimate.free) {
            match bands.last_mut() {
                Some((band, shape)) if *shape == estimate.shape => {
                    (band.hi, band.x_hi) = (estimate.at, estimate.x);
                }
                _ => bands.push((
                    Band {
                        lo: estimate.at,
                        hi: estimate.at,
                        x_lo: estimate.x,
                        x_hi: estimate.x,
                        node: estimate.node.clone(),
                    },
                    estimate.shape,
                )),
            }
        }
        bands.into_iter().map(|(band, _)| band).collect()
    }

    fn crossings(
        &self,
        crossing: &Crossing,
        points: &[PointResult],
        estimates: &[Estimate],
    ) -> Vec<CrossingResult> {
        let [one, other] = crossing.of.each_ref().map(|arm| Some(arm.as_str()));
        let seed = self.recording.manifest.seed;
        let placed = || points.iter().filter_map(|point| Some((point.point.position()?, &point.point)));
        let by_time = placed().filter_map(|(at, point)| {
            Some((at, stats::faster(self.turns(one, point)?, self.turns(other, point)?, seed)))
        });
        let blocks = |arm, point| self.arm(arm, point)?.metrics.get(&Metric::Blocks).copied();
        let by_blocks = placed()
            .filter_map(|(at, point)| Some((at, stats::smaller(blocks(one, point)?, blocks(other, point)?))));
        let [cost, against] = [one, other].map(|arm| costs(estimates, arm));
        let by_cost = cost
            .iter()
            .filter_map(|(at, cost)| Some((f64::from_bits(*at), stats::smaller(*cost, *against.get(at)?))));
        vec![
            self.crossing(crossing, Metric::Median, by_time.collect()),
            self.crossing(crossing, Metric::Blocks, by_blocks.collect()),
            self.crossing(crossing, Metric::Cost, by_cost.collect()),
        ]
    }

    fn crossing(&self, crossing: &Crossing, metric: Metric, winners: Vec<(f64, Winner)>) -> CrossingResult {
        let search = CrossingSearch::new(self.sweep.axes.first().is_some_and(|axis| axis.is_whole()));
        let mut search = if metric == Metric::Blocks { search.exact() } else { search };
        winners.iter().for_each(|(at, winner)| search.tell(*at, *winner));
        let [one, other] = &crossing.of;
        let zones = search.zones().into_iter().map(|zone| {
            let (before, after) = if zone.before == Winner::First { (one, other) } else { (other, one) };
            ZoneResult {
                lo: zone.lo,
                hi: zone.hi,
                x_lo: self.x_at(zone.lo),
                x_hi: self.x_at(zone.hi),
                before: before.clone(),
                after: after.clone(),
                closed: zone.closed,
            }
        });
        let sole_winner = search.sole_winner().and_then(|winner| match winner {
            Winner::First => Some(one.clone()),
            Winner::Second => Some(other.clone()),
            Winner::Neither => None,
        });
        CrossingResult { metric, of: crossing.of.clone(), zones: zones.collect(), winners, sole_winner }
    }

    /// How much slower the free planner's choice was than the fastest arm with another plan.
    fn regret(&self, free: &Arm, point: &Point) -> Option<Regret> {
        let shape = |arm: &Arm| {
            let captured = self.recording.captures.get(&self.key(arm.id.as_deref(), point));
            captured.map(|captured| captured.plan.shape())
        };
        let chosen = shape(free)?;
        let own = self.turns(free.id.as_deref(), point)?;
        let others: Vec<(&Arm, &Vec<Vec<f64>>)> = self
            .sweep
            .measure
            .arms
            .iter()
            .filter(|arm| could_choose(free, arm) && shape(arm).is_some_and(|shape| shape != chosen))
            .filter_map(|arm| Some((arm, self.turns(arm.id.as_deref(), point)?)))
            .collect();
        let median = |turns: &Vec<Vec<f64>>| {
            let mut samples: Vec<f64> = turns.iter().flatten().copied().collect();
            samples.sort_by(f64::total_cmp);
            stats::median(&samples)
        };
        let medians = others.iter().map(|(arm, turns)| (arm, median(turns)));
        let (best, fastest) = medians.min_by(|one, other| one.1.total_cmp(&other.1))?;
        let own_median = median(own);
        let measured =
            vec![std::iter::once(own).chain(others.iter().map(|(_, turns)| *turns)).cloned().collect()];
        let intervals = regret_intervals(&measured, self.recording.manifest.seed);
        Some(Regret {
            point: point.clone(),
            best: best.id.clone().unwrap_or_default(),
            ms: (own_median - fastest).max(0.0),
            ms_interval: intervals.map(|(ms, _)| ms),
            ratio: (own_median / fastest).max(1.0),
            ratio_interval: intervals.map(|(_, ratio)| ratio),
        })
    }
}

/// The estimated costs of an arm, by the bits of the parameter's value.
fn costs(estimates: &[Estimate], arm: Option<&str>) -> BTreeMap<u64, f64> {
    let of_arm = estimates.iter().filter(|estimate| estimate.arm.as_deref() == arm);
    of_arm.filter_map(|estimate| Some((estimate.at.to_bits(), estimate.cost?))).collect()
}

/// Whether the free planner could have chosen what another arm was made to: of the same query, in a database that was
/// prepared alike.
fn could_choose(free: &Arm, arm: &Arm) -> bool {
    let setup = |arm: &Arm| arm.setup.iter().map(|step| step.at.offset).collect::<Vec<_>>();
    arm.query.text == free.query.text && setup(arm) == setup(free)
}

/// The intervals of a regret in milliseconds and as a ratio; the first arm is the planner's. In every resample the
/// fastest of the others is found anew, since which one it is is not known for sure either.
fn regret_intervals(measured: &[stats::Measured], seed: u64) -> Option<(Interval, Interval)> {
    if !stats::enough_turns(measured) {
        return None;
    }
    let drawn = stats::resample(measured, seed, RESAMPLES, |samples| {
        let medians: Vec<f64> = samples[0].iter().map(|samples| stats::median(samples)).collect();
        let best = medians.iter().skip(1).copied().fold(f64::INFINITY, f64::min);
        Ok::<_, std::convert::Infallible>(((medians[0] - best).max(0.0), (medians[0] / best).max(1.0)))
    });
    let (ms, ratios) = drawn.unwrap_or_default().into_iter().unzip();
    Some((stats::interval(ms)?, stats::interval(ratios)?))
}

/// The node that a plan in EXPLAIN's words chose.
fn node_of(plan: &str) -> String {
    match Plan::from_text(plan) {
        Ok(plan) => chosen_node(&plan).title(),
        Err(_) => plan.lines().next().unwrap_or_default().to_owned(),
    }
}

fn flips(bands: &[Band]) -> Vec<Flip> {
    let flip = |pair: &[Band]| Flip {
        lo: pair[0].hi,
        hi: pair[1].lo,
        x_lo: pair[0].x_hi,
        x_hi: pair[1].x_lo,
        before: pair[0].node.clone(),
        after: pair[1].node.clone(),
    };
    bands.windows(2).map(flip).collect()
}
