//! Volumes that stay: one container at a time.
//!
//! In two containers both postmasters are process 1, so PostgreSQL's own lock file does not keep them apart, and the
//! second one corrupts the data of the first. A lock on the host keeps Planbooks apart, a look at the engine the rest.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::thread::sleep;
use std::time::Duration;

use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use sha2::{Digest, Sha256};

use super::engine::Engine;
use super::image::Present;
use super::labels::{self, Owner};
use crate::server::about::About;
use crate::server::compose::Service;
use crate::server::registry::Registry;
use crate::server::{Needs, ServerError};

/// How often a waiting run looks again.
const TICK: Duration = Duration::from_millis(200);

/// A volume that no other container may use while this is held.
#[derive(Debug)]
pub(super) struct Held {
    _lock: File,
}

/// Begins the names of the volumes that hold datasets between runs.
const DATA: &str = "data-";

/// The volume that holds the data of this image with these flags between runs; none where they are not to stay, or the
/// service has a place of its own for them.
pub(super) fn kept(
    service: &Service,
    present: &Present,
    flags: &BTreeMap<String, String>,
    needs: &Needs,
) -> Option<String> {
    let taken = service.mounts.iter().any(|one| one.target.starts_with("/var/lib/postgresql"));
    if !needs.cache || needs.volume.is_some() || taken {
        return None;
    }
    let mut environment = service.environment.clone();
    environment.retain(|name, _| !name.starts_with("POSTGRES_PASSWORD"));
    let facts = serde_json::json!([present.name, flags, environment]);
    let hash: String =
        Sha256::digest(facts.to_string()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{DATA}{hash}"))
}

/// The volumes of datasets that no container uses now.
pub(in crate::server) fn unused(engine: &Engine) -> Result<Vec<String>, ServerError> {
    let mut unused = Vec::new();
    for name in engine.volumes(labels::VOLUME)? {
        if name.starts_with(&full_name(DATA)) && engine.containers("volume", &name)?.is_empty() {
            unused.push(name);
        }
    }
    unused.sort();
    Ok(unused)
}

/// What is told of a volume that stays, kept beside the notes of the servers: its labels cannot be changed. Each run
/// takes it away while it uses the volume, so that what stands there is of the last run's good end.
pub(in crate::server) fn about(registry: &Registry, name: &str) -> Option<About> {
    serde_json::from_slice(&fs::read(registry.path(&about_file(name))).ok()?).ok()
}

/// Writes it.
pub(super) fn describe(registry: &Registry, name: &str, about: &About) -> Result<(), ServerError> {
    let path = registry.path(&about_file(name));
    let text = serde_json::to_vec_pretty(about).map_err(std::io::Error::other);
    let written = text.and_then(|text| fs::write(&path, text));
    written.map_err(|source| ServerError::State { action: "write", path, source })
}

/// Takes it away.
pub(in crate::server) fn forget(registry: &Registry, name: &str) -> Result<(), ServerError> {
    let path = registry.path(&about_file(name));
    match fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(ServerError::State { action: "remove", path, source })
        }
        _ => Ok(()),
    }
}

fn about_file(name: &str) -> String {
    format!("volume-{name}.about")
}

/// Planbook's own name for a volume of a compose file or of the cache.
pub(super) fn full_name(name: &str) -> String {
    format!("planbook-{name}")
}

/// Waits until nobody else uses the volume, and says so once.
pub(super) fn hold(
    engine: &Engine,
    registry: &Registry,
    volume: &str,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<Held, ServerError> {
    let file = registry.lock_file(&format!("volume-{volume}"))?;
    let mut said = false;
    let mut wait = |by: &str| {
        if !said {
            talk(&format!("the volume {volume} is in use by {by}; waiting for it"));
            said = true;
        }
        sleep(TICK);
        if needs.interrupted() { Err(ServerError::Interrupted) } else { Ok(()) }
    };
    while file.try_lock().is_err() {
        wait("another run")?;
    }
    while let Some(user) = other_user(engine, volume)? {
        wait(&user)?;
    }
    Ok(Held { _lock: file })
}

/// The container that runs on this volume now. One that a killed run left is removed first.
fn other_user(engine: &Engine, volume: &str) -> Result<Option<String>, ServerError> {
    for container in engine.containers("volume", volume)? {
        let id = container.id.clone().unwrap_or_default();
        if labels::owner(&container.labels.clone().unwrap_or_default()) == Owner::Dead {
            engine.remove(&id)?;
        } else if is_up(&container) {
            let name = container.names.and_then(|names| names.into_iter().next()).unwrap_or(id);
            return Ok(Some(format!("the container {}", name.trim_start_matches('/'))));
        }
    }
    Ok(None)
}

fn is_up(container: &ContainerSummary) -> bool {
    use ContainerSummaryStateEnum::{PAUSED, RESTARTING, RUNNING};
    matches!(container.state, Some(RUNNING | PAUSED | RESTARTING))
}
