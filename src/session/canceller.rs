//! Ending, from another thread, what a session waits for.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::wire::Wire;
use super::{Endpoint, Host, SessionError};

/// Cancels what one session runs. Cheap to clone, and may go to another thread.
#[derive(Clone)]
pub struct Canceller {
    host: Host,
    port: u16,
    pid: i32,
    key: i32,
}

impl std::fmt::Debug for Canceller {
    /// The key stays out: who has it can cancel.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Canceller({})", self.pid)
    }
}

impl Canceller {
    pub(super) fn new(endpoint: &Endpoint, pid: i32, key: i32) -> Self {
        Self { host: endpoint.host.clone(), port: endpoint.port, pid, key }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks the server to cancel. The session's call then returns an error for which
    /// [`SessionError::is_cancelled`] holds, unless it had just ended by itself.
    ///
    /// # Errors
    /// Where the server cannot be reached.
    pub fn cancel(&self) -> Result<(), SessionError> {
        let mut wire = Wire::open(&self.host, self.port)?;
        wire.encode(|out: &mut BytesMut| {
            frontend::cancel_request(self.pid, self.key, out);
            Ok(())
        })?;
        wire.flush()?;
        // The server closes the connection once it has passed the request on.
        match wire.next() {
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
