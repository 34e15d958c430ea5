//! What is wrong with a notebook: every fault, where it stands, and what to write instead.

use std::fmt;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use serde::Serialize;

use super::source::{Place, Source};

/// One fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The file, as the user named it.
    pub file: String,
    /// Line, from 1; 0 where the fault is the file as a whole.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    #[serde(skip)]
    spot: Option<Box<Spot>>,
}

/// A place and the text that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spot {
    source: Source,
    place: Place,
}

impl Fault {
    /// A fault at a place of a file.
    #[must_use]
    pub fn at(source: &Source, place: Place, message: impl Into<String>) -> Self {
        Self {
            file: source.name.clone(),
            line: place.line,
            column: place.column,
            message: message.into(),
            help: None,
            spot: Some(Box::new(Spot { source: source.clone(), place })),
        }
    }

    /// A fault of a file as a whole.
    #[must_use]
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into(), help: None, spot: None }
    }

    /// The same fault with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Diagnostic for Fault {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.spot.as_deref().map(|spot| spot as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let spot = self.spot.as_ref()?;
        // A label ends with its line: a fault of a whole block is shown at its beginning.
        let line_left = spot.source.text[spot.place.offset..].find('\n').unwrap_or(usize::MAX);
        let length = spot.place.length.min(line_left).min(spot.source.text.len() - spot.place.offset);
        Some(Box::new(std::iter::once(LabeledSpan::new(None, spot.place.offset, length))))
    }
}

/// The longest line that is shown whole, in bytes.
const LONGEST_LINE: usize = 300;

impl SourceCode for Spot {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let line = self.source.line(self.place);
        if line.len() > LONGEST_LINE {
            return Ok(Box::new(self.window()));
        }
        let whole = (*self.source.text).read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.source.name.clone(),
            whole.data(),
            *whole.span(),
            whole.line(),
            whole.column(),
            whole.line_count(),
        )))
    }
}

impl Spot {
    /// The part of a very long line around the place.
    fn window(&self) -> MietteSpanContents<'_> {
        const AROUND: usize = 60;
        let line_start = self.source.line_start(self.place.offset);
        let line_end = line_start + self.source.line(self.place).len();
        let start = self.source.place(self.place.offset.saturating_sub(AROUND).max(line_start), 0).offset;
        let end =
            self.source.place((self.place.offset + AROUND).min(line_end), 0).offset.max(self.place.offset);
        let column = self.source.place(start, 0).column - 1;
        MietteSpanContents::new_named(
            self.source.name.clone(),
            &self.source.text.as_bytes()[start..end],
            SourceSpan::new(start.into(), end - start),
            self.place.line - 1,
            column,
            1,
        )
    }
}

/// Every fault of a notebook and of the dataset file that it names, in the order of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    faults: Vec<Fault>,
}

impl Faults {
    /// The faults, sorted by file and place; never empty. The notebook's own come first.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The code that a program which met them exits with.
    pub const EXIT_CODE: u8 = 2;

    pub(super) fn new(mut faults: Vec<Fault>) -> Self {
        let first = faults.first().map(|fault| fault.file.clone()).unwrap_or_default();
        faults.sort_by(|a, b| {
            let key = |fault: &Fault| (fault.file != first, fault.file.clone(), fault.line, fault.column);
            key(a).cmp(&key(b))
        });
        faults.dedup_by(|a, b| {
            a.line == b.line && a.column == b.column && a.message == b.message && a.file == b.file
        });
        Self { faults }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self::new(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.faults.first().map_or("", |fault| &fault.file);
        match self.faults.len() {
            1 => write!(f, "one fault in {file}"),
            more => write!(f, "{more} faults in {file}"),
        }
    }
}

impl std::error::Error for Faults {}

impl Diagnostic for Faults {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.faults.iter().map(|fault| fault as &dyn Diagnostic)))
    }
}
