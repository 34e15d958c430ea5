//! Clusters that stay between runs, so that the next one finds its datasets built.
//!
//! One directory for each kind of server (binaries and flags). A run moves the data out of it before it starts the
//! server, and back after the server said that it shut down cleanly; what a killed run leaves is removed with that
//! run's own directory. So two runs never meet on one cluster, and what stands here is whole. A run that finds it
//! taken makes a cluster of its own.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::account::Account;
use super::binaries::Binaries;
use super::docker::engine::Engine;
use super::docker::volume;
use super::embedded::cache;
use super::registry::Registry;
use super::{Kind, ServerError};

/// A directory that the user named for the data of servers holds those that stay too.
const DATA_DIR: &str = "PLANBOOK_DATA_DIR";

/// What stands beside the data, for `planbook cache ls`.
const NOTE: &str = "about.json";

/// The place of one kind of server.
#[derive(Debug)]
pub(super) struct Keep {
    /// Holds a directory for each kind of server, and the directories of running ones.
    pub root: PathBuf,
    dir: PathBuf,
}

/// What is told of something that stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    kind: Kind,
    version: String,
    used: String,
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Where it cannot be counted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl About {
    /// Of a server that a run uses now.
    pub fn new(kind: Kind, version: &str) -> Self {
        let used = jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string();
        Self { kind, version: version.to_owned(), used, datasets: Vec::new(), bytes: None }
    }
}

/// Something that stays between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Names its directory or its volume.
    pub id: String,
    /// What kind of server it serves.
    pub kind: Kind,
    /// The server's version; empty where that is not known.
    pub version: String,
    /// When a run used it last, UTC; empty where that is not known.
    pub used: String,
    /// The datasets that it holds, each with its parameters.
    pub datasets: Vec<String>,
    /// Its size in bytes, where that is known.
    pub bytes: Option<u64>,
}

impl Keep {
    /// Where a cluster of these binaries with these flags stays.
    pub fn of(
        binaries: &Binaries,
        asked: &BTreeMap<String, String>,
        account: Option<&Account>,
    ) -> Result<Self, ServerError> {
        let root = root(account)?;
        // Two builds of one version may differ in what they do: the directory tells them apart.
        let facts = serde_json::json!([binaries.version, binaries.dir, asked, account.map(|one| &one.name)]);
        let key: String =
            Sha256::digest(facts.to_string()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { dir: root.join(format!("cluster-{key}")), root })
    }

    /// Moves the cluster to `data`, where there is one that can be trusted; whether it did.
    pub fn take(
        &self,
        data: &Path,
        binaries: &Binaries,
        account: Option<&Account>,
        talk: &mut dyn FnMut(&str),
    ) -> Result<bool, ServerError> {
        let kept = self.dir.join("data");
        match fs::rename(&kept, data) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => {
                talk(&format!("the cached cluster cannot be used ({error}); a new one is made"));
                return Ok(false);
            }
        }
        let Err(why) = shut_down(data, binaries, account) else { return Ok(true) };
        talk(&format!("the cached cluster is not used, since {why}; a new one is made"));
        fs::remove_dir_all(data).map_err(|source| ServerError::from_io("remove", data, source))?;
        Ok(false)
    }

    /// Moves the cluster back, if it was shut down cleanly and no other run was faster.
    pub fn put(
        &self,
        data: &Path,
        about: &About,
        binaries: &Binaries,
        account: Option<&Account>,
    ) -> Result<(), ServerError> {
        if shut_down(data, binaries, account).is_err() {
            return Ok(());
        }
        let fail = |source| ServerError::from_io("write into", &self.dir, source);
        fs::create_dir_all(&self.dir).map_err(fail)?;
        if self.dir.join("data").exists() {
            return Ok(());
        }
        let note = serde_json::to_vec_pretty(about).map_err(std::io::Error::other).map_err(fail)?;
        fs::write(self.dir.join(NOTE), note).map_err(fail)?;
        match fs::rename(data, self.dir.join("data")) {
            Err(error) if error.kind() != std::io::ErrorKind::DirectoryNotEmpty => Err(fail(error)),
            _ => Ok(()),
        }
    }
}

/// The directory of the clusters that stay, made where it is absent.
fn root(account: Option<&Account>) -> Result<PathBuf, ServerError> {
    match env::var_os(DATA_DIR).filter(|dir| !dir.is_empty()) {
        Some(dir) => {
            let dir = std::path::absolute(&dir)
                .map_err(|source| ServerError::from_io("find", Path::new(&dir), source))?
                .join("planbook-clusters");
            cache::usable(&dir, account).map(|()| dir)
        }
        None => cache::directory(account, "clusters"),
    }
}

/// Whether the server said that it shut down cleanly; else what it says.
fn shut_down(data: &Path, binaries: &Binaries, account: Option<&Account>) -> Result<(), String> {
    let mut command = Command::new(binaries.dir.join("pg_controldata"));
    command.arg(data).current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    if let Some(account) = account {
        account.apply(&mut command);
    }
    let output = command.output().map_err(|error| format!("pg_controldata cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let state = text.lines().find_map(|line| line.strip_prefix("Database cluster state:"));
    match state.map(str::trim) {
        Some("shut down") if output.status.success() => Ok(()),
        Some(state) => Err(format!("pg_controldata calls its state `{state}`")),
        None => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("pg_controldata says: {}", said.lines().next().unwrap_or_default().trim()))
        }
    }
}

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

impl Kept {
    /// With what is told of it, where anything is.
    fn new(id: String, kind: Kind, about: Option<About>) -> Self {
        let About { version, used, datasets, bytes, .. } = about.unwrap_or(About {
            kind,
            version: String::new(),
            used: String::new(),
            datasets: Vec::new(),
            bytes: None,
        });
        Self { id, kind, version, used, datasets, bytes }
    }
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
