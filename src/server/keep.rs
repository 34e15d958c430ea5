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

use sha2::{Digest, Sha256};

use super::ServerError;
use super::about::About;
use super::account::Account;
use super::binaries::Binaries;
use super::embedded::cache;

/// A directory that the user named for the data of servers holds those that stay too.
const DATA_DIR: &str = "PLANBOOK_DATA_DIR";

/// What stands beside the data, for `planbook cache ls`.
pub(super) const NOTE: &str = "about.json";

/// The place of one kind of server.
#[derive(Debug)]
pub(super) struct Keep {
    /// Holds a directory for each kind of server, and the directories of running ones.
    pub root: PathBuf,
    dir: PathBuf,
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
pub(super) fn root(account: Option<&Account>) -> Result<PathBuf, ServerError> {
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
