//! Two kinds of ends: a step that fails by itself, and an environment that gives way under the run.

use crate::recording::{ArmKey, Failure, RecordingError};
use crate::server::ServerError;
use crate::session::SessionError;

/// SQLSTATE of a lock that did not come in time.
pub(super) const LOCK_NOT_AVAILABLE: &str = "55P03";

/// What to do about it.
const ON_LOCK: &str = "end the `session` step that holds the lock first, or set `lock_timeout` in the notebook's `settings`: \
    without it a statement waits for five seconds";

/// The run cannot go on, whatever the notebook says.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The server is gone, full or shutting down.
    #[error("the server gave way")]
    Session(#[from] SessionError),
    /// The server cannot give the run its database.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The recording cannot be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

/// How a step ends when it does not end well.
pub(super) enum StepError {
    /// It failed by itself: a verdict, not an error of the run.
    Failed(Box<Failure>),
    /// The environment failed it.
    Environment(Box<Failure>, SessionError),
    /// The run ends here for another reason.
    Run(RunError),
}

impl StepError {
    pub(super) fn failed(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }

    /// The same failure as one of another step.
    pub(super) fn in_step(mut self, step: usize) -> Self {
        if let Self::Failed(failure) | Self::Environment(failure, _) = &mut self {
            failure.step = step;
        }
        self
    }

    pub(super) fn for_arm(mut self, key: &ArmKey) -> Self {
        if let Self::Failed(failure) | Self::Environment(failure, _) = &mut self {
            failure.key = Some(key.clone());
        }
        self
    }
}

impl From<RunError> for StepError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

/// Turns what the server said into a failure with its place in the notebook.
///
/// `line` is the line of the template's first character, `sent` the template's text and the statement sent.
pub(super) fn of_session(
    step: usize,
    file: &str,
    line: usize,
    sent: Option<(&str, &str)>,
    error: SessionError,
) -> StepError {
    let mut failure = Failure::new(step, error.to_string(), file, line);
    if let SessionError::Sql(sql) = &error {
        failure.message.clone_from(&sql.message);
        failure.sqlstate = Some(sql.sqlstate.clone());
        failure.detail.clone_from(&sql.detail);
        failure.hint.clone_from(&sql.hint);
        if sql.sqlstate == LOCK_NOT_AVAILABLE {
            failure.advice = Some(ON_LOCK.to_owned());
        }
        failure.statement = Some(sql.statement.clone());
        failure.position = sql.position;
        if let Some((template, rendered)) = sent {
            failure.line += line_in_template(template, rendered, &sql.statement, sql.position);
        }
    }
    if error.is_environment() {
        StepError::Environment(Box::new(failure), error)
    } else {
        StepError::Failed(Box::new(failure))
    }
}

/// How many lines below the template's first the error stands: that of the position in the statement, or of the
/// statement's first word. Values that hold line breaks make the lines differ; then the first line has to do.
fn line_in_template(template: &str, rendered: &str, statement: &str, position: Option<usize>) -> usize {
    let breaks = |text: &str| text.matches('\n').count();
    // Rendering drops the line break at the end.
    if breaks(template.trim_end()) != breaks(rendered.trim_end()) {
        return 0;
    }
    let Some(start) = rendered.find(statement) else { return 0 };
    let characters = position.map_or(0, |position| position.saturating_sub(1));
    let within: String = statement.chars().take(characters).collect();
    let leading = statement.len() - statement.trim_start().len();
    breaks(&rendered[..start]) + breaks(&within).max(breaks(&statement[..leading]))
}

#[cfg(test)]
mod tests {
    use super::line_in_template;

    #[test]
    fn finds_the_line_of_a_position() {
        let template = "CREATE TABLE t (a int);\nSELECT a,\n  {{ x }} FROM t";
        let rendered = "CREATE TABLE t (a int);\nSELECT a,\n  bogus FROM t";
        let statement = "SELECT a,\n  bogus FROM t";
        assert_eq!(line_in_template(template, rendered, statement, Some(13)), 2);
        assert_eq!(line_in_template(template, rendered, statement, None), 1);
        assert_eq!(line_in_template(&format!("{template}\n"), rendered, statement, None), 1);
        assert_eq!(line_in_template(template, "SELECT 1", "SELECT 1", Some(3)), 0);
    }
}
