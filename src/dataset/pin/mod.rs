//! Pinned statistics: what one ANALYZE found, kept in a file beside the dataset's and restored after every build.
//!
//! ANALYZE samples at random, so two builds of the same rows plan from different numbers. A pin is for one set of
//! parameters; the file holds one for each set that was pinned. Numbers are kept as the server prints them, so that
//! they come back bit for bit.

mod read;
mod restore;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::notebook::{Dataset, Values};
use crate::session::Session;

use super::DatasetError;

/// The version of the file's form.
const FORMAT: u32 = 1;

/// The statistics of one dataset with one set of parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pin {
    #[serde(skip)]
    path: PathBuf,
    #[serde(flatten)]
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// The parameters, name and value as text.
    params: Vec<(String, String)>,
    /// The server that found them, such as 150018.
    version_num: u32,
    /// In bytes: pages of another size hold other numbers of rows.
    block_size: String,
    relations: Vec<Relation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extended: Vec<Extended>,
}

/// A table or an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Relation {
    /// Schema and name, quoted where SQL wants it.
    name: String,
    /// As in pg_class.
    kind: String,
    /// The size of its file in blocks. The planner scales every estimate by it.
    blocks: i64,
    pages: i64,
    tuples: String,
    /// The columns and their types, in order.
    types: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Column>,
}

/// One row of pg_statistic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Column {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    inherited: bool,
    null_frac: String,
    width: String,
    distinct: String,
    slots: Vec<Slot>,
}

/// One kind of statistics of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Slot {
    /// PostgreSQL's number for the kind.
    kind: i64,
    operator: String,
    collation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numbers: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<String>,
}

/// Extended statistics, as the server stores them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Extended {
    name: String,
    /// `stxdndistinct`, `stxddependencies` and `stxdmcv`, in hexadecimal.
    data: Vec<Option<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "planbook-statistics")]
    format: u32,
    dataset: String,
    pins: Vec<Content>,
}

impl Pin {
    /// The pin of the dataset's parameters.
    pub(super) fn read(dataset: &Dataset) -> Result<Self, DatasetError> {
        let path = dataset.pin_path();
        let params = texts(&dataset.params);
        let file = open(&path)?;
        let content = file.pins.into_iter().find(|pin| pin.params == params);
        let content = content.ok_or_else(|| {
            let given: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            misfit(&path, format!("it holds no pin for {}", given.join(", ")))
        })?;
        Ok(Self { path, content })
    }

    /// Takes the statistics of the session's database.
    ///
    /// # Errors
    /// Where the role may not see them, or they are of a kind that cannot be put back.
    pub fn take(session: &mut Session, dataset: &Dataset) -> Result<Self, DatasetError> {
        let path = dataset.pin_path();
        let content = read::content(session, &path, texts(&dataset.params))?;
        Ok(Self { path, content })
    }

    /// Puts them in force in the session's database, whose tables must be those that they were taken of.
    pub(super) fn restore(&self, session: &mut Session) -> Result<(), DatasetError> {
        restore::restore(session, &self.content, &self.path)
    }

    /// How many tables and indexes it covers.
    #[must_use]
    pub fn relations(&self) -> usize {
        self.content.relations.len()
    }
}

/// Writes the pin into the dataset's file, in place of an earlier one for the same parameters; where that is.
///
/// # Errors
/// When the file is another thing, or the disk refuses.
pub fn write_pin(pin: &Pin, dataset: &Dataset) -> Result<PathBuf, DatasetError> {
    let path = &pin.path;
    let mut file = if path.exists() {
        open(path)?
    } else {
        File { format: FORMAT, dataset: dataset.name.clone(), pins: Vec::new() }
    };
    file.pins.retain(|earlier| earlier.params != pin.content.params);
    file.pins.push(pin.content.clone());
    file.pins.sort_by(|one, other| one.params.cmp(&other.params));
    let mut json = serde_json::to_string_pretty(&file).map_err(|error| misfit(path, error.to_string()))?;
    json.push('\n');
    let new = path.with_extension("json.new");
    let written = fs::write(&new, json).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| misfit(path, error.to_string()))?;
    Ok(path.clone())
}

fn open(path: &Path) -> Result<File, DatasetError> {
    let text = fs::read_to_string(path).map_err(|error| misfit(path, error.to_string()))?;
    let file: File = serde_json::from_str(&text).map_err(|error| misfit(path, error.to_string()))?;
    if file.format != FORMAT {
        return Err(misfit(path, format!("its form {} is not known here", file.format)));
    }
    Ok(file)
}

fn texts(params: &Values) -> Vec<(String, String)> {
    params.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
}

fn misfit(path: &Path, problem: impl Into<String>) -> DatasetError {
    DatasetError::Pin { path: path.to_owned(), problem: problem.into() }
}
