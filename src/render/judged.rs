//! Verdicts as a report shows them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::verdict::{Judgement, Outcome, Verdict};

/// How many verdicts of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "counts")]
pub struct Counts {
    /// They hold.
    pub pass: usize,
    /// They do not.
    pub fail: usize,
    /// The samples allow both.
    pub inconclusive: usize,
    /// They could not be judged.
    pub not_run: usize,
}

impl Counts {
    pub(super) fn of(judgement: &Judgement) -> Self {
        Self {
            pass: judgement.count(Outcome::Pass),
            fail: judgement.count(Outcome::Fail),
            inconclusive: judgement.count(Outcome::Inconclusive),
            not_run: judgement.count(Outcome::NotRun),
        }
    }
}

/// One verdict, ready to print.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "verdict")]
pub(super) struct VerdictView {
    /// One character that says how it ended without colour.
    pub mark: &'static str,
    /// `pass`, `fail`, `inconclusive` or `not_run`.
    #[schemars(with = "String")]
    pub outcome: Outcome,
    /// The measure, arm or step that it is about.
    pub subject: String,
    /// As the notebook writes it.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// The line of the notebook.
    pub line: usize,
    /// The file that shows it, relative to the report.
    pub evidence: Option<String>,
    /// The node that came closest to a pattern.
    pub nearest: Option<String>,
    /// The plan's node lines, where a pattern did not hold.
    pub tree: Option<String>,
    /// What to look at next.
    pub next: Option<String>,
    /// The anchor of its step, where that has one.
    pub anchor: Option<String>,
}

pub(super) fn verdict_view(verdict: &Verdict) -> VerdictView {
    VerdictView {
        mark: mark(verdict.outcome),
        outcome: verdict.outcome,
        subject: verdict.subject.clone(),
        expected: verdict.expected.clone(),
        seen: verdict.seen.clone(),
        line: verdict.line,
        evidence: verdict.evidence.clone(),
        nearest: verdict.nearest.clone(),
        tree: verdict.tree.clone(),
        next: verdict.next.clone(),
        anchor: None,
    }
}

/// One character that says how a verdict ended without colour.
pub(super) fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "✓",
        Outcome::Fail => "✗",
        Outcome::Inconclusive => "?",
        Outcome::NotRun => "–",
    }
}
