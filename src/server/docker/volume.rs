//! Volumes that stay: one container at a time.
//!
//! In two containers both postmasters are process 1, so PostgreSQL's own lock file does not keep them apart, and the
//! second one corrupts the data of the first. A lock on the host keeps Planbooks apart, a look at the engine the rest.

use std::fs::File;
use std::thread::sleep;
use std::time::Duration;

use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};

use super::engine::Engine;
use super::labels::{self, Owner};
use crate::server::registry::Registry;
use crate::server::{Needs, ServerError};

/// How often a waiting run looks again.
const TICK: Duration = Duration::from_millis(200);

/// A volume that no other container may use while this is held.
#[derive(Debug)]
pub(super) struct Held {
    _lock: File,
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
