//! What can go wrong on a connection, and whose fault it is.

use std::fmt;
use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorField, ErrorFields};

use crate::plan::PlanError;
use crate::sql::SplitError;

/// An error that the server reported, with all it said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SqlError {
    /// The message.
    pub message: String,
    /// The five characters of the SQLSTATE; empty where the error is not the server's.
    pub sqlstate: String,
    /// More about it.
    pub detail: Option<String>,
    /// What the server suggests.
    pub hint: Option<String>,
    /// Where it points in `statement`: characters from 1.
    pub position: Option<usize>,
    /// The statement that a function ran, where the error is in that one.
    pub internal_query: Option<String>,
    /// Where it points in `internal_query`: characters from 1.
    pub internal_position: Option<usize>,
    /// The call stack of functions, as the server tells it.
    pub context: Option<String>,
    /// The statement that was run.
    pub statement: String,
}

impl SqlError {
    /// Reads the fields of an error message. What cannot be read is left out.
    pub(super) fn read(fields: &mut ErrorFields<'_>, statement: &str) -> Self {
        let mut error = Self { statement: statement.to_owned(), ..Self::default() };
        while let Ok(Some(field)) = fields.next() {
            error.take(&field);
        }
        error
    }

    fn take(&mut self, field: &ErrorField<'_>) {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'M' => self.message = text(),
            b'C' => self.sqlstate = text(),
            b'D' => self.detail = Some(text()),
            b'H' => self.hint = Some(text()),
            b'P' => self.position = text().parse().ok(),
            b'q' => self.internal_query = Some(text()),
            b'p' => self.internal_position = text().parse().ok(),
            b'W' => self.context = Some(text()),
            _ => {}
        }
    }

    /// The error as one of `statement`, which was sent behind `prefix`.
    pub(super) fn behind(mut self, prefix: &str, statement: &str) -> Self {
        let length = prefix.chars().count();
        self.position = self.position.and_then(|position| position.checked_sub(length)).filter(|at| *at > 0);
        statement.clone_into(&mut self.statement);
        self
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.sqlstate.is_empty() {
            write!(f, " ({})", self.sqlstate)?;
        }
        Ok(())
    }
}

/// Why a session could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The server reported an error.
    #[error("{0}")]
    Sql(Box<SqlError>),
    /// The server did not let us in.
    #[error("the server refuses the connection: {0}")]
    Refused(Box<SqlError>),
    /// There is no connection, or there is none any more.
    #[error("{what}: {source}")]
    Connection {
        /// What was going on.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The connection cannot be encrypted as asked.
    #[error("no encrypted connection: {0}")]
    Tls(String),
    /// The statement cannot be sent (it holds a zero byte, say).
    #[error("the statement cannot be sent: {0}")]
    Unsendable(String),
    /// The text is no sequence of statements.
    #[error("{0}")]
    Split(#[from] SplitError),
    /// One statement was expected.
    #[error("one statement is expected here and {count} came: run them one at a time")]
    Statements {
        /// How many there are.
        count: usize,
    },
    /// A COPY that waits for rows of the client.
    #[error("COPY FROM STDIN waits for rows that nothing sends here: INSERT them, or COPY from a file")]
    NoCopyData,
    /// One value was expected.
    #[error("one row of one column is expected and {rows} rows of {columns} columns came")]
    NotScalar {
        /// Rows that came.
        rows: usize,
        /// Columns of each.
        columns: usize,
    },
    /// A whole number that 64 bits do not hold.
    #[error("{0} does not fit into 64 bits and would be rounded: cast it to text, or to double precision")]
    TooLarge(String),
    /// A setting did not take.
    #[error("the setting {name} was asked to be `{asked}` and is {in_force}")]
    Setting {
        /// The setting.
        name: String,
        /// The value asked for.
        asked: String,
        /// What is in force instead, in words.
        in_force: String,
    },
    /// An EXPLAIN option that this server is too old for.
    #[error("EXPLAIN's {option} needs PostgreSQL {needs} and this server is {has}")]
    TooOld {
        /// The option.
        option: &'static str,
        /// The first major version that has it.
        needs: u32,
        /// The server's major version.
        has: u32,
    },
    /// An EXPLAIN whose answer is not what was asked for.
    #[error("the plan was not captured: {0}")]
    Capture(String),
    /// A plan that cannot be read.
    #[error("the server's plan cannot be read: {0}")]
    Plan(#[from] PlanError),
    /// Timed executions would be instrumented and this role may not change that.
    #[error(
        "auto_explain.log_min_duration is {0} on this server and this role may not turn it off: every timing \
         would be that of an instrumented execution"
    )]
    Instrumented(String),
    /// The timing was stopped from outside.
    #[error("interrupted")]
    Interrupted,
}

impl SessionError {
    pub(super) fn connecting(source: io::Error) -> Self {
        Self::Connection { what: "the server does not answer", source }
    }

    pub(super) fn lost(source: io::Error) -> Self {
        Self::Connection { what: "the connection to the server is lost", source }
    }

    pub(super) fn garbled(source: io::Error) -> Self {
        Self::Connection { what: "the server's answer makes no sense", source }
    }

    /// What the server reported, where it did.
    #[must_use]
    pub fn sql(&self) -> Option<&SqlError> {
        match self {
            Self::Sql(error) | Self::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the environment is at fault and not the statement: a connection that failed or was lost, and
    /// SQLSTATE classes 08, 53, 57 (save a cancelled query, 57014) and 58 (save a missing file, 58P01).
    #[must_use]
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Refused(_) | Self::Tls(_) => true,
            Self::Sql(error) => {
                let state = error.sqlstate.as_str();
                !matches!(state, "57014" | "58P01")
                    && matches!(state.get(..2), Some("08" | "53" | "57" | "58"))
            }
            _ => false,
        }
    }

    /// Whether the role is not allowed to do it.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.sql().is_some_and(|error| error.sqlstate == "42501")
    }

    /// Whether the work was cancelled or interrupted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Sql(error) => error.sqlstate == "57014",
            Self::Interrupted => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_told_from_the_statement() {
        for (state, environment) in [
            ("08006", true),
            ("53100", true),
            ("53300", true),
            ("57P01", true),
            ("57014", false),
            ("58030", true),
            ("58P01", false),
            ("42601", false),
            ("22012", false),
            ("", false),
        ] {
            let error = SqlError { sqlstate: state.to_owned(), ..SqlError::default() };
            assert_eq!(SessionError::Sql(Box::new(error)).is_environment(), environment, "{state}");
        }
        assert!(SessionError::lost(io::ErrorKind::BrokenPipe.into()).is_environment());
    }

    #[test]
    fn a_position_is_moved_to_the_statement_without_its_prefix() {
        let at = |position| {
            let error = SqlError { position: Some(position), ..SqlError::default() };
            error.behind("EXPLAIN ", "SELECT x").position
        };
        assert_eq!(at(16), Some(8));
        assert_eq!(at(9), Some(1));
        assert_eq!(at(8), None);
        assert_eq!(at(3), None);
    }
}
