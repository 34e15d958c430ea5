//! What the templates of markdown write with: code, cells, plain text and fences that nothing can leave.

use super::harmless::harmless;

/// Adds the filters of markdown.
pub(super) fn add_filters(environment: &mut minijinja::Environment<'_>) {
    environment.add_filter("code", |text: &str| code(text));
    environment.add_filter("cell", |text: &str| cell(text));
    environment.add_filter("plain", |text: &str| plain(text));
    environment.add_filter("line", |markdown: &str| harmless(&one_line(markdown)));
    environment.add_filter("fence", |text: &str, language: &str| fence(text, language));
}

/// A code span whose delimiter is longer than any run of backticks inside it, on one line.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A code span in a table cell, where a bar would end the cell even inside code.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text in which nothing is markup.
fn plain(text: &str) -> String {
    crate::template::escape_markdown(&one_line(text))
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r', '\t'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A fenced block whose fence is longer than any run of backticks inside it.
fn fence(text: &str, language: &str) -> String {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{ticks}{language}\n{}\n{ticks}", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// No more than one empty line in a row outside fenced blocks, and one line end at the end.
pub(super) fn squeeze(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<&str> = None;
    let mut empty = true;
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        if ticks.len() >= 3 {
            match fence {
                None => fence = Some(ticks),
                Some(open) if line == open => fence = None,
                Some(_) => {}
            }
        }
        if line.is_empty() && empty && fence.is_none() {
            continue;
        }
        empty = line.is_empty();
        out.push_str(line);
        out.push('\n');
    }
    format!("{}\n", out.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_span_or_cell() {
        assert_eq!(code("Seq Scan on t"), "`Seq Scan on t`");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(cell("a|b\nc"), "`a\\|b c`");
        assert_eq!(fence("a ``` b", "sql"), "````sql\na ``` b\n````");
    }

    #[test]
    fn empty_lines_are_kept_inside_fences_only() {
        assert_eq!(squeeze("a\n\n\nb\n```\n\n\n```\n\n\n"), "a\n\nb\n```\n\n\n```\n");
    }
}
