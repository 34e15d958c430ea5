//! The first questions to a server: does it answer, and what is it?

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use postgres::error::SqlState;
use postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::ServerError;
use crate::session::{Endpoint, Host};

/// How long one attempt to connect may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// How long a server may take for its first byte; one that is idle needs about a millisecond.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

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
    /// Every setting that is not the built-in default, without paths and addresses.
    pub in_force: BTreeMap<String, String>,
}

/// Settings that say where something is, not how the server behaves.
const PLACES: &str = "name !~ '_(directory|directories|file|files|path)$' AND name <> ALL \
    (ARRAY['listen_addresses', 'port', 'cluster_name', 'application_name', 'client_encoding', 'external_pid_file'])";

/// Why a server did not let us in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The server's or the driver's words.
    pub words: String,
    code: Option<SqlState>,
}

impl Refusal {
    /// Whether it is the password that the server did not like.
    pub fn is_wrong_password(&self) -> bool {
        self.code == Some(SqlState::INVALID_PASSWORD)
    }
}

impl From<postgres::Error> for Refusal {
    fn from(error: postgres::Error) -> Self {
        Self { words: words(&error), code: error.code().cloned() }
    }
}

/// Logs in and asks when the postmaster started, which tells one postmaster from the next.
pub(super) fn postmaster(endpoint: &Endpoint) -> Result<String, Refusal> {
    if let Host::Tcp(host) = &endpoint.host {
        speaks(host, endpoint.port).map_err(|error| Refusal { words: error.to_string(), code: None })?;
    }
    let mut client = config(endpoint).connect(NoTls)?;
    let rows = rows(&mut client, "SELECT pg_postmaster_start_time()")?;
    Ok(rows.into_iter().flatten().next().unwrap_or_default())
}

/// Whether a PostgreSQL is behind the port: a proxy may accept before there is, and say nothing or hang up.
fn speaks(host: &str, port: u16) -> std::io::Result<()> {
    /// A length of 8 and the number that asks whether the server would speak TLS.
    const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    let addresses = (host, port).to_socket_addrs()?;
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in addresses {
        let asked = TcpStream::connect_timeout(&address, CONNECT_PATIENCE).and_then(|mut stream| {
            stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
            stream.write_all(&SSL_REQUEST)?;
            let mut answer = [0];
            stream.read_exact(&mut answer)
        });
        match asked {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Asks the server what it is.
pub(super) fn facts(endpoint: &Endpoint) -> Result<Facts, ServerError> {
    let fail = |problem: String| ServerError::Question { problem };
    let refused = |refusal: Refusal| fail(refusal.words);
    let mut client = config(endpoint).connect(NoTls).map_err(|error| fail(words(&error)))?;
    let shown = |client: &mut Client, name: &str| {
        let row = rows(client, &format!("SHOW {name}")).map_err(refused)?.into_iter().next();
        row.and_then(|row| row.into_iter().next())
            .ok_or_else(|| fail(format!("SHOW {name} returned nothing")))
    };
    let number = |text: String| text.parse::<u32>().map_err(|error| fail(format!("`{text}`: {error}")));
    let locale =
        rows(&mut client, "SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()")
            .map_err(refused)?
            .into_iter()
            .next()
            .unwrap_or_default();
    let query = format!(
        "SELECT name, current_setting(name) FROM pg_settings \
         WHERE source NOT IN ('default', 'client', 'session') AND {PLACES} ORDER BY name"
    );
    let in_force = rows(&mut client, &query).map_err(refused)?;
    let mut locale = locale.into_iter();
    Ok(Facts {
        version: shown(&mut client, "server_version")?,
        version_num: number(shown(&mut client, "server_version_num")?)?,
        block_size: number(shown(&mut client, "block_size")?)?,
        data_checksums: shown(&mut client, "data_checksums")? == "on",
        encoding: shown(&mut client, "server_encoding")?,
        collate: locale.next().unwrap_or_default(),
        ctype: locale.next().unwrap_or_default(),
        in_force: in_force
            .into_iter()
            .filter_map(|row| {
                let mut cells = row.into_iter();
                Some((cells.next()?, cells.next()?))
            })
            .collect(),
    })
}

fn config(endpoint: &Endpoint) -> Config {
    let mut config = Config::new();
    match &endpoint.host {
        Host::Socket(dir) => config.host_path(dir),
        Host::Tcp(name) => config.host(name),
    };
    config.port(endpoint.port).user(&endpoint.user).dbname("postgres").application_name("planbook");
    config.connect_timeout(CONNECT_PATIENCE);
    if let Some(password) = &endpoint.password {
        config.password(password.reveal());
    }
    config
}

fn rows(client: &mut Client, query: &str) -> Result<Vec<Vec<String>>, Refusal> {
    let messages = client.simple_query(query)?;
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|cell| row.get(cell).unwrap_or_default().to_owned()).collect())
        }
        _ => None,
    });
    Ok(rows.collect())
}

/// The driver's own Display says only "db error".
fn words(error: &postgres::Error) -> String {
    use std::error::Error;
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_proxy_that_accepts_and_hangs_up_is_not_a_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = std::thread::spawn(move || {
            drop(listener.accept().unwrap());
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"N").unwrap();
            request
        });
        assert!(speaks("127.0.0.1", port).is_err());
        speaks("127.0.0.1", port).unwrap();
        assert_eq!(proxy.join().unwrap()[..4], [0, 0, 0, 8]);
        assert!(speaks("127.0.0.1", port).is_err(), "nobody listens any more");
    }
}
