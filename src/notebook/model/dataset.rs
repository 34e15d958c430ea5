//! What a notebook starts from.

use std::path::PathBuf;

use crate::notebook::source::{Place, Source};
use crate::notebook::value::{Template, Values};

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
