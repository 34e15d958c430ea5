//! Reads notebooks from files, or again from a recording.

use std::io::Read;
use std::path::Path;

use crate::nearest::nearest;

use super::fault::{Fault, Faults};
use super::model::{Dataset, Notebook, StepKind};
use super::overrides::Overrides;
use super::source::Source;
use super::{convert, files};

/// The largest file that is read, in bytes. A notebook is written by hand.
const LARGEST: u64 = 1 << 20;

/// Reads the notebook at `path`, and the dataset file that it names.
///
/// # Errors
/// Every fault of the two files, and of the overrides.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Notebook, Faults> {
    let source = read(path).map_err(|fault| match fault.help {
        Some(_) => Faults::from(fault),
        None => fault.with_help("check the path, or list the notebooks with planbook list").into(),
    })?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut notebook = convert::notebook(&name, path, source, overrides, &mut |file, place, at| {
        let path = folder.join(file);
        read(&path).map(|source| (path, source)).map_err(|fault| {
            let help =
                fault.help.unwrap_or_else(|| "check the path, which is relative to the notebook".to_owned());
            Fault::at(at, place, fault.message).with_help(help)
        })
    })?;
    let of_points = notebook.steps.iter_mut().flat_map(|step| match &mut step.kind {
        StepKind::Sweep(sweep) => {
            sweep.points.iter_mut().filter_map(|point| point.dataset.as_mut()).collect()
        }
        _ => Vec::new(),
    });
    for dataset in notebook.dataset.iter_mut().chain(of_points) {
        files::read(dataset)?;
        files::pin(dataset)?;
    }
    Ok(notebook)
}

/// Reads a dataset file by itself, with values for its parameters. Its pin need not be there.
///
/// # Errors
/// Every fault of the file and of the values.
pub fn load_dataset(path: &Path, set: &[(String, String)]) -> Result<Dataset, Faults> {
    let mut dataset = convert::dataset_file(path, &read(path)?, set)?;
    files::read(&mut dataset)?;
    Ok(dataset)
}

/// Reads a notebook from its text, with the text of the dataset file that it names, as a recording keeps both.
/// No file is touched.
///
/// # Errors
/// Every fault of the two texts, and of the overrides.
pub fn load_text(
    name: &str,
    source: Source,
    dataset: Option<Source>,
    overrides: &Overrides,
) -> Result<Notebook, Faults> {
    let path = source.name.clone();
    convert::notebook(name, Path::new(&path), source, overrides, &mut |file, place, at| {
        let missing = || {
            Fault::at(at, place, format!("the dataset file `{file}` is not part of this recording"))
                .with_help("run the notebook again")
        };
        dataset.clone().map(|source| (file.into(), source)).ok_or_else(missing)
    })
}

/// The text of a file. The fault has no place: it is the file as a whole that cannot be read.
fn read(path: &Path) -> Result<Source, Fault> {
    let name = path.display().to_string();
    let fault = |message: String, help: String| Fault::of_file(&name, message).with_help(help);
    if path.is_dir() {
        return Err(fault(format!("`{name}` is a directory"), "name one file in it".to_owned()));
    }
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let missing = Fault::of_file(&name, format!("there is no file `{name}`"));
            neighbour(path).into_iter().fold(missing, Fault::with_help)
        }
        _ => fault(format!("`{name}` cannot be read: {error}"), "check its permissions".to_owned()),
    })?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fault(format!("`{name}` cannot be read: {error}"), "check the file".to_owned()))?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("`{name}` is larger than 1 MB, which no notebook needs");
        return Err(fault(message, "keep data out of it: generate it in SQL".to_owned()));
    }
    let bytes = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        fault(format!("`{name}` is not UTF-8 text, from line {line} on"), "save it as UTF-8".to_owned())
    })?;
    Ok(Source::new(name, bytes))
}

/// Advice for a file that is not there.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Ok(entries) = folder.read_dir() else {
        return Some(format!("there is no directory `{}` either", folder.display()));
    };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let near = nearest(&wanted, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", path.with_file_name(near).display()))
}
