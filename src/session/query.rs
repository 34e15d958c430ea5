//! Running one statement.

use std::collections::BTreeMap;
use std::time::Instant;

use fallible_iterator::FallibleIterator;
use postgres_protocol::Oid;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;

use super::{Session, SessionError, SqlError};
use crate::sql;

/// A notice that arrived while a statement ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The server's word for how serious it is: `NOTICE`, `WARNING`, ….
    pub severity: String,
    /// The message.
    pub message: String,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.severity, self.message)
    }
}

/// What came of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The command tag as the server gave it: `INSERT 0 5`, `CREATE INDEX`.
    pub tag: String,
    /// The rows that the tag counts, where it counts any.
    pub rows: Option<u64>,
    /// Milliseconds from sending the statement to the server's being ready again.
    pub duration_ms: f64,
    /// What the server remarked, in order.
    pub notices: Vec<Notice>,
}

/// The rows of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// For each column whether it holds floating-point numbers.
    pub floats: Vec<bool>,
    /// The rows in the server's text form; NULL is `None`.
    pub rows: Vec<Vec<Option<String>>>,
}

/// One row in the server's text form; NULL is `None`.
pub(super) type TextRow = Vec<Option<String>>;

/// Everything that one query string brought.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) types: Vec<Oid>,
    pub(super) rows: Vec<TextRow>,
    pub(super) tags: Vec<String>,
    pub(super) notices: Vec<Notice>,
}

impl Session {
    /// Runs one statement.
    ///
    /// # Errors
    /// What the server reports; [`SessionError::Statements`] where the text is not one statement, before
    /// anything runs.
    pub fn execute(&mut self, sql: &str) -> Result<Execution, SessionError> {
        one_statement(sql)?;
        let started = Instant::now();
        let reply = self.ask(sql)?;
        let duration_ms = milliseconds(started);
        let tag = reply.tags.into_iter().next().unwrap_or_default();
        let rows = tag.rsplit_once(' ').and_then(|(_, count)| count.parse().ok());
        Ok(Execution { tag, rows, duration_ms, notices: reply.notices })
    }

    /// The rows of one statement, in the server's text form; NULL is `None`.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub fn query_rows(&mut self, sql: &str) -> Result<Vec<TextRow>, SessionError> {
        one_statement(sql)?;
        Ok(self.ask(sql)?.rows)
    }

    /// The two columns of one statement's rows, as names and values; rows with a NULL are left out.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub fn query_pairs(&mut self, sql: &str) -> Result<BTreeMap<String, String>, SessionError> {
        let pair = |row: TextRow| {
            let mut cells = row.into_iter().flatten();
            Some((cells.next()?, cells.next()?))
        };
        Ok(self.query_rows(sql)?.into_iter().filter_map(pair).collect())
    }

    /// The rows of one statement, and which of its columns hold floating-point numbers.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub fn answer(&mut self, sql: &str) -> Result<Answer, SessionError> {
        /// `float4` and `float8`, by the OIDs that `pg_type.dat` fixes.
        const FLOATS: [Oid; 2] = [700, 701];
        one_statement(sql)?;
        let reply = self.ask(sql)?;
        let floats = reply.types.iter().map(|kind| FLOATS.contains(kind)).collect();
        Ok(Answer { floats, rows: reply.rows })
    }

    /// Sends a query string and takes in all that comes of it. An error of the server is returned once it is
    /// ready again, so that the session can go on.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Reply, SessionError> {
        self.wire.encode(|out| frontend::query(sql, out))?;
        self.wire.flush()?;
        let mut reply = Reply::default();
        let mut failure = None;
        loop {
            let message = match self.wire.next() {
                Ok(message) => message,
                // The server closes the connection after a fatal error, which says more.
                Err(lost) => break Err(failure.unwrap_or(lost)),
            };
            match message {
                Message::RowDescription(body) => reply.types = types(&body)?,
                Message::DataRow(body) => reply.rows.push(row(&body)?),
                Message::CommandComplete(body) => {
                    reply.tags.push(body.tag().map_err(SessionError::garbled)?.to_owned());
                }
                Message::ReadyForQuery(body) => {
                    self.status = body.status();
                    break failure.map_or(Ok(reply), Err);
                }
                Message::NoticeResponse(body) => reply.notices.push(notice(&mut body.fields())),
                other => self.set_aside(other, sql, &mut failure)?,
            }
        }
    }

    /// What every answer may hold beside rows and tags.
    pub(super) fn set_aside(
        &mut self,
        message: Message,
        sql: &str,
        failure: &mut Option<SessionError>,
    ) -> Result<(), SessionError> {
        match message {
            Message::ErrorResponse(body) if failure.is_none() => {
                *failure = Some(SessionError::Sql(Box::new(SqlError::read(&mut body.fields(), sql))));
            }
            Message::CopyInResponse(_) => {
                *failure = Some(SessionError::NoCopyData);
                self.wire.encode(|out| frontend::copy_fail("no data follows a statement here", out))?;
                self.wire.flush()?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The one statement in `sql`, without what surrounds it.
pub(super) fn one_statement(sql: &str) -> Result<String, SessionError> {
    let mut statements = sql::split_statements(sql)?;
    match statements.len() {
        1 => Ok(statements.remove(0).text),
        count => Err(SessionError::Statements { count }),
    }
}

pub(super) fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

fn types(body: &RowDescriptionBody) -> Result<Vec<Oid>, SessionError> {
    body.fields().map(|field| Ok(field.type_oid())).collect().map_err(SessionError::garbled)
}

fn row(body: &DataRowBody) -> Result<TextRow, SessionError> {
    let buffer = body.buffer();
    body.ranges()
        .map(|range| Ok(range.map(|range| String::from_utf8_lossy(&buffer[range]).into_owned())))
        .collect()
        .map_err(SessionError::garbled)
}

fn notice(fields: &mut postgres_protocol::message::backend::ErrorFields<'_>) -> Notice {
    let mut notice = Notice { severity: String::new(), message: String::new() };
    while let Ok(Some(field)) = fields.next() {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            // `V` is the severity untranslated.
            b'V' => notice.severity = text(),
            b'M' => notice.message = text(),
            _ => {}
        }
    }
    notice
}
