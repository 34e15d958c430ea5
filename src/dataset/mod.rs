//! Datasets: the tables that a notebook starts from, built in a database of their own.

use std::time::Instant;

use crate::notebook::{Dataset, Place, Values};
use crate::session::{Session, SessionError};
use crate::sql::{self, SplitError};
use crate::template::{self, Context, Scalar, TemplateError};

/// What a build reports while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Built {
    /// A statement is about to be sent. Loads take long: a display wants to know before.
    Sending(String),
    /// A statement was executed.
    Statement {
        /// As sent.
        sql: String,
        /// The command tag.
        tag: String,
        /// Wall time in milliseconds.
        duration_ms: f64,
    },
    /// A query under `verify` returned true.
    Verified(String),
}

/// A dataset could not be built.
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
    /// Whoever watches the build cannot go on.
    #[error("stopped")]
    Stopped,
}

/// Builds the dataset in the session's database, then makes its state the same for whoever comes next: statistics
/// from one ANALYZE of every table, hint bits set by a scan in a later transaction, dirty blocks written.
///
/// `watch` hears of every statement and returns false to stop the build.
///
/// # Errors
/// The first statement that fails, with its place in the dataset's file.
pub fn build(
    session: &mut Session,
    dataset: &Dataset,
    watch: &mut dyn FnMut(Built) -> bool,
) -> Result<(), DatasetError> {
    for template in &dataset.sql {
        let rendered = render(&template.text, &dataset.params, template.at)?;
        let statements = sql::split_statements(&rendered)
            .map_err(|source| DatasetError::Split { source, at: template.at })?;
        for statement in statements {
            send(session, &statement.text, template.at, watch)?;
        }
    }
    settle(session, dataset, watch)?;
    for template in &dataset.verify {
        verify(session, &render(&template.text, &dataset.params, template.at)?, template.at, watch)?;
    }
    Ok(())
}

fn render(text: &str, params: &Values, at: Place) -> Result<String, DatasetError> {
    let context = Context::new().with(params);
    template::render_sql(text, &context).map_err(|source| DatasetError::Template { source, at })
}

fn send(
    session: &mut Session,
    sql: &str,
    at: Place,
    watch: &mut dyn FnMut(Built) -> bool,
) -> Result<(), DatasetError> {
    if !watch(Built::Sending(sql.to_owned())) {
        return Err(DatasetError::Stopped);
    }
    let started = Instant::now();
    let execution = session.execute(sql).map_err(|source| DatasetError::Session { source, at })?;
    let duration_ms = started.elapsed().as_secs_f64() * 1e3;
    let done = Built::Statement { sql: sql.to_owned(), tag: execution.tag, duration_ms };
    if watch(done) { Ok(()) } else { Err(DatasetError::Stopped) }
}

/// Tables and materialised views of the database, by size of name: everything that holds rows.
const TABLES: &str = "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'm') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1";

fn settle(
    session: &mut Session,
    dataset: &Dataset,
    watch: &mut dyn FnMut(Built) -> bool,
) -> Result<(), DatasetError> {
    let at = dataset.sql.first().map(|template| template.at).unwrap_or_default();
    send(session, "ANALYZE", at, watch)?;
    let tables = session.query_rows(TABLES).map_err(|source| DatasetError::Session { source, at })?;
    for table in tables.into_iter().flatten().flatten() {
        send(session, &format!("SELECT count(*) FROM {table}"), at, watch)?;
    }
    send(session, "CHECKPOINT", at, watch)
}

fn verify(
    session: &mut Session,
    sql: &str,
    at: Place,
    watch: &mut dyn FnMut(Built) -> bool,
) -> Result<(), DatasetError> {
    let got = session.scalar(sql).map_err(|source| DatasetError::Session { source, at })?;
    if got != Some(Scalar::Boolean(true)) {
        let got = got.map_or_else(|| "NULL".to_owned(), |value| value.to_string());
        return Err(DatasetError::Unverified { sql: sql.to_owned(), got, at });
    }
    if watch(Built::Verified(sql.to_owned())) { Ok(()) } else { Err(DatasetError::Stopped) }
}
