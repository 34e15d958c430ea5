//! Autovacuum, where somebody wants it on: it comes to the template while that is built, and must have left before every
//! clone starts from what it found.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::session::{Session, SessionError};
use crate::template::Scalar;

use super::DatasetError;

/// How long sessions and workers may take to leave.
const LEAVING: Duration = Duration::from_secs(5);

/// How often it is looked whether they have.
const TICK: Duration = Duration::from_millis(10);

/// Who else is in the database: a session that was closed counts its changes only as it leaves.
const OTHERS: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() \
    AND pid <> pg_backend_pid() AND backend_type = 'client backend')";

/// Ends what the workers do here. They go on to the next table, of which the counters say that there is nothing to do.
const CANCELLED: &str = "SELECT coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity \
    WHERE datname = current_database() AND backend_type = 'autovacuum worker'";

/// Whether autovacuum is on.
pub(super) fn is_on(session: &mut Session) -> Result<bool, SessionError> {
    Ok(session.scalar("SELECT current_setting('autovacuum')::boolean")? == Some(Scalar::Boolean(true)))
}

/// Sees to it that autovacuum has left the session's database and finds nothing to do there, where it is on: it goes by
/// counters, which start anew. A role that is not allowed to leaves things as they are.
pub(super) fn calm(session: &mut Session) -> Result<(), DatasetError> {
    if !is_on(session)? {
        return Ok(());
    }
    wait_until_not(session, OTHERS)?;
    let reset = session.execute("SELECT pg_stat_reset()");
    match reset.and_then(|_| wait_until_not(session, CANCELLED)) {
        Err(error) if error.is_forbidden() => Ok(()),
        other => Ok(other?),
    }
}

/// Asks until the answer is no, or patience ends.
fn wait_until_not(session: &mut Session, question: &str) -> Result<(), SessionError> {
    let until = Instant::now() + LEAVING;
    while session.scalar(question)? == Some(Scalar::Boolean(true)) && Instant::now() < until {
        sleep(TICK);
    }
    Ok(())
}
