//! The user's wish to stop, and how it reaches a query that is under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::session::Canceller;

use super::RunError;

/// Shared by the thread that hears signals and the run that they end.
#[derive(Clone, Default)]
pub struct Interrupt {
    wanted: Arc<AtomicBool>,
    sessions: Arc<Mutex<Vec<Canceller>>>,
}

impl Interrupt {
    /// Asks the run to end, and the server to cancel what it is doing for it. May be called again: a query that
    /// began just after the first request is reached by the next.
    pub fn request(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for session in sessions {
            // The query may be over and its server gone: then there is nothing to cancel.
            let _ = session.cancel();
        }
    }

    /// Whether the run was asked to end.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }

    /// The flag itself, for whoever must look at it often.
    #[must_use]
    pub fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wanted)
    }

    pub(super) fn check(&self) -> Result<(), RunError> {
        if self.is_requested() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// Adds a session whose work a request cancels.
    pub fn watch(&self, session: Canceller) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("wanted", &self.is_requested()).finish_non_exhaustive()
    }
}
