//! What a server is, read back from the running server itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::docker::{EngineFacts, Image, Limits};
use super::embedded::Package;
use super::machine::Machine;
use super::settings;
use super::{Kind, ServerError};
use crate::session::{Endpoint, Session};

/// Settings that say where something is, not how the server behaves.
const PLACES: &str = "name !~ '_(directory|directories|file|files|path)$' AND name !~ '^transaction_' AND name <> ALL \
    (ARRAY['listen_addresses', 'port', 'cluster_name', 'application_name', 'client_encoding', 'external_pid_file'])";

/// Everything about a server that explains what was measured on it; no password, and no path of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// How the server came to be.
    pub kind: Kind,
    /// As the server prints it, such as `15.18 (Debian 15.18-0+deb12u1)`.
    pub version: String,
    /// Such as 150018.
    pub version_num: u32,
    /// In bytes: the unit of every count of blocks.
    pub block_size: u32,
    /// Whether pages carry checksums.
    pub data_checksums: bool,
    /// The encoding of databases.
    pub encoding: String,
    /// How text is sorted.
    pub collate: String,
    /// How characters are classified.
    pub ctype: String,
    /// The server flags that compose.yaml and the notebook ask for.
    pub settings_asked: BTreeMap<String, String>,
    /// Every setting in force that was asked for or is not the built-in default, as SHOW prints it.
    pub settings_in_force: BTreeMap<String, String>,
    /// The container, where the server runs in one.
    pub container: Option<Container>,
    /// The package that brought its binaries, where Planbook brought them.
    pub package: Option<Package>,
    /// The machine.
    pub machine: Machine,
}

/// What the engine says of the container that the server runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The image that it runs.
    pub image: Image,
    /// The engine.
    pub engine: EngineFacts,
    /// What it is granted.
    pub limits: Limits,
}

impl Identity {
    /// The release alone: `15.18` of `15.18 (Debian 15.18-1)`.
    #[must_use]
    pub fn release(&self) -> &str {
        self.version.split_whitespace().next().unwrap_or(&self.version)
    }

    /// Asks the server what it is. Of a container or a package it knows nothing.
    pub(super) fn read(
        kind: Kind,
        endpoint: &Endpoint,
        database: &str,
        asked: &BTreeMap<String, String>,
    ) -> Result<Self, ServerError> {
        let mut session = Session::connect(endpoint, database)?;
        let query = format!(
            "SELECT lower(name), current_setting(name) FROM pg_settings \
             WHERE (source NOT IN ('default', 'client', 'session') OR lower(name) = ANY ({})) AND {PLACES} ORDER BY name",
            array(asked.keys())
        );
        let settings_in_force = session.query_pairs(&query)?;
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
            text.parse::<u32>()
                .map_err(|error| ServerError::Question { problem: format!("`{text}`: {error}") })
        };
        Ok(Self {
            kind,
            version: version.clone(),
            version_num: count(number)?,
            block_size: count(block_size)?,
            data_checksums: checksums == "on",
            encoding: encoding.clone(),
            collate: collate.clone(),
            ctype: ctype.clone(),
            settings_asked: asked.clone(),
            settings_in_force,
            container: None,
            package: None,
            machine: Machine::here(),
        })
    }

    /// The settings that are not in force as they were asked for: name, asked, in force (empty where the server has no
    /// such setting).
    #[must_use]
    pub fn differences(&self) -> Vec<(&str, &str, &str)> {
        let compared = self.settings_asked.iter().filter(|(name, _)| name.as_str() != "listen_addresses");
        compared
            .map(|(name, asked)| {
                let mut in_force = self.settings_in_force.iter();
                let found = in_force.find(|(in_force, _)| in_force.eq_ignore_ascii_case(name));
                let in_force = found.map_or("", |(_, value)| value.as_str());
                (name.as_str(), asked.as_str(), in_force)
            })
            .filter(|(_, asked, in_force)| !settings::same(asked, in_force))
            .collect()
    }

    /// The major version, such as 15.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.version_num / 10_000
    }
}

/// Names as an SQL array. Whoever asks for `timezone` means what the server calls `TimeZone`.
fn array<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let quoted: Vec<String> =
        names.map(|name| format!("'{}'", name.to_lowercase().replace('\'', "''"))).collect();
    format!("ARRAY[{}]::text[]", quoted.join(", "))
}
