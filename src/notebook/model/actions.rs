//! What is done to tables beside measuring: VACUUM, sessions, timed statements, sizes, comparisons.

use super::{Arm, Subject};
use crate::notebook::source::Place;
use crate::notebook::value::Template;

/// A `vacuum` step.
#[derive(Debug, Clone)]
pub struct Vacuum {
    /// The tables, one VACUUM each.
    pub tables: Vec<String>,
    /// Options as written between the parentheses of VACUUM, e.g. `INDEX_CLEANUP` → `ON`. Never ANALYZE.
    pub options: Vec<(String, String)>,
    /// Whether the visibility map must be complete afterwards (`expect: complete`, the default), or must not be
    /// (`expect: incomplete`).
    pub complete: bool,
}

/// A `session` step.
#[derive(Debug, Clone)]
pub struct SessionStep {
    /// The connection's name.
    pub name: String,
    /// Begins a transaction of this isolation level.
    pub begin: Option<Isolation>,
    /// Statements, split after they are rendered.
    pub sql: Option<Template>,
    /// Ends the transaction and closes the connection.
    pub end: Option<Ending>,
}

/// Isolation levels of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// A snapshot per statement: none is held between them.
    ReadCommitted,
    /// One snapshot, taken by the first statement and held to the end.
    RepeatableRead,
    /// The same, with conflicts between transactions found.
    Serializable,
}

impl Isolation {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    /// As a notebook and, in capitals, SQL write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// COMMIT
    Commit,
    /// ROLLBACK
    Rollback,
}

/// A `time` step: one statement under one or more arms, each sample on a clone of its own.
#[derive(Debug, Clone)]
pub struct TimeStep {
    /// Its name in claims, tables and file names.
    pub id: String,
    /// What a reader sees instead of the id.
    pub label: Option<String>,
    /// Where the step stands.
    pub at: Place,
    /// At least one, each with its statement as `query`.
    pub arms: Vec<Arm>,
    /// Executed untimed before each sample.
    pub warm: Option<Template>,
    /// Relations whose sizes are taken before and after.
    pub of: Vec<String>,
    /// Samples per arm.
    pub reps: usize,
}

/// A `storage` step.
#[derive(Debug, Clone)]
pub struct Storage {
    /// Its name.
    pub id: String,
    /// What stands above it.
    pub title: Option<String>,
    /// The relations.
    pub of: Vec<String>,
}

/// A `compare` step.
#[derive(Debug, Clone)]
pub struct Compare {
    /// What is compared.
    pub sides: Sides,
    /// How far floating-point values may differ, as a share of the larger one.
    pub tolerance: f64,
    /// Whether the order of the rows counts.
    pub ordered: bool,
    /// Whether no rows on all sides are a pass.
    pub empty: bool,
}

/// What a `compare` step compares.
#[derive(Debug, Clone)]
pub enum Sides {
    /// Arms of measures that stand above, in order, each executed again under its own conditions.
    Arms(Vec<Subject>),
    /// Queries under the notebook's settings.
    Queries(Vec<Template>),
}
