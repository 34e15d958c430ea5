//! Verdicts: what a notebook expects, held against a recording.

mod claim;
mod expectation;
mod resample;
mod standing;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::{Analysis, PointResult};
use crate::notebook::{Arm, Notebook, Step, StepKind, Sweep, SweepPoint};
use crate::recording::{ArmKey, Event, Recording, StepOutcome};

pub use claim::NamedNumber;

/// How a verdict ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It does not hold.
    Fail,
    /// It could not be judged, which is not a pass.
    NotRun,
    /// The samples allow both.
    Inconclusive,
    /// It holds.
    Pass,
}

/// One thing that was judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Pass, fail, inconclusive or not run.
    pub outcome: Outcome,
    /// The measure, arm or step that it is about.
    pub subject: String,
    /// The step, counted from 1; 0 is the dataset.
    pub step: usize,
    /// The line of the notebook.
    pub line: usize,
    /// As the notebook writes it.
    pub expected: String,
    /// What was seen, in one sentence fragment.
    pub seen: String,
    /// The file that shows it, relative to the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The node of the plan that came closest to a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// The plan's node lines, where a pattern did not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What to look at next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// All verdicts of a recording, and the numbers that its checks name.
#[derive(Debug)]
pub struct Judgement {
    /// In the order of the notebook.
    pub verdicts: Vec<Verdict>,
    /// Numbers named by `check`.
    pub named: BTreeMap<String, NamedNumber>,
}

impl Judgement {
    /// Judges everything that `notebook` expects, from the recording alone.
    #[must_use]
    pub fn of(recording: &Recording, analysis: &Analysis, notebook: &Notebook) -> Self {
        let mut judge = claim::Judge::new(recording, analysis);
        let mut verdicts = standing::dataset(recording);
        for step in &notebook.steps {
            match &step.kind {
                StepKind::Measure(measure) => {
                    verdicts.extend(set_up(recording, step, &measure.id, &measure.arms));
                    verdicts.extend(expectations(recording, analysis, step));
                }
                StepKind::Sweep(sweep) => {
                    verdicts.extend(sweep_set_up(recording, step, sweep));
                    verdicts.extend(expectations(recording, analysis, step));
                }
                StepKind::Vacuum(vacuum) => verdicts.extend(standing::vacuum(recording, step, vacuum)),
                StepKind::Time(time) => verdicts.extend(set_up(recording, step, &time.id, &time.arms)),
                StepKind::Compare(compare) => verdicts.push(standing::compare(recording, step, compare)),
                StepKind::Check(claims) => verdicts.extend(judge.check(step, claims)),
                _ => {}
            }
            verdicts.extend(standing::failure(recording, step));
        }
        Self { verdicts, named: judge.into_named() }
    }

    /// Judges the expectations of one measure alone: enough for the line that is shown while a run goes on.
    #[must_use]
    pub fn of_measure(recording: &Recording, analysis: &Analysis, notebook: &Notebook, step: usize) -> Self {
        let measures = notebook.steps.iter().filter(|candidate| candidate.number == step);
        let verdicts = measures.flat_map(|step| expectations(recording, analysis, step));
        Self { verdicts: verdicts.collect(), named: BTreeMap::new() }
    }

    /// How many verdicts ended so.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count()
    }

    /// Whether nothing failed and nothing was left out; with `strict` nothing may be inconclusive either.
    #[must_use]
    pub fn holds(&self, strict: bool) -> bool {
        self.verdicts.iter().all(|verdict| match verdict.outcome {
            Outcome::Pass => true,
            Outcome::Inconclusive => !strict,
            Outcome::Fail | Outcome::NotRun => false,
        })
    }
}

/// The expectations of a measure or a sweep.
fn expectations(recording: &Recording, analysis: &Analysis, step: &Step) -> Vec<Verdict> {
    let keyed: Vec<(ArmKey, &Arm, usize)> = match &step.kind {
        StepKind::Measure(measure) => {
            let key = |arm: &Arm| ArmKey::new(&measure.id, arm.id.as_deref());
            measure.arms.iter().map(|arm| (key(arm), arm, measure.at.line)).collect()
        }
        StepKind::Sweep(sweep) => {
            let points = analysis.sweeps.iter().filter(|result| result.step == step.number);
            points
                .flat_map(|result| &result.points)
                .flat_map(|point| at_point(analysis, sweep, point))
                .collect()
        }
        _ => Vec::new(),
    };
    let judge = |(key, arm, line): (ArmKey, &Arm, usize)| {
        expectation::judge(recording, analysis, (step.number, line), &key, arm)
    };
    keyed.into_iter().flat_map(judge).collect()
}

/// The arms of a sweep at one point. Of one that was added those count that were needed there.
fn at_point<'a>(analysis: &Analysis, sweep: &'a Sweep, point: &PointResult) -> Vec<(ArmKey, &'a Arm, usize)> {
    let arms = sweep.arms_at(&point.point).iter();
    let keyed = arms.map(|arm| {
        let key = ArmKey::new(&sweep.measure.id, arm.id.as_deref()).at(&point.point);
        (key, arm, sweep.measure.at.line)
    });
    let needed = |key: &ArmKey| !point.refined || analysis.arm(key).is_some_and(|arm| arm.measured);
    keyed.filter(|(key, ..)| needed(key)).collect()
}

/// What must hold of what prepared the points of a sweep, and their arms.
fn sweep_set_up(recording: &Recording, step: &Step, sweep: &Sweep) -> Vec<Verdict> {
    let id = &sweep.measure.id;
    let point = |listed: &SweepPoint| {
        let of_point =
            standing::setup(recording, step, &ArmKey::new(id, None).at(&listed.point), &sweep.setup);
        let of_arms = listed.arms.iter().filter(|arm| !arm.setup.is_empty()).flat_map(|arm| {
            let key = ArmKey::new(id, arm.id.as_deref()).at(&listed.point);
            standing::setup(recording, step, &key, &arm.setup)
        });
        of_point.into_iter().chain(of_arms).collect::<Vec<_>>()
    };
    sweep.points.iter().flat_map(point).collect()
}

/// What must hold of the setups of a step's arms.
fn set_up(recording: &Recording, step: &Step, id: &str, arms: &[Arm]) -> Vec<Verdict> {
    let key = |arm: &Arm| ArmKey::new(id, arm.id.as_deref());
    arms.iter().flat_map(|arm| standing::setup(recording, step, &key(arm), &arm.setup)).collect()
}

/// How a step ended, as far as the recording tells.
fn step_outcome(recording: &Recording, number: usize) -> Option<StepOutcome> {
    recording.events.iter().find_map(|event| match event {
        Event::Step { step, outcome, .. } if *step == number => Some(*outcome),
        _ => None,
    })
}
