//! What to do about an error that is the server's surroundings' fault.

use crate::session::SessionError;

/// What to do next, where the SQLSTATE or the words tell more than that the server gave way.
#[must_use]
pub fn advice(error: &SessionError) -> Option<&'static str> {
    let sql = error.sql()?;
    match sql.sqlstate.as_str() {
        // PostgreSQL keeps what parallel workers share in /dev/shm, which a container has in its own size.
        "53100" if sql.message.contains("shared memory segment") => Some(
            "/dev/shm is full: raise `shm_size` of the service in compose.yaml, or run without parallel workers",
        ),
        "53100" => {
            Some("make room on the disk of the server's data, or name another with PLANBOOK_DATA_DIR=DIR")
        }
        "53200" => Some("grant the server more memory (`server: {memory: 8gb}`), or ask for less work_mem"),
        "53300" => Some("raise max_connections in the notebook: `server: {settings: {max_connections: 50}}`"),
        _ => None,
    }
}
