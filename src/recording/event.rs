//! What a run says of itself, as it happens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dataset::Record;
use crate::notebook::{Point, Scalar};

use super::acts::{ComparedEvent, ExecutedEvent, StorageEvent};
use super::sweep::{EstimatesEvent, PointEvent, ProbeEvent, SweepEvent};
use super::{Manifest, RecordingError};

/// Someone who watches a run: the writer, the progress display.
pub trait Observer {
    /// Takes note of one event.
    ///
    /// # Errors
    /// When it cannot be stored. The run ends then: evidence that is not kept is no evidence.
    fn observe(&mut self, event: &Event) -> Result<(), RecordingError>;
}

/// One arm of one measure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ArmKey {
    /// The measure's id.
    pub measure: String,
    /// The arm's id; absent for the only arm of a measure without `arms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The point of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

impl ArmKey {
    /// The key of a measure's arm.
    #[must_use]
    pub fn new(measure: &str, arm: Option<&str>) -> Self {
        Self { measure: measure.to_owned(), arm: arm.map(str::to_owned), point: None }
    }

    /// The same arm at a point of a sweep.
    #[must_use]
    pub fn at(self, point: &Point) -> Self {
        Self { point: Some(point.clone()), ..self }
    }

    /// The path that expressions name it by: `crossover.index.at(n=10)`.
    #[must_use]
    pub fn path(&self) -> String {
        let point = self.point.as_ref().map(|point| format!(".at({})", point.arguments()));
        let arm = self.arm.as_ref().map(|arm| format!(".{arm}"));
        format!("{}{}{}", self.measure, arm.unwrap_or_default(), point.unwrap_or_default())
    }
}

/// As file names and messages have it: `measure`, `measure.arm`, `sweep.arm.n=10`.
impl fmt::Display for ArmKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.measure)?;
        self.arm.as_ref().map_or(Ok(()), |arm| write!(f, ".{arm}"))?;
        self.point.as_ref().map_or(Ok(()), |point| write!(f, ".{point}"))
    }
}

/// Something that happened. Those that are evidence are kept as one line of `events.jsonl`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The server is there and the first step is next. Not kept: the manifest says the same.
    #[serde(skip)]
    RunStarted(Box<Manifest>),
    /// One statement of the dataset was executed.
    Dataset(StatementEvent),
    /// A query under `verify` of the dataset returned true.
    Verified {
        /// The query.
        sql: String,
    },
    /// The dataset is there, built by this run or found as an earlier one left it.
    Built(Box<BuiltEvent>),
    /// An earlier run built the dataset, at this time. Not kept: what is known of it is.
    #[serde(skip)]
    Reused {
        /// UTC.
        built: String,
    },
    /// How far a long statement of the dataset is. Not kept.
    #[serde(skip)]
    Loading(LoadingEvent),
    /// Something about the run that its reader should know.
    Note {
        /// The step; 0 is the dataset.
        step: usize,
        /// In one sentence, without its full stop.
        text: String,
    },
    /// A step begins. Not kept.
    #[serde(skip)]
    StepStarted {
        /// Counted from 1; 0 is the dataset.
        step: usize,
        /// Its key.
        kind: String,
        /// What a reader would call it.
        label: String,
    },
    /// A statement is about to be sent. Not kept: what came of it is.
    #[serde(skip)]
    Sending {
        /// The step; 0 is the dataset.
        step: usize,
        /// The statement.
        sql: String,
    },
    /// A name was bound.
    Let(LetEvent),
    /// A statement of a `sql` or `analyze` step was executed.
    Statement(StatementEvent),
    /// A table was vacuumed and its visibility map looked at.
    Vacuum(VacuumEvent),
    /// The database was cloned for an arm.
    Clone {
        /// The step.
        step: usize,
        /// The arm.
        #[serde(flatten)]
        key: ArmKey,
        /// Wall time in milliseconds.
        duration_ms: f64,
    },
    /// The plan of an arm was captured.
    Capture(Box<CaptureEvent>),
    /// One timed execution ended. Kept in `samples.csv`.
    #[serde(skip)]
    Sample(SampleEvent),
    /// All timed executions of an arm ended.
    Timed(TimedEvent),
    /// A statement of a `time` step was executed on a clone of its own.
    Executed(Box<ExecutedEvent>),
    /// The sizes of one relation of a `storage` step.
    Storage(StorageEvent),
    /// Queries of a `compare` step were executed, and their rows compared.
    Compared(ComparedEvent),
    /// A fixed query, timed before and after a measure: how much the machine's speed changed during the run.
    Heartbeat {
        /// The measure's step.
        step: usize,
        /// Median latency before the measure, in milliseconds.
        before_ms: f64,
        /// Median latency after it, in milliseconds.
        after_ms: f64,
    },
    /// A sweep is about to start.
    Sweep(SweepEvent),
    /// A point of a sweep begins.
    Point(PointEvent),
    /// A metric of a sweep from SQL.
    Probe(ProbeEvent),
    /// What EXPLAIN alone said over the range of a sweep. Its rows are kept in a file of their own.
    Estimates(EstimatesEvent),
    /// Something failed; the steps after it are not run.
    Failure(Box<Failure>),
    /// A step ended.
    Step {
        /// Counted from 1; 0 is the dataset.
        step: usize,
        /// How it ended.
        outcome: StepOutcome,
        /// Wall time in milliseconds.
        duration_ms: f64,
    },
}

impl Event {
    /// The number of the step that it belongs to, where it belongs to one.
    pub(super) fn step_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::RunStarted(_)
            | Self::Verified { .. }
            | Self::Built(_)
            | Self::Reused { .. }
            | Self::Loading(_)
            | Self::Sample(_) => None,
            Self::Dataset(statement) | Self::Statement(statement) => Some(&mut statement.step),
            Self::Let(bound) => Some(&mut bound.step),
            Self::Vacuum(vacuum) => Some(&mut vacuum.step),
            Self::Capture(capture) => Some(&mut capture.step),
            Self::Timed(timed) => Some(&mut timed.step),
            Self::Executed(executed) => Some(&mut executed.step),
            Self::Storage(storage) => Some(&mut storage.step),
            Self::Compared(compared) => Some(&mut compared.step),
            Self::Sweep(sweep) => Some(&mut sweep.step),
            Self::Point(point) => Some(&mut point.step),
            Self::Probe(probe) => Some(&mut probe.step),
            Self::Estimates(estimates) => Some(&mut estimates.step),
            Self::Failure(failure) => Some(&mut failure.step),
            Self::StepStarted { step, .. }
            | Self::Sending { step, .. }
            | Self::Heartbeat { step, .. }
            | Self::Clone { step, .. }
            | Self::Note { step, .. }
            | Self::Step { step, .. } => Some(step),
        }
    }
}

/// A dataset that is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuiltEvent {
    /// Whether an earlier run had built it.
    pub reused: bool,
    /// Its definition, its tables and its fingerprint.
    #[serde(flatten)]
    pub record: Record,
}

/// How far a long statement is.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadingEvent {
    /// Done so far.
    pub done: u64,
    /// In all, as far as anybody knows.
    pub of: Option<u64>,
    /// What is counted: rows, blocks or bytes.
    pub unit: &'static str,
    /// Seconds left at the pace so far.
    pub left_s: Option<f64>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Everything it does was done. Says nothing of expectations.
    Done,
    /// It failed; a failure event tells why.
    Failed,
    /// An earlier step failed, or `--only` left it out.
    NotRun,
}

/// A name bound by `let`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LetEvent {
    /// The step.
    pub step: usize,
    /// The name.
    pub name: String,
    /// Its value.
    pub value: Scalar,
    /// The query it came from, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// A statement and what the server said of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementEvent {
    /// The step; 0 is the dataset.
    pub step: usize,
    /// The arm that it prepared, in that arm's own clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<ArmKey>,
    /// The named session that executed it, where it was not the notebook's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// As sent.
    pub sql: String,
    /// The command tag, e.g. `CREATE INDEX` or `INSERT 0 5`.
    pub tag: String,
    /// Wall time in milliseconds.
    pub duration_ms: f64,
    /// Warnings and notices of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// What a VACUUM left behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VacuumEvent {
    /// The step.
    pub step: usize,
    /// The arm that it prepared, in that arm's own clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<ArmKey>,
    /// The table.
    pub table: String,
    /// The statement as sent.
    pub sql: String,
    /// Pages of the table, by `pg_class`.
    pub pages: i64,
    /// Pages whose rows are all visible to everyone, by `pg_class`.
    pub all_visible: i64,
    /// Why pages are missing from the visibility map, where a cause is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What VACUUM told of its work (VERBOSE), and its warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account: Vec<String>,
    /// Wall time in milliseconds.
    pub duration_ms: f64,
}

impl VacuumEvent {
    /// Whether the visibility map is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.pages == self.all_visible
    }
}

pub use crate::session::CaptureWay;

/// The plan of one arm, captured until two captures agreed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaptureEvent {
    /// The step.
    pub step: usize,
    /// The arm.
    #[serde(flatten)]
    pub key: ArmKey,
    /// The query as sent.
    pub query: String,
    /// Settings asked for, all in force when the plan was captured.
    pub settings: BTreeMap<String, String>,
    /// Statements executed before, in the transaction that was rolled back after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// Whether it was captured and timed in transactions that were rolled back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rolled_back: bool,
    /// Whether the arm had a clone of the database to itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_clone: bool,
    /// Whether text and JSON are of one execution or of two.
    pub way: CaptureWay,
    /// How many captures were taken.
    pub taken: usize,
    /// Whether the last two agreed in shape and blocks.
    pub agreed: bool,
    /// Names in expectations that no relation bore when the plan was captured.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub missing: BTreeSet<String>,
    /// What to write instead of those names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advice: BTreeMap<String, String>,
    /// Partitions and children of the relations named in expectations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub families: BTreeMap<String, BTreeSet<String>>,
    /// Text and JSON of every capture in order; the last one counts. Kept as files, not in the line.
    #[serde(skip)]
    pub captures: Vec<(String, String)>,
}

/// One timed execution.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleEvent {
    /// The arm.
    pub key: ArmKey,
    /// The turn it belongs to, from 1.
    pub turn: usize,
    /// Counted from 1 within the arm.
    pub rep: usize,
    /// Latency as the client saw it, in milliseconds.
    pub latency_ms: f64,
    /// How many samples the arm will have if the budget does not cut them. For the progress display.
    pub of: usize,
}

/// The end of an arm's timed executions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedEvent {
    /// The step.
    pub step: usize,
    /// The arm.
    #[serde(flatten)]
    pub key: ArmKey,
    /// Samples that the notebook asked for.
    pub asked: usize,
    /// Samples taken; fewer when the budget ran out.
    pub taken: usize,
    /// The plan's shape before or after the timed executions, where it was not the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_plan: Option<String>,
}

/// A failure that ended the run's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step; 0 is the dataset.
    pub step: usize,
    /// What failed, in one line.
    pub message: String,
    /// The server's five-character code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// The server's detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The server's hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Planbook's own advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The statement as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Where the server pointed, in characters of the statement, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The file, as the user gave it, and the line of the statement in it.
    pub file: String,
    /// The line in that file.
    pub line: usize,
    /// The arm, where a measure failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ArmKey>,
}

impl Failure {
    /// A failure with a message and a place, and nothing from the server.
    #[must_use]
    pub fn new(step: usize, message: String, file: &str, line: usize) -> Self {
        Self {
            step,
            message,
            sqlstate: None,
            detail: None,
            hint: None,
            advice: None,
            statement: None,
            position: None,
            file: file.to_owned(),
            line,
            key: None,
        }
    }
}
