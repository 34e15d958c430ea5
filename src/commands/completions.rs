//! `planbook completions`

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};

use super::{CommandError, talk};

/// Prints completions for a shell.
pub(super) fn run(args: &CompletionsArgs) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "planbook", &mut script);
    talk::print(String::from_utf8_lossy(&script));
    Ok(0)
}
