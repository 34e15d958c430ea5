//! A valid notebook. What stands here has passed every check that needs no server.

mod actions;
mod dataset;
mod expect;
mod measure;
mod shown;
mod sweep;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::source::{Place, Source};

pub use super::figure::{AxisScale, Plot, PlotKind};
pub use super::value::{Settings, Template, Values};
pub use crate::template::Scalar;
pub use actions::{Compare, Ending, Isolation, SessionStep, Sides, Storage, TimeStep, Vacuum};
pub use dataset::{CopyFrom, DataFile, Dataset, Part, Statistics};
pub use expect::{Claim, Condition, Expectation, Expected};
pub use measure::{Arm, ExplainKeys, Measure, SetupKind, SetupStep};
pub use shown::{Column, PlanStep, Planned, Subject, Table};
pub use sweep::{Axis, Crossing, Sweep, SweepPoint, X, XFormat};

/// One notebook, ready to run.
#[derive(Debug, Clone)]
pub struct Notebook {
    /// The file's name without its ending: names the recording's folder.
    pub name: String,
    /// Where it was read.
    pub path: PathBuf,
    /// Its text.
    pub source: Source,
    /// `title`
    pub title: String,
    /// `summary`
    pub summary: Option<String>,
    /// `tags`
    pub tags: Vec<String>,
    /// The tables it starts from.
    pub dataset: Option<Dataset>,
    /// Parameters in force, in the order of the file: defaults, then the profile, then `--set`.
    pub params: Values,
    /// The profile asked for, if any.
    pub profile: Option<String>,
    /// What `--set` changed, as given.
    pub overrides: Vec<(String, String)>,
    /// The names of all profiles.
    pub profiles: Vec<String>,
    /// Session settings of every step.
    pub settings: Settings,
    /// What it asks of its server.
    pub server: ServerNeeds,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// What a notebook asks of its server, beyond compose.yaml.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerNeeds {
    /// A service of compose.yaml.
    pub service: Option<String>,
    /// Server flags.
    pub settings: BTreeMap<String, String>,
    /// Memory for the container, such as `8gb`.
    pub memory: Option<String>,
    /// Whether it wants a server of its own, thrown away afterwards.
    pub fresh: bool,
}

/// One entry of `steps`.
#[derive(Debug, Clone)]
pub struct Step {
    /// Counted from 1.
    pub number: usize,
    /// Where it stands in the notebook.
    pub at: Place,
    /// What it does.
    pub kind: StepKind,
}

/// The kinds of steps.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// Markdown for the report, evaluated when the report is rendered.
    Text(Template),
    /// Names bound at run time, in order.
    Let(Vec<Binding>),
    /// Statements run in order, each in its own transaction. One template that is split after it is rendered.
    Sql(Template),
    /// ANALYZE of the named tables.
    Analyze(Vec<String>),
    /// VACUUM of the named tables.
    Vacuum(Vacuum),
    /// A query under one or more arms.
    Measure(Measure),
    /// A measure over the values of parameters.
    Sweep(Box<Sweep>),
    /// Another connection begins, acts or ends.
    Session(SessionStep),
    /// A statement that changes something, timed on clones.
    Time(TimeStep),
    /// Sizes of relations.
    Storage(Storage),
    /// Whether queries return the same rows.
    Compare(Compare),
    /// Claims and named numbers.
    Check(Vec<Claim>),
    /// A table of measures in the report.
    Table(Table),
    /// A plan in the report, or two with what changed.
    Plan(PlanStep),
    /// A figure in the report.
    Plot(Plot),
}

impl StepKind {
    /// The key that names the kind in a notebook.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Let(_) => "let",
            Self::Sql(_) => "sql",
            Self::Analyze(_) => "analyze",
            Self::Vacuum(_) => "vacuum",
            Self::Measure(_) => "measure",
            Self::Sweep(_) => "sweep",
            Self::Session(_) => "session",
            Self::Time(_) => "time",
            Self::Storage(_) => "storage",
            Self::Compare(_) => "compare",
            Self::Check(_) => "check",
            Self::Table(_) => "table",
            Self::Plan(_) => "plan",
            Self::Plot(_) => "plot",
        }
    }
}

/// One name of a `let`.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The name, in the one namespace of the notebook.
    pub name: String,
    /// Where its value comes from.
    pub value: BindingValue,
}

/// Where the value of a `let` comes from.
#[derive(Debug, Clone)]
pub enum BindingValue {
    /// `{sql: …}`: one row, one column.
    Sql(Template),
    /// `{expr: …}`: an expression over parameters and earlier lets.
    Expr(Template),
}
