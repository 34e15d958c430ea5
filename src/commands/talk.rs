//! Talk goes to stderr, data to stdout. Colour only on a terminal, and only where NO_COLOR is not set.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use crate::render::Paint;

use super::CommandError;

/// One line of talk.
pub(super) fn say(line: impl Display) {
    // Nobody to talk to is no error.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Why data did not reach stdout, the first time that it did not.
static LOST: OnceLock<String> = OnceLock::new();

/// Data. Whether all of it arrived is asked at the end, by [`lost`].
pub(super) fn print(text: impl Display) {
    let mut stdout = std::io::stdout();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // A reader that went away (`| head`) is no error of ours.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = LOST.set(error.to_string());
        }
        _ => {}
    }
}

/// The error, where data was printed that stdout did not take: a full disk behind it, say.
pub(super) fn lost() -> Option<CommandError> {
    let error = LOST.get()?;
    Some(CommandError::environment(
        format!("cannot write to the standard output: {error}"),
        "make room where it goes to, and run the command again",
    ))
}

fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
}

/// How to colour stdout.
pub(super) fn paint() -> Paint {
    Paint { colour: std::io::stdout().is_terminal() && colour_wanted() }
}

/// How errors are drawn on stderr.
pub(super) fn theme() -> miette::GraphicalTheme {
    if std::io::stderr().is_terminal() && colour_wanted() {
        miette::GraphicalTheme::unicode()
    } else {
        miette::GraphicalTheme::unicode_nocolor()
    }
}

/// Enough of a statement to know it by.
pub(super) fn first_line(sql: &str) -> String {
    const LONGEST: usize = 80;
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    format!("{}…", line.chars().take(LONGEST - 1).collect::<String>())
}
