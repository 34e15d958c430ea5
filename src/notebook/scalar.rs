//! YAML scalars as they are written: their style, and where in the file each character of their value stands.

use super::source::{Place, Source};
use super::value::Template;

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|` or `>`
    Block,
}

impl Style {
    /// The style of the scalar at a place.
    pub(super) fn of(source: &Source, place: Place) -> Self {
        if is_block(source, place) {
            return Self::Block;
        }
        match source.slice(place).chars().next() {
            Some('"') => Self::Double,
            Some('\'') => Self::Single,
            _ => Self::Plain,
        }
    }
}

/// A block's content begins on a line of its own, below a line that ends with `|` or `>`.
fn is_block(source: &Source, place: Place) -> bool {
    let line_start = source.line_start(place.offset);
    if line_start == 0 || !source.text[line_start..place.offset].trim().is_empty() {
        return false;
    }
    let above =
        source.text[..line_start].lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let above = above.split(" #").next().unwrap_or_default().trim_end();
    let header = above.rsplit([' ', ':', '-']).find(|word| !word.is_empty()).unwrap_or_default();
    let marks = header.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    matches!(marks, "|" | ">")
}

impl Template {
    /// Where the byte at `offset` of the text stands in its file.
    ///
    /// Folded lines, escapes and the indentation of blocks are reckoned with; where the file and the text
    /// cannot be brought together, the answer is where the text begins.
    #[must_use]
    pub fn place(&self, source: &Source, offset: usize, length: usize) -> Place {
        locate(&self.text, self.at, source, offset, length)
    }
}

/// Where `length` bytes at `offset` of the value of a scalar stand in its file.
pub(super) fn locate(value: &str, at: Place, source: &Source, offset: usize, length: usize) -> Place {
    let written = source.slice(at);
    let style = Style::of(source, at);
    let mut cursor = Cursor { written, style, indent: at.column - 1, at: usize::from(quoted(style)) };
    let mut start = None;
    for (index, character) in value.char_indices() {
        let Some(here) = cursor.advance(character) else { return at };
        if index >= offset && start.is_none() {
            start = Some(here);
        }
        if index >= offset.saturating_add(length).max(offset + 1) {
            return between(source, at, start.unwrap_or(here), here, length);
        }
    }
    let end = cursor.at;
    between(source, at, start.unwrap_or(end), end, length)
}

fn between(source: &Source, at: Place, start: usize, end: usize, length: usize) -> Place {
    let length = if length == 0 { 0 } else { end.saturating_sub(start) };
    source.place(at.offset + start, length)
}

fn quoted(style: Style) -> bool {
    matches!(style, Style::Single | Style::Double)
}

/// Walks the file's text in step with the value.
struct Cursor<'a> {
    written: &'a str,
    style: Style,
    indent: usize,
    at: usize,
}

impl Cursor<'_> {
    /// The offset at which the next character of the value is written; moves past it.
    fn advance(&mut self, character: char) -> Option<usize> {
        loop {
            let rest = &self.written[self.at..];
            let Some(next) = rest.chars().next() else {
                // The line break that ends a block may be the file's end.
                return (character == '\n').then_some(self.at);
            };
            let here = self.at;
            if self.style == Style::Double && next == '\\' {
                let (decoded, length) = escape(rest);
                self.at += length;
                match decoded {
                    // An escaped line break joins the lines.
                    None => {
                        self.skip_blank();
                        continue;
                    }
                    Some(decoded) => return (decoded == character).then_some(here),
                }
            }
            if self.style == Style::Single && rest.starts_with("''") && character == '\'' {
                self.at += 2;
                return Some(here);
            }
            if next == '\n' || next == '\r' {
                self.line_break(rest);
                if character == '\n' || character == ' ' {
                    return Some(here);
                }
                continue;
            }
            if next == character {
                self.at += next.len_utf8();
                return Some(here);
            }
            // Blanks before a folded line break, and the line breaks that folding swallowed.
            if next == ' ' || next == '\t' {
                if (character == '\n' || character == ' ')
                    && rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
                {
                    self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
                } else {
                    self.at += 1;
                }
                continue;
            }
            return None;
        }
    }

    fn line_break(&mut self, rest: &str) {
        self.at += if rest.starts_with("\r\n") { 2 } else { 1 };
        match self.style {
            Style::Block => {
                let rest = &self.written[self.at..];
                let blanks = rest.len() - rest.trim_start_matches(' ').len();
                self.at += blanks.min(self.indent);
            }
            _ => self.skip_blank(),
        }
    }

    fn skip_blank(&mut self) {
        let rest = &self.written[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }
}

/// The character that an escape of a double-quoted scalar stands for, and the escape's length. An escaped
/// line break stands for none.
fn escape(rest: &str) -> (Option<char>, usize) {
    let kind = rest[1..].chars().next().unwrap_or('\\');
    let digits = match kind {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let code = rest.get(2..2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        return (Some(code.and_then(char::from_u32).unwrap_or('\u{fffd}')), (2 + digits).min(rest.len()));
    }
    let decoded = match kind {
        '\n' | '\r' => return (None, 1 + kind.len_utf8()),
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        other => other,
    };
    (Some(decoded), 1 + kind.len_utf8())
}

/// The integer that a text is, with underscores between digits allowed.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let well_formed = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_')
        && !digits.contains("__")
        && (digits == "0" || !digits.starts_with('0'));
    well_formed.then(|| text.replace('_', "").parse().ok()).flatten()
}

/// The number that a text is, where it is not an integer.
pub(super) fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let well_formed = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.contains(['.', 'e', 'E'])
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+' | '_'));
    well_formed.then(|| text.replace('_', "").parse().ok()).flatten().filter(|n: &f64| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_strictly() {
        assert_eq!(integer("5_000_000"), Some(5_000_000));
        assert_eq!(integer("-3"), Some(-3));
        for text in ["010", "5_", "_5", "5__0", "0x1f", "", "-", "1.5", "99999999999999999999"] {
            assert_eq!(integer(text), None, "{text}");
        }
        assert_eq!(float("0.5"), Some(0.5));
        assert_eq!(float("1e3"), Some(1000.0));
        for text in ["5", ".inf", "1.2.3", "nan", "1e999", "e5"] {
            assert_eq!(float(text), None, "{text}");
        }
    }
}
