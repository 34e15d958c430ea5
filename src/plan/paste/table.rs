//! Results as psql, DBeaver and pgAdmin lay them out: header, borders, continuation marks.

use super::Line;

const SIDES: [char; 3] = ['|', '│', '║'];
const WRAPS: [char; 2] = ['.', '…'];
const NEWLINES: [char; 2] = ['+', '↵'];
const HEADER: &str = "QUERY PLAN";

/// How the rows of a result are laid out.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// As the server sent them.
    Bare,
    /// psql's `border 1`: a blank before each row; the width of the rule under the header.
    Blank(usize),
    /// Between side borders.
    Boxed,
    /// A bar after each row.
    Barred,
}

/// Takes the layout off. Lines outside a result are kept as they are.
pub(super) fn decode(lines: &[Line]) -> Vec<Line> {
    if lines.iter().any(|line| is_record(&line.text)) {
        return expanded(lines);
    }
    let mut out = Rows::default();
    let mut layout = Layout::Bare;
    let mut skip = 0;
    for (at, line) in lines.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if is_header(&line.text) {
            let rule = lines.get(at + 1).filter(|next| is_rule(&next.text));
            layout = layout_of(&line.text, rule, lines.get(at + 2));
            skip = usize::from(rule.is_some());
            continue;
        }
        if is_rule(&line.text) {
            continue;
        }
        out.push(line, layout);
    }
    out.lines
}

/// The header's name, whatever stands around it.
fn is_header(line: &str) -> bool {
    line.trim_matches(|c: char| c == ' ' || c == '"' || SIDES.contains(&c)) == HEADER
}

/// A line of nothing but rules and crossings.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.chars().count() > 3
        && line.chars().all(|c| "-=+|".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c))
        && line.contains(['-', '=', '─', '═'])
}

fn layout_of(header: &str, rule: Option<&Line>, first: Option<&Line>) -> Layout {
    let header = header.trim();
    match rule {
        _ if header.starts_with(SIDES) => Layout::Boxed,
        _ if header.ends_with(SIDES) => Layout::Barred,
        Some(rule) if first.is_some_and(|first| first.text.starts_with(' ')) => {
            Layout::Blank(rule.text.trim().chars().count())
        }
        _ => Layout::Bare,
    }
}

/// Rows, each with what was wrapped into the next put back.
#[derive(Default)]
struct Rows {
    lines: Vec<Line>,
    /// Whether the last row goes on in the next.
    open: bool,
}

impl Rows {
    fn push(&mut self, line: &Line, layout: Layout) {
        let text = line.text.as_str();
        // A box without its header: part of a result.
        let boxed = layout == Layout::Boxed
            || text.starts_with(['│', '║'])
            || (text.starts_with("| ") && text.ends_with('|'));
        match layout {
            _ if boxed && text.trim_start().starts_with(SIDES) => {
                let inside = text.trim().trim_start_matches(SIDES);
                let inside = inside.strip_suffix(SIDES).unwrap_or(inside);
                self.cell(line.number, inside, true);
            }
            Layout::Barred => self.whole(line.number, text.trim_end().trim_end_matches(SIDES).trim_end()),
            Layout::Blank(width) if text.starts_with([' ', '.', '…']) => {
                self.cell(line.number, text, text.chars().count() >= width);
            }
            _ => self.whole(line.number, &unquoted(text)),
        }
    }

    /// A cell with a place for a mark on either side; `marked` where the right one is filled.
    fn cell(&mut self, number: usize, text: &str, marked: bool) {
        let continues = text.starts_with(WRAPS);
        let mut chars = text.chars();
        chars.next();
        let mut inside = chars.as_str();
        let mut open = false;
        if marked {
            if let Some(rest) = inside.strip_suffix(WRAPS) {
                (inside, open) = (rest, true);
            } else if let Some(rest) = inside.strip_suffix(NEWLINES) {
                inside = rest;
            }
        }
        let inside = if open { inside } else { inside.trim_end() };
        match self.lines.last_mut() {
            Some(last) if continues && self.open => last.text.push_str(inside),
            _ => self.lines.push(Line { number, text: inside.to_owned() }),
        }
        self.open = open;
    }

    fn whole(&mut self, number: usize, text: &str) {
        self.open = false;
        self.lines.push(Line { number, text: text.to_owned() });
    }
}

/// A row in double quotes, as CSV and pgAdmin have it; JSON over several rows keeps its quotes for its reader.
fn unquoted(text: &str) -> String {
    let inside = text.trim_end().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inside.filter(|inside| !inside.trim_start().starts_with(['[', '{', '}', ']'])) {
        Some(inside) => inside.replace("\"\"", "\""),
        None => text.to_owned(),
    }
}

/// `-[ RECORD 1 ]---`, `─[ RECORD 1 ]─┬─`, `* Record 1`
fn is_record(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| {
        SIDES.contains(&c) || "-+".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c)
    });
    let number = line.strip_prefix("[ RECORD ").or(line.strip_prefix("* Record "));
    number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn expanded(lines: &[Line]) -> Vec<Line> {
    let mut out = vec![];
    for line in lines.iter().filter(|line| !is_record(&line.text) && !is_rule(&line.text)) {
        let text = line.text.as_str();
        let boxed = text.strip_prefix(SIDES);
        let inside = boxed.and_then(|text| text.trim_end().strip_suffix(SIDES)).or(boxed).unwrap_or(text);
        let Some(cell) = record_cell(inside) else { continue };
        let cell = cell.strip_suffix(NEWLINES).unwrap_or(cell);
        out.push(Line { number: line.number, text: cell.trim_end().to_owned() });
    }
    out
}

/// What stands behind `QUERY PLAN | `, or behind the bar of a further line of the same cell.
fn record_cell(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    match rest.strip_prefix(HEADER) {
        Some(rest) => match rest.trim_start().strip_prefix(SIDES) {
            Some(cell) => Some(cell.strip_prefix(' ').unwrap_or(cell)),
            None => rest.strip_prefix(' '),
        },
        None => rest.strip_prefix(SIDES).map(|cell| cell.strip_prefix(' ').unwrap_or(cell)),
    }
}
