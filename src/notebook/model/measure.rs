//! Measures: a query under one or more arms.

use std::time::Duration;

use super::{Expectation, Vacuum};
use crate::notebook::source::Place;
use crate::notebook::value::{Settings, Template};

/// A `measure` step, with `like` already resolved.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Its name in claims, tables and file names.
    pub id: String,
    /// What a reader sees instead of the id.
    pub label: Option<String>,
    /// Where the step stands.
    pub at: Place,
    /// At least one. A measure without `arms` has one, without an id.
    pub arms: Vec<Arm>,
    /// Timed executions per arm.
    pub reps: usize,
    /// Turns that the repetitions are spread over.
    pub turns: usize,
    /// The budget never cuts below this.
    pub min_reps: usize,
    /// Time that each arm's timed executions may take together.
    pub budget: Duration,
    /// EXPLAIN's options.
    pub explain: ExplainKeys,
}

/// EXPLAIN options that a measure may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainKeys {
    /// TIMING (on)
    pub timing: bool,
    /// VERBOSE (off)
    pub verbose: bool,
    /// WAL (on)
    pub wal: bool,
}

/// One condition of a measure.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Absent for the only arm of a measure without `arms`.
    pub id: Option<String>,
    /// What a reader sees instead of the id.
    pub label: Option<String>,
    /// The query, one statement.
    pub query: Template,
    /// Settings of the notebook, the measure and the arm together.
    pub settings: Settings,
    /// DROP INDEX and ALTER statements, executed before each turn in a transaction that is rolled back after it.
    pub within: Option<Template>,
    /// What prepares the arm's own clone, in order: the measure's steps, then the arm's.
    pub setup: Vec<SetupStep>,
    /// Whether the arm has a clone of the database to itself. Always so where there is a `setup`.
    pub fresh: bool,
    /// What must hold for the capture: the measure's expectations, then the arm's.
    pub expect: Vec<Expectation>,
}

/// A step that prepares an arm.
#[derive(Debug, Clone)]
pub struct SetupStep {
    /// Where it stands in the notebook.
    pub at: Place,
    /// What it does.
    pub kind: SetupKind,
}

/// The kinds of steps that prepare an arm.
#[derive(Debug, Clone)]
pub enum SetupKind {
    /// Statements run in order, each in its own transaction.
    Sql(Template),
    /// ANALYZE of the named tables.
    Analyze(Vec<String>),
    /// VACUUM of the named tables.
    Vacuum(Vacuum),
}
