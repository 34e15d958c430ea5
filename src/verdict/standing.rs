//! Verdicts that nobody has to ask for: a step that failed, a VACUUM that left pages out, a dataset that is wrong.

use crate::notebook::{Compare, SetupKind, SetupStep, Sides, Step, Vacuum};
use crate::number;
use crate::recording::{ArmKey, ComparedEvent, Event, Failure, Recording, StepOutcome, VacuumEvent};

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
        Event::Failure(failure) if failure.step == number => Some(&**failure),
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
        next: failure
            .advice
            .clone()
            .or_else(|| Some(format!("the server's hint: {}", failure.hint.as_ref()?))),
    }
}

/// Whether each VACUUM of a step left the visibility map as the notebook says.
pub(super) fn vacuum(recording: &Recording, step: &Step, vacuum: &Vacuum) -> Vec<Verdict> {
    let mut events = vacuums(recording, step, None);
    let tables = vacuum.tables.iter();
    tables
        .map(|table| visibility(recording, step, step.at.line, vacuum.complete, table, events.next()))
        .collect()
}

/// The same of the VACUUMs that prepared an arm, or a point of a sweep.
pub(super) fn setup(recording: &Recording, step: &Step, key: &ArmKey, setup: &[SetupStep]) -> Vec<Verdict> {
    let mut events = vacuums(recording, step, Some(key));
    let mut verdicts = Vec::new();
    for SetupStep { at, kind } in setup {
        let SetupKind::Vacuum(vacuum) = kind else { continue };
        for table in &vacuum.tables {
            let verdict = visibility(recording, step, at.line, vacuum.complete, table, events.next());
            verdicts.push(Verdict { subject: key.to_string(), ..verdict });
        }
    }
    verdicts
}

/// What the VACUUMs of a step left, in the order in which they ran.
fn vacuums<'r>(
    recording: &'r Recording,
    step: &Step,
    arm: Option<&ArmKey>,
) -> impl Iterator<Item = &'r VacuumEvent> {
    recording.events.iter().filter_map(move |event| match event {
        Event::Vacuum(event) if event.step == step.number && event.arm.as_ref() == arm => Some(event),
        _ => None,
    })
}

fn visibility(
    recording: &Recording,
    step: &Step,
    line: usize,
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
        line,
        expected: format!("the visibility map of {table} is {wanted}"),
        seen,
        evidence: event.map(|_| "events.jsonl".to_owned()),
        nearest: None,
        tree: None,
        next: (outcome == Outcome::Fail && complete).then(|| {
            "remove what kept VACUUM from its work, or write `expect: incomplete` if that is the lesson"
                .to_owned()
        }),
    }
}

/// Whether the sides of a `compare` step returned the same rows.
pub(super) fn compare(recording: &Recording, step: &Step, compare: &Compare) -> Verdict {
    let event = recording.events.iter().find_map(|event| match event {
        Event::Compared(event) if event.step == step.number => Some(event),
        _ => None,
    });
    let (outcome, seen) = match event {
        None => (Outcome::NotRun, not_run(step_outcome(recording, step.number))),
        Some(event) => compared(event, compare),
    };
    let names = match &compare.sides {
        Sides::Queries(queries) => format!("the {} queries", queries.len()),
        Sides::Arms(subjects) if subjects.len() == 1 => format!("the arms of {}", subjects[0]),
        Sides::Arms(subjects) => subjects.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
    };
    let order = if compare.ordered { " in the same order" } else { "" };
    let tolerance = match compare.tolerance {
        tolerance if tolerance > 0.0 => format!(", floating-point values within {tolerance:e}"),
        _ => String::new(),
    };
    let empty = event.is_some_and(|event| event.sides.iter().all(|(_, rows)| *rows == 0));
    Verdict {
        outcome,
        subject: "compare".to_owned(),
        step: step.number,
        line: step.at.line,
        expected: format!("{names} return the same rows{order}{tolerance}"),
        seen,
        evidence: event.map(|_| "events.jsonl".to_owned()),
        nearest: None,
        tree: None,
        next: (empty && outcome == Outcome::Fail)
            .then(|| "write `empty: on` if no rows are what all of them must return".to_owned()),
    }
}

fn compared(event: &ComparedEvent, compare: &Compare) -> (Outcome, String) {
    if let Some(difference) = &event.difference {
        return (Outcome::Fail, difference.clone());
    }
    let rows = event.sides.first().map_or(0, |(_, rows)| *rows);
    if rows == 0 && !compare.empty {
        return (Outcome::Fail, "none of them returned a row, which proves nothing".to_owned());
    }
    let off = event.off_by.map(|off| format!(", floating-point values at most {off:.1e} apart"));
    let rows = number::plural(rows as f64, "row");
    (Outcome::Pass, format!("{rows} each{}", off.unwrap_or_default()))
}

fn seen(event: &VacuumEvent) -> String {
    let cause = match &event.cause {
        Some(cause) => format!(": {cause}"),
        None if event.is_complete() => String::new(),
        None => ": no known cause applies; VACUUM's own account is in events.jsonl".to_owned(),
    };
    let [visible, pages] = [event.all_visible, event.pages].map(|count| number::count(count as f64));
    format!("{visible} of {pages} pages are all-visible{cause}")
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
