//! A valid notebook. What stands here has passed every check that needs no server.

mod sweep;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::metric::Metric;
use crate::plan::{Comparison, Pattern};

use super::point::Point;
use super::source::{Place, Source};

pub use sweep::{Axis, Crossing, Sweep, SweepPoint, X, XFormat};

pub use crate::template::Scalar;

/// Names and values in the order they were given.
pub type Values = Vec<(String, Scalar)>;

/// Settings by name, later ones already merged over earlier ones. Values are templates.
pub type Settings = BTreeMap<String, Template>;

/// Text that may hold `{{ … }}`, and where it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text as written.
    pub text: String,
    /// The place of its first character. In a `|` block this is the first content line.
    pub at: Place,
}

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

/// Where the tables come from.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The file's name without its ending; the notebook's name for an inline one.
    pub name: String,
    /// The file that defines it and where the notebook names it; the notebook itself for an inline one.
    pub path: PathBuf,
    /// The text of that file.
    pub source: Source,
    /// Parameters in force: the file's defaults, then `with`.
    pub params: Values,
    /// What builds it, in the order of the file.
    pub parts: Vec<Part>,
    /// Queries that must return true.
    pub verify: Vec<Template>,
    /// Where its statistics come from.
    pub statistics: Statistics,
}

/// One thing that builds a dataset.
#[derive(Debug, Clone)]
pub enum Part {
    /// Statements, templates over the dataset's parameters.
    Sql(Template),
    /// Statements in a file of their own, run as they stand there.
    File(DataFile),
    /// Rows from a file.
    Copy(CopyFrom),
}

impl Part {
    /// Where it stands in the dataset's file.
    #[must_use]
    pub fn at(&self) -> Place {
        match self {
            Self::Sql(template) => template.at,
            Self::File(file) => file.at,
            Self::Copy(copy) => copy.from.at,
        }
    }
}

/// A file that a dataset names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// As written, relative to the file that names it.
    pub written: String,
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of what it holds, in hexadecimal; empty where the notebook was read from a recording.
    pub hash: String,
    /// Where the dataset names it.
    pub at: Place,
}

/// An entry of `copy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyFrom {
    /// The table, and its columns in parentheses where they are named, as SQL.
    pub into: String,
    /// The rows.
    pub from: DataFile,
    /// COPY's options as SQL, such as `FORMAT csv, HEADER true`.
    pub options: String,
}

/// Where the planner's statistics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistics {
    /// ANALYZE, at the end of every build.
    Sampled,
    /// The file that `planbook pin` wrote, beside the dataset's.
    Pinned,
}

impl Dataset {
    /// The file that `planbook pin` writes: `events.stats.json` beside `events.yaml`.
    #[must_use]
    pub fn pin_path(&self) -> PathBuf {
        self.path.with_extension("stats.json")
    }

    /// The command that writes it for these parameters.
    #[must_use]
    pub fn pin_command(&self) -> String {
        let mut command = format!("planbook pin {}", self.path.display());
        for (name, value) in &self.params {
            command.push_str(&format!(" --set {name}={value}"));
        }
        command
    }
}
