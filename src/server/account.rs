//! The account that the server's processes run as. PostgreSQL refuses to run as root, so root drops to another one.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{Uid, User};

use super::ServerError;

/// An unprivileged account of this machine.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account to drop to: none unless running as root.
    pub fn to_drop_to() -> Result<Option<Self>, ServerError> {
        if !Uid::effective().is_root() {
            return Ok(None);
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(|user| Some(Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() }))
            .ok_or(ServerError::NoAccount)
    }

    /// Makes `command` run as this account, without root's groups.
    pub fn apply(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Gives the account a file or directory.
    pub fn own(&self, path: &Path) -> Result<(), ServerError> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
            .map_err(|source| ServerError::from_io("give away", path, source))
    }

    /// The first directory on the way to `path`, itself included, that the account may not enter.
    pub fn barred_at<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let mut ways: Vec<&Path> = path.ancestors().filter(|way| way.is_dir()).collect();
        ways.reverse();
        ways.into_iter().find(|way| !self.may_enter(way))
    }

    fn may_enter(&self, dir: &Path) -> bool {
        let Ok(meta) = std::fs::metadata(dir) else { return false };
        let bit = if meta.uid() == self.uid {
            0o100
        } else if meta.gid() == self.gid {
            0o010
        } else {
            0o001
        };
        meta.mode() & bit != 0
    }
}
