//! YAML that does not parse, in words that say what to write instead.
//!
//! YAML stops at its first error. Where that is one of the well-known traps of an unquoted value, the value is
//! set aside and the rest is read, so that the other faults of the file are told too.

use std::ops::Range;

use regex::Regex;

use super::fault::Fault;
use super::node::{self, Tree};
use super::source::Source;

/// A file that was read, perhaps not as a whole.
pub(super) struct Parsed {
    /// Absent where the file is not YAML at all.
    pub(super) tree: Option<Tree>,
    pub(super) faults: Vec<Fault>,
    /// What was set aside; what stands there is not the user's.
    pub(super) set_aside: Vec<Range<usize>>,
}

/// How many unquoted values are set aside before the rest is given up.
const MOST_REPAIRS: usize = 20;

/// Reads a file.
pub(super) fn parse(source: &Source) -> Parsed {
    let mut text = source.text.to_string();
    let mut parsed = Parsed { tree: None, faults: Vec::new(), set_aside: Vec::new() };
    for _ in 0..=MOST_REPAIRS {
        let error = match node::parse(source, &text) {
            Ok(tree) => {
                parsed.tree = Some(tree);
                return parsed;
            }
            Err(error) => error,
        };
        let (fault, value) = explain(source, &error);
        let again = value.as_ref().is_none_or(|value| parsed.set_aside.contains(value));
        if !again || parsed.faults.is_empty() {
            parsed.faults.push(fault);
        }
        let Some(value) = value.filter(|_| !again) else { return parsed };
        text.replace_range(value.clone(), &stand_in(value.len()));
        parsed.set_aside.push(value);
    }
    parsed
}

/// A quoted scalar of exactly that many bytes.
fn stand_in(length: usize) -> String {
    match length {
        0 | 1 => "x".repeat(length),
        more => format!("\"{}\"", "x".repeat(more - 2)),
    }
}

/// The fault, and the unquoted value that caused it where one did.
fn explain(source: &Source, error: &serde_yaml::Error) -> (Fault, Option<Range<usize>>) {
    let said = error.without_snippet().to_string();
    let said = said.split(" at line ").next().unwrap_or(&said).to_owned();
    let Some(location) = error.location() else {
        return (Fault::of_file(&source.name, said).with_help("write it as YAML"), None);
    };
    let wanted = usize::try_from(location.line()).unwrap_or(1).max(1);
    let line_start = line_offset(&source.text, wanted);
    let line = source.text[line_start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let column = usize::try_from(location.column()).unwrap_or(1).max(1);
    let in_line = line.char_indices().nth(column - 1).map_or(line.len(), |(offset, _)| offset);
    if let Some(value) = unquoted_value(line, in_line)
        && let Some((message, help)) = trap(&line[value.clone()], &said)
    {
        let range = line_start + value.start..line_start + value.end;
        let place = source.place(range.start, range.len());
        return (Fault::at(source, place, message).with_help(help), Some(range));
    }
    let (message, help) = plainly(&said, line);
    let place = source.place(line_start + in_line, 1.min(line.len() - in_line));
    (Fault::at(source, place, message).with_help(help), None)
}

fn line_offset(text: &str, line: usize) -> usize {
    let breaks = text.match_indices('\n').nth(line.wrapping_sub(2));
    if line < 2 { 0 } else { breaks.map_or(text.len(), |(offset, _)| offset + 1) }
}

/// The value of the line, without its key and dashes. Inside braces, the value around the error.
fn unquoted_value(line: &str, error: usize) -> Option<Range<usize>> {
    let Ok(shape) = Regex::new(r#"^\s*(?:-\s+)*(?:[A-Za-z0-9_ ]+:\s+)?(\S.*?)\s*$"#) else { return None };
    let value = shape.captures(line)?.get(1)?.range();
    if error < value.start {
        return None;
    }
    let flow = line[value.clone()].starts_with(['{', '[']) && !line[value.clone()].starts_with("{{");
    if !flow {
        return (!line[value.clone()].starts_with(['"', '\''])).then_some(value);
    }
    let start = line[..error].rfind([':', ',', '{', '[']).map_or(error, |at| at + 1);
    let start = start + (line[start..].len() - line[start..].trim_start().len());
    let end = line[start..].find([',', '}', ']']).map_or(line.len(), |at| start + at);
    (start < end).then(|| start..start + line[start..end].trim_end().len())
}

/// What one of the traps says of a value.
fn trap(value: &str, said: &str) -> Option<(String, String)> {
    let quoted =
        if value.contains('"') { format!("'{}'", value.replace('\'', "''")) } else { format!("\"{value}\"") };
    let first = value.chars().next()?;
    match first {
        '>' => Some((
            format!("YAML reads an unquoted `{value}` as the beginning of a block of text"),
            format!("quote the comparison: {quoted}"),
        )),
        '@' | '`' | '%' => {
            Some((format!("an unquoted value cannot begin with `{first}`"), format!("quote it: {quoted}")))
        }
        _ if value.contains("{{") => Some((
            "YAML reads `{{ … }}` in an unquoted value as a mapping".to_owned(),
            format!("quote the whole value: {quoted}"),
        )),
        '*' if said.contains("anchor") => Some((
            format!("YAML reads an unquoted `{value}` as an alias, and there is no such anchor"),
            format!("quote it: {quoted}"),
        )),
        _ if value.contains(": ") && said.contains("mapping values") => Some((
            "`: ` inside an unquoted value begins a mapping".to_owned(),
            "quote the whole value, or write it in a `|` block".to_owned(),
        )),
        _ => None,
    }
}

/// Other errors of the YAML reader.
fn plainly(said: &str, line: &str) -> (String, String) {
    let has = |what: &str| said.contains(what);
    let (message, help) = if has("tabs disallowed") || (line.starts_with('\t') && !has("quote")) {
        ("a tab stands in the indentation", "indent with spaces")
    } else if has("budget breached: Depth") || has("recursion limit") {
        ("the file nests too deep", "a notebook nests less than ten levels")
    } else if has("budget breached") || has("alias") && has("limit") || has("replay") {
        ("the file is too large once its aliases are written out", "write the values themselves, without `*`")
    } else if has("unknown anchor") {
        ("this alias has no anchor", "quote the value if it is text that begins with `*`")
    } else if has("multiple YAML documents") {
        ("a second YAML document begins here", "write one document, without `---` inside")
    } else if has("mapping values") {
        ("a mapping cannot begin here", "check the indentation of this line and of the one above it")
    } else if has("unclosed quote") {
        ("this quote is never closed", "close it with the same sign; inside '…' write '' for one '")
    } else if has("unclosed bracket") || has("unclosed brace") {
        ("this bracket is never closed", "close it, and quote text that holds brackets")
    } else {
        return (
            format!("this is not YAML: {said}"),
            "check the indentation and the quotes around here".to_owned(),
        );
    };
    (message.to_owned(), help.to_owned())
}
