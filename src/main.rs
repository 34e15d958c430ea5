//! The `planbook` program: parses the command line, calls the library, maps the outcome to an exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ExitCode::from(planbook::commands::main(&planbook::cli::Cli::parse()))
}
