//! Why a dataset cannot be built, or what was built cannot be used.

use std::io;
use std::path::PathBuf;

use crate::notebook::Place;
use crate::server::ServerError;
use crate::session::SessionError;
use crate::sql::SplitError;
use crate::template::TemplateError;

/// A dataset could not be built, reused or cloned.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The server refused a statement.
    #[error("a statement of the dataset failed")]
    Session {
        /// What it said.
        source: SessionError,
        /// Where the statement stands in the dataset's file.
        at: Place,
    },
    /// The server refused something that stands in no file.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A template could not be rendered.
    #[error("{source}")]
    Template {
        /// Why.
        source: TemplateError,
        /// Where the template stands.
        at: Place,
    },
    /// A text is not SQL.
    #[error("{source}")]
    Split {
        /// Why.
        source: SplitError,
        /// Where the text stands.
        at: Place,
    },
    /// A file that the dataset names.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
        /// Where the dataset names it.
        at: Place,
    },
    /// A query under `verify` did not return true.
    #[error("`verify` returned {got} for: {sql}")]
    Unverified {
        /// The query.
        sql: String,
        /// What came instead of true.
        got: String,
        /// Where it stands.
        at: Place,
    },
    /// Somebody is connected to a database that is to be copied.
    #[error("{} is connected to the database {database}, which cannot be copied meanwhile", by.join(", "))]
    InUse {
        /// The database.
        database: String,
        /// Processes, with what they call themselves.
        by: Vec<String>,
    },
    /// A database is not what was built.
    #[error(
        "the database {database} was altered while it was copied: {differences}{}",
        if *autovacuum { " (autovacuum is on here, and may have come to it)" } else { "" }
    )]
    Altered {
        /// The database.
        database: String,
        /// What differs.
        differences: String,
        /// Whether autovacuum is on.
        autovacuum: bool,
    },
    /// The pinned statistics cannot be used.
    #[error("the pinned statistics in {} do not fit: {problem}", path.display())]
    Pin {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// Whoever watches the build cannot go on.
    #[error("stopped")]
    Stopped,
}

impl DatasetError {
    /// An error of the server at a place of the dataset's file.
    pub(super) fn at(at: Place) -> impl Fn(SessionError) -> Self {
        move |source| Self::Session { source, at }
    }
}

impl From<SessionError> for DatasetError {
    fn from(error: SessionError) -> Self {
        Self::Server(error.into())
    }
}
