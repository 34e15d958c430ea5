//! From a recording to its numbers: one row per arm, every metric under its name.

mod acts;
mod chosen;
pub mod frame;
mod sweep;
mod swept;

use std::collections::BTreeMap;

use crate::metric::{self, Metric};
use crate::notebook::{Scalar, StepKind};
use crate::recording::{ArmKey, Captured, Event, Recording};
use crate::stats::{self, Interval, RESAMPLES};
use crate::template::Context;

pub use chosen::{chosen_node, way_to_chosen};
pub use sweep::{Band, CrossingResult, Estimate, Flip, Inside, PointResult, Regret, SweepResult, ZoneResult};

/// The numbers of one recording.
#[derive(Debug)]
pub struct Analysis {
    /// One per arm, in the order of the notebook, whether or not it was measured.
    pub arms: Vec<ArmResult>,
    /// One per sweep, in the order of the notebook.
    pub sweeps: Vec<SweepResult>,
    /// Parameters and lets.
    pub values: BTreeMap<String, Scalar>,
}

/// What is known of one arm.
#[derive(Debug)]
pub struct ArmResult {
    /// Measure and arm.
    pub key: ArmKey,
    /// The measure's step.
    pub step: usize,
    /// Whether there is evidence of it: a capture, an execution, a size.
    pub measured: bool,
    /// The node that the planner chose, as EXPLAIN prints it; absent when nothing was captured.
    pub node: Option<String>,
    /// Every metric that the server reported or the samples give.
    pub metrics: BTreeMap<Metric, f64>,
    /// 95% interval of the median in milliseconds, by resampling turns.
    pub median_interval: Option<Interval>,
    /// The number of timed executions.
    pub samples: usize,
    /// Samples that the notebook asked for.
    pub asked: usize,
    /// The plan that was seen before or after the timed executions, where it was not the captured one.
    pub changed_plan: Option<String>,
    /// Metrics that a sweep takes from SQL, by their names.
    pub probes: BTreeMap<String, f64>,
}

impl Analysis {
    /// Computes every number of the recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut arms = Vec::new();
        for step in &recording.notebook.steps {
            let key = |measure: &str, arm: Option<&String>| ArmKey::new(measure, arm.map(String::as_str));
            match &step.kind {
                StepKind::Measure(measure) => arms.extend(measure.arms.iter().map(|arm| {
                    arm_result(recording, key(&measure.id, arm.id.as_ref()), step.number, measure.reps)
                })),
                StepKind::Sweep(sweep) => arms.extend(swept::arms(recording, step, sweep)),
                StepKind::Time(time) => arms.extend(time.arms.iter().map(|arm| {
                    acts::executed(recording, key(&time.id, arm.id.as_ref()), step.number, time.reps)
                })),
                StepKind::Storage(storage) => {
                    arms.extend(storage.of.iter().map(|relation| {
                        acts::stored(recording, key(&storage.id, Some(relation)), step.number)
                    }))
                }
                _ => {}
            }
        }
        let values = values(recording);
        let sweeps = recording.notebook.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Sweep(sweep) => Some(swept::result(recording, &arms, &values, step, sweep)),
            _ => None,
        });
        Self { sweeps: sweeps.collect(), arms, values }
    }

    /// Everything that a template can name: parameters, lets, and every arm under its measure.
    #[must_use]
    pub fn context(&self) -> Context {
        let mut context = Context::new();
        for (name, value) in &self.values {
            context.set(name, value.clone());
        }
        for arm in self.arms.iter().filter(|arm| arm.key.point.is_none()) {
            bind(&mut context, &arm.key, &arm.metrics);
        }
        self.bind_sweeps(&mut context);
        context
    }

    /// Binds the sweeps in a context, with all their points and with what was found over all points.
    pub fn bind_sweeps(&self, context: &mut Context) {
        self.sweeps.iter().for_each(|sweep| sweep.bind(self, context));
    }

    /// The arm of that key.
    #[must_use]
    pub fn arm(&self, key: &ArmKey) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.key == *key)
    }
}

/// Binds one arm's metrics in a context; those of a point of a sweep replace what is bound there.
pub fn bind(context: &mut Context, key: &ArmKey, metrics: &BTreeMap<Metric, f64>) {
    let metrics = named(metrics);
    match (&key.point, &key.arm) {
        (Some(point), arm) => {
            let arm = arm.as_deref().unwrap_or_default();
            context.replace_at(&key.measure, arm, &point.to_string(), metrics);
        }
        (None, Some(arm)) => context.set_arm(&key.measure, arm, metrics),
        (None, None) => context.set_measure(&key.measure, metrics),
    }
}

fn named(metrics: &BTreeMap<Metric, f64>) -> BTreeMap<String, f64> {
    metrics.iter().map(|(metric, value)| (metric.name().to_owned(), *value)).collect()
}

fn values(recording: &Recording) -> BTreeMap<String, Scalar> {
    let lets = recording.events.iter().filter_map(|event| match event {
        Event::Let(bound) => Some((bound.name.clone(), bound.value.clone())),
        _ => None,
    });
    recording.notebook.params.iter().cloned().chain(lets).collect()
}

fn arm_result(recording: &Recording, key: ArmKey, step: usize, asked: usize) -> ArmResult {
    let captured = recording.captures.get(&key);
    let turns = recording.samples.get(&key).map_or(&[][..], Vec::as_slice);
    let mut metrics = captured.map(|captured| metric::of_plan(&captured.plan)).unwrap_or_default();
    metrics.extend(captured.into_iter().flat_map(first_run));
    metrics.extend(timings(turns));
    let timed = recording.events.iter().find_map(|event| match event {
        Event::Timed(timed) if timed.key == key => Some(timed),
        _ => None,
    });
    ArmResult {
        measured: captured.is_some(),
        node: captured.map(node_title),
        metrics,
        median_interval: median_interval(turns, recording.manifest.seed),
        samples: turns.iter().map(Vec::len).sum(),
        asked: timed.map_or(asked, |timed| timed.asked),
        changed_plan: timed.and_then(|timed| timed.changed_plan.clone()),
        probes: BTreeMap::new(),
        key,
        step,
    }
}

/// What the first of the captures did: reading may have cleaned up for those after it.
fn first_run(captured: &Captured) -> Vec<(Metric, f64)> {
    let metrics = metric::of_plan(&captured.first);
    let first = [(Metric::Blocks, Metric::FirstBlocks), (Metric::HeapFetches, Metric::FirstHeapFetches)];
    first.into_iter().filter_map(|(of, name)| Some((name, *metrics.get(&of)?))).collect()
}

fn node_title(captured: &Captured) -> String {
    chosen_node(&captured.plan).title()
}

/// The statistics of the samples, those that their number allows.
#[must_use]
pub fn timings(turns: &[Vec<f64>]) -> BTreeMap<Metric, f64> {
    let samples: Vec<f64> = turns.iter().flatten().copied().collect();
    let Some(summary) = stats::Summary::of(&samples) else { return BTreeMap::new() };
    [
        (Metric::Median, Some(summary.median)),
        (Metric::Min, Some(summary.min)),
        (Metric::Max, Some(summary.max)),
        (Metric::Mean, Some(summary.mean)),
        (Metric::Stddev, summary.stddev),
        (Metric::Mad, Some(summary.mad)),
        (Metric::P95, summary.p95),
        (Metric::P99, summary.p99),
    ]
    .into_iter()
    .filter_map(|(metric, value)| Some((metric, value?)))
    .collect()
}

/// The 95% interval of the median by resampling whole turns; none where there are too few to tell.
fn median_interval(turns: &[Vec<f64>], seed: u64) -> Option<Interval> {
    let measured = vec![vec![turns.to_vec()]];
    if !stats::enough_turns(&measured) {
        return None;
    }
    let medians = stats::resample(&measured, seed, RESAMPLES, |samples| {
        Ok::<_, std::convert::Infallible>(stats::median(&samples[0][0]))
    });
    stats::interval(medians.unwrap_or_default())
}
