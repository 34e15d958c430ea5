//! Entries of `auto_explain`, from the server's log or a client's messages.

use serde_json::Value;

use super::Line;
use crate::plan::Plan;

/// Kinds of message that can follow an entry.
const KINDS: &[&str] = &[
    "LOG",
    "NOTICE",
    "WARNING",
    "ERROR",
    "STATEMENT",
    "DETAIL",
    "HINT",
    "CONTEXT",
    "FATAL",
    "INFO",
    "DEBUG",
];

/// The lines of each entry, without the log's prefix; `None` where the input is no log.
pub(super) fn entries(lines: &[Line]) -> Option<Vec<Vec<Line>>> {
    let mut out: Vec<Vec<Line>> = vec![];
    let mut open = false;
    for line in lines {
        if is_head(&line.text) {
            out.push(vec![]);
            open = true;
        } else if is_message(&line.text) {
            open = false;
        } else if open && let Some(entry) = out.last_mut() {
            let text = line.text.strip_prefix('\t').unwrap_or(&line.text).to_owned();
            entry.push(Line { number: line.number, text });
        }
    }
    (!out.is_empty()).then_some(out)
}

/// `… duration: 0.049 ms  plan:`
fn is_head(line: &str) -> bool {
    let rest = line.trim_end().strip_suffix("plan:").and_then(|line| line.trim_end().strip_suffix("ms"));
    rest.is_some_and(|rest| rest.contains("duration: "))
}

/// `2026-11-30 … LOG:  …`: a message that is not indented.
fn is_message(line: &str) -> bool {
    let starts = |before: &str| before.is_empty() || before.ends_with([' ', ':', ']']);
    !line.starts_with(['\t', ' '])
        && KINDS
            .iter()
            .any(|kind| line.split_once(&format!("{kind}:  ")).is_some_and(|(before, _)| starts(before)))
}

/// Keeps what `auto_explain` told before the plan: the statement and its parameters.
pub(super) fn keep_statement(before: &[Line], plan: &mut Plan) {
    let mut name = None;
    let mut told: Vec<(&'static str, String)> = vec![];
    for line in before {
        let found = ["Query Text", "Query Parameters"]
            .into_iter()
            .find_map(|name| Some((name, line.text.trim_start().strip_prefix(name)?.strip_prefix(": ")?)));
        match (found, told.last_mut()) {
            (Some((found, value)), _) => {
                told.push((found, value.to_owned()));
                name = Some(found);
            }
            (None, Some((_, value))) if name.is_some() => {
                value.push('\n');
                value.push_str(&line.text);
            }
            _ => {}
        }
    }
    for (name, value) in told.into_iter().rev() {
        plan.top.prepend(name, Value::from(value.trim_end()));
    }
}
