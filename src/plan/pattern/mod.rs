//! Patterns over plans, as notebooks write them: `NODE [using INDEX] [on NAME [ALIAS]]`, `A > B`, `A >> B`.

mod families;
mod matching;
mod parse;

use std::fmt;
use std::str::FromStr;

use regex::Regex;

pub use families::Families;

use super::label::Label;
use super::{Node, Plan};

/// What a node of a plan must look like.
///
/// A base name covers its variants (`Seq Scan` also `Parallel Seq Scan`); a leading `=` means exactly the
/// words printed. `A > B` is a B that is a child of A, `A >> B` a B anywhere below A.
#[derive(Debug, Clone)]
pub struct Pattern {
    steps: Vec<Step>,
}

/// Why a text is not a pattern, with the nearest right form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a node pattern: {message}")]
pub struct PatternError {
    text: String,
    message: String,
}

#[derive(Debug, Clone)]
struct Step {
    link: Link,
    exact: bool,
    node: NodeName,
    index: Option<Name>,
    target: Option<Target>,
}

/// How a step hangs on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    First,
    Child,
    Descendant,
}

#[derive(Debug, Clone)]
enum NodeName {
    /// The words of a node, as [`Label`] reads them.
    Words(String),
    /// `SubPlan`, `InitPlan` or `CTE`, and its name.
    Header(&'static str, Option<Name>),
}

#[derive(Debug, Clone)]
struct Target {
    schema: Option<String>,
    name: Name,
    alias: Option<Name>,
}

#[derive(Debug, Clone)]
enum Name {
    Plain(String),
    Regex(Regex),
}

impl Name {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Plain(plain) => plain == name,
            Self::Regex(regex) => regex.is_match(name),
        }
    }

    fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(plain) => Some(plain),
            Self::Regex(_) => None,
        }
    }
}

/// Scans of tables: their names must exist when the measure runs.
const TABLE_NODES: &[&str] = &[
    "Seq Scan",
    "Sample Scan",
    "Index Scan",
    "Index Only Scan",
    "Bitmap Heap Scan",
    "Tid Scan",
    "Tid Range Scan",
    "Foreign Scan",
    "Custom Scan",
    "ModifyTable",
];

impl Step {
    fn node_type(&self) -> Option<&str> {
        match &self.node {
            NodeName::Words(words) => Label::read(words).map(|(label, _)| label.node_type),
            NodeName::Header(..) => None,
        }
    }
}

impl Pattern {
    /// The nodes of `plan` that match, depth first. Of `A > B` these are the Bs.
    #[must_use]
    pub fn find<'p>(&self, plan: &'p Plan, families: &Families) -> Vec<&'p Node> {
        matching::find(&self.steps, plan, families)
    }

    /// The node that comes closest, for a verdict that failed; of equals the first.
    #[must_use]
    pub fn nearest<'p>(&self, plan: &'p Plan) -> Option<&'p Node> {
        matching::nearest(self.steps.last()?, plan)
    }

    /// The tables that must exist for the pattern to mean anything: plain names only.
    #[must_use]
    pub fn relations(&self) -> Vec<&str> {
        let tables =
            self.steps.iter().filter(|step| step.node_type().is_some_and(|t| TABLE_NODES.contains(&t)));
        tables.filter_map(|step| step.target.as_ref()?.name.plain()).collect()
    }

    /// The indexes that must exist for the pattern to mean anything: plain names only.
    #[must_use]
    pub fn indexes(&self) -> Vec<&str> {
        let named = self.steps.iter().filter_map(|step| match step.node_type() {
            Some("Bitmap Index Scan") => step.target.as_ref().map(|target| &target.name),
            _ => step.index.as_ref(),
        });
        named.filter_map(Name::plain).collect()
    }
}

/// One node of a skeleton: a pattern without `>`.
#[derive(Debug, Clone)]
pub(super) struct Single(Pattern);

impl Single {
    pub(super) fn read(text: &str) -> Result<Self, PatternError> {
        let pattern: Pattern = text.parse()?;
        match pattern.steps.len() {
            1 => Ok(Self(pattern)),
            _ => {
                let message = "one node a line; what stands below it gets a line of its own".to_owned();
                Err(PatternError { text: text.to_owned(), message })
            }
        }
    }

    /// Whether it is a sub-plan's header.
    pub(super) fn is_header(&self) -> bool {
        matches!(self.0.steps[0].node, NodeName::Header(..))
    }

    /// Whether it is the header above `node`.
    pub(super) fn heads(&self, node: &Node) -> bool {
        matching::heads(&self.0.steps[0], node)
    }

    pub(super) fn matches(&self, node: &Node, families: &Families) -> bool {
        matching::is(&self.0.steps[0], node, families)
    }

    pub(super) fn relations(&self) -> Vec<&str> {
        self.0.relations()
    }

    pub(super) fn indexes(&self) -> Vec<&str> {
        self.0.indexes()
    }
}

impl fmt::Display for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let steps = parse::steps(text);
        steps
            .map(|steps| Self { steps })
            .map_err(|message| PatternError { text: text.trim().to_owned(), message })
    }
}

/// Patterns are equal where they read the same.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            f.write_str(match step.link {
                Link::First => "",
                Link::Child => " > ",
                Link::Descendant => " >> ",
            })?;
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.exact { "= " } else { "" })?;
        match &self.node {
            NodeName::Words(words) => f.write_str(words)?,
            NodeName::Header(kind, None) => f.write_str(kind)?,
            NodeName::Header(kind, Some(name)) => write!(f, "{kind} {name}")?,
        }
        if let Some(index) = &self.index {
            write!(f, " using {index}")?;
        }
        if let Some(target) = &self.target {
            f.write_str(" on ")?;
            if let Some(schema) = &target.schema {
                write!(f, "{}.", parse::printed(schema))?;
            }
            write!(f, "{}", target.name)?;
            if let Some(alias) = &target.alias {
                write!(f, " {alias}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(name) => f.write_str(&parse::printed(name)),
            Self::Regex(regex) => write!(f, "/{}/", regex.as_str().replace('/', "\\/")),
        }
    }
}

#[cfg(test)]
mod tests;
