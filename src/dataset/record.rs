//! What is known of a build. It stands in the comment that marks the template database, so that it is written in one stroke
//! with the build's end and goes wherever the database goes.

use serde::{Deserialize, Serialize};

use crate::notebook::Values;
use crate::server::{self, Marks, Server, ServerError};

use super::Fingerprint;

/// The state of a dataset at the end of its build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The dataset's name.
    pub dataset: String,
    /// Its parameters.
    pub params: Values,
    /// SHA-256 of what defines it: statements, files, parameters, pinned statistics.
    pub definition: String,
    /// SHA-256 of that and of what the server is: what a cached build depends on.
    pub cache_key: String,
    /// When the build ended, UTC.
    pub built: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether its statistics were restored from a pin.
    pub pinned: bool,
    /// What its tables hold, by name.
    pub tables: Vec<TableRecord>,
    /// Its statistics and files.
    pub fingerprint: Fingerprint,
}

/// One table at the end of the build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRecord {
    /// Schema and name, quoted where SQL wants it.
    pub name: String,
    /// Rows.
    pub rows: i64,
    /// A checksum over the rows, whatever their order: the sum of each row's hash.
    pub checksum: String,
}

/// Where the record stands among the marks of the database.
const KEY: &str = "planbook.dataset";

impl Record {
    /// Writes the record into the marks of its database.
    pub(super) fn write(&self, server: &Server, database: &str) -> Result<(), ServerError> {
        let json = serde_json::to_string(self).unwrap_or_default();
        server.note_on_database(database, &[(KEY, &json), (server::HOLDS, &self.title())])
    }

    /// `events (rows=200000)`.
    fn title(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if params.is_empty() {
            return self.dataset.clone();
        }
        format!("{} ({})", self.dataset, params.join(", "))
    }

    /// Reads the record from the marks of a database; none where there is none that this version knows.
    pub(super) fn read(marks: &Marks) -> Option<Self> {
        serde_json::from_str(marks.get(KEY)?).ok()
    }
}
