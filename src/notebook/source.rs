//! The text of a file and places in it.

use std::sync::Arc;

/// A file's text, shared by all that points into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name to show: the path as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
}

/// A place in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Line
    pub line: usize,
    /// Column
    pub column: usize,
    /// Byte offset in the text
    pub offset: usize,
    /// Length in bytes
    pub length: usize,
}

impl Source {
    /// A text under the name to show for it.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The place of `length` bytes from `offset` on; both are cut to the text and to whole characters.
    #[must_use]
    pub fn place(&self, offset: usize, length: usize) -> Place {
        let start = self.boundary(offset);
        let end = self.boundary(offset.saturating_add(length)).max(start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            offset: start,
            length: end - start,
        }
    }

    /// The line that a place begins in, without its line break.
    #[must_use]
    pub fn line(&self, place: Place) -> &str {
        let start = self.line_start(place.offset);
        let rest = &self.text[start..];
        rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r')
    }

    /// The text of a place.
    #[must_use]
    pub fn slice(&self, place: Place) -> &str {
        self.text.get(place.offset..place.offset + place.length).unwrap_or_default()
    }

    /// The offset at which the line of `offset` begins.
    pub(super) fn line_start(&self, offset: usize) -> usize {
        self.text[..self.boundary(offset)].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}
