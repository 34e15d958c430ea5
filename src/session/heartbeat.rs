//! The fixed query that tells how fast the machine is now.

use super::{Session, SessionError};
use crate::stats;

/// Work for the executor alone: no table, no memory to speak of, nothing that a planner setting changes.
const HEARTBEAT: &str = "SELECT count(*) FROM (SELECT generate_series(1, 5000)) AS beat";

/// Executions of one beat; their median counts, so that one interruption does not.
const EXECUTIONS: usize = 9;

impl Session {
    /// Times the heartbeat: milliseconds of a fixed query, the median of nine executions. Timed around every
    /// measure, it shows how far the machine drifted between two that were not interleaved
    /// ([`stats::drift`]).
    ///
    /// # Errors
    /// As [`Session::time`].
    pub fn heartbeat(&mut self) -> Result<f64, SessionError> {
        self.time(HEARTBEAT)?;
        let mut beats = Vec::with_capacity(EXECUTIONS);
        for _ in 0..EXECUTIONS {
            beats.push(self.time(HEARTBEAT)?);
        }
        beats.sort_by(f64::total_cmp);
        Ok(stats::median(&beats))
    }
}
