//! A step that failed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::recording::{Event, Failure};

use super::super::Subject;

/// Why a step failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "failure")]
pub(in crate::render) struct FailureView {
    /// The error.
    pub message: String,
    /// PostgreSQL's code of it, where the server sent it.
    pub sqlstate: Option<String>,
    /// The server's DETAIL.
    pub detail: Option<String>,
    /// The server's HINT.
    pub hint: Option<String>,
    /// The statement with a caret under the place where the server pointed.
    pub statement: Option<String>,
    /// The notebook's file and line.
    pub place: String,
}

pub(super) fn failure(subject: Subject<'_>, number: usize) -> Option<FailureView> {
    let failure = subject.recording.events.iter().find_map(|event| match event {
        Event::Failure(failure) if failure.step == number => Some(failure),
        _ => None,
    })?;
    Some(FailureView {
        message: failure.message.clone(),
        sqlstate: failure.sqlstate.clone(),
        detail: failure.detail.clone(),
        hint: failure.advice.as_ref().or(failure.hint.as_ref()).cloned(),
        statement: pointed(failure),
        place: format!("{}:{}", failure.file, failure.line),
    })
}

/// The statement with a caret line under the character where the server pointed.
pub(in crate::render) fn pointed(failure: &Failure) -> Option<String> {
    let statement = failure.statement.as_ref()?;
    let Some(position) = failure.position else { return Some(statement.clone()) };
    let mut before = 0;
    let mut out = String::new();
    for line in statement.split('\n') {
        out.push_str(line);
        out.push('\n');
        let length = line.chars().count() + 1;
        if (before + 1..=before + length).contains(&position) {
            // Tabs before the caret stay tabs, so that it stands under its character.
            let lead: String = line
                .chars()
                .take(position - before - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            out.push_str(&lead);
            out.push_str("^\n");
        }
        before += length;
    }
    Some(out.trim_end_matches('\n').to_owned())
}
