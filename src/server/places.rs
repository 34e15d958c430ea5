//! Where a local server keeps its data and its socket.
//!
//! The account that the server runs as must be able to enter the place, and a socket's path must fit into the
//! kernel's address structure. Where the user names a directory, no other is tried.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::ServerError;
use super::account::Account;
use super::registry::Claim;

/// Names the directory under which servers keep their data.
const DATA_DIR: &str = "PLANBOOK_DATA_DIR";

/// Names the directory under which servers keep their sockets.
const SOCKET_DIR: &str = "PLANBOOK_SOCKET_DIR";

/// A socket address holds 108 bytes on Linux (104 elsewhere), the last one zero.
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The name that the server gives the socket of this port.
pub(super) const PORT: u16 = 5432;

/// The directories of one server.
#[derive(Debug)]
pub(super) struct Places {
    pub run: PathBuf,
    pub data: PathBuf,
    pub socket: PathBuf,
    pub log: PathBuf,
}

impl Places {
    /// Makes the directories, each noted in the claim before it exists; the data in `beside`, where that is given.
    pub fn make(
        claim: &mut Claim,
        account: Option<&Account>,
        beside: Option<&Path>,
    ) -> Result<Self, ServerError> {
        let name = format!("planbook-{}", claim.note.id);
        let run = match beside {
            Some(dir) => make_private(dir, &name, claim, account)?,
            None => make_run(&name, claim, account)?,
        };
        let socket = make_socket(&run, &name, claim, account)?;
        let places = Self { data: run.join("data"), log: run.join("server.log"), socket, run };
        // Opened as ourselves, before the directory is given away.
        std::fs::File::create_new(&places.log)
            .map_err(|source| ServerError::from_io("create", &places.log, source))?;
        if let Some(account) = account {
            account.own(&places.socket)?;
            account.own(&places.run)?;
        }
        Ok(places)
    }
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|dir| !dir.is_empty()).map(PathBuf::from)
}

fn make_run(name: &str, claim: &mut Claim, account: Option<&Account>) -> Result<PathBuf, ServerError> {
    if let Some(dir) = named(DATA_DIR) {
        let dir = std::path::absolute(&dir).map_err(|source| ServerError::from_io("find", &dir, source))?;
        return make_private(&dir, name, claim, account);
    }
    let mut tried: Vec<PathBuf> = named("TMPDIR").into_iter().collect();
    tried.extend(["/var/tmp".into(), env::temp_dir()]);
    for dir in &tried {
        if let Ok(made) = make_private(dir, name, claim, account) {
            return Ok(made);
        }
    }
    Err(ServerError::NoDataDirectory { tried })
}

/// The socket lies beside the data where its path is short enough, else in a directory of its own.
fn make_socket(
    run: &Path,
    name: &str,
    claim: &mut Claim,
    account: Option<&Account>,
) -> Result<PathBuf, ServerError> {
    if let Some(dir) = named(SOCKET_DIR) {
        let dir = std::path::absolute(&dir).map_err(|source| ServerError::from_io("find", &dir, source))?;
        fits(&dir.join(name))?;
        return make_private(&dir, name, claim, account);
    }
    let beside = run.join("s");
    if fits(&beside).is_ok() {
        create(&beside)?;
        return Ok(beside);
    }
    let tried: Vec<PathBuf> =
        named("XDG_RUNTIME_DIR").into_iter().chain(["/tmp".into(), "/var/tmp".into()]).collect();
    for dir in tried.iter().filter(|dir| fits(&dir.join(name)).is_ok()) {
        if let Ok(made) = make_private(dir, name, claim, account) {
            return Ok(made);
        }
    }
    Err(ServerError::NoSocketDirectory { tried })
}

/// Whether the socket's path in this directory is short enough.
fn fits(dir: &Path) -> Result<(), ServerError> {
    let path = dir.join(format!(".s.PGSQL.{PORT}"));
    let bytes = path.as_os_str().len();
    if bytes > SOCKET_PATH_BYTES { Err(ServerError::SocketPathTooLong { path, bytes }) } else { Ok(()) }
}

fn make_private(
    parent: &Path,
    name: &str,
    claim: &mut Claim,
    account: Option<&Account>,
) -> Result<PathBuf, ServerError> {
    if !parent.is_dir() {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(ServerError::from_io("use", parent, source));
    }
    if let Some((account, barred)) = account.and_then(|one| Some((one, one.barred_at(parent)?))) {
        return Err(ServerError::Permission {
            action: "enter",
            path: barred.to_owned(),
            account: Some(account.name.clone()),
        });
    }
    let dir = parent.join(name);
    claim.add_directory(dir.clone())?;
    create(&dir)?;
    Ok(dir)
}

fn create(dir: &Path) -> Result<(), ServerError> {
    let made = DirBuilder::new().mode(0o700).create(dir);
    made.map_err(|source| ServerError::from_io("create", dir, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_of_107_bytes_fits_and_108_does_not() {
        let name = format!("/.s.PGSQL.{PORT}");
        let fitting = PathBuf::from(format!("/{}", "d".repeat(SOCKET_PATH_BYTES - name.len() - 1)));
        assert!(fits(&fitting).is_ok());
        let error = fits(Path::new(&format!("{}d", fitting.display()))).unwrap_err();
        assert!(error.to_string().contains(&format!("{} bytes", SOCKET_PATH_BYTES + 1)), "{error}");
    }
}
