//! The verbs of the program, one file each. They alone know every other module.

mod cache;
mod completions;
mod doctor;
mod error;
mod explain;
mod find;
mod groups;
mod index;
mod list;
mod pin;
mod progress;
mod render;
mod run;
mod schema;
mod server;
mod show;
mod signals;
mod talk;
mod validate;

use crate::cli::{Cli, Verb};
use crate::project::Project;

pub use error::CommandError;

/// Does what the command line says, and prints why where it cannot; the program's exit code.
#[must_use]
pub fn main(cli: &Cli) -> u8 {
    let checked = Project::current().map_err(CommandError::from).and_then(|_| execute(cli));
    let whole = checked.and_then(|code| talk::lost().map_or(Ok(code), Err));
    whole.unwrap_or_else(|error| {
        talk::say(error::printed(&error));
        error.code
    })
}

/// Does what the command line says; the program's exit code.
///
/// # Errors
/// What keeps the command from doing it, with the exit code that says of what kind it is.
pub fn execute(cli: &Cli) -> Result<u8, CommandError> {
    match &cli.verb {
        Verb::Run(args) => run::run(args),
        Verb::Validate(args) => validate::run(args),
        Verb::List(args) => list::run(args),
        Verb::Render(args) => render::run(args),
        Verb::Schema(args) => schema::run(args),
        Verb::Explain(args) => explain::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Pin(args) => pin::run(args),
        Verb::Cache(args) => cache::run(args),
        Verb::Server(args) => Ok(server::run(args)?),
        Verb::Completions(args) => completions::run(args),
    }
}
