//! The evidence of a recording, file by file: noted when the run ends, compared when it is read again.
//!
//! A file that was cut short or edited may still be well-formed, and would tell another story.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Manifest, RecordingError};

/// The files whose bytes count. Everything else in a recording is computed from them.
const FILES: [&str; 4] = ["notebook.yaml", "dataset.yaml", "events.jsonl", "samples.csv"];

/// The folder of captures.
const PLANS: &str = "plans";

/// SHA-256 of every evidence file in a folder, by path relative to it.
pub(super) fn digests(folder: &Path) -> Result<BTreeMap<String, String>, RecordingError> {
    let mut digests = BTreeMap::new();
    for file in FILES.iter().filter(|file| folder.join(file).is_file()) {
        digests.insert((*file).to_owned(), digest(&folder.join(file))?);
    }
    add(folder, PLANS, &mut digests)?;
    Ok(digests)
}

fn add(folder: &Path, below: &str, digests: &mut BTreeMap<String, String>) -> Result<(), RecordingError> {
    let path = folder.join(below);
    let entries = fs::read_dir(&path).map_err(RecordingError::io("read", &path))?;
    for entry in entries {
        let entry = entry.map_err(RecordingError::io("read", &path))?;
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            add(folder, &name, digests)?;
        } else {
            let digest = digest(&entry.path())?;
            digests.insert(name, digest);
        }
    }
    Ok(())
}

fn digest(path: &Path) -> Result<String, RecordingError> {
    let bytes = fs::read(path).map_err(RecordingError::io("read", path))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares the files with what the manifest notes of them. A run that was cut off has noted nothing.
pub(super) fn check(folder: &Path, manifest: &Manifest) -> Result<(), RecordingError> {
    for (file, noted) in &manifest.files {
        let path = folder.join(file);
        if !path.is_file() {
            return Err(RecordingError::damaged(&path, "it is missing"));
        }
        if digest(&path)? != *noted {
            return Err(RecordingError::damaged(&path, "it is not as the run left it"));
        }
    }
    Ok(())
}
