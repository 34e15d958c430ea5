//! The folder of a recording: written beside the old one, put in its place at the end.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::RecordingError;

/// A recording's folder while it is being written.
///
/// The new files grow in `<final>.partial`. A kill leaves that behind, still readable, and the old recording
/// as it was.
#[derive(Debug)]
pub struct Folder {
    finished: PathBuf,
    partial: PathBuf,
    lock: File,
}

/// The file that makes a folder a recording.
const MANIFEST: &str = "manifest.json";

const LOCK: &str = ".lock";
const PARTIAL: &str = ".partial";

/// Whether the path is of a run that was cut off.
#[must_use]
pub fn is_partial(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(PARTIAL))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl Folder {
    /// Begins a new recording that will end as `finished`.
    ///
    /// What an earlier, killed run left in `.partial` is moved to `.partial.1` (or the next free number).
    ///
    /// # Errors
    /// When another run is writing the same recording, something that is none stands in its place, or the disk
    /// refuses.
    pub fn begin(finished: &Path) -> Result<Self, RecordingError> {
        let partial = beside(finished, PARTIAL);
        if let Some(parent) = finished.parent() {
            fs::create_dir_all(parent).map_err(RecordingError::io("create", parent))?;
        }
        recover(finished)?;
        refuse_others(finished)?;
        if partial.exists() {
            set_aside(&partial)?;
        }
        fs::create_dir(&partial).map_err(RecordingError::io("create", &partial))?;
        let lock = lock(&partial)?;
        Ok(Self { finished: finished.to_owned(), partial, lock })
    }

    /// Where files are written now.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Puts the recording in its place and returns where that is.
    ///
    /// # Errors
    /// When the disk refuses; the partial folder stays then.
    pub fn finish(self) -> Result<PathBuf, RecordingError> {
        let Self { finished, partial, lock } = self;
        let lock_path = partial.join(LOCK);
        fs::remove_file(&lock_path).map_err(RecordingError::io("remove", &lock_path))?;
        drop(lock);
        put_in_place(&partial, &finished)?;
        Ok(finished)
    }

    /// Leaves the partial folder as it is and returns where that is.
    #[must_use]
    pub fn abandon(self) -> PathBuf {
        // Left there it would do no harm, but nobody needs it.
        let _ = fs::remove_file(self.partial.join(LOCK));
        self.partial
    }
}

fn lock(partial: &Path) -> Result<File, RecordingError> {
    let path = partial.join(LOCK);
    let file = File::create(&path).map_err(RecordingError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RecordingError::Busy { path: partial.to_owned() }),
        Err(TryLockError::Error(error)) => Err(RecordingError::io("lock", &path)(error)),
    }
}

/// Moves what a killed run left out of the way, unless its run is alive.
fn set_aside(partial: &Path) -> Result<(), RecordingError> {
    let held = lock(partial)?;
    let free = (1..).map(|n| beside(partial, &format!(".{n}"))).find(|path| !path.exists());
    if let Some(free) = free {
        fs::rename(partial, &free).map_err(RecordingError::io("move aside", partial))?;
        let _ = fs::remove_file(free.join(LOCK));
    }
    drop(held);
    Ok(())
}

/// Only a recording may be replaced by one: whatever else bears its name is somebody's, and is left alone.
fn refuse_others(finished: &Path) -> Result<(), RecordingError> {
    let empty = || fs::read_dir(finished).is_ok_and(|mut entries| entries.next().is_none());
    let free = || !finished.exists() || finished.join(MANIFEST).is_file() || empty();
    if !finished.is_symlink() && free() {
        return Ok(());
    }
    Err(RecordingError::Occupied { path: finished.to_owned() })
}

/// The name that the old recording bears while two renames are under way.
const OLD: &str = ".old";

/// A run that was killed between two renames left the old recording under another name: bring it back.
fn recover(finished: &Path) -> Result<(), RecordingError> {
    let old = beside(finished, OLD);
    if !old.exists() {
        return Ok(());
    }
    if finished.exists() {
        fs::remove_dir_all(&old).map_err(RecordingError::io("remove", &old))
    } else {
        fs::rename(&old, finished).map_err(RecordingError::io("bring back", &old))
    }
}

/// Exchanges the two folders where the system can, so that there is no moment without a recording.
fn put_in_place(partial: &Path, finished: &Path) -> Result<(), RecordingError> {
    if !finished.exists() {
        return fs::rename(partial, finished).map_err(RecordingError::io("put in place", finished));
    }
    if exchange(partial, finished) {
        return fs::remove_dir_all(partial).map_err(RecordingError::io("remove", partial));
    }
    let old = beside(finished, OLD);
    fs::rename(finished, &old).map_err(RecordingError::io("move aside", finished))?;
    fs::rename(partial, finished).map_err(RecordingError::io("put in place", finished))?;
    fs::remove_dir_all(&old).map_err(RecordingError::io("remove", &old))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(one: &Path, other: &Path) -> bool {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE).is_ok()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_one: &Path, _other: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::write(path.join("manifest.json"), text).expect("write");
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path.join("manifest.json")).expect("read")
    }

    #[test]
    fn the_new_recording_replaces_the_old_only_at_the_end() {
        let home = tempfile::tempdir().expect("tempdir");
        let finished = home.path().join("local-15");
        for text in ["first", "second"] {
            let folder = Folder::begin(&finished).expect("begin");
            write(folder.path(), text);
            if text == "second" {
                assert_eq!(read(&finished), "first");
            }
            assert_eq!(folder.finish().expect("finish"), finished);
            assert_eq!(read(&finished), text);
        }
        let left: Vec<_> = fs::read_dir(home.path()).expect("list").collect();
        assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
        assert!(!finished.join(LOCK).exists());
    }

    #[test]
    fn what_a_killed_run_left_is_kept_aside() {
        let home = tempfile::tempdir().expect("tempdir");
        let finished = home.path().join("local-15");
        for text in ["one", "two"] {
            let folder = Folder::begin(&finished).expect("begin");
            write(folder.path(), text);
            assert!(is_partial(&folder.abandon()));
        }
        Folder::begin(&finished).expect("begin").finish().expect("finish");
        assert_eq!(read(&home.path().join("local-15.partial.1")), "one");
        assert_eq!(read(&home.path().join("local-15.partial.2")), "two");
    }

    #[test]
    fn what_is_no_recording_is_not_replaced() {
        let home = tempfile::tempdir().expect("tempdir");
        let occupied = |name: &str| {
            let error = Folder::begin(&home.path().join(name)).expect_err(name);
            assert!(matches!(error, RecordingError::Occupied { .. }), "{name}: {error}");
        };
        fs::create_dir(home.path().join("notes")).expect("create");
        fs::write(home.path().join("notes/mine.txt"), "mine").expect("write");
        fs::write(home.path().join("file"), "mine").expect("write");
        std::os::unix::fs::symlink(home.path().join("notes"), home.path().join("link")).expect("link");
        std::os::unix::fs::symlink("nowhere", home.path().join("dangling")).expect("link");
        ["notes", "file", "link", "dangling"].into_iter().for_each(occupied);
        assert_eq!(fs::read_to_string(home.path().join("notes/mine.txt")).expect("kept"), "mine");
        fs::create_dir(home.path().join("empty")).expect("create");
        Folder::begin(&home.path().join("empty")).expect("begin").finish().expect("finish");
    }

    #[test]
    fn two_runs_cannot_write_one_recording() {
        let home = tempfile::tempdir().expect("tempdir");
        let finished = home.path().join("local-15");
        let first = Folder::begin(&finished).expect("begin");
        write(first.path(), "first");
        let error = Folder::begin(&finished).expect_err("busy");
        assert!(matches!(error, RecordingError::Busy { .. }), "{error}");
        first.finish().expect("finish");
        assert_eq!(read(&finished), "first");
    }

    #[test]
    fn a_kill_between_two_renames_loses_nothing() {
        let home = tempfile::tempdir().expect("tempdir");
        let finished = home.path().join("local-15");
        let old = beside(&finished, OLD);
        fs::create_dir(&old).expect("create");
        write(&old, "old");
        let folder = Folder::begin(&finished).expect("begin");
        assert_eq!(read(&finished), "old");
        drop(folder);
    }
}
