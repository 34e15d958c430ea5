//! A notebook as it is written. Private and strict: what these types do not name is an unknown key.
//!
//! Leaves are the numbers of their nodes: the text and the place are looked up in the tree when the model is
//! made. The JSON Schema comes from these same types.

mod leaf;
mod sweep;

use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use leaf::{
    Any, Either, Entries, Expect, Expr, Name, OneOrMany, PATTERN_KEYS, Sql, Text, Value, Whole,
};
pub(super) use sweep::{Crossing, Range, Sweep, X};

/// A Planbook notebook: an ordered list of steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a notebook")]
#[schemars(rename = "Notebook")]
pub(super) struct Notebook {
    /// The version of the language: 1.
    #[schemars(required)]
    pub(super) planbook: Option<Whole>,
    /// What the reader learns, in one sentence.
    #[schemars(required)]
    pub(super) title: Option<Text>,
    /// Two or three sentences for lists of notebooks.
    pub(super) summary: Option<Text>,
    /// Words to find it by.
    pub(super) tags: Option<Vec<Text>>,
    /// The tables it starts from.
    pub(super) dataset: Option<DatasetUse>,
    /// Names with default values, whose type they keep.
    pub(super) params: Option<Entries<Value>>,
    /// Named sets of parameters, chosen with `--profile`.
    pub(super) profiles: Option<Entries<Entries<Value>>>,
    /// PostgreSQL settings of every step.
    pub(super) settings: Option<Entries<Value>>,
    /// What it asks of its server.
    pub(super) server: Option<Server>,
    /// What happens, in order.
    #[schemars(required, with = "Option<Vec<Step>>")]
    pub(super) steps: Option<Vec<Any>>,
}

/// What a notebook asks of its server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`server`")]
#[schemars(rename = "Server")]
pub(super) struct Server {
    /// A service of compose.yaml, such as `pg18`.
    pub(super) service: Option<Text>,
    /// Server flags over those of compose.yaml; they hold from the server's start.
    pub(super) settings: Option<Entries<Value>>,
    /// Memory for the container, such as `8gb`.
    pub(super) memory: Option<Text>,
    /// `true`: a server of its own, thrown away afterwards. Statements that outlive a database are allowed then.
    pub(super) fresh: Option<Text>,
}

/// A file with a dataset, or statements that build one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`dataset`")]
#[schemars(rename = "DatasetUse")]
pub(super) struct DatasetUse {
    /// A dataset file, relative to the notebook.
    pub(super) file: Option<Text>,
    /// Values for the file's parameters.
    pub(super) with: Option<Entries<Value>>,
    /// Statements that build the tables, instead of a file.
    pub(super) sql: Option<OneOrMany<Sql>>,
    /// Queries that must return true once the tables are built.
    pub(super) verify: Option<OneOrMany<Sql>>,
}

/// A dataset: tables built once, from which every run starts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a dataset")]
#[schemars(rename = "Dataset")]
pub(super) struct Dataset {
    /// The version of the language: 1.
    #[serde(rename = "planbook-dataset")]
    #[schemars(required)]
    pub(super) version: Option<Whole>,
    /// What it holds, in a sentence or two.
    pub(super) summary: Option<Text>,
    /// Names with default values, whose type they keep.
    pub(super) params: Option<Entries<Value>>,
    /// Statements that build the tables, in order.
    pub(super) sql: Option<OneOrMany<Sql>>,
    /// Files of statements, relative to this one, run as they stand there.
    pub(super) files: Option<OneOrMany<Text>>,
    /// Rows from files.
    pub(super) copy: Option<OneOrMany<CopyFrom>>,
    /// Queries that must return true once the tables are built.
    pub(super) verify: Option<OneOrMany<Sql>>,
    /// `sampled` (the default) by ANALYZE, or `pinned`: those that `planbook pin` wrote.
    pub(super) statistics: Option<Text>,
}

/// Rows of one table from a file, by COPY.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`copy`")]
#[schemars(rename = "Copy")]
pub(super) struct CopyFrom {
    /// The table.
    pub(super) table: Name,
    /// Its columns in the order of the file; all of them when absent.
    pub(super) columns: Option<OneOrMany<Name>>,
    /// The file, relative to this one.
    pub(super) from: Text,
    /// `csv`, `text` or `binary`; by the file's ending when absent.
    pub(super) format: Option<Text>,
    /// Whether the first line names the columns (off).
    pub(super) header: Option<Text>,
    /// What separates the columns.
    pub(super) delimiter: Option<Text>,
    /// What stands for NULL.
    pub(super) null: Option<Text>,
}

/// One step: a mapping with exactly one key, which names its kind.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename = "a step", rename_all = "lowercase")]
#[schemars(rename = "Step")]
pub(super) enum Step {
    /// Markdown for the report, a template over everything that was measured.
    Text(Text),
    /// Names bound to the result of a query or an expression.
    Let(Entries<Binding>),
    /// Statements, separated by semicolons, each in its own transaction.
    Sql(Sql),
    /// ANALYZE of the named tables.
    Analyze(OneOrMany<Name>),
    /// VACUUM of the named tables, never with ANALYZE.
    Vacuum(Either<Vacuum, OneOrMany<Name>>),
    /// One query under one or more arms: its plan, then its time.
    Measure(Box<Measure>),
    /// A measure repeated over the values of parameters, with a search for the point where two arms cross.
    Sweep(Box<Sweep>),
    /// Another connection, by name, that holds a snapshot or a lock while the steps between go on.
    Session(Session),
    /// One statement that changes something, timed on fresh clones, with the WAL that it writes.
    Time(Box<Time>),
    /// How large relations are on disk.
    Storage(Storage),
    /// Whether queries or arms return the same rows.
    Compare(Compare),
    /// Claims that must hold, and named numbers.
    Check(OneOrMany<Either<Entries<Expr>, Expr>>),
    /// A table of measures in the report.
    Table(Table),
    /// A plan in the report, or two side by side with what changed.
    Plan(PlanStep),
    /// A figure in the report.
    Plot(Plot),
}

/// Where the value of a name comes from: one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a name of `let`")]
#[schemars(rename = "Binding")]
pub(super) struct Binding {
    /// A query with one row and one column.
    pub(super) sql: Option<Sql>,
    /// An expression over parameters and earlier names.
    pub(super) expr: Option<Expr>,
}

/// VACUUM with options.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`vacuum`")]
#[schemars(rename = "Vacuum")]
pub(super) struct Vacuum {
    /// One table.
    pub(super) table: Option<Name>,
    /// Several tables, one VACUUM each.
    pub(super) tables: Option<OneOrMany<Name>>,
    /// Options of VACUUM, such as `INDEX_CLEANUP: on`.
    pub(super) options: Option<Entries<Value>>,
    /// `complete` (the default) or `incomplete`: whether the visibility map must cover the table afterwards.
    pub(super) expect: Option<Text>,
}

/// One query under one or more arms.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a measure")]
#[schemars(rename = "Measure")]
pub(super) struct Measure {
    /// Its name in claims, tables and files.
    pub(super) id: Name,
    /// What a reader sees instead of the id.
    pub(super) label: Option<Text>,
    /// The query: one statement that reads.
    pub(super) query: Option<Sql>,
    /// Another measure, whose query, settings, arms, repetitions and EXPLAIN options this one takes over.
    pub(super) like: Option<Name>,
    /// Named conditions, which take turns.
    pub(super) arms: Option<Entries<Arm>>,
    /// PostgreSQL settings of all arms.
    pub(super) settings: Option<Entries<Value>>,
    /// Steps that prepare every arm, each in a clone of the database that it has to itself.
    pub(super) setup: Option<OneOrMany<SetupStep>>,
    /// `arm`: every arm gets a clone of the database to itself, also without a `setup`.
    pub(super) fresh: Option<Text>,
    /// Timed executions per arm (20).
    pub(super) reps: Option<Whole>,
    /// Turns that they are spread over (10).
    pub(super) turns: Option<Whole>,
    /// The budget never cuts below this many (5).
    pub(super) min_reps: Option<Whole>,
    /// Time for the timed executions of each arm (10s).
    pub(super) budget: Option<Text>,
    /// Options of EXPLAIN.
    pub(super) explain: Option<Explain>,
    /// What must hold for every arm.
    pub(super) expect: Option<Expect>,
}

/// One condition of a measure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "an arm")]
#[schemars(rename = "Arm")]
pub(super) struct Arm {
    /// What a reader sees instead of the id.
    pub(super) label: Option<Text>,
    /// A query of its own.
    pub(super) query: Option<Sql>,
    /// PostgreSQL settings of this arm.
    pub(super) settings: Option<Entries<Value>>,
    /// DROP INDEX and ALTER in a transaction that is rolled back after each turn, to hide an index for this arm alone.
    pub(super) within: Option<Sql>,
    /// Steps that prepare this arm, in a clone of the database that it has to itself.
    pub(super) setup: Option<OneOrMany<SetupStep>>,
    /// What must hold for this arm alone.
    pub(super) expect: Option<Expect>,
}

/// One step that prepares an arm: a mapping with exactly one key, which names its kind.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename = "a step of `setup`", rename_all = "lowercase")]
#[schemars(rename = "SetupStep")]
pub(super) enum SetupStep {
    /// Statements, separated by semicolons, each in its own transaction.
    Sql(Sql),
    /// ANALYZE of the named tables.
    Analyze(OneOrMany<Name>),
    /// VACUUM of the named tables, never with ANALYZE.
    Vacuum(Either<Vacuum, OneOrMany<Name>>),
}

/// Another connection. It is opened when first named, and closed by `end`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`session`")]
#[schemars(rename = "Session")]
pub(super) struct Session {
    /// Its name.
    pub(super) name: Name,
    /// Begins a transaction: `read committed`, `repeatable read` or `serializable`.
    pub(super) begin: Option<Text>,
    /// Statements that it executes, in its transaction where one is open.
    pub(super) sql: Option<Sql>,
    /// Ends the transaction, by `commit` or `rollback`, and closes the connection.
    pub(super) end: Option<Text>,
}

/// One statement that changes something, timed on clones that are thrown away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`time`")]
#[schemars(rename = "Time")]
pub(super) struct Time {
    /// Its name in claims, tables and files.
    pub(super) id: Name,
    /// What a reader sees instead of the id.
    pub(super) label: Option<Text>,
    /// The statement: one that changes rows, tables or indexes.
    pub(super) sql: Option<Sql>,
    /// Named conditions, which take turns.
    pub(super) arms: Option<Entries<TimeArm>>,
    /// PostgreSQL settings of all arms.
    pub(super) settings: Option<Entries<Value>>,
    /// Steps that prepare every arm.
    pub(super) setup: Option<OneOrMany<SetupStep>>,
    /// A query executed once, untimed, before the CHECKPOINT: it brings the tables into memory.
    pub(super) warm: Option<Sql>,
    /// Relations whose sizes are taken before and after.
    pub(super) of: Option<OneOrMany<Name>>,
    /// Timed executions per arm, each on a clone of its own (5).
    pub(super) reps: Option<Whole>,
}

/// One condition of a `time` step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "an arm of `time`")]
#[schemars(rename = "TimeArm")]
pub(super) struct TimeArm {
    /// What a reader sees instead of the id.
    pub(super) label: Option<Text>,
    /// A statement of its own.
    pub(super) sql: Option<Sql>,
    /// PostgreSQL settings of this arm.
    pub(super) settings: Option<Entries<Value>>,
    /// Steps that prepare this arm.
    pub(super) setup: Option<OneOrMany<SetupStep>>,
}

/// How large relations are on disk: heap, TOAST and each index apart.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`storage`")]
#[schemars(rename = "Storage")]
pub(super) struct Storage {
    /// Its name in claims, tables and texts, as `id.relation.heap_bytes`.
    pub(super) id: Name,
    /// What stands above it.
    pub(super) title: Option<Text>,
    /// Tables, materialised views or indexes.
    pub(super) of: OneOrMany<Name>,
}

/// Whether queries or arms return the same rows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`compare`")]
#[schemars(rename = "Compare")]
pub(super) struct Compare {
    /// Measures, with all their arms, or single arms as `measure.arm`; each is executed again under its conditions.
    pub(super) of: Option<OneOrMany<Text>>,
    /// Queries, instead of measures.
    pub(super) queries: Option<OneOrMany<Sql>>,
    /// How far floating-point values may differ, as a share of the larger one (0).
    pub(super) tolerance: Option<Text>,
    /// Whether the order of the rows counts (off).
    pub(super) ordered: Option<Text>,
    /// Whether no rows on all sides are a pass (off).
    pub(super) empty: Option<Text>,
}

/// Options of EXPLAIN, each `on` or `off`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "`explain`")]
#[schemars(rename = "Explain")]
pub(super) struct Explain {
    /// TIMING (on)
    pub(super) timing: Option<Text>,
    /// VERBOSE (off)
    pub(super) verbose: Option<Text>,
    /// WAL (on)
    pub(super) wal: Option<Text>,
}

/// A plan as a tree in the report, or two side by side with what changed between them marked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a plan")]
#[schemars(rename = "Plan")]
pub(super) struct PlanStep {
    /// What stands above it.
    pub(super) title: Option<Text>,
    /// One or two: a measure without arms, an arm as `measure.arm`, or a point as `sweep.arm.at(n=50)`.
    pub(super) of: OneOrMany<Text>,
}

/// A table of measures in the report, and a CSV of the same name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a table")]
#[schemars(rename = "Table")]
pub(super) struct Table {
    /// Names the CSV.
    pub(super) id: Name,
    /// What stands above it.
    pub(super) title: Option<Text>,
    /// Measures, with all their arms, or single arms as `measure.arm`.
    pub(super) of: OneOrMany<Text>,
    /// `plan` and metrics.
    pub(super) columns: OneOrMany<Text>,
}

/// A figure in the report, and an SVG and a PNG of the same name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "a plot")]
#[schemars(rename = "Plot")]
pub(super) struct Plot {
    /// Names the files.
    pub(super) id: Name,
    /// `distribution`, `sweep`, `bars` or `timeline`.
    pub(super) kind: Text,
    /// Measures, with all their arms, or single arms as `measure.arm`; one sweep for `sweep`.
    pub(super) of: OneOrMany<Text>,
    /// The metric that bars or the lines of a sweep show.
    pub(super) value: Option<Text>,
    /// What stands above it.
    pub(super) title: Option<Text>,
    /// Markdown below it, a template over everything that was measured.
    pub(super) caption: Option<Text>,
    /// The axis of the values: `auto` (the default), `linear` or `log`.
    pub(super) scale: Option<Text>,
    /// The axis of a sweep's parameter: `auto` (the default), `linear` or `log`.
    pub(super) x_scale: Option<Text>,
}
