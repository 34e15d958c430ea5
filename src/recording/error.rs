//! What can go wrong with a recording on disk.

use std::path::{Path, PathBuf};

/// A recording could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Another run is writing the same recording.
    #[error("another run is writing {}", path.display())]
    Busy {
        /// The folder that it writes.
        path: PathBuf,
    },
    /// Something that is no recording stands where the recording would go.
    #[error("{} is there already and is no recording (no manifest.json in it)", path.display())]
    Occupied {
        /// What stands there.
        path: PathBuf,
    },
    /// A file of a recording cannot be understood.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The recording is of another format.
    #[error("{} has format {found}, this program reads format {known}: {next}", path.display())]
    Format {
        /// The manifest.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// Ours.
        known: u32,
        /// What to do.
        next: &'static str,
    },
    /// The folder holds no recording.
    #[error("{} holds no recording (no manifest.json): name a folder such as results/NOTEBOOK/local-15", path.display())]
    Absent {
        /// The folder.
        path: PathBuf,
    },
}

impl RecordingError {
    /// Wraps a failure of the file system.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// A file that cannot be understood.
    pub fn damaged(path: impl AsRef<Path>, reason: impl std::fmt::Display) -> Self {
        Self::Damaged { path: path.as_ref().to_owned(), reason: reason.to_string() }
    }
}
