//! The labels of Planbook's containers, and the marks of its databases: whose they are, and whether that planbook still lives.

use std::collections::HashMap;
use std::path::Path;

use crate::server::registry::{self, Claim};

/// The server's id; every container of Planbook's bears it.
pub(in crate::server) const SERVER: &str = "planbook.server";
/// The name of a volume that stays.
pub(super) const VOLUME: &str = "planbook.volume";
/// The note that the owner holds locked.
const NOTE: &str = "planbook.note";
/// The machine (or container) whose files hold that note.
const HOST: &str = "planbook.host";

/// Whether the planbook that started a container is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Owner {
    /// It runs.
    Lives,
    /// It ended without removing its container.
    Dead,
    /// The container is none of Planbook's, or of another machine's, whose files cannot be seen from here.
    Unknown,
}

/// The labels of a new container, or the marks of a new database.
pub(in crate::server) fn of(claim: &Claim) -> HashMap<String, String> {
    HashMap::from([
        (SERVER.to_owned(), claim.note.id.clone()),
        (NOTE.to_owned(), claim.path().display().to_string()),
        (HOST.to_owned(), host()),
    ])
}

/// Reads the labels of a container.
pub(in crate::server) fn owner(labels: &HashMap<String, String>) -> Owner {
    match (labels.get(SERVER), labels.get(NOTE), labels.get(HOST)) {
        (Some(_), Some(note), Some(named)) if *named == host() => match registry::is_held(Path::new(note)) {
            Some(true) => Owner::Lives,
            Some(false) => Owner::Dead,
            None => Owner::Unknown,
        },
        _ => Owner::Unknown,
    }
}

/// Names the place whose files we see: several containers may share one engine.
fn host() -> String {
    nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
