//! A `sweep` as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::leaf::{Either, Entries, Expect, Expr, Name, OneOrMany, Sql, Text, Value, Whole};
use super::{Arm, Explain, SetupStep};

/// A measure repeated over the values of one or more parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a sweep")]
#[schemars(rename = "Sweep")]
pub(in super::super) struct Sweep {
    /// Its name in claims, tables and files.
    pub(in super::super) id: Name,
    /// What a reader sees instead of the id.
    pub(in super::super) label: Option<Text>,
    /// Parameters and their values: a list, `{from: …, to: …, step: …}` or `{log: [lo, hi], points: …}`. Two make a grid.
    pub(in super::super) over: Entries<Either<Range, OneOrMany<Value>>>,
    /// What stands on the axis, where it is not the parameter itself.
    pub(in super::super) x: Option<X>,
    /// The query: one statement that reads, a template over the swept parameters too.
    pub(in super::super) query: Option<Sql>,
    /// A measure or another sweep, whose query, settings, arms, repetitions and EXPLAIN options this one takes over.
    pub(in super::super) like: Option<Name>,
    /// Named conditions, which take turns at every point.
    pub(in super::super) arms: Option<Entries<Arm>>,
    /// PostgreSQL settings of all arms.
    pub(in super::super) settings: Option<Entries<Value>>,
    /// Steps that prepare a database for every point.
    pub(in super::super) setup: Option<OneOrMany<SetupStep>>,
    /// `point`: every point gets a clone of the database to itself; `arm`: every arm of every point does.
    pub(in super::super) fresh: Option<Text>,
    /// Timed executions per arm and point (20).
    pub(in super::super) reps: Option<Whole>,
    /// Turns that they are spread over (10).
    pub(in super::super) turns: Option<Whole>,
    /// The budget never cuts below this many (5).
    pub(in super::super) min_reps: Option<Whole>,
    /// Time for the timed executions of each arm at each point (10s).
    pub(in super::super) budget: Option<Text>,
    /// Options of EXPLAIN.
    pub(in super::super) explain: Option<Explain>,
    /// What must hold for every arm at every point.
    pub(in super::super) expect: Option<Expect>,
    /// Metrics from SQL: names with queries that return one number, executed for every arm at every point.
    pub(in super::super) probe: Option<Entries<Sql>>,
    /// The search for the point where two arms cross.
    pub(in super::super) crossing: Option<Crossing>,
}

/// A range of numbers: by `step`, or `points` of them, evenly spaced by their ratio (`log`) or by their difference.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a range")]
#[schemars(rename = "Range")]
pub(in super::super) struct Range {
    /// The first value.
    pub(in super::super) from: Option<Value>,
    /// The last value.
    pub(in super::super) to: Option<Value>,
    /// From one value to the next.
    pub(in super::super) step: Option<Value>,
    /// The first and the last value, both above 0.
    pub(in super::super) log: Option<OneOrMany<Value>>,
    /// How many values.
    pub(in super::super) points: Option<Whole>,
}

/// What stands on the axis of a sweep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`x`")]
#[schemars(rename = "X")]
pub(in super::super) struct X {
    /// What it is.
    pub(in super::super) label: Text,
    /// Its value, an expression over parameters, names of `let` and the swept parameters.
    pub(in super::super) expr: Expr,
    /// `number` (the default), `percent`, `bytes` or `ms`.
    pub(in super::super) format: Option<Text>,
}

/// The search for the point where two arms cross.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`crossing`")]
#[schemars(rename = "Crossing")]
pub(in super::super) struct Crossing {
    /// The two arms.
    pub(in super::super) of: OneOrMany<Name>,
    /// By what: `median` (the default), `blocks` or `cost`.
    pub(in super::super) metric: Option<Text>,
}
