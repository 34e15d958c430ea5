//! Copies of whole databases: the template for every run, and the run's database for arms with a setup.
//!
//! A copy of the files keeps statistics, hint bits, visibility map and OIDs, so that two copies start from the same
//! bytes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::server::Server;
use crate::session::Session;
use crate::sql;

use super::DatasetError;

/// How long a session that was closed may take to leave: the server notices a moment later.
const LEAVING: Duration = Duration::from_secs(2);

/// How often it is looked whether it has left.
const TICK: Duration = Duration::from_millis(5);

/// Makes the database `to` a copy of `from`, marked as Planbook's own.
///
/// Every session of `from` must be closed before; one that was closed just now is waited for. The caller connects
/// again.
///
/// # Errors
/// [`DatasetError::InUse`] names those who stay connected; else what the server says.
pub fn clone_database(server: &Server, from: &str, to: &str) -> Result<(), DatasetError> {
    let mut admin = Session::connect(server.endpoint(), server.database())?;
    let until = Instant::now() + LEAVING;
    loop {
        let by = connected(&mut admin, from)?;
        if by.is_empty() {
            break;
        }
        if Instant::now() > until {
            return Err(DatasetError::InUse { database: from.to_owned(), by });
        }
        sleep(TICK);
    }
    Ok(server.create_database(to, Some(from))?)
}

/// Who is connected to a database, each in a few words. A worker of autovacuum leaves when the database is wanted.
pub(super) fn connected(admin: &mut Session, database: &str) -> Result<Vec<String>, DatasetError> {
    let rows = admin.query_rows(&format!(
        "SELECT format('process %s (%s)', pid, concat_ws(', ', usename, nullif(application_name, ''), state)) \
         FROM pg_stat_activity WHERE datname = {} AND pid <> pg_backend_pid() \
         AND backend_type IS DISTINCT FROM 'autovacuum worker' ORDER BY pid",
        sql::quote_literal(database)
    ))?;
    Ok(rows.into_iter().flatten().flatten().collect())
}
