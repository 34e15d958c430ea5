//! Notebooks and recordings by name or path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::nearest;

use super::CommandError;

/// The notebooks of a folder, sorted by name.
pub(super) fn notebooks(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = fs::read_dir(folder).map_err(|error| {
        CommandError::usage(
            format!("cannot read the folder of notebooks {}: {error}", folder.display()),
            "go to the top of a project that has one, or name it with --experiments DIR",
        )
    })?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && is_yaml(path))
        .collect();
    paths.sort();
    Ok(paths)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// The path of a notebook given by name or path.
pub(super) fn notebook(name: &str, folder: &Path) -> Result<PathBuf, CommandError> {
    let as_path = Path::new(name);
    if as_path.is_file() && is_yaml(as_path) {
        return Ok(as_path.to_owned());
    }
    if name.contains('/') || is_yaml(as_path) {
        let problem = if as_path.is_dir() { "is a folder" } else { "is not there" };
        return Err(CommandError::usage(
            format!("{name} {problem}"),
            "name a notebook's file, or a notebook of the folder by its name alone",
        ));
    }
    let known = notebooks(folder)?;
    let stem =
        |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(path) = known.iter().find(|path| stem(path) == name) {
        return Ok(path.clone());
    }
    let near = known
        .iter()
        .map(stem)
        .max_by(|one, other| strsim::jaro_winkler(name, one).total_cmp(&strsim::jaro_winkler(name, other)));
    let next = match near.filter(|near| strsim::jaro_winkler(name, near) > 0.7) {
        Some(near) => format!("did you mean `{near}`? `planbook list` shows them all"),
        None => "`planbook list` shows the notebooks".to_owned(),
    };
    Err(CommandError::usage(format!("{} holds no notebook named {name}", folder.display()), next))
}

/// Every recording of the folder of results.
pub(super) fn all_recordings(results: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let found = recordings(results);
    if found.is_empty() {
        let next = "run a notebook first, or name the folder of the recordings with --results DIR";
        return Err(CommandError::usage(format!("{} holds no recording", results.display()), next));
    }
    Ok(found)
}

/// The recordings that a word names: those at or below a folder, else all of the notebook of that name or path.
pub(super) fn recordings_named(named: &Path, results: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let below = recordings(named);
    if !below.is_empty() {
        return Ok(below);
    }
    let name = notebook_name(named);
    let of_notebook = results.join(&name);
    let found = recordings(&of_notebook);
    if !found.is_empty() {
        return Ok(found);
    }
    let recorded = recorded_names(results);
    let next = match nearest::nearest(&name, recorded.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? `planbook list` shows what has been recorded"),
        None => format!(
            "name a notebook that has been run, or a folder of recordings; `planbook run {name}` records it"
        ),
    };
    let looked = format!("neither {} nor {} holds one", named.display(), of_notebook.display());
    Err(CommandError::usage(format!("no recording of {name}: {looked}"), next))
}

/// What a notebook's results are filed under: a name as it is, a file's without its ending.
fn notebook_name(named: &Path) -> String {
    let name = if is_yaml(named) { named.file_stem() } else { named.file_name() };
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The notebooks that have a recording.
fn recorded_names(results: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(results) else { return Vec::new() };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    folders.filter(|path| !recordings(path).is_empty()).map(|path| notebook_name(&path)).collect()
}

/// Every recording at or below a folder, sorted; folders of cut runs only when named themselves.
pub(super) fn recordings(folder: &Path) -> Vec<PathBuf> {
    if folder.join("manifest.json").is_file() {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut below: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir() && !crate::recording::is_partial(path))
        .collect();
    below.sort();
    below.iter().flat_map(|path| recordings(path)).collect()
}
