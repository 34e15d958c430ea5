//! The first questions to a server: does it answer, and what is it?

use std::collections::BTreeMap;

use super::ServerError;
use crate::session::{Endpoint, Session, SessionError};

/// What the server says about itself.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub version: String,
    pub version_num: u32,
    pub block_size: u32,
    pub data_checksums: bool,
    pub encoding: String,
    pub collate: String,
    pub ctype: String,
    /// Every setting that is not the built-in default, and every one asked for; no paths and addresses.
    pub in_force: BTreeMap<String, String>,
}

/// Settings that say where something is, not how the server behaves.
const PLACES: &str = "name !~ '_(directory|directories|file|files|path)$' AND name !~ '^transaction_' AND name <> ALL \
    (ARRAY['listen_addresses', 'port', 'cluster_name', 'application_name', 'client_encoding', 'external_pid_file'])";

/// When the postmaster started.
pub(super) const STARTED: &str = "SELECT pg_postmaster_start_time()::text";

/// The SQLSTATE of a wrong password.
const INVALID_PASSWORD: &str = "28P01";

/// Logs in and asks when the postmaster started, which tells one postmaster from the next.
pub(super) fn postmaster(endpoint: &Endpoint) -> Result<String, SessionError> {
    let mut session = Session::connect(endpoint, "postgres")?;
    let rows = session.query_rows(STARTED)?;
    Ok(rows.into_iter().flatten().flatten().next().unwrap_or_default())
}

/// Whether it is the password that the server did not like.
pub(super) fn is_wrong_password(error: &SessionError) -> bool {
    error.sql().is_some_and(|error| error.sqlstate == INVALID_PASSWORD)
}

/// Asks the server what it is.
pub(super) fn facts(
    endpoint: &Endpoint,
    database: &str,
    asked: &BTreeMap<String, String>,
) -> Result<Facts, ServerError> {
    let mut session = Session::connect(endpoint, database)?;
    let query = format!(
        "SELECT lower(name), current_setting(name) FROM pg_settings \
         WHERE (source NOT IN ('default', 'client', 'session') OR lower(name) = ANY ({})) AND {PLACES} ORDER BY name",
        array(asked.keys())
    );
    let in_force = session.query_pairs(&query)?;
    let shown = session.query_rows(
        "SELECT current_setting('server_version'), current_setting('server_version_num'), \
         current_setting('block_size'), current_setting('data_checksums'), current_setting('server_encoding'), \
         datcollate, datctype FROM pg_database WHERE datname = current_database()",
    )?;
    let shown: Vec<String> = shown.into_iter().flatten().map(Option::unwrap_or_default).collect();
    let [version, number, block_size, checksums, encoding, collate, ctype] = &shown[..] else {
        return Err(ServerError::Question {
            problem: "pg_database does not list the current database".into(),
        });
    };
    let count = |text: &String| {
        text.parse::<u32>().map_err(|error| ServerError::Question { problem: format!("`{text}`: {error}") })
    };
    Ok(Facts {
        version: version.clone(),
        version_num: count(number)?,
        block_size: count(block_size)?,
        data_checksums: checksums == "on",
        encoding: encoding.clone(),
        collate: collate.clone(),
        ctype: ctype.clone(),
        in_force,
    })
}

/// Names as an SQL array. Whoever asks for `timezone` means what the server calls `TimeZone`.
fn array<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let quoted: Vec<String> =
        names.map(|name| format!("'{}'", name.to_lowercase().replace('\'', "''"))).collect();
    format!("ARRAY[{}]::text[]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;
    use crate::session::{Host, Tls};

    #[test]
    fn a_proxy_that_accepts_and_hangs_up_is_not_a_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = std::thread::spawn(move || {
            drop(listener.accept().unwrap());
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 8]).unwrap();
        });
        let endpoint = Endpoint {
            host: Host::Tcp("127.0.0.1".into()),
            port,
            user: "postgres".into(),
            password: None,
            tls: Tls::default(),
        };
        for _ in 0..2 {
            let error = postmaster(&endpoint).unwrap_err();
            assert!(matches!(error, SessionError::Connection { .. }), "{error}");
        }
        proxy.join().unwrap();
    }
}
