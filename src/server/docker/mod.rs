//! The container of a run: made from compose.yaml, watched, and removed with its anonymous volumes.

mod address;
mod container;
pub(super) mod engine;
mod image;
pub(super) mod labels;
pub(super) mod volume;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use bollard::models::ContainerInspectResponse;
use serde::{Deserialize, Serialize};

pub(super) use container::name as name_of_container;
pub use engine::EngineFacts;
pub use image::{Image, Pin};

use self::engine::Engine;
use super::about::About;
use super::compose::{Compose, DEFAULT_SERVICE, Service};
use super::log;
use super::probe;
use super::registry::{Claim, Note, Registry};
use super::{Kind, Needs, ServerError};
use crate::session::{Endpoint, Host, Secret, Tls};

/// How long a server may take from the start of its container to its first answer; initdb is part of it.
const START_PATIENCE: Duration = Duration::from_secs(180);

/// How long a server on a volume that stays may take to write it all down, in seconds.
const STOP_PATIENCE: i32 = 60;

/// How often a waiting loop asks the server, and every how many times the engine.
const TICK: Duration = Duration::from_millis(50);
const TICKS_PER_LOOK: u32 = 5;

/// How many lines of a container's log are looked at.
const LOG_LINES: usize = 200;

/// What the engine grants a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory, in bytes; none is no limit.
    pub memory_bytes: Option<i64>,
    /// The size of /dev/shm, in bytes.
    pub shm_bytes: Option<i64>,
    /// Processors, in billionths; none is no limit.
    pub nano_cpus: Option<i64>,
}

/// A running container. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Docker {
    pub endpoint: Endpoint,
    pub asked: BTreeMap<String, String>,
    pub image: Image,
    pub limits: Limits,
    /// Whether the server found its data as a crash had left them.
    pub recovered: bool,
    /// The volume that stays for the next run, where one does.
    kept: Option<String>,
    made: Made,
}

impl Docker {
    /// Brings the image, makes the container, and waits until the server in it answers. A volume that a run left half
    /// made is thrown away once.
    pub fn start(
        engine: Engine,
        service: Option<&str>,
        needs: &Needs,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Self, ServerError> {
        let socket = engine.socket.clone();
        let mut half_made = false;
        match Self::attempt(engine, service, needs, talk, &mut half_made) {
            Err(ServerError::DiedAtStart { status, .. }) if half_made => {
                talk(&format!(
                    "the server does not start on its cached volume ({status}); a new one is made"
                ));
                let engine = Engine::at(&socket).map_err(|problem| ServerError::NoEngine { problem })?;
                Self::attempt(engine, service, needs, talk, &mut half_made)
            }
            other => other,
        }
    }

    /// `half_made` tells whether a volume was there that the server never answered on; it is gone then.
    fn attempt(
        engine: Engine,
        service: Option<&str>,
        needs: &Needs,
        talk: &mut dyn FnMut(&str),
        half_made: &mut bool,
    ) -> Result<Self, ServerError> {
        let password = Secret::new(random_password());
        let (service, instead_of) = read_service(service, needs, &password)?;
        let asked = flags(&service, needs)?;
        let present = image::bring(&engine, &service, needs, talk)?;
        let kept = volume::kept(&service, &present, &asked, needs);
        let needs = &Needs { volume: kept.clone().or_else(|| needs.volume.clone()), ..needs.clone() };
        let registry = Registry::open()?;
        let mut made = Made::new(engine, &registry)?;
        let user = service.environment.get("POSTGRES_USER").map_or("postgres", String::as_str).to_owned();
        made.claim.amend(|note| note.role.clone_from(&user))?;
        let plan = container::Plan {
            service: &service,
            present: &present,
            flags: &asked,
            password: &password,
            needs,
        };
        for volume in plan.volumes() {
            made.volumes.push(volume::hold(&made.engine, &registry, &volume, needs, talk)?);
            volume::forget(&registry, &volume)?;
        }
        let existed = match &kept {
            Some(name) => made.engine.volumes(labels::VOLUME)?.contains(&volume::full_name(name)),
            None => false,
        };
        let body = plan.body(labels::of(&made.claim))?;
        made.engine.create(&made.name(), body)?;
        made.engine.start(&made.name())?;
        made.cached = kept.as_deref().map(volume::full_name);
        *half_made = existed;
        let port = made.port(needs)?;
        let endpoint = Endpoint {
            host: Host::Tcp("127.0.0.1".into()),
            port,
            user,
            password: Some(password),
            tls: Tls::default(),
        };
        made.wait_until_ready(&endpoint, needs)?;
        let found = made.look()?;
        let id = found.image.clone().unwrap_or_default();
        let image = Image { instead_of, ..Image::of_container(&made.engine, &id, &service)? };
        let kept = made.cached.take();
        let recovered = kept.is_some() && log::recovered(&made.log());
        Ok(Self { endpoint, asked, image, limits: limits(&found), recovered, kept, made })
    }

    /// The engine that runs the container.
    pub fn engine(&self) -> &EngineFacts {
        &self.made.engine.facts
    }

    /// The note that its label names.
    pub fn claim(&self) -> &Claim {
        &self.made.claim
    }

    /// The end of the server's log.
    pub fn log_tail(&self) -> String {
        log::last_lines(&self.made.log(), None)
    }

    /// Whether the server still runs and has not crashed meanwhile.
    pub fn check_alive(&self) -> Result<(), ServerError> {
        self.made.check(false)
    }

    /// Removes the container, and says what its volume holds where that stays.
    pub fn stop(mut self, about: &About) -> Result<(), ServerError> {
        self.made.clear()?;
        match &self.kept {
            Some(volume) => volume::describe(&Registry::open()?, volume, about),
            None => Ok(()),
        }
    }
}

/// A container that may or may not exist yet, under a note that names it. Dropping it removes both.
#[derive(Debug)]
struct Made {
    engine: Engine,
    claim: Claim,
    volumes: Vec<volume::Held>,
    settled: bool,
    /// The volume that stays, until the server on it has answered: one that never does is not worth keeping.
    cached: Option<String>,
}

impl Made {
    fn new(engine: Engine, registry: &Registry) -> Result<Self, ServerError> {
        let mut note = Note::new(Kind::Docker, "");
        note.engine = Some(engine.socket.clone());
        let claim = registry.claim(note)?;
        Ok(Self { engine, claim, volumes: Vec::new(), settled: false, cached: None })
    }

    fn name(&self) -> String {
        container::name(&self.claim.note.id)
    }

    fn look(&self) -> Result<ContainerInspectResponse, ServerError> {
        self.engine.container(&self.name())?.ok_or_else(|| ServerError::Died {
            status: "its container is gone: somebody removed it".to_owned(),
            log: String::new(),
        })
    }

    /// The port on our loopback. Some engines tell it only a moment after the start.
    fn port(&self, needs: &Needs) -> Result<u16, ServerError> {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            self.check(true)?;
            if let Some(port) = container::host_port(&self.look()?) {
                return Ok(port);
            }
            if needs.interrupted() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > until {
                let problem = "it names no port on 127.0.0.1".to_owned();
                return Err(ServerError::Engine { action: "publish the server's port", problem });
            }
            sleep(TICK);
        }
    }

    /// Ready is: logged in over TCP, twice, with the same postmaster answering. The entrypoint's temporary server
    /// listens on no TCP port, and a port proxy that accepts early closes again.
    fn wait_until_ready(&self, endpoint: &Endpoint, needs: &Needs) -> Result<(), ServerError> {
        let until = Instant::now() + START_PATIENCE;
        let mut before = None;
        let mut reset = false;
        for tick in 0.. {
            if tick % TICKS_PER_LOOK == 0 {
                self.check(true)?;
            }
            let problem = match probe::postmaster(endpoint) {
                Ok(started) if before.as_ref() == Some(&started) => return Ok(()),
                Ok(started) => {
                    before = Some(started);
                    "it answered once".to_owned()
                }
                // An older volume keeps the password that it was made with.
                Err(error) if probe::is_wrong_password(&error) && !reset && !self.volumes.is_empty() => {
                    reset = true;
                    container::set_password(&self.engine, &self.name(), endpoint)?;
                    continue;
                }
                Err(error) => {
                    before = None;
                    error.to_string()
                }
            };
            if needs.interrupted() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > until {
                let log = log::last_lines(&self.log(), None);
                return Err(ServerError::NotReady { seconds: START_PATIENCE.as_secs(), problem, log });
            }
            sleep(TICK);
        }
        Ok(())
    }

    fn log(&self) -> String {
        self.engine.log(&self.name(), LOG_LINES).unwrap_or_default()
    }

    fn check(&self, starting: bool) -> Result<(), ServerError> {
        let found = self.look()?;
        let state = found.state.clone().unwrap_or_default();
        let running = state.running == Some(true);
        let log = if running && starting { String::new() } else { self.log() };
        // The kernel may kill a backend and leave the container: the postmaster then starts all over.
        let crash = log::crash(&log);
        if running && crash.is_none() {
            return Ok(());
        }
        let limit = limits(&found).memory_bytes;
        let killed = crash.as_deref().is_some_and(|line| line.contains("signal 9"));
        let tail = log::last_lines(&log, None);
        if state.oom_killed == Some(true) || (killed && limit.is_some()) {
            return Err(ServerError::OutOfMemory { limit: limit.unwrap_or_default(), log: tail });
        }
        let status = crash.unwrap_or_else(|| {
            let code = state.exit_code.unwrap_or_default();
            let error = state.error.filter(|error| !error.is_empty());
            format!(
                "its container ended with code {code}{}",
                error.map(|e| format!(": {e}")).unwrap_or_default()
            )
        });
        Err(match (log::out_of(&tail), starting) {
            (Some(log::Resource::Disk), _) => ServerError::NoSpace {
                action: "running the server",
                place: "the engine's volumes".into(),
                log: tail,
            },
            (Some(log::Resource::Memory), _) => ServerError::NoMemory { log: tail },
            (Some(log::Resource::Shm), _) => ServerError::NoShm { log: tail },
            (None, true) => ServerError::DiedAtStart { status, log: tail },
            (None, false) => ServerError::Died { status, log: tail },
        })
    }

    fn clear(&mut self) -> Result<(), ServerError> {
        if self.settled {
            return Ok(());
        }
        if !self.volumes.is_empty() {
            // What stays is left in order; the rest goes with its container.
            self.engine.stop(&self.name(), STOP_PATIENCE)?;
        }
        self.engine.remove(&self.name())?;
        if let Some(volume) = self.cached.take() {
            self.engine.remove_volume(&volume)?;
        }
        self.settled = true;
        self.claim.settle()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // What cannot be removed stays noted and labelled, for `server prune` to find and to complain about.
        let _ = self.clear();
    }
}

/// The service of the user's compose file, or of the shipped one, and the image that the file itself pins where a
/// variable names another. Planbook itself supplies the password.
fn read_service(
    named: Option<&str>,
    needs: &Needs,
    password: &Secret,
) -> Result<(Service, Option<String>), ServerError> {
    let file = needs.compose.as_deref().map_or_else(Compose::shipped, Compose::open)?;
    let name = named.or(needs.service.as_deref()).unwrap_or(DEFAULT_SERVICE);
    let ours = |variable: &str| (variable == "PLANBOOK_PASSWORD").then(|| password.reveal().to_owned());
    let service =
        file.service(name, &|variable: &str| ours(variable).or_else(|| std::env::var(variable).ok()))?;
    // A file that needs the environment to name an image pins none itself.
    let pinned = file.service(name, &ours).ok().map(|service| service.image.to_string());
    let instead_of = pinned.filter(|pinned| *pinned != service.image.to_string());
    Ok((service, instead_of))
}

/// The flags of the service with the notebook's over them.
fn flags(service: &Service, needs: &Needs) -> Result<BTreeMap<String, String>, ServerError> {
    let mut flags = super::merge(&service.flags, needs)?;
    flags.insert("listen_addresses".into(), "*".into());
    Ok(flags)
}

fn limits(container: &ContainerInspectResponse) -> Limits {
    let config = container.host_config.clone().unwrap_or_default();
    let limited = |value: Option<i64>| value.filter(|value| *value > 0);
    Limits {
        memory_bytes: limited(config.memory),
        shm_bytes: limited(config.shm_size),
        nano_cpus: limited(config.nano_cpus),
    }
}

fn random_password() -> String {
    let bytes: [u8; 24] = rand::random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
