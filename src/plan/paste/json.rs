//! JSON among other lines: quoted, doubled, escaped, broken by a terminal.

use super::{Line, number};
use crate::plan::{Plan, PlanError, json};

/// Whether a line begins JSON, quoted or not.
pub(super) fn starts(line: &str) -> bool {
    let inside = line.strip_prefix(['"', '\'']).unwrap_or(line).trim_start();
    let rest = inside.strip_prefix('[').or(inside.strip_prefix('{'));
    rest.is_some_and(|rest| {
        rest.trim_start().is_empty() || rest.trim_start().starts_with(['{', '"', '[', '\\', ']'])
    })
}

/// Reads the plans of a JSON text that begins with the first line.
pub(super) fn read(lines: &[Line]) -> Result<Vec<Plan>, PlanError> {
    let end = lines.iter().rposition(|line| line.text.trim_end().ends_with([']', '}', '"', '\'', ';']));
    let lines = &lines[..end.map_or(lines.len(), |end| end + 1)];
    let text = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let text = unquoted(text.trim().trim_end_matches(';'));
    match json::read_all(&text) {
        Ok(plans) => Ok(plans),
        // A line break inside a string: a terminal's.
        Err(error) => match json::read_all(&text.replace('\n', "")) {
            Ok(plans) => Ok(plans),
            Err(_) => several(&text).map_err(|_| error.renumbered(|line| number(lines, line))),
        },
    }
}

/// Takes quotes around the whole off, and what they did to the quotes inside.
fn unquoted(text: &str) -> String {
    let inside = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    if let Some(inside) = inside('"') {
        if inside.contains("\\\"")
            && let Ok(unescaped) = serde_json::from_str::<String>(&text.replace('\n', ""))
        {
            return unescaped;
        }
        return inside.replace("\"\"", "\"");
    }
    match inside('\'') {
        Some(inside) => inside.replace("''", "'"),
        None => text.to_owned(),
    }
}

/// Several JSON texts, one after the other.
fn several(text: &str) -> Result<Vec<Plan>, PlanError> {
    let mut plans = vec![];
    let (mut depth, mut start, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b']' | b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    plans.extend(json::read_all(&text[start..=at])?);
                }
            }
            _ => {}
        }
    }
    if plans.is_empty() || depth > 0 { Err(PlanError::Empty) } else { Ok(plans) }
}
