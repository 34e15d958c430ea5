//! The annotated tree for people: what matters most, the tree with its numbers, and the notes.

use std::fmt::Write as _;

use crate::number;
use crate::plan::Plan;

use super::super::Paint;
use super::notes::{self, Note};
use super::rows::{Row, Rows, Weight};
use super::view::facts;

/// One plan, in `width` columns: what it took, the places that matter most, the tree with its numbers, and notes.
#[must_use]
pub fn plan_text(plan: &Plan, width: usize, paint: Paint) -> String {
    let rows = Rows::of(plan);
    let notes = notes::of(plan, &rows);
    let mut out = String::new();
    head(&mut out, plan, &rows, width, paint);
    out.push('\n');
    tree(&mut out, &rows, width, paint);
    if !notes.is_empty() {
        out.push('\n');
        for note in &notes {
            print_note(&mut out, note, &rows, width, paint);
        }
    }
    printable(&out, paint)
}

/// Without control characters but line breaks and our own colours: a pasted plan is anybody's text, and a terminal obeys it.
pub(super) fn printable(text: &str, paint: Paint) -> String {
    let colour = |rest: &str| {
        let code = rest.strip_prefix('[').and_then(|rest| rest.split_once('m')).map(|(code, _)| code);
        paint.colour
            && code.is_some_and(|code| code.len() <= 2 && code.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let shown = text.char_indices().map(|(at, character)| match character {
        '\n' => character,
        '\u{1b}' if colour(&text[at + 1..]) => character,
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    });
    shown.collect()
}

/// What the plan as a whole took, and the places that matter most.
fn head(out: &mut String, plan: &Plan, rows: &Rows, width: usize, paint: Paint) {
    put(out, "", "", &facts(plan, rows).join(" · "), width);
    for row in rows.places() {
        let rank = row.rank.map(|rank| rank.to_string()).unwrap_or_default();
        let line = format!("{} · {}", row.title, amounts(row, rows.weight));
        put(out, &format!("  {}  ", paint.bold(&rank)), "     ", &line, width);
    }
}

/// A place's share, time and blocks.
fn amounts(row: &Row, weight: Weight) -> String {
    let of = if weight == Weight::Time { "of the nodes' time" } else { "of the blocks" };
    let mut parts = vec![];
    parts.extend(row.share.map(|share| format!("{:.0}% {of}", share * 100.0)));
    parts.extend(row.own.milliseconds.map(number::milliseconds));
    parts.extend(row.own.blocks.filter(|blocks| *blocks > 0.0).map(|blocks| number::plural(blocks, "block")));
    parts.join(", ")
}

/// The columns behind the titles, each as wide as its widest cell.
struct Columns {
    /// Width of the title's column.
    tree: usize,
    /// Cells of each line, padded.
    cells: Vec<String>,
    header: String,
}

/// Narrower than this the titles are not squeezed: columns are left out instead.
const LEAST_TREE: usize = 28;

fn tree(out: &mut String, rows: &Rows, width: usize, paint: Paint) {
    let columns = columns(rows, width);
    let _ = writeln!(out, "{:tree$}{}", "", paint.faint(columns.header.trim_end()), tree = columns.tree);
    for (row, cells) in rows.rows.iter().zip(&columns.cells) {
        let room = columns.tree.saturating_sub(2);
        let mut lines =
            wrapped(&row.title, room.saturating_sub(row.branches.chars().count()).max(12)).into_iter();
        let first = lines.next().unwrap_or_default();
        let marked = if row.rank.is_some() { paint.bold(&first) } else { first.clone() };
        let pad = columns.tree.saturating_sub(row.branches.chars().count() + first.chars().count());
        let _ = writeln!(out, "{}", format!("{}{marked}{:pad$}{cells}", row.branches, "").trim_end());
        for line in lines {
            let _ = writeln!(out, "{}{line}", row.trunk);
        }
        for detail in &row.details {
            let lead = format!("{}  ", row.trunk);
            for line in wrapped(detail, width.saturating_sub(lead.chars().count()).max(20)) {
                let _ = writeln!(out, "{lead}{}", paint.faint(&line));
            }
        }
    }
}

/// One column behind the titles.
struct Column {
    header: &'static str,
    cells: Vec<String>,
    /// Characters of the widest of them and of the header, and the two blanks behind.
    width: usize,
    /// Where the terminal is narrow, the column with the highest goes first.
    spare: u8,
    right: bool,
}

impl Column {
    fn new(
        header: &'static str,
        spare: u8,
        right: bool,
        rows: &Rows,
        cell: impl Fn(&Row) -> Option<String>,
    ) -> Self {
        let cells: Vec<String> = rows.rows.iter().map(|row| cell(row).unwrap_or_default()).collect();
        let widest = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let width = widest.max(header.chars().count()) + 2;
        Self { header, cells, width, spare, right }
    }

    fn pad(&self, text: &str) -> String {
        let size = self.width - 2;
        if self.right { format!("{text:>size$}  ") } else { format!("{text:<size$}  ") }
    }
}

fn columns(rows: &Rows, width: usize) -> Columns {
    let count = |value: Option<f64>| value.map(number::count);
    let widths =
        rows.rows.iter().filter_map(Row::pair).map(|(expected, _)| number::count(expected).chars().count());
    // At least as wide as the header's first half, so that the arrows stand below its own.
    let widest = widths.max().unwrap_or(0).max("rows est".len());
    let mut all = if rows.weight == Weight::Unknown {
        vec![
            Column::new("rows est", 0, true, rows, |row| count(row.own.node.plan_rows())),
            Column::new("cost", 1, true, rows, |row| row.own.node.total_cost().map(number::significant)),
        ]
    } else {
        vec![
            Column::new("rows est → act", 0, false, rows, |row| estimate(row, widest)),
            Column::new("own blocks", 1, true, rows, |row| count(row.own.blocks)),
            Column::new("own time", 3, true, rows, |row| row.own.milliseconds.map(number::milliseconds)),
            Column::new("share", 2, false, rows, |row| row.share.map(bar)),
            Column::new("", 1, false, rows, |row| row.rank.map(|rank| format!("← {rank}"))),
        ]
    };
    all.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    while !all.is_empty() && width < LEAST_TREE + all.iter().map(|column| column.width).sum::<usize>() {
        let spare = all.iter().enumerate().max_by_key(|(_, column)| column.spare).map(|(at, _)| at);
        all.remove(spare.unwrap_or(0));
    }
    let taken: usize = all.iter().map(|column| column.width).sum();
    let titles = rows.rows.iter().map(|row| row.branches.chars().count() + row.title.chars().count());
    let tree = (titles.max().unwrap_or(0) + 2).min(width.saturating_sub(taken)).max(LEAST_TREE.min(width));
    let line = |at: usize| all.iter().map(|column| column.pad(&column.cells[at])).collect();
    Columns {
        tree,
        cells: (0..rows.rows.len()).map(line).collect(),
        header: all.iter().map(|column| column.pad(column.header)).collect(),
    }
}

/// A share as a bar of eight cells, and in percent.
fn bar(share: f64) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
    let eighths = (share.clamp(0.0, 1.0) * 64.0).round() as usize;
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    format!("{:3.0}% {bar:<8}", share * 100.0)
}

/// `120 → 48,211 ×402`; without a factor where the estimate cannot be held against the fact.
fn estimate(row: &Row, widest: usize) -> Option<String> {
    let (expected, actual) = row.pair()?;
    let factor = row.estimate.map(|estimate| estimate.factor()).filter(|factor| *factor >= 2.0);
    let factor = factor.map(|factor| format!(" ×{}", number::significant(factor))).unwrap_or_default();
    Some(format!("{:>widest$} → {}{factor}", number::count(expected), number::count(actual)))
}

fn print_note(out: &mut String, note: &Note, rows: &Rows, width: usize, paint: Paint) {
    let row = note.row.map(|at| &rows.rows[at]);
    let mark = row.and_then(|row| row.rank).map_or_else(|| "·".to_owned(), |rank| rank.to_string());
    let title = row.map(|row| format!("{}: ", row.own.node.title())).unwrap_or_default();
    put(out, &format!("  {}  ", paint.bold(&mark)), "     ", &format!("{title}{}", note.seen), width);
    put(out, "     next: ", "           ", &note.next, width);
}

/// A paragraph: its first line after `first`, the others after `rest`. Colours take no room.
fn put(out: &mut String, first: &str, rest: &str, text: &str, width: usize) {
    let lead = rest.chars().count();
    for (at, line) in wrapped(text, width.saturating_sub(lead).max(20)).iter().enumerate() {
        let _ = writeln!(out, "{}{line}", if at == 0 { first } else { rest });
    }
}

/// Lines of at most `width` characters, broken at blanks, and inside a word only where it is longer than that.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        for word in paragraph.split(' ') {
            let mut length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else if used > 0 {
                line.push(' ');
                used += 1;
            }
            let mut word = word;
            while length > width {
                let cut = word.char_indices().nth(width).map_or(word.len(), |(at, _)| at);
                lines.push(word[..cut].to_owned());
                word = &word[cut..];
                length -= width;
            }
            line.push_str(word);
            used += length;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_at_blanks_and_only_long_words_inside() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a\n\nb  c", 9), ["a", "", "b  c"]);
        assert_eq!(wrapped("ab abcdefgh cd", 4), ["ab", "abcd", "efgh", "cd"]);
        assert_eq!(wrapped("äöü äö", 6), ["äöü äö"]);
    }
}
