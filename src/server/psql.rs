//! A way into a server of Planbook's while it runs, to look around by hand.

use std::io::IsTerminal;
use std::process::Command;

use super::docker::name_of_container;
use super::prune::{Entry, list};
use super::registry::{Note, Registry};
use super::{Kind, ServerError};

/// The command that opens psql on a server that runs; on the only one when none is named.
///
/// # Errors
/// [`ServerError::WhichServer`] when there is none, or several and none is named.
pub fn psql(id: Option<&str>, more: &[String]) -> Result<Command, ServerError> {
    let running: Vec<Entry> = list()?.into_iter().filter(|entry| entry.runs).collect();
    let named = running.iter().filter(|entry| id.is_none_or(|id| entry.id.starts_with(id)));
    let found: Vec<&Entry> = named.collect();
    let which = || ServerError::WhichServer {
        asked: id.map(str::to_owned),
        running: running.iter().map(|entry| entry.id.clone()).collect(),
    };
    let [entry] = found[..] else { return Err(which()) };
    let note =
        Registry::open()?.notes()?.into_iter().map(|found| found.note).find(|note| note.id == entry.id);
    let mut command = match note {
        Some(Note { socket: Some(socket), role, bindir, .. }) => {
            // The server's own psql where it came with one, else the machine's.
            let own = bindir.map(|dir| dir.join("psql")).filter(|path| path.is_file());
            let mut command = Command::new(own.unwrap_or_else(|| "psql".into()));
            command.arg("-h").arg(socket).args(["-p", &super::places::PORT.to_string(), "-U", &role]);
            command
        }
        Some(Note { kind: Kind::Docker, role, engine: Some(engine), .. }) => {
            let mut command = Command::new("docker");
            command.arg("--host").arg(format!("unix://{}", engine.display()));
            command.args(["exec", "--interactive"]);
            if std::io::stdin().is_terminal() {
                command.arg("--tty");
            }
            command.args([&name_of_container(&entry.id), "psql", "-U", &role]);
            command
        }
        _ => return Err(which()),
    };
    // The run's databases are listed there by \l.
    let database = if more.is_empty() { vec!["-d".to_owned(), "postgres".to_owned()] } else { more.to_vec() };
    command.args(database);
    Ok(command)
}
