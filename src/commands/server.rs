//! `planbook server …`: the servers that Planbook started on this machine.

use std::io::Write;
use std::os::unix::process::CommandExt;

use serde_json::{Value, json};

use crate::cli::{Format, ServerArgs, ServerVerb as Verb};
use crate::server::{self, Entry, Needs, ServerError};

/// Runs the verb; the program's exit code.
///
/// # Errors
/// When Planbook's notes cannot be read, or a server cannot be removed.
pub(super) fn run(args: &ServerArgs) -> Result<u8, ServerError> {
    match &args.verb {
        &Verb::Ls { format } => show(&server::list()?, format, "no server of Planbook's is there"),
        &Verb::Prune { format } => return prune(format),
        Verb::Psql { id, more } => {
            let mut command = server::psql(id.as_deref(), more)?;
            // Only comes back where it cannot start.
            let source = command.exec();
            let path = command.get_program().into();
            return Err(ServerError::Io { action: "run", path, source });
        }
        &Verb::Install { major } => {
            let said = server::install(major, &Needs::default(), &mut talk)?;
            talk(&said);
        }
    }
    Ok(0)
}

fn talk(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What could not be removed is told last, and makes the exit code.
fn prune(format: Format) -> Result<u8, ServerError> {
    let mut pruned = server::prune()?;
    if !pruned.removed.is_empty() || pruned.problems.is_empty() {
        show(&pruned.removed, format, "nothing was left behind");
    }
    let last = pruned.problems.pop();
    for problem in &pruned.problems {
        talk(&problem.to_string());
    }
    last.map_or(Ok(0), Err)
}

/// Entries go to stdout; that there are none is talk.
fn show(entries: &[Entry], format: Format, none: &str) {
    let text = match format {
        Format::Json => format!("{}\n", Value::from_iter(entries.iter().map(as_json))),
        Format::Human => entries.iter().map(|entry| format!("{}\n", line(entry))).collect(),
    };
    // A reader that went away (`| head`) is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    if entries.is_empty() && format == Format::Human {
        talk(none);
    }
}

fn line(entry: &Entry) -> String {
    let owner = if entry.owner_lives { "in use by" } else { "left behind by" };
    let process = entry.owner.map_or("a killed run".to_owned(), |pid| format!("process {pid}"));
    let state = if entry.runs { "running" } else { "stopped" };
    let what = if entry.what.is_empty() { "(its container is gone)" } else { &entry.what };
    format!("{}  {}  {what}  {state}  {owner} {process}  {}", entry.id, entry.kind, entry.started)
        .trim_end()
        .to_owned()
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "kind": entry.kind.to_string(),
        "what": entry.what,
        "started": entry.started,
        "owner": entry.owner,
        "owner_lives": entry.owner_lives,
        "runs": entry.runs,
    })
}
