//! Why a command could not do its work, and the exit code that says so.

use miette::{Diagnostic, Report};

use crate::notebook::Faults;
use crate::project::ProjectError;
use crate::recording::RecordingError;
use crate::render::RenderError;
use crate::run::RunError;
use crate::server::{self, ServerError};
use crate::session::SessionError;

/// An error of the program as a whole. Its report ends with what to do next.
#[derive(Debug)]
pub struct CommandError {
    /// 2 notebook or command line, 3 environment, 130 interrupted.
    pub code: u8,
    /// What to print.
    pub report: Report,
}

impl CommandError {
    /// A fault of the command line.
    pub(super) fn usage(message: impl std::fmt::Display, next: impl std::fmt::Display) -> Self {
        Self { code: 2, report: miette::miette!(help = next.to_string(), "{message}") }
    }

    /// The user asked to stop.
    pub(super) fn interrupted() -> Self {
        Self { code: 130, report: miette::miette!(help = "run again when ready", "interrupted") }
    }

    /// A fault of the environment.
    pub(super) fn environment(message: impl std::fmt::Display, next: impl std::fmt::Display) -> Self {
        Self { code: 3, report: miette::miette!(help = next.to_string(), "{message}") }
    }
}

impl From<Faults> for CommandError {
    fn from(faults: Faults) -> Self {
        Self { code: 2, report: Report::new(faults) }
    }
}

impl From<&ProjectError> for CommandError {
    fn from(error: &ProjectError) -> Self {
        Self::usage(error, "its keys are server, experiments, results and templates; see docs/servers.md")
    }
}

impl From<ServerError> for CommandError {
    fn from(error: ServerError) -> Self {
        Self { code: error.exit_code(), report: Report::new(error) }
    }
}

/// The error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

impl From<RecordingError> for CommandError {
    fn from(error: RecordingError) -> Self {
        let next = match &error {
            RecordingError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "make room on that disk, or write elsewhere with --results DIR"
            }
            RecordingError::Io { action: "read", .. } => {
                "a recording needs all of its files: bring it back, or run the notebook again"
            }
            RecordingError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                "a folder is needed there: move the file away, or write elsewhere with --results DIR"
            }
            RecordingError::Io { .. } => {
                "check the folder and its rights, or write elsewhere with --results DIR"
            }
            RecordingError::Occupied { .. } => "move it away, or write elsewhere with --results DIR",
            RecordingError::Busy { .. } => {
                "wait for that run, or give this one a folder of its own with --results DIR"
            }
            RecordingError::Damaged { .. } => {
                "its evidence cannot be trusted: bring the file back, or run the notebook again"
            }
            RecordingError::Format { .. } | RecordingError::Absent { .. } => {
                "`planbook list` shows the notebooks"
            }
        };
        Self::environment(chain(&error), next)
    }
}

impl From<RenderError> for CommandError {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Recording(error) => error.into(),
            wrong @ (RenderError::Template { .. } | RenderError::Templates { .. }) => Self::usage(
                chain(&wrong),
                "docs/templates.md says what templates there are and what they see",
            ),
            other => Self::environment(
                chain(&other),
                "the evidence is kept; `planbook render` makes the report again",
            ),
        }
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> Self {
        let next = server::advice(&error).unwrap_or("`planbook doctor` says what this machine can use");
        Self::environment(chain(&error), next)
    }
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Session(error) => error.into(),
            RunError::Server(error) => error.into(),
            RunError::Recording(error) => error.into(),
            RunError::Interrupted => Self::interrupted(),
        }
    }
}

impl CommandError {
    /// The same error with more advice.
    pub(super) fn and(self, more: &str) -> Self {
        let next =
            self.report.help().map(|help| format!("{help}\n{more}")).unwrap_or_else(|| more.to_owned());
        Self { code: self.code, report: miette::miette!(help = next, "{}", self.report) }
    }
}

/// Prints the report in full. Where it is made of several, each is drawn by itself, and the count stands last.
pub(crate) fn printed(error: &CommandError) -> String {
    let diagnostic: &dyn Diagnostic = error.report.as_ref();
    let parts: Vec<&dyn Diagnostic> = diagnostic.related().into_iter().flatten().collect();
    if parts.is_empty() {
        return drawn(diagnostic);
    }
    let mut out: String = parts.into_iter().map(drawn).collect();
    out.push_str(&format!("{diagnostic}\n"));
    out
}

fn drawn(diagnostic: &dyn Diagnostic) -> String {
    const WIDTH: usize = 110;
    let mut out = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(super::talk::theme()).with_width(WIDTH);
    match handler.render_report(&mut out, diagnostic) {
        Ok(()) => out,
        Err(_) => format!("{diagnostic}\n"),
    }
}
