//! Finds the servers of Planbook on this machine, and removes what a kill left behind.

use super::registry::{Claim, Note, Registry};
use super::{Kind, ServerError, local, process};

/// A server that Planbook started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Names the server's directories.
    pub id: String,
    /// How it came to be.
    pub kind: Kind,
    /// The version of its binaries.
    pub version: String,
    /// When it was started, in UTC.
    pub started: String,
    /// The planbook that runs it, or ran it.
    pub owner: u32,
    /// Whether that planbook is still there.
    pub owner_lives: bool,
    /// How many processes the server has.
    pub processes: usize,
}

impl Entry {
    fn new(note: &Note, owner_lives: bool) -> Self {
        Self {
            id: note.id.clone(),
            kind: Kind::Local,
            version: note.version.clone(),
            started: note.started.clone(),
            owner: note.owner,
            owner_lives,
            processes: note.directories.iter().map(|dir| process::working_in(dir).len()).sum(),
        }
    }
}

/// Every server that Planbook started and that is still noted, in the order of their ids.
///
/// # Errors
/// When Planbook's own directory cannot be read.
pub fn list() -> Result<Vec<Entry>, ServerError> {
    let found = Registry::open()?.notes()?;
    Ok(found.iter().map(|one| Entry::new(&one.note, one.orphan.is_none())).collect())
}

/// Ends every server whose planbook is dead and removes its directories; says which. Servers of a living planbook,
/// and those that Planbook did not start, stay as they are.
///
/// # Errors
/// At the first server that cannot be removed; its note stays, so that it can be tried again.
pub fn prune() -> Result<Vec<Entry>, ServerError> {
    let registry = Registry::open()?;
    let mut removed = Vec::new();
    for found in registry.notes()? {
        let Some(orphan) = found.orphan else { continue };
        let entry = Entry::new(&found.note, false);
        remove(orphan)?;
        removed.push(entry);
    }
    registry.sweep();
    Ok(removed)
}

fn remove(orphan: Claim) -> Result<(), ServerError> {
    for dir in &orphan.note.directories {
        process::end_all_in(dir)?;
    }
    local::remove_directories(&orphan.note.directories)?;
    orphan.settle()
}
