//! The files that a dataset names: there they are, and this is what they hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sql::split_statements;

use super::convert::outliving;
use super::fault::{Fault, Faults};
use super::model::{DataFile, Dataset, Part, Statistics};
use super::source::Source;

/// Hashes the dataset's files, and looks at statements in them as at those of the dataset itself.
///
/// # Errors
/// Every file that is missing, cannot be read or holds what would outlive the database.
pub(super) fn read(dataset: &mut Dataset) -> Result<(), Faults> {
    let mut faults = Vec::new();
    let source = dataset.source.clone();
    for part in &mut dataset.parts {
        match part {
            Part::Sql(_) => {}
            Part::Copy(copy) => faults.extend(hash(&mut copy.from, &source)),
            Part::File(file) => {
                faults.extend(hash(file, &source));
                faults.extend(statements(file, &source));
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Faults::new(faults)) }
}

/// A pin that is asked for must be there.
///
/// # Errors
/// When it is not.
pub(super) fn pin(dataset: &Dataset) -> Result<(), Faults> {
    let (source, pin) = (&dataset.source, dataset.pin_path());
    if dataset.statistics == Statistics::Sampled || pin.is_file() {
        return Ok(());
    }
    let message = format!("the statistics are pinned, and there is no file {}", pin.display());
    let place = source.place(source.text.find("statistics").unwrap_or_default(), "statistics".len());
    let help = format!("write it with: {}", dataset.pin_command());
    Err(Fault::at(source, place, message).with_help(help).into())
}

fn hash(file: &mut DataFile, source: &Source) -> Option<Fault> {
    match digest(&file.path) {
        Ok(hash) => {
            file.hash = hash;
            None
        }
        Err(error) => {
            let message = format!("`{}` cannot be read: {error}", file.written);
            let help = "check the path, which is relative to the dataset's file";
            Some(Fault::at(source, file.at, message).with_help(help))
        }
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hasher.update(&chunk[..read]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What stands in a file of statements that has no place in a dataset.
fn statements(file: &DataFile, source: &Source) -> Option<Fault> {
    let fault = |message: String, help: &str| Some(Fault::at(source, file.at, message).with_help(help));
    let text = std::fs::read_to_string(&file.path).ok()?;
    let statements = match split_statements(&text) {
        Ok(statements) => statements,
        Err(error) => {
            let line = text[..error.offset.min(text.len())].matches('\n').count() + 1;
            let message = format!("{} is not SQL: line {line}: {}", file.written, error.message);
            return fault(message, "close the quote or the comment");
        }
    };
    let (statement, (message, help)) =
        statements.iter().find_map(|statement| Some((statement, outliving(statement)?)))?;
    let line = text[..statement.offset].matches('\n').count() + 1;
    fault(format!("{}, line {line}: {message}", file.written), help)
}
