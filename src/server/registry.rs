//! Planbook's own notes about the servers it started, so that what a kill leaves behind can be found.
//!
//! Each server has one small file, held locked by the planbook that runs it. A file that can be locked belongs to
//! a planbook that is dead, and what the file names may be removed.

use std::env;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Kind, ServerError};

/// Where the notes are kept, when the user says so.
const STATE_DIR: &str = "PLANBOOK_STATE_DIR";

/// A file of this age that was never put in its place belongs to a planbook that died while writing it.
const ABANDONED: Duration = Duration::from_secs(60);

/// What one server is, and what is to be removed with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Note {
    /// Names the server's directories and this file.
    pub id: String,
    /// How it came to be.
    pub kind: Kind,
    /// The process of the planbook that runs it.
    pub owner: u32,
    /// When it was started, in UTC.
    pub started: String,
    /// The version of the binaries; empty where a container holds them.
    pub version: String,
    /// The socket of the engine that runs its container.
    pub engine: Option<PathBuf>,
    /// The role that owns the server.
    pub role: String,
    /// The directory of its socket, where that is on this machine.
    pub socket: Option<PathBuf>,
    /// The directory of its binaries, where they are on this machine.
    pub bindir: Option<PathBuf>,
    /// The server's own directories, each named `planbook-<id>`.
    pub directories: Vec<PathBuf>,
}

impl Note {
    /// A note with a new id, of a server about to be started by this process.
    pub fn new(kind: Kind, version: &str) -> Self {
        let id: u64 = rand::random();
        Self {
            id: format!("{id:016x}"),
            kind,
            owner: std::process::id(),
            started: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
            version: version.to_owned(),
            engine: None,
            role: "postgres".to_owned(),
            socket: None,
            bindir: None,
            directories: Vec::new(),
        }
    }
}

/// A note and its lock. Dropped without [`Claim::settle`], it leaves the file for `server prune`.
#[derive(Debug)]
pub(super) struct Claim {
    pub note: Note,
    path: PathBuf,
    file: File,
}

/// A note as found, with the lock when its owner is dead.
#[derive(Debug)]
pub(super) struct Found {
    pub note: Note,
    /// Holds the lock of a note whose owner is dead; none while the owner lives.
    pub orphan: Option<Claim>,
}

/// The directory of the notes.
#[derive(Debug, Clone)]
pub(super) struct Registry {
    dir: PathBuf,
}

impl Registry {
    /// The first place that can be used: `PLANBOOK_STATE_DIR`, `XDG_STATE_HOME`, the home directory,
    /// `XDG_RUNTIME_DIR`, the temporary directory. It does not depend on `TMPDIR` where there is a home.
    pub fn open() -> Result<Self, ServerError> {
        if let Some(dir) = env::var_os(STATE_DIR).filter(|dir| !dir.is_empty()) {
            return Self::at(PathBuf::from(dir).join("servers"));
        }
        let under = |name: &str, rest: &str| {
            env::var_os(name).filter(|dir| !dir.is_empty()).map(|dir| PathBuf::from(dir).join(rest))
        };
        let uid = nix::unistd::Uid::effective();
        let last = env::temp_dir().join(format!("planbook-state-{uid}"));
        let places = [
            under("XDG_STATE_HOME", "planbook/servers"),
            under("HOME", ".local/state/planbook/servers"),
            under("XDG_RUNTIME_DIR", "planbook/servers"),
        ];
        for place in places.into_iter().flatten() {
            if let Ok(registry) = Self::at(place) {
                return Ok(registry);
            }
        }
        Self::at(last)
    }

    /// The notes of one directory, made where it is absent. Somebody else's directory is refused, since a note
    /// says what to remove.
    pub fn at(dir: PathBuf) -> Result<Self, ServerError> {
        let fail = |action: &'static str, source| ServerError::State { action, path: dir.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(|error| fail("create", error))?;
        let meta = std::fs::symlink_metadata(&dir).map_err(|error| fail("read", error))?;
        let ours = meta.is_dir() && meta.uid() == nix::unistd::Uid::effective().as_raw();
        if !ours || meta.mode() & 0o022 != 0 {
            let why = "it belongs to somebody else, or others may write to it";
            return Err(fail("trust", std::io::Error::other(why)));
        }
        Ok(Self { dir })
    }

    /// Writes a note and holds its lock.
    pub fn claim(&self, note: Note) -> Result<Claim, ServerError> {
        let path = self.dir.join(format!("{}.json", note.id));
        let fresh = self.dir.join(format!("{}.new", note.id));
        let fail = |action: &'static str, source| ServerError::State { action, path: path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .map_err(|error| fail("create", error))?;
        file.try_lock().map_err(|error| fail("lock", error.into()))?;
        let mut claim = Claim { note, path: path.clone(), file };
        claim.write()?;
        // Under its name only once it is locked: whoever finds it free finds a dead owner.
        std::fs::rename(&fresh, &path).map_err(|error| fail("write", error))?;
        Ok(claim)
    }

    /// Every note, in the order of their ids.
    pub fn notes(&self) -> Result<Vec<Found>, ServerError> {
        let fail = |source| ServerError::State { action: "read", path: self.dir.clone(), source };
        let entries = std::fs::read_dir(&self.dir).map_err(fail)?;
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        paths.sort();
        Ok(paths.iter().filter(|path| has_extension(path, "json")).filter_map(|path| read(path)).collect())
    }

    /// Where a file of this name lies beside the notes.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A file to lock, by a name that stands for the thing itself.
    pub fn lock_file(&self, name: &str) -> Result<File, ServerError> {
        let path = self.dir.join(format!("{name}.lock"));
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        opened.map_err(|source| ServerError::State { action: "create", path, source })
    }

    /// Removes what a planbook left that died while writing a note, before it made anything else.
    pub fn sweep(&self) {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()).filter(|path| has_extension(path, "new")) {
            let age = std::fs::metadata(&path).and_then(|meta| meta.modified()).map(|time| time.elapsed());
            let old = matches!(age, Ok(Ok(age)) if age > ABANDONED);
            if old && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
                // Another prune may have been faster: there is nothing to do about that.
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

impl Claim {
    /// Adds a directory to those that go with the server. Call it before the directory is made.
    pub fn add_directory(&mut self, dir: PathBuf) -> Result<(), ServerError> {
        self.amend(|note| note.directories.push(dir))
    }

    /// Changes what the note says.
    pub fn amend(&mut self, change: impl FnOnce(&mut Note)) -> Result<(), ServerError> {
        change(&mut self.note);
        self.write()
    }

    fn write(&mut self) -> Result<(), ServerError> {
        let text = serde_json::to_vec(&self.note).map_err(std::io::Error::other);
        let written = text.and_then(|text| {
            self.file.rewind()?;
            self.file.write_all(&text)?;
            self.file.set_len(text.len() as u64)
        });
        written.map_err(|source| ServerError::State { action: "write", path: self.path.clone(), source })
    }

    /// The note's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the note, once nothing that it names is left. To do it twice is no error.
    pub fn settle(&self) -> Result<(), ServerError> {
        match std::fs::remove_file(&self.path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(ServerError::State { action: "remove", path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }
}

/// Whether a living planbook holds the note of this path; none where that cannot be seen from here. A note that is gone
/// is held by nobody: its owner removes it last.
pub(super) fn is_held(path: &Path) -> Option<bool> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// A note that vanishes or cannot be read while we look is not there.
fn read(path: &Path) -> Option<Found> {
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let note: Note = serde_json::from_str(&text).ok()?;
    match file.try_lock() {
        // Removed by its owner between opening and locking.
        Ok(()) if !path.exists() => None,
        Ok(()) => {
            let orphan = Claim { note: note.clone(), path: path.to_owned(), file };
            Some(Found { note, orphan: Some(orphan) })
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Some(Found { note, orphan: None }),
    }
}
