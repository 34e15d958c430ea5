//! The page over all recordings of a results folder, written again whenever one of them is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::recording::{Recording, RecordingError, Status};
use crate::render::{self, Counts, INDEX_MARK, IndexedNotebook, IndexedRecording, Templates};

use super::{CommandError, find, talk};

/// The results folders that hold these recordings as `results/<notebook>/<recording>`; others have no index.
pub(super) fn homes(recordings: &[PathBuf]) -> BTreeSet<PathBuf> {
    let home = |path: &PathBuf| {
        let notebook = path.parent()?;
        let named = Recording::manifest(path).ok()?.notebook;
        let home = notebook.parent().filter(|_| notebook.file_name().is_some_and(|name| *name == *named))?;
        Some(if home.as_os_str().is_empty() { PathBuf::from(".") } else { home.to_owned() })
    };
    recordings.iter().filter_map(home).collect()
}

/// Writes `index.html` and `README.md` over the recordings below `results`. Quick looks, whose folders carry a `~`, are
/// left out, since they are never committed; where there is nothing else, there is no index.
pub(super) fn write(results: &Path, templates: &Templates) -> Result<(), CommandError> {
    let mut notebooks: BTreeMap<String, IndexedNotebook> = BTreeMap::new();
    for path in find::recordings(results) {
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains('~')) {
            continue;
        }
        // What is damaged is told where it is read, and an index need not end for it.
        let Ok(entry) = entry(results, &path) else { continue };
        notebooks
            .entry(entry.name.clone())
            .and_modify(|known| known.recordings.extend(entry.recordings.clone()))
            .or_insert(entry);
    }
    if notebooks.is_empty() {
        return Ok(());
    }
    for (name, bytes) in render::index(notebooks.into_values().collect(), templates)? {
        let path = results.join(name);
        if is_foreign(&path) {
            talk::say(format_args!(
                "note: {} is not Planbook's, and is left alone; without it there would be an index of the recordings",
                path.display()
            ));
            continue;
        }
        replace(&path, &bytes)?;
    }
    Ok(())
}

/// Whether somebody else wrote the file.
fn is_foreign(path: &Path) -> bool {
    fs::read_to_string(path).map_or_else(|_| path.exists(), |text| !text.starts_with(INDEX_MARK))
}

/// Through a file beside it, so that two runs at a time leave one whole index.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordingError> {
    let wrong = |error| RecordingError::io("write", path)(error);
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("."))).map_err(wrong)?;
    file.write_all(bytes).map_err(wrong)?;
    readable_by_all(&file).map_err(wrong)?;
    file.persist(path).map_err(|error| wrong(error.error))?;
    Ok(())
}

/// A temporary file is its owner's alone; an index is for whoever may read the recordings.
#[cfg(unix)]
fn readable_by_all(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    Ok(())
}

/// What the index says of one recording, from its manifest and its verdicts.
fn entry(results: &Path, path: &Path) -> Result<IndexedNotebook, RecordingError> {
    let manifest = Recording::manifest(path)?;
    let file = path.join("verdicts.json");
    let text = fs::read_to_string(&file).map_err(RecordingError::io("read", &file))?;
    let verdicts: Value =
        serde_json::from_str(&text).map_err(|error| RecordingError::damaged(&file, error))?;
    let text = |name: &str| verdicts[name].as_str().map(str::to_owned);
    let count =
        |name: &str| verdicts[name].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let tags = verdicts["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let folder = path.strip_prefix(results).unwrap_or(path);
    let recording = IndexedRecording {
        folder: folder.display().to_string(),
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        server: render::server_name(&manifest.server),
        day: render::day(&manifest.started),
        complete: manifest.status == Status::Complete,
        counts: Counts {
            pass: count("pass"),
            fail: count("fail"),
            inconclusive: count("inconclusive"),
            not_run: count("not_run"),
        },
    };
    Ok(IndexedNotebook {
        title: text("title").unwrap_or_else(|| manifest.notebook.clone()),
        name: manifest.notebook,
        summary: text("summary"),
        tags: tags.collect(),
        recordings: vec![recording],
    })
}
