//! Where a template is wrong, and why.

use minijinja::ErrorKind;

/// A fault in a template, at a place inside its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
    /// Line in the text, from 1.
    pub line: usize,
    /// Column in that line, in characters, from 1.
    pub column: usize,
    /// Byte offset in the text.
    pub offset: usize,
    /// Length in bytes of what is wrong.
    pub length: usize,
    /// Whether what is wrong is a name that is not defined.
    pub undefined: bool,
}

impl TemplateError {
    /// A fault at `offset`, `length` bytes long, of `text`.
    #[must_use]
    pub fn at(text: &str, offset: usize, length: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            message: message.into(),
            help: None,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            offset,
            length: length.min(text.len() - offset),
            undefined: false,
        }
    }

    /// A fault of the whole text.
    #[must_use]
    pub fn whole(text: &str, message: impl Into<String>) -> Self {
        let start = text.len() - text.trim_start().len();
        let first_line = text.trim().lines().next().unwrap_or_default();
        Self::at(text, start, first_line.len(), message)
    }

    /// The same fault with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What minijinja says of `text`.
    pub(super) fn new(error: &minijinja::Error, text: &str) -> Self {
        let message = match (error.kind(), error.detail()) {
            (ErrorKind::SyntaxError, Some(detail)) => detail.to_owned(),
            (ErrorKind::OutOfFuel, _) => "this takes too long to evaluate".to_owned(),
            (ErrorKind::UndefinedError | ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
            (kind, None) => kind.to_string(),
        };
        match error.range() {
            Some(range) => Self::at(text, range.start, range.end.saturating_sub(range.start), message),
            None => Self::whole(text, message),
        }
    }
}
