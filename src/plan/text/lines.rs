//! The lines of a text, and those that belong together because a quote is open.

use std::borrow::Cow;

use super::lex;

/// How far a quote is followed for its end; names and literals with more line breaks are not joined.
const MOST_JOINED: usize = 400;

/// One line, its indentation counted and taken off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) indent: usize,
    pub(super) content: &'a str,
}

/// A cursor over the lines of a text.
pub(super) struct Lines<'a> {
    rest: &'a str,
    number: usize,
    /// Blanks that ended the line which was taken last: a literal may go on after them.
    blanks: &'a str,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, number: 0, blanks: "" }
    }

    /// The number of the line that was taken last.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The next line that is not blank.
    pub(super) fn next_structural(&mut self) -> Option<Line<'a>> {
        loop {
            let raw = self.raw()?;
            let indent = raw.bytes().take_while(|byte| *byte == b' ').count();
            let content = &raw[indent..];
            // Most lines end in no blank; only such are worth a look by characters.
            let ends = content.as_bytes().last().is_none_or(|byte| byte.is_ascii_graphic());
            let end = if ends { content.len() } else { content.trim_end().len() };
            let (content, blanks) = content.split_at(end);
            if !content.is_empty() {
                self.blanks = blanks;
                return Some(Line { number: self.number, indent, content });
            }
        }
    }

    /// Whether an arrow follows, after at most the lines that a sub-plan's name may have.
    pub(super) fn arrow_follows(&self) -> bool {
        let mut ahead = Lines { rest: self.rest, number: 0, blanks: "" };
        (0..MOST_NAME_LINES).any(|_| ahead.raw().is_some_and(|raw| raw.trim_start().starts_with("->  ")))
    }

    fn raw(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest.as_bytes());
        let (line, rest) = end.map_or((self.rest, ""), |end| (&self.rest[..end], &self.rest[end + 1..]));
        self.rest = rest;
        self.number += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// `content` with the lines that follow while its quotes are open. Quotes that never close are left alone.
    pub(super) fn joined<'c>(&mut self, content: &'c str) -> Cow<'c, str> {
        let mut state = lex::Quote::None.after(content);
        if state == lex::Quote::None {
            return Cow::Borrowed(content);
        }
        let mut ahead = Lines { rest: self.rest, number: self.number, blanks: "" };
        let mut whole = content.to_owned() + self.blanks;
        for _ in 0..MOST_JOINED {
            let Some(raw) = ahead.raw() else { break };
            whole.push('\n');
            whole.push_str(raw);
            state = state.after(raw);
            if state == lex::Quote::None {
                *self = ahead;
                whole.truncate(whole.trim_end().len());
                return Cow::Owned(whole);
            }
        }
        Cow::Borrowed(content)
    }

    /// A header with the lines of its name up to the arrow: a CTE's name is printed raw.
    pub(super) fn joined_until_arrow(&mut self, content: &str) -> String {
        let mut name = content.to_owned();
        loop {
            let mut ahead = Lines { rest: self.rest, number: self.number, blanks: "" };
            match ahead.raw() {
                Some(raw) if !raw.trim_start().starts_with("->  ") => {
                    name.push('\n');
                    name.push_str(raw);
                    *self = ahead;
                }
                _ => return name,
            }
        }
    }
}

/// Lines that a sub-plan's name may have.
const MOST_NAME_LINES: usize = 8;
