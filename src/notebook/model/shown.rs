//! What a notebook shows: tables, plans, and the subjects that they name.

use crate::metric::Metric;
use crate::notebook::point::Point;

/// A `table` step.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names the CSV.
    pub id: String,
    /// What stands above it.
    pub title: Option<String>,
    /// Measures, all their arms, in order; or single arms.
    pub of: Vec<Subject>,
    /// Columns after the name.
    pub columns: Vec<Column>,
}

/// A `plan` step.
#[derive(Debug, Clone)]
pub struct PlanStep {
    /// What stands above it.
    pub title: Option<String>,
    /// Whose plans: one, or two, of which the first is the old one.
    pub of: Vec<Planned>,
}

/// What has one plan: a measure without arms, an arm, or a point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The measure or sweep, and the arm.
    pub subject: Subject,
    /// The point of a sweep.
    pub point: Option<Point>,
}

/// A measure or one of its arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The measure's id.
    pub measure: String,
    /// One arm alone.
    pub arm: Option<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// The node that the planner chose, as EXPLAIN prints it.
    Plan,
    /// A number that a `check` names, in the rows of the arms that it is made of.
    Number(String),
    /// A metric.
    Metric(Metric),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.measure)?;
        self.arm.as_ref().map_or(Ok(()), |arm| write!(f, ".{arm}"))
    }
}
