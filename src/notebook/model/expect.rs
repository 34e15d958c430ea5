//! What a notebook expects and claims.

use crate::metric::Metric;
use crate::notebook::source::Place;
use crate::notebook::value::Template;
use crate::plan::{Comparison, Pattern};
use crate::template::Scalar;

/// One thing that a capture must satisfy. Each becomes one verdict.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// What must hold.
    pub what: Expected,
    /// All of these must be true, else the expectation does not apply.
    pub when: Vec<Condition>,
    /// As written, e.g. `heap_fetches: 0` or `never: Seq Scan on orders`.
    pub written: String,
    /// Where it stands.
    pub at: Place,
}

/// The kinds of expectations.
#[derive(Debug, Clone)]
pub enum Expected {
    /// The pattern occurs (one per entry of `plan`).
    Plan(Pattern),
    /// At least one of them occurs.
    Any(Vec<Pattern>),
    /// The pattern does not occur.
    Never(Pattern),
    /// The metric compares so.
    Metric(Metric, Comparison),
}

/// One condition of `when`.
#[derive(Debug, Clone)]
pub enum Condition {
    /// The server's major version.
    Version(Comparison),
    /// The profile in force; `default` for none.
    Profile(String),
    /// A numeric parameter compares so.
    Parameter(String, Comparison),
    /// A parameter has this value.
    Value(String, Scalar),
}

/// An item of `check`.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The name, where the item names a number instead of claiming something.
    pub name: Option<String>,
    /// The expression.
    pub expr: Template,
}
