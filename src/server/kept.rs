//! Everything that stays between runs, clusters and volumes alike: what there is, and how it goes.

use std::fs;
use std::path::Path;

use super::about::{About, Kept};
use super::account::Account;
use super::docker::engine::Engine;
use super::docker::volume;
use super::keep::{NOTE, root};
use super::registry::Registry;
use super::{Kind, ServerError};

/// Everything that stays between runs and that no run uses now, by its id.
///
/// # Errors
/// When the directory cannot be read. An engine that does not answer holds nothing.
pub fn kept() -> Result<Vec<Kept>, ServerError> {
    let root = root(Account::to_drop_to()?.as_ref())?;
    let entries = fs::read_dir(&root).map_err(|source| ServerError::from_io("read", &root, source))?;
    let mut found: Vec<Kept> =
        entries.filter_map(Result::ok).filter_map(|entry| describe(&entry.path())).collect();
    if let Ok(engine) = Engine::open() {
        let registry = Registry::open()?;
        let volumes = volume::unused(&engine)?.into_iter();
        found.extend(volumes.map(|id| {
            let about = volume::about(&registry, &id);
            Kept::new(id, Kind::Docker, about)
        }));
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

fn describe(dir: &Path) -> Option<Kept> {
    let id = dir.file_name()?.to_string_lossy().into_owned();
    if !id.starts_with("cluster-") || !dir.join("data").is_dir() {
        return None;
    }
    let about = fs::read(dir.join(NOTE)).ok().and_then(|note| serde_json::from_slice::<About>(&note).ok());
    let kind = about.as_ref().map_or(Kind::Local, |about| about.kind);
    Some(Kept { bytes: Some(size(dir)), ..Kept::new(id, kind, about) })
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Removes what stays between runs and that no run uses now; what is gone.
///
/// # Errors
/// The first that cannot be removed.
pub fn forget() -> Result<Vec<Kept>, ServerError> {
    let root = root(Account::to_drop_to()?.as_ref())?;
    let mut gone = Vec::new();
    for one in kept()? {
        if one.kind == Kind::Docker {
            Engine::open()?.remove_volume(&one.id)?;
            volume::forget(&Registry::open()?, &one.id)?;
        } else {
            let dir = root.join(&one.id);
            // Out of the way first: a run that starts now must not find half of it.
            let doomed = root.join(format!("planbook-doomed-{:08x}", rand::random::<u32>()));
            fs::rename(&dir, &doomed)
                .and_then(|()| fs::remove_dir_all(&doomed))
                .map_err(|source| ServerError::from_io("remove", &dir, source))?;
        }
        gone.push(one);
    }
    Ok(gone)
}
