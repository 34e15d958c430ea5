//! Why an input is not a plan.

/// The deepest plan that is read. PostgreSQL's own stack limit allows a little more; people's queries do not.
pub const MAX_DEPTH: usize = 500;

/// The largest input that is read, in bytes.
pub const MAX_BYTES: usize = 256 << 20;

/// Why an input is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Nothing but blanks.
    #[error("the input is empty: paste what EXPLAIN printed")]
    Empty,
    /// The JSON itself is broken, or a node lacks its type.
    #[error("line {line}, column {column}: {message}: paste the whole output of EXPLAIN (FORMAT JSON)")]
    Json {
        /// Line of the input, from 1.
        line: usize,
        /// Column of the input, from 1.
        column: usize,
        /// What the JSON reader said.
        message: String,
    },
    /// The JSON is sound, but holds no plan.
    #[error("{found}: expected EXPLAIN's array, or an object with a \"Plan\"")]
    NoPlan {
        /// What stands there instead.
        found: String,
    },
    /// More than one plan where one was asked for.
    #[error("the input holds {0} plans where one is expected: give them one at a time")]
    Several(usize),
    /// Nodes nested deeper than [`MAX_DEPTH`].
    #[error("the plan nests deeper than {MAX_DEPTH} levels: give a part of it")]
    TooDeep,
    /// An input larger than [`MAX_BYTES`].
    #[error("the input is larger than {} MB: give the plan alone", MAX_BYTES >> 20)]
    TooLarge,
    /// A format of EXPLAIN that is not read.
    #[error(
        "this is EXPLAIN's {name}, which is not read: run EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON), or without FORMAT"
    )]
    Format {
        /// Its name.
        name: &'static str,
    },
    /// A line of text that makes no sense where it stands.
    #[error("line {line}: {why}: `{content}`")]
    Text {
        /// Line of the input, from 1.
        line: usize,
        /// The line, shortened.
        content: String,
        /// What was expected there.
        why: &'static str,
    },
}

impl PlanError {
    /// The same error, the line it names counted otherwise.
    pub(super) fn renumbered(self, number: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Text { line, content, why } => Self::Text { line: number(line), content, why },
            Self::Json { line, column, message } => Self::Json { line: number(line), column, message },
            other => other,
        }
    }

    pub(super) fn text(line: usize, content: &str, why: &'static str) -> Self {
        let content = content.trim();
        let short: String = content.chars().take(120).collect();
        let content = if short.len() < content.len() { short + "…" } else { short };
        Self::Text { line, content, why }
    }
}
