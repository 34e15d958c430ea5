//! What a server is, read back from the running server itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Kind;
use super::docker::{EngineFacts, Image, Limits};
use super::embedded::Package;
use super::machine::Machine;
use super::probe::Facts;
use super::settings;

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
    pub(super) fn new(kind: Kind, facts: Facts, asked: BTreeMap<String, String>) -> Self {
        Self {
            kind,
            version: facts.version,
            version_num: facts.version_num,
            block_size: facts.block_size,
            data_checksums: facts.data_checksums,
            encoding: facts.encoding,
            collate: facts.collate,
            ctype: facts.ctype,
            settings_asked: asked,
            settings_in_force: facts.in_force,
            container: None,
            package: None,
            machine: Machine::here(),
        }
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
