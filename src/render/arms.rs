//! Which arms a step shows, and what a reader calls them.

use crate::notebook::{self, Arm, Measure, StepKind, TimeStep};
use crate::recording::{ArmKey, Event, StepOutcome};

use super::Subject;

/// Whether the run ended before that step.
pub(super) fn was_not_run(subject: Subject<'_>, number: usize) -> bool {
    !subject.recording.events.iter().any(
        |event| matches!(event, Event::Step { step, outcome, .. } if *step == number && *outcome != StepOutcome::NotRun),
    )
}

/// What a reader calls an arm: its label, else its id, else the measure's.
pub(super) fn arm_name(measure: &Measure, arm: &Arm) -> String {
    called(arm, measure.label.as_ref().unwrap_or(&measure.id))
}

/// The same of a `time` step.
pub(super) fn time_name(time: &TimeStep, arm: &Arm) -> String {
    called(arm, time.label.as_ref().unwrap_or(&time.id))
}

fn called(arm: &Arm, step: &str) -> String {
    arm.label.as_deref().or(arm.id.as_deref()).unwrap_or(step).to_owned()
}

/// The arms that a table or a plot shows, in its order, by their place in the analysis.
pub(super) fn arms_of(subject: Subject<'_>, of: &[notebook::Subject]) -> Vec<usize> {
    let arms = || subject.analysis.arms.iter().enumerate();
    let shows = |of: &notebook::Subject, key: &ArmKey| {
        key.measure == of.measure && (of.arm.is_none() || of.arm == key.arm)
    };
    of.iter()
        .flat_map(|of| arms().filter(move |(_, arm)| shows(of, &arm.key)).map(|(index, _)| index))
        .collect()
}

/// What a reader calls each of these arms where they stand side by side: of one measure, its arms say enough.
pub(super) fn names_beside(subject: Subject<'_>, keys: &[&ArmKey]) -> Vec<String> {
    let alike = keys.len() > 1 && keys.iter().all(|key| key.measure == keys[0].measure);
    let short = |key| names_of(subject, key).filter(|_| alike).map(|(_, arm)| arm);
    keys.iter().map(|key| short(key).unwrap_or_else(|| name_of(subject, key))).collect()
}

/// What a reader calls the arm of that key.
fn name_of(subject: Subject<'_>, key: &ArmKey) -> String {
    let name = |(label, arm): (String, String)| match key.arm {
        Some(_) => format!("{label}: {arm}"),
        None => arm,
    };
    names_of(subject, key).map_or_else(|| key.to_string(), name)
}

/// What a reader calls the measure of that key, and its arm.
pub(super) fn names_of(subject: Subject<'_>, key: &ArmKey) -> Option<(String, String)> {
    subject.notebook.steps.iter().find_map(|step| {
        let (label, arm) = match &step.kind {
            StepKind::Measure(measure) if measure.id == key.measure => {
                let arm = measure.arms.iter().find(|arm| arm.id == key.arm)?;
                (measure.label.as_ref().unwrap_or(&measure.id), arm_name(measure, arm))
            }
            StepKind::Sweep(sweep) if sweep.measure.id == key.measure => {
                let arm = sweep.measure.arms.iter().find(|arm| arm.id == key.arm)?;
                let arm = arm_name(&sweep.measure, arm);
                let point = key.point.as_ref().map(|point| format!("{arm}, {point}")).unwrap_or(arm);
                (sweep.measure.label.as_ref().unwrap_or(&sweep.measure.id), point)
            }
            StepKind::Time(time) if time.id == key.measure => {
                let arm = time.arms.iter().find(|arm| arm.id == key.arm)?;
                (time.label.as_ref().unwrap_or(&time.id), time_name(time, arm))
            }
            StepKind::Storage(storage) if storage.id == key.measure => {
                (storage.title.as_ref().unwrap_or(&storage.id), key.arm.clone()?)
            }
            _ => return None,
        };
        Some((label.clone(), arm))
    })
}
