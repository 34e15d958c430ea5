//! Verdicts that nobody has to ask for: a step that failed, a VACUUM that left pages out, a dataset that is wrong.

use crate::notebook::{Step, Vacuum};
use crate::recording::{Event, Failure, Recording, StepOutcome, VacuumEvent};

use super::{Outcome, Verdict, step_outcome};

/// A failing dataset, if it failed.
pub(super) fn dataset(recording: &Recording) -> Vec<Verdict> {
    failures(recording, 0)
        .map(|failure| failed("dataset", "the dataset is built and verified", failure))
        .collect()
}

/// A step that failed. Its error is a verdict of its own, so that no failure goes unseen.
pub(super) fn failure(recording: &Recording, step: &Step) -> Vec<Verdict> {
    let subject = format!("{} step", step.kind.key());
    failures(recording, step.number).map(|failure| failed(&subject, "the step runs", failure)).collect()
}

fn failures(recording: &Recording, number: usize) -> impl Iterator<Item = &Failure> {
    recording.events.iter().filter_map(move |event| match event {
        Event::Failure(failure) if failure.step == number => Some(failure),
        _ => None,
    })
}

fn failed(subject: &str, expected: &str, failure: &Failure) -> Verdict {
    let state = failure.sqlstate.as_ref().map(|state| format!(" (SQLSTATE {state})")).unwrap_or_default();
    Verdict {
        outcome: Outcome::Fail,
        subject: failure.key.as_ref().map_or_else(|| subject.to_owned(), ToString::to_string),
        step: failure.step,
        line: failure.line,
        expected: expected.to_owned(),
        seen: format!("{}{state}", failure.message),
        evidence: Some("events.jsonl".to_owned()),
        nearest: None,
        tree: None,
        next: failure.hint.as_ref().map(|hint| format!("the server's hint: {hint}")),
    }
}

/// Whether each VACUUM left the visibility map as the notebook says.
pub(super) fn vacuum(recording: &Recording, step: &Step, vacuum: &Vacuum) -> Vec<Verdict> {
    let events: Vec<&VacuumEvent> = recording
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Vacuum(event) if event.step == step.number => Some(event),
            _ => None,
        })
        .collect();
    vacuum
        .tables
        .iter()
        .map(|table| {
            let event = events.iter().find(|event| event.table == *table);
            visibility(recording, step, vacuum.complete, table, event.copied())
        })
        .collect()
}

fn visibility(
    recording: &Recording,
    step: &Step,
    complete: bool,
    table: &str,
    event: Option<&VacuumEvent>,
) -> Verdict {
    let wanted = if complete { "complete" } else { "incomplete" };
    let (outcome, seen) = match event {
        Some(event) if event.is_complete() == complete => (Outcome::Pass, seen(event)),
        Some(event) => (Outcome::Fail, seen(event)),
        None => (Outcome::NotRun, not_run(step_outcome(recording, step.number))),
    };
    Verdict {
        outcome,
        subject: format!("vacuum {table}"),
        step: step.number,
        line: step.at.line,
        expected: format!("the visibility map is {wanted}"),
        seen,
        evidence: event.map(|_| "events.jsonl".to_owned()),
        nearest: None,
        tree: None,
        next: (outcome == Outcome::Fail && complete).then(|| {
            "find what kept VACUUM from its work, or write `expect: incomplete` if that is the lesson"
                .to_owned()
        }),
    }
}

fn seen(event: &VacuumEvent) -> String {
    let cause = event.cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{} of {} pages are all-visible{cause}", event.all_visible, event.pages)
}

/// Why a step's verdicts could not be judged.
pub(super) fn not_run(outcome: Option<StepOutcome>) -> String {
    match outcome {
        Some(StepOutcome::Failed) => "its step failed".to_owned(),
        Some(StepOutcome::NotRun) => "its step was not run".to_owned(),
        Some(StepOutcome::Done) => "its step left no evidence".to_owned(),
        None => "the run ended before its step".to_owned(),
    }
}
