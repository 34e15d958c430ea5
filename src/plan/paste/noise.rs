//! What stands around a plan: footers, prompts, quote marks of a mail, fences, tabs.

use super::Line;

/// Takes off `> ` of a quoted mail, and Markdown's fences with what is written around them.
pub(super) fn unquote_mail(lines: Vec<Line>) -> Vec<Line> {
    let quoted = |line: &Line| line.text.starts_with("> ") || line.text == ">";
    let unquoted = lines.into_iter().map(|line| {
        let text = if quoted(&line) {
            line.text[1..].strip_prefix(' ').unwrap_or_default().to_owned()
        } else {
            line.text
        };
        Line { number: line.number, text }
    });
    within_fences(unquoted.collect())
}

/// What stands between fences, where a plan does; else everything but the fences.
fn within_fences(lines: Vec<Line>) -> Vec<Line> {
    let is_fence = |line: &Line| line.text.trim_start().starts_with("```");
    let mut inside = false;
    let mut fenced = Vec::new();
    for line in &lines {
        if is_fence(line) {
            inside = !inside;
        } else if inside {
            fenced.push(line.clone());
        }
    }
    let holds_plan = |line: &Line| super::begins(line.text.trim());
    // A fence that nobody closed has no end to go by.
    if !inside && fenced.iter().any(holds_plan) {
        return fenced;
    }
    lines.into_iter().filter(|line| !is_fence(line)).collect()
}

/// Drops what psql prints after a result, and its prompts.
pub(super) fn without_footers(lines: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| !is_footer(line.text.trim()) && !is_prompt(&line.text)).cloned().collect()
}

/// `(18 rows)`, `Time: 12.345 ms (00:12.345)`.
fn is_footer(line: &str) -> bool {
    let counted =
        line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).and_then(|line| line.split_once(' '));
    let rows = counted.is_some_and(|(n, word)| n.parse::<u64>().is_ok() && !word.contains([' ', '=']));
    rows || (line.starts_with("Time: ") && line.contains(" ms"))
}

/// `postgres=# `, `db-> SELECT …`, `db'> …`
fn is_prompt(line: &str) -> bool {
    let Some((before, after)) = line.split_once(['#', '>']) else { return false };
    let mut chars = before.chars();
    let state = chars.next_back();
    let name = chars.as_str();
    state.is_some_and(|state| "=-'\"(*!".contains(state))
        && (after.is_empty() || after.starts_with(' '))
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || "_-@:.".contains(c))
}

/// Lines with tabs spread to columns. A tab that begins every line is the margin's, not the plan's.
pub(super) fn untabbed(lines: &[Line], width: usize) -> Vec<Line> {
    let indented = lines.iter().all(|line| line.text.trim().is_empty() || line.text.starts_with('\t'));
    let spread = |text: &str| {
        let text = if indented { text.strip_prefix('\t').unwrap_or(text) } else { text };
        if !text.contains('\t') {
            return text.to_owned();
        }
        let mut out = String::new();
        let mut column = 0;
        for c in text.chars() {
            let n = if c == '\t' { width - column % width } else { 1 };
            out.extend(std::iter::repeat_n(if c == '\t' { ' ' } else { c }, n));
            column += n;
        }
        out
    };
    lines.iter().map(|line| Line { number: line.number, text: spread(&line.text) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footers_and_prompts() {
        for line in ["(1 row)", "(18 rows)", "(3 Zeilen)", "Time: 1.234 ms"] {
            assert!(is_footer(line), "{line}");
        }
        for line in ["(cost=1 rows)", "(a > 5)", "Timing: x ms", ""] {
            assert!(!is_footer(line), "{line}");
        }
        for line in ["postgres=# ", "postgres=# EXPLAIN SELECT 1;", "my_db-> FROM t", "db'> x", "db=>"] {
            assert!(is_prompt(line), "{line}");
        }
        for line in ["  ->  Seq Scan", "->  Seq Scan", "> x", "  Filter: (a => 5)", "Filter: (a-> b)"] {
            assert!(!is_prompt(line), "{line}");
        }
    }
}
