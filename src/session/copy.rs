//! Rows sent to the server: `COPY … FROM STDIN`.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::query::{milliseconds, one_statement};
use super::{Execution, Session, SessionError};

/// Bytes in one message.
const CHUNK: usize = 1 << 18;

impl Session {
    /// Runs one `COPY … FROM STDIN` over everything that `rows` gives. `sent` counts its bytes as they go.
    ///
    /// # Errors
    /// As [`Session::execute`]; [`SessionError::Unsendable`] where `rows` cannot be read to its end.
    pub fn copy_in(
        &mut self,
        sql: &str,
        rows: &mut dyn Read,
        sent: &AtomicU64,
    ) -> Result<Execution, SessionError> {
        one_statement(sql)?;
        let started = Instant::now();
        self.wire.encode(|out| frontend::query(sql, out))?;
        self.wire.flush()?;
        let mut execution =
            Execution { tag: String::new(), rows: None, duration_ms: 0.0, notices: Vec::new() };
        let mut failure = None;
        loop {
            match self.wire.next()? {
                Message::CopyInResponse(_) => self.send_all(rows, sent, &mut failure)?,
                Message::CommandComplete(body) => {
                    execution.tag = body.tag().map_err(SessionError::garbled)?.to_owned();
                    execution.rows = execution.tag.rsplit_once(' ').and_then(|(_, count)| count.parse().ok());
                }
                Message::ReadyForQuery(body) => {
                    self.status = body.status();
                    execution.duration_ms = milliseconds(started);
                    return failure.map_or(Ok(execution), Err);
                }
                other => self.set_aside(other, sql, &mut failure)?,
            }
        }
    }

    /// A server that has failed meanwhile reads on and says so afterwards.
    fn send_all(
        &mut self,
        rows: &mut dyn Read,
        sent: &AtomicU64,
        failure: &mut Option<SessionError>,
    ) -> Result<(), SessionError> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match rows.read(&mut chunk) {
                Ok(0) => {
                    self.wire.encode(|out| {
                        frontend::copy_done(out);
                        Ok(())
                    })?;
                    return self.wire.flush();
                }
                Ok(read) => {
                    let data = &chunk[..read];
                    self.wire
                        .encode(|out| frontend::CopyData::new(data).map(|message| message.write(out)))?;
                    self.wire.flush()?;
                    sent.fetch_add(read as u64, Ordering::Relaxed);
                }
                Err(error) => {
                    *failure = Some(SessionError::Unsendable(error.to_string()));
                    self.wire.encode(|out| frontend::copy_fail("the file cannot be read further", out))?;
                    return self.wire.flush();
                }
            }
        }
    }
}
