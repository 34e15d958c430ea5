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
