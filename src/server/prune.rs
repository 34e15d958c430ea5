//! Finds the servers of Planbook on this machine, and removes what a kill left behind.

use std::path::PathBuf;

use super::docker::engine::Engine;
use super::docker::labels::{self, Owner};
use super::docker::name_of_container;
use super::registry::{Claim, Found, Note, Registry};
use super::{Kind, ServerError, local, process};

/// A server that Planbook started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Names the server's directories or its container.
    pub id: String,
    /// How it came to be.
    pub kind: Kind,
    /// The version of its binaries, or the image of its container; empty where its container is gone.
    pub what: String,
    /// When it was started, in UTC; empty where only the container is left to tell.
    pub started: String,
    /// The planbook that runs it, or ran it.
    pub owner: Option<u32>,
    /// Whether that planbook is still there.
    pub owner_lives: bool,
    /// Whether the server still runs.
    pub runs: bool,
}

/// What [`prune`] did.
#[derive(Debug, Default)]
pub struct Pruned {
    /// What is gone.
    pub removed: Vec<Entry>,
    /// Why the rest is still there; it can be tried again.
    pub problems: Vec<ServerError>,
}

/// Every server that Planbook started and that is still noted or labelled, in the order of their ids.
///
/// # Errors
/// When Planbook's own directory cannot be read.
pub fn list() -> Result<Vec<Entry>, ServerError> {
    let notes = Registry::open()?.notes()?;
    let mut entries: Vec<Entry> =
        notes.iter().map(|found| describe(&found.note, found.orphan.is_none())).collect();
    entries.extend(unnoted(&notes).into_iter().map(|leftover| leftover.entry));
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(entries)
}

/// Ends every server whose planbook is dead and removes its directories or its container. Servers of a living
/// planbook, and those that Planbook did not start, stay as they are.
///
/// # Errors
/// When Planbook's own directory cannot be read. A server that cannot be removed is among [`Pruned::problems`].
pub fn prune() -> Result<Pruned, ServerError> {
    let registry = Registry::open()?;
    let notes = registry.notes()?;
    let mut pruned = Pruned::default();
    let mut took = |entry: Entry, done: Result<(), ServerError>| match done {
        Ok(()) => pruned.removed.push(entry),
        Err(problem) => pruned.problems.push(problem),
    };
    for leftover in unnoted(&notes) {
        let done = leftover.engine.remove(&leftover.container);
        took(leftover.entry, done);
    }
    for found in notes {
        if let Some(orphan) = found.orphan {
            took(describe(&found.note, false), remove(&orphan));
        }
    }
    registry.sweep();
    pruned.removed.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(pruned)
}

fn remove(orphan: &Claim) -> Result<(), ServerError> {
    let note = &orphan.note;
    if let Some(socket) = &note.engine {
        let engine = Engine::at(socket).map_err(|problem| ServerError::NoEngine {
            problem: format!("{}: {problem}", socket.display()),
        })?;
        engine.remove(&name_of_container(&note.id))?;
    }
    for dir in &note.directories {
        process::end_all_in(dir)?;
    }
    local::remove_directories(&note.directories)?;
    orphan.settle()
}

fn describe(note: &Note, owner_lives: bool) -> Entry {
    let container = note
        .engine
        .as_ref()
        .and_then(|socket| Engine::at(socket).ok()?.container(&name_of_container(&note.id)).ok()?);
    let up = container.as_ref().and_then(|one| one.state.as_ref()?.running).unwrap_or(false);
    let image = container.and_then(|one| one.config?.image);
    Entry {
        id: note.id.clone(),
        kind: note.kind,
        what: image.unwrap_or_else(|| note.version.clone()),
        started: note.started.clone(),
        owner: Some(note.owner),
        owner_lives,
        runs: up || note.directories.iter().any(|dir| !process::working_in(dir).is_empty()),
    }
}

/// A container whose planbook is dead and whose note is not among ours: it was started with another state directory.
struct Leftover {
    engine: Engine,
    container: String,
    entry: Entry,
}

fn unnoted(notes: &[Found]) -> Vec<Leftover> {
    // Without an engine there are no containers to remove.
    let Ok(engine) = Engine::open() else { return Vec::new() };
    let socket: PathBuf = engine.socket.clone();
    let containers = engine.containers("label", labels::SERVER).unwrap_or_default();
    let dead = containers.into_iter().filter_map(|container| {
        let labels = container.labels.unwrap_or_default();
        let id = labels.get(labels::SERVER)?.clone();
        let noted = notes.iter().any(|found| found.note.id == id);
        if noted || labels::owner(&labels) != Owner::Dead {
            return None;
        }
        let entry = Entry {
            id,
            kind: Kind::Docker,
            what: container.image.unwrap_or_default(),
            started: String::new(),
            owner: None,
            owner_lives: false,
            runs: container.state == Some(bollard::models::ContainerSummaryStateEnum::RUNNING),
        };
        Some(Leftover { engine: Engine::at(&socket).ok()?, container: container.id?, entry })
    });
    dead.collect()
}
