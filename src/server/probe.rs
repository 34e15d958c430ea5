//! The first questions to a server: does it answer, and what is it?

use std::collections::BTreeMap;
use std::time::Duration;

use postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::ServerError;
use crate::session::{Endpoint, Host};

/// How long one attempt to connect may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

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

/// Whether the server lets us in and answers; else the reason, in the driver's words.
pub(super) fn answers(endpoint: &Endpoint) -> Result<(), String> {
    let mut client = connect(endpoint)?;
    client.simple_query("SELECT 1").map(|_| ()).map_err(|error| words(&error))
}

/// Asks the server what it is.
pub(super) fn facts(endpoint: &Endpoint) -> Result<Facts, ServerError> {
    let fail = |problem: String| ServerError::Question { problem };
    let mut client = connect(endpoint).map_err(fail)?;
    let shown = |client: &mut Client, name: &str| {
        let row = rows(client, &format!("SHOW {name}")).map_err(fail)?.into_iter().next();
        row.and_then(|row| row.into_iter().next())
            .ok_or_else(|| fail(format!("SHOW {name} returned nothing")))
    };
    let number = |text: String| text.parse::<u32>().map_err(|error| fail(format!("`{text}`: {error}")));
    let locale =
        rows(&mut client, "SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()")
            .map_err(fail)?
            .into_iter()
            .next()
            .unwrap_or_default();
    let query = format!(
        "SELECT name, current_setting(name) FROM pg_settings \
         WHERE source NOT IN ('default', 'client', 'session') AND {PLACES} ORDER BY name"
    );
    let in_force = rows(&mut client, &query).map_err(fail)?;
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

fn connect(endpoint: &Endpoint) -> Result<Client, String> {
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
    config.connect(NoTls).map_err(|error| words(&error))
}

fn rows(client: &mut Client, query: &str) -> Result<Vec<Vec<String>>, String> {
    let messages = client.simple_query(query).map_err(|error| words(&error))?;
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
