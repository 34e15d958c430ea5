//! The PostgreSQL that a run uses: started, watched, described and removed.
//!
//! [`start`] takes a [`Spec`] (what `--server` says) and the notebook's [`Needs`] and gives a [`Server`]; dropping it
//! ends the server and removes every trace. [`list`] and [`prune`] find what a killed planbook left behind.

mod account;
mod binaries;
mod compose;
mod error;
mod identity;
mod local;
mod log;
mod machine;
mod places;
mod probe;
mod process;
mod prune;
mod registry;
mod spec;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

pub use error::ServerError;
pub use identity::Identity;
pub use machine::Machine;
pub use prune::{Entry, list, prune};
pub use spec::Spec;

use crate::session::Endpoint;

/// How a server came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A throwaway cluster from binaries on this machine.
    Local,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
        })
    }
}

/// What a notebook asks of its server.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// Server flags over those of compose.yaml.
    pub settings: BTreeMap<String, String>,
    /// Set from outside, by a signal handler say, to end a start that is under way.
    pub stop: Arc<AtomicBool>,
}

impl Needs {
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A running server. Dropping it, or [`Server::stop`], ends it.
#[derive(Debug)]
pub struct Server {
    local: local::Local,
    identity: Identity,
}

/// Starts a server. `talk` is told, one line at a time, what the user should know.
///
/// # Errors
/// When there is no way to a server, or the server does not start; nothing is left behind then.
pub fn start(spec: &Spec, needs: &Needs, talk: &mut dyn FnMut(&str)) -> Result<Server, ServerError> {
    let bindir = match spec {
        Spec::Auto => None,
        Spec::Local { bindir } => bindir.as_deref(),
    };
    let local = local::Local::start(bindir, needs, talk)?;
    let facts = probe::facts(&local.endpoint)?;
    let identity = Identity::new(Kind::Local, facts, local.asked.clone());
    Ok(Server { local, identity })
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.local.endpoint
    }

    /// What it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How it came to be.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.identity.kind
    }

    /// Its major version, such as 15.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.identity.major()
    }

    /// One of the programs that came with the server, such as `pgbench`, where it is there.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        Some(self.local.binaries.dir.join(name)).filter(|path| path.is_file())
    }

    /// Whether the server still runs.
    ///
    /// # Errors
    /// [`ServerError::Died`] and its kin, with the end of the server's log.
    pub fn check_alive(&mut self) -> Result<(), ServerError> {
        self.local.check_alive()
    }

    /// The end of the server's log, without this machine's paths.
    #[must_use]
    pub fn log_tail(&self) -> Option<String> {
        Some(self.local.log_tail()).filter(|tail| !tail.is_empty())
    }

    /// Ends the server and removes every trace of it.
    ///
    /// # Errors
    /// When it does not end, or a directory of it cannot be removed.
    pub fn stop(self) -> Result<(), ServerError> {
        self.local.stop()
    }
}
