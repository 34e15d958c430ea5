//! Expectations of a measure, held against the captured plan.

use crate::analysis::{Analysis, ArmResult};
use crate::metric::Metric;
use crate::notebook::{Arm, Condition, Expectation, Expected, Point, Scalar};
use crate::plan::{Comparison, Pattern};
use crate::recording::{ArmKey, Captured, Recording};

use super::standing::not_run;
use super::{Outcome, Verdict, step_outcome};

/// The verdicts of one arm, at its point where it has one: one per expectation that applies, and one more if its plan changed while it was timed.
pub(super) fn judge(
    recording: &Recording,
    analysis: &Analysis,
    (step, line): (usize, usize),
    key: &ArmKey,
    arm: &Arm,
) -> Vec<Verdict> {
    let captured = recording.captures.get(key);
    let result = analysis.arm(key);
    let major = recording.manifest.server.major();
    let mut verdicts: Vec<Verdict> = arm
        .expect
        .iter()
        .filter(|expectation| {
            expectation.when.iter().all(|condition| applies(condition, recording, key.point.as_ref()))
        })
        .map(|expectation| {
            let finding = match (captured, result) {
                (Some(captured), Some(result)) => hold(expectation, captured, result, major),
                _ => Finding::plain(Outcome::NotRun, not_run(step_outcome(recording, step))),
            };
            finding.into_verdict(key, step, expectation, captured)
        })
        .collect();
    verdicts.extend(result.and_then(|result| changed_plan(result, step, line)));
    verdicts
}

fn changed_plan(result: &ArmResult, step: usize, line: usize) -> Option<Verdict> {
    let plan = result.changed_plan.as_ref()?;
    Some(Verdict {
        outcome: Outcome::Fail,
        subject: result.key.to_string(),
        step,
        line,
        expected: "the plan stays the captured one while it is timed".to_owned(),
        seen: "plan changed while timing".to_owned(),
        evidence: Some(format!("plans/{}.txt", result.key)),
        nearest: None,
        tree: Some(plan.clone()),
        next: Some(
            "its timings belong to no one plan: pin the settings or the statistics that decide it".to_owned(),
        ),
    })
}

/// A swept parameter has the point's value.
fn applies(condition: &Condition, recording: &Recording, point: Option<&Point>) -> bool {
    let own = |name: &str| recording.notebook.params.iter().find(|(n, _)| n == name).map(|(_, value)| value);
    let parameter = |name: &str| point.and_then(|point| point.value(name)).or_else(|| own(name));
    match condition {
        Condition::Version(comparison) => comparison.holds(f64::from(recording.manifest.server.major())),
        Condition::Profile(name) => recording.manifest.profile.as_deref().unwrap_or("default") == name,
        Condition::Parameter(name, comparison) => match parameter(name) {
            Some(Scalar::Integer(value)) => comparison.holds(*value as f64),
            Some(Scalar::Float(value)) => comparison.holds(*value),
            _ => false,
        },
        Condition::Value(name, wanted) => parameter(name) == Some(wanted),
    }
}

/// What to do about a metric that the plan does not have.
const ON_ABSENCE: &str = "what a plan does not report is not 0: leave this expectation out, or say under `plan` which node \
    must be there, and under `when: [{version: …}]` since when";

/// What was found, before it is put beside what was expected.
struct Finding {
    outcome: Outcome,
    seen: String,
    nearest: Option<String>,
    tree: Option<String>,
    next: Option<String>,
}

impl Finding {
    fn plain(outcome: Outcome, seen: String) -> Self {
        Self { outcome, seen, nearest: None, tree: None, next: None }
    }

    fn with_next(self, next: String) -> Self {
        Self { next: Some(next), ..self }
    }

    fn into_verdict(
        self,
        key: &ArmKey,
        step: usize,
        expectation: &Expectation,
        captured: Option<&Captured>,
    ) -> Verdict {
        Verdict {
            outcome: self.outcome,
            subject: key.to_string(),
            step,
            line: expectation.at.line,
            expected: expectation.written.clone(),
            seen: self.seen,
            evidence: captured.map(|captured| captured.file.clone()),
            nearest: self.nearest,
            tree: self.tree,
            next: self.next,
        }
    }
}

fn hold(expectation: &Expectation, captured: &Captured, result: &ArmResult, major: u32) -> Finding {
    match &expectation.what {
        Expected::Metric(metric, comparison) => hold_metric(*metric, comparison, (result, major)),
        Expected::Plan(pattern) => hold_any(std::slice::from_ref(pattern), captured),
        Expected::Any(patterns) => hold_any(patterns, captured),
        Expected::Never(pattern) => hold_never(pattern, captured),
    }
}

fn hold_metric(metric: Metric, comparison: &Comparison, (result, major): (&ArmResult, u32)) -> Finding {
    match result.metrics.get(&metric) {
        None => match metric.absence(major) {
            Some(why) => Finding::plain(Outcome::Fail, why).with_next(ON_ABSENCE.to_owned()),
            None => Finding::plain(Outcome::Fail, format!("the server reported no {metric} for this plan")),
        },
        Some(value) => {
            let outcome = if comparison.holds(*value) { Outcome::Pass } else { Outcome::Fail };
            Finding::plain(outcome, value.to_string())
        }
    }
}

/// A pattern over names that do not exist can neither pass nor fail.
fn missing(patterns: &[Pattern], captured: &Captured) -> Option<Finding> {
    let missing = &captured.event.missing;
    let name = patterns
        .iter()
        .flat_map(|pattern| pattern.relations().into_iter().chain(pattern.indexes()))
        .find(|name| missing.contains(*name))?;
    let finding =
        Finding::plain(Outcome::NotRun, format!("no table or index is named {name} in this database"));
    let next = captured.event.advice.get(name).cloned();
    Some(
        finding
            .with_next(next.unwrap_or_else(|| "correct the name, or create it in a step before".to_owned())),
    )
}

fn hold_any(patterns: &[Pattern], captured: &Captured) -> Finding {
    let found =
        patterns.iter().find_map(|pattern| pattern.find(&captured.plan, &captured.families).first().copied());
    if let Some(node) = found {
        return Finding::plain(Outcome::Pass, node.title());
    }
    // One missing name does not matter where another pattern could have matched and did not.
    if let Some(finding) = missing(patterns, captured) {
        return finding;
    }
    let nearest =
        patterns.iter().find_map(|pattern| pattern.nearest(&captured.plan)).map(|node| node.title());
    Finding {
        outcome: Outcome::Fail,
        seen: nearest.clone().unwrap_or_else(|| captured.plan.root.title()),
        nearest,
        tree: Some(captured.plan.skeleton()),
        next: None,
    }
}

fn hold_never(pattern: &Pattern, captured: &Captured) -> Finding {
    if let Some(finding) = missing(std::slice::from_ref(pattern), captured) {
        return finding;
    }
    match pattern.find(&captured.plan, &captured.families).first() {
        None => Finding::plain(Outcome::Pass, "does not occur".to_owned()),
        Some(node) => Finding {
            outcome: Outcome::Fail,
            seen: node.title(),
            nearest: Some(node.title()),
            tree: Some(captured.plan.skeleton()),
            next: None,
        },
    }
}
