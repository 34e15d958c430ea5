//! A YAML file as a tree of nodes, each with its place.
//!
//! serde stops at the first fault and loses the places of untyped scalars. So the file is read into this tree
//! first, and what a notebook means is decoded from it, part by part.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_yaml::options::{AliasLimits, DuplicateKeyPolicy, MergeKeyPolicy};

use super::scalar::Style;
use super::source::{Place, Source};

/// A node's number in its tree.
pub(super) type NodeId = usize;

/// A file's nodes.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) source: Source,
    nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// One node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    /// From its first character to its last; of lists and mappings only the first.
    pub(super) place: Place,
    /// The key that it belongs to.
    pub(super) owner: Option<NodeId>,
}

/// What a node holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing at all, `~` or `null`.
    Null,
    /// Text, as it is once quotes and folding are undone.
    Scalar(String),
    List(Vec<NodeId>),
    Map(Vec<(NodeId, NodeId)>),
}

impl Content {
    /// How a message names it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Scalar(_) => "text",
            Self::List(_) => "a list",
            Self::Map(entries) if entries.is_empty() => "an empty mapping",
            Self::Map(_) => "a mapping",
        }
    }
}

impl Tree {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// The text of a scalar.
    pub(super) fn text(&self, id: NodeId) -> &str {
        match &self.nodes[id].content {
            Content::Scalar(text) => text,
            _ => "",
        }
    }

    pub(super) fn place(&self, id: NodeId) -> Place {
        self.nodes[id].place
    }

    /// Where to point for a fault of a list or a mapping as a whole: its key, else its beginning.
    pub(super) fn head(&self, id: NodeId) -> Place {
        match (&self.nodes[id].content, self.nodes[id].owner) {
            (Content::Scalar(_), _) | (_, None) => self.nodes[id].place,
            (_, Some(owner)) => self.nodes[owner].place,
        }
    }

    pub(super) fn is_plain(&self, id: NodeId) -> bool {
        Style::of(&self.source, self.nodes[id].place) == Style::Plain
    }

    /// Whether a list or mapping is written with brackets or braces.
    pub(super) fn is_flow(&self, id: NodeId) -> bool {
        self.source.text[self.nodes[id].place.offset..].starts_with(['[', '{'])
    }

    /// The file as written from the beginning of a node on.
    pub(super) fn written_from(&self, id: NodeId) -> &str {
        &self.source.text[self.nodes[id].place.offset..]
    }
}

/// Reads a text into its tree.
pub(super) fn parse(source: &Source, text: &str) -> Result<Tree, serde_yaml::Error> {
    let mut limits = AliasLimits::default();
    limits.max_total_replayed_events = 20_000;
    let options = serde_yaml::options! {
        strict_booleans: true,
        with_snippet: false,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        alias_limits: limits,
        // Every level takes stack; a notebook needs less than ten.
        budget: serde_yaml::budget! { max_depth: 24, flow_nesting_limit: 24 },
    };
    let raw: Raw = serde_yaml::from_str_with_options(text, options)?;
    let mut tree = Tree { source: source.clone(), nodes: Vec::new(), root: 0 };
    tree.root = tree.add(raw, None);
    Ok(tree)
}

impl Tree {
    fn add(&mut self, raw: Raw, owner: Option<NodeId>) -> NodeId {
        let content = match raw.content {
            RawContent::Null => Content::Null,
            RawContent::Text(text) => Content::Scalar(text),
            RawContent::Typed => Content::Scalar(self.source.slice(raw.place).to_owned()),
            RawContent::List(items) => {
                Content::List(items.into_iter().map(|item| self.add(item, None)).collect())
            }
            RawContent::Map(entries) => {
                let add = |(key, value)| {
                    let key = self.add(key, None);
                    (key, self.add(value, Some(key)))
                };
                Content::Map(entries.into_iter().map(add).collect())
            }
        };
        self.nodes.push(Node { content, place: raw.place, owner });
        self.nodes.len() - 1
    }
}

/// A node as the YAML reader hands it over.
struct Raw {
    content: RawContent,
    place: Place,
}

enum RawContent {
    Null,
    Text(String),
    /// A plain scalar that YAML would read as a number or a truth value. Its text is what counts here: `010`
    /// and `1_000` mean different things in different places.
    Typed,
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_yaml::Spanned::<RawContent>::deserialize(deserializer)?;
        let at = spanned.defined;
        let bytes = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
        let (Some(offset), Some(length)) = (bytes(at.span().byte_offset()), bytes(at.span().byte_len()))
        else {
            return Err(D::Error::custom("a place in the file is missing"));
        };
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let place = Place { line: number(at.line()), column: number(at.column()), offset, length };
        Ok(Self { content: spanned.value, place })
    }
}

impl<'de> Deserialize<'de> for RawContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawContent;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("YAML")
    }

    fn visit_unit<E>(self) -> Result<RawContent, E> {
        Ok(RawContent::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_i64<E>(self, _: i64) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_u64<E>(self, _: u64) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_i128<E>(self, _: i128) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_u128<E>(self, _: u128) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_f64<E>(self, _: f64) -> Result<RawContent, E> {
        Ok(RawContent::Typed)
    }

    fn visit_str<E>(self, text: &str) -> Result<RawContent, E> {
        Ok(RawContent::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawContent, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawContent::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawContent, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawContent::Map(entries))
    }
}
