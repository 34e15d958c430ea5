//! Lines that a terminal or a mail program broke, joined again.

use super::Line;
use crate::plan::{key, text};

/// What can stand after two blanks on one line of EXPLAIN's text: the blanks are lost where a mail breaks it.
const AFTER_TWO_BLANKS: &[&str] = &[
    "(cost=",
    "Memory:",
    "Disk:",
    "Batches:",
    "Memory Usage:",
    "Disk Usage:",
    "Misses:",
    "Evictions:",
    "Overflows:",
    "Sort Method",
    "Average ",
    "Peak ",
    "Maximum Storage:",
    "allocated=",
    "output=",
    "format=",
];

/// Labels of text that are no names of JSON.
const LABELS: &[&str] = &[
    "Buffers",
    "I/O Timings",
    "WAL",
    "Heap Blocks",
    "Buckets",
    "Batches",
    "Hits",
    "Tuples",
    "Sampling",
    "Memory",
    "Hash Key",
];

/// Lines that can stand at the margin, below a plan.
const AT_MARGIN: &[&str] = &[
    "Planning:",
    "Planning Time:",
    "Execution Time:",
    "Settings:",
    "Serialization:",
    "Query Identifier:",
    "Trigger ",
    "JIT:",
];

/// The ways in which broken lines may be joined, the likelier first.
pub(super) fn joined(lines: &[Line]) -> Vec<Vec<Line>> {
    let Some(start) = lines.iter().position(|line| text::names_node(line.text.trim_start())) else {
        return vec![];
    };
    let lines: Vec<&Line> = lines[start..].iter().filter(|line| !line.text.trim().is_empty()).collect();
    let margin = indent(&lines[0].text);
    let structural: Vec<bool> =
        lines.iter().enumerate().map(|(at, line)| at == 0 || is_structural(&line.text, margin)).collect();
    let width = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0);
    vec![join(&lines, &structural, Some(width)), join(&lines, &structural, None)]
}

/// Joins what is not structural to the line before it: at a terminal's width exactly, else at a lost blank.
fn join(lines: &[&Line], structural: &[bool], width: Option<usize>) -> Vec<Line> {
    let mut out: Vec<Line> = vec![];
    let mut before = 0;
    for (line, structural) in lines.iter().zip(structural) {
        match out.last_mut() {
            Some(last) if !structural => {
                match width {
                    // A terminal leaves the blanks at the end of a row out of the copy.
                    Some(width) => {
                        last.text.extend(std::iter::repeat_n(' ', width.saturating_sub(before)));
                        last.text.push_str(&line.text);
                    }
                    None => {
                        let rest = line.text.trim_start();
                        let two = AFTER_TWO_BLANKS.iter().any(|label| rest.starts_with(label));
                        last.text.push_str(if two { "  " } else { " " });
                        last.text.push_str(rest);
                    }
                }
            }
            _ => out.push((*line).clone()),
        }
        before = line.text.chars().count();
    }
    for line in &mut out {
        line.text.truncate(line.text.trim_end().len());
    }
    out
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Whether a line begins something, rather than going on with the line before.
fn is_structural(text: &str, margin: usize) -> bool {
    let content = text.trim();
    match indent(text) {
        indent if indent < margin => false,
        indent if indent == margin => {
            AT_MARGIN.iter().any(|label| content.starts_with(label)) || text::starts_plan(content)
        }
        _ => {
            content.starts_with("-> ")
                || ["InitPlan ", "SubPlan ", "CTE ", "Worker "].iter().any(|head| content.starts_with(head))
                || content
                    .split_once(':')
                    .is_some_and(|(name, _)| LABELS.contains(&name) || key::is_known(name))
        }
    }
}
