//! Decodes wire types from a tree of nodes, and goes on after a fault.
//!
//! serde gives up at the first error. Here the error is noted, the node that caused it is set aside, and the
//! decoding begins anew without it, until nothing new is found. Unknown and doubled keys need no second try:
//! they are noted and passed over.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::nearest::nearest;

use super::example;
use super::fault::Fault;
use super::node::{Content, NodeId, Tree};
use super::source::Place;

/// The most faults that are gathered from one file.
pub(super) const MOST_FAULTS: usize = 100;

/// A tree that is being decoded, and what was wrong with it so far.
pub(super) struct Reader<'t> {
    pub(super) tree: &'t Tree,
    faults: RefCell<Vec<Fault>>,
    set_aside: RefCell<BTreeSet<NodeId>>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tree: &'t Tree, faults: Vec<Fault>, set_aside: &[std::ops::Range<usize>]) -> Self {
        let reader = Self { tree, faults: RefCell::new(faults), set_aside: RefCell::default() };
        for id in 0..=tree.root {
            let place = tree.place(id);
            if set_aside.iter().any(|range| range.contains(&place.offset)) {
                reader.set_aside.borrow_mut().insert(id);
            }
        }
        reader
    }

    /// Notes a fault, once.
    pub(super) fn fault(&self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        let fault = Fault::at(&self.tree.source, place, message).with_help(help);
        let mut faults = self.faults.borrow_mut();
        if faults.len() < MOST_FAULTS && !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.faults.into_inner()
    }

    pub(super) fn is_set_aside(&self, id: NodeId) -> bool {
        self.set_aside.borrow().contains(&id)
    }

    /// Whether nothing more is gathered.
    pub(super) fn is_full(&self) -> bool {
        self.faults.borrow().len() >= MOST_FAULTS
    }

    /// Decodes a node. `None` where it has a fault that leaves nothing of it.
    pub(super) fn decode<T: DeserializeOwned>(&self, id: NodeId) -> Option<T> {
        while !self.is_set_aside(id) && !self.is_full() {
            match T::deserialize(self.deserializer(id)) {
                Ok(value) => return Some(value),
                Err(halt) => self.note(halt, id),
            }
        }
        None
    }

    fn note(&self, halt: Halt, outer: NodeId) {
        let node = halt.node.unwrap_or(outer);
        if !halt.silent {
            let place = halt.points_at.map_or_else(|| self.tree.head(node), |key| self.tree.place(key));
            self.fault(place, halt.message, halt.help);
        }
        // Each round sets one node more aside, so that the rounds come to an end.
        if !self.set_aside.borrow_mut().insert(node) {
            self.set_aside.borrow_mut().insert(outer);
        }
    }

    fn deserializer(&self, id: NodeId) -> NodeDeserializer<'_, 't> {
        NodeDeserializer { reader: self, id }
    }

    /// What stood at a node instead of what was wanted.
    fn unexpected(&self, id: NodeId, wanted: &str) -> Halt {
        let found = self.tree.node(id).content.noun();
        if self.tree.written_from(id).starts_with("{{") {
            let written = self.tree.written_from(id);
            let written = written.find("}}").map_or("{{ … }}", |end| &written[..end + 2]);
            let message = format!("YAML reads an unquoted `{written}` as a mapping");
            return Halt::at(id, message, format!("quote it: \"{written}\""));
        }
        let help = match &self.tree.node(id).content {
            Content::List(_) if wanted == "SQL" => {
                "write it as text; several statements of a step go in one `|` block, separated by semicolons"
                    .to_owned()
            }
            Content::Null => "write its value after the colon, or leave the key out".to_owned(),
            _ => format!("write {wanted}"),
        };
        Halt::at(id, format!("{wanted} is expected here, not {found}"), help)
    }
}

/// Why decoding stopped.
#[derive(Debug)]
pub(super) struct Halt {
    message: String,
    help: String,
    /// The node at fault, which is set aside.
    node: Option<NodeId>,
    /// The key to point at, where it is not the node's own.
    points_at: Option<NodeId>,
    /// The field that a struct lacks.
    missing: Option<&'static str>,
    /// Whether it follows from a fault that was noted before.
    silent: bool,
}

impl Halt {
    fn at(node: NodeId, message: String, help: String) -> Self {
        Self { message, help, node: Some(node), points_at: None, missing: None, silent: false }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Halt {}

impl de::Error for Halt {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let help = "see the schema of the language: planbook schema".to_owned();
        Self { message: message.to_string(), help, node: None, points_at: None, missing: None, silent: false }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::custom(format!("`{field}` is missing")) }
    }
}

/// The names under which the wire types ask for more than serde knows.
pub(super) mod ask {
    /// A scalar; the rest of the name says what it is.
    pub(in super::super) const LEAF: &str = "leaf:";
    /// Any node at all.
    pub(in super::super) const ANY: &str = "any node";
    /// One thing or a list of them.
    pub(in super::super) const ONE_OR_MANY: &str = "one or many";
    /// A mapping or something else.
    pub(in super::super) const EITHER: &str = "either";
}

#[derive(Clone, Copy)]
struct NodeDeserializer<'r, 't> {
    reader: &'r Reader<'t>,
    id: NodeId,
}

impl<'r, 't> NodeDeserializer<'r, 't> {
    fn content(&self) -> &'r Content {
        &self.reader.tree.node(self.id).content
    }

    fn map(&self, wanted: &str) -> Result<&'r [(NodeId, NodeId)], Halt> {
        match self.content() {
            Content::Map(entries) => Ok(entries),
            _ => Err(self.reader.unexpected(self.id, wanted)),
        }
    }

    /// The entries that can be decoded: doubled and set-aside ones are passed over.
    fn entries(&self, entries: &[(NodeId, NodeId)]) -> Vec<(NodeId, NodeId)> {
        let tree = self.reader.tree;
        let mut seen: Vec<&str> = Vec::new();
        let mut kept = Vec::new();
        for &(key, value) in entries {
            if !matches!(tree.node(key).content, Content::Scalar(_)) {
                let halt = self.reader.unexpected(key, "a name");
                self.reader.note(halt, key);
                self.reader.set_aside.borrow_mut().insert(value);
                continue;
            }
            let name = tree.text(key);
            if seen.contains(&name) {
                self.reader.fault(
                    tree.place(key),
                    format!("`{name}` stands here twice"),
                    "leave one of them",
                );
                continue;
            }
            seen.push(name);
            if !self.reader.is_set_aside(value) && !self.reader.is_set_aside(key) {
                kept.push((key, value));
            }
        }
        kept
    }

    fn unknown_key(&self, what: &str, fields: &[&str], at: usize, entries: &[(NodeId, NodeId)]) {
        let tree = self.reader.tree;
        let (key, value) = entries[at];
        let name = tree.text(key);
        let cut_short = tree.is_flow(self.id)
            && matches!(tree.node(value).content, Content::Null)
            && tree.place(value).length == 0
            && at > 0
            && tree.is_plain(key)
            && tree.is_plain(entries[at - 1].1);
        let (message, help) = if cut_short {
            let before = tree.text(entries[at - 1].1);
            let whole = format!("{before}, {name}");
            (
                format!("the comma ended the value before it, which now reads `{before}`"),
                format!("quote the value: \"{whole}\""),
            )
        } else {
            (format!("unknown key `{name}` in {what}"), known(name, fields))
        };
        self.reader.fault(tree.place(key), message, help);
    }

    /// A struct that lacks a field: silent where that follows from a fault already noted.
    fn missing(&self, halt: Halt, what: &str, fields: &[&str]) -> Halt {
        let Some(field) = halt.missing else { return halt };
        if halt.node.is_some() {
            return halt;
        }
        let tree = self.reader.tree;
        let explained = self.content_entries().iter().any(|&(key, value)| {
            let name = tree.text(key);
            let misspelt = !fields.contains(&name) && nearest(name, fields.iter().copied()) == Some(field);
            misspelt || (name == field && self.reader.is_set_aside(value))
        });
        let help = format!("add `{field}: …` to it");
        Halt { silent: explained, ..Halt::at(self.id, format!("{what} needs `{field}`"), help) }
    }

    fn content_entries(&self) -> &'r [(NodeId, NodeId)] {
        match self.content() {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }
}

/// Advice for an unknown key.
fn known(name: &str, fields: &[&str]) -> String {
    match nearest(name, fields.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if fields.len() > 14 => format!("the keys are {} and the metrics", fields[..4].join(", ")),
        None => format!("the keys are {}", fields.join(", ")),
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_, '_> {
    type Error = Halt;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Halt> {
        match self.content() {
            Content::Null => visitor.visit_unit(),
            Content::Scalar(text) => visitor.visit_str(text),
            Content::List(_) => self.deserialize_seq(visitor),
            Content::Map(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Halt> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Halt> {
        if let Some(what) = name.strip_prefix(ask::LEAF) {
            return match self.content() {
                Content::Scalar(_) => visitor.visit_u64(self.id as u64),
                _ => Err(self.reader.unexpected(self.id, what)),
            };
        }
        match (name, self.content()) {
            (ask::ANY, _) => visitor.visit_u64(self.id as u64),
            (ask::ONE_OR_MANY, Content::List(_)) => self.deserialize_seq(visitor),
            (ask::EITHER, Content::Map(_)) => {
                if self.reader.tree.written_from(self.id).starts_with("{{") {
                    return Err(self.reader.unexpected(self.id, "a value"));
                }
                visitor.visit_newtype_struct(self)
            }
            (ask::EITHER, _) => visitor.visit_some(self),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Halt> {
        let Content::List(items) = self.content() else {
            return Err(self.reader.unexpected(self.id, "a list"));
        };
        let items = items.iter().copied().filter(|item| !self.reader.is_set_aside(*item)).collect::<Vec<_>>();
        visitor.visit_seq(Items { reader: self.reader, items: items.into_iter() })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Halt> {
        let entries = self.entries(self.map("a mapping")?);
        visitor.visit_map(Entries { reader: self.reader, entries: entries.into_iter(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        let all = self.map(&format!("{name} with its keys")).map_err(|halt| Halt {
            help: example::of(name, self.reader.tree, self.id).unwrap_or_else(|| halt.help.clone()),
            ..halt
        })?;
        let mut entries = self.entries(all);
        for (at, (key, _)) in all.iter().enumerate() {
            let text = self.reader.tree.text(*key);
            if matches!(self.reader.tree.node(*key).content, Content::Scalar(_)) && !fields.contains(&text) {
                self.unknown_key(name, fields, at, all);
            }
        }
        entries.retain(|(key, _)| fields.contains(&self.reader.tree.text(*key)));
        visitor
            .visit_map(Entries { reader: self.reader, entries: entries.into_iter(), value: None })
            .map_err(|halt| self.missing(halt, name, fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        let help = || format!("the kinds are {}", variants.join(", "));
        let wanted = format!("{name} with one key");
        let Content::Map(entries) = self.content() else {
            return Err(Halt { help: help(), ..self.reader.unexpected(self.id, &wanted) });
        };
        let tree = self.reader.tree;
        let Some(&(key, value)) = entries.first() else {
            return Err(Halt { help: help(), ..self.reader.unexpected(self.id, &wanted) });
        };
        if let Some(&(second, _)) = entries.get(1) {
            let (one, two) = (tree.text(key), tree.text(second));
            let help = match tree.node(value).content {
                Content::Null => format!("indent `{two}` further than `{one}`, if it belongs to it"),
                _ if variants.contains(&two) => format!("begin `{two}` with a dash, as a step of its own"),
                _ => format!("indent `{two}` further, if it belongs to `{one}`"),
            };
            let message = format!("a step has exactly one key, and this one has `{one}` and `{two}`");
            return Err(Halt { points_at: Some(second), ..Halt::at(self.id, message, help) });
        }
        if !variants.contains(&tree.text(key)) {
            let name = tree.text(key);
            let help = nearest(name, variants.iter().copied())
                .map_or_else(help, |near| format!("did you mean `{near}`?"));
            let message = format!("unknown step `{name}`");
            return Err(Halt { points_at: Some(key), ..Halt::at(self.id, message, help) });
        }
        if self.reader.is_set_aside(value) {
            return Err(Halt { silent: true, ..Halt::at(self.id, String::new(), String::new()) });
        }
        visitor.visit_enum(OneKey { reader: self.reader, key, value })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items<'r, 't> {
    reader: &'r Reader<'t>,
    items: std::vec::IntoIter<NodeId>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Halt;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Halt> {
        let Some(id) = self.items.next() else { return Ok(None) };
        seed.deserialize(self.reader.deserializer(id)).map(Some).map_err(|halt| placed(halt, id))
    }
}

struct Entries<'r, 't> {
    reader: &'r Reader<'t>,
    entries: std::vec::IntoIter<(NodeId, NodeId)>,
    value: Option<NodeId>,
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Halt;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Halt> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key { reader: self.reader, id: key }).map(Some).map_err(|halt| placed(halt, key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Halt> {
        let id = self.value.take().ok_or_else(|| de::Error::custom("a value is missing"))?;
        seed.deserialize(self.reader.deserializer(id)).map_err(|halt| placed(halt, id))
    }
}

fn placed(halt: Halt, id: NodeId) -> Halt {
    Halt { node: halt.node.or(Some(id)), ..halt }
}

/// A key: its text to serde's structs, its number to maps that need its place.
struct Key<'r, 't> {
    reader: &'r Reader<'t>,
    id: NodeId,
}

impl<'de> Deserializer<'de> for Key<'_, '_> {
    type Error = Halt;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Halt> {
        visitor.visit_str(self.reader.tree.text(self.id))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Halt> {
        visitor.visit_u64(self.id as u64)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct OneKey<'r, 't> {
    reader: &'r Reader<'t>,
    key: NodeId,
    value: NodeId,
}

impl<'de, 'r, 't> EnumAccess<'de> for OneKey<'r, 't> {
    type Error = Halt;
    type Variant = NodeDeserializer<'r, 't>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Halt> {
        let name = self.reader.tree.text(self.key);
        let name: de::value::StrDeserializer<'_, Halt> = name.into_deserializer();
        Ok((seed.deserialize(name)?, self.reader.deserializer(self.value)))
    }
}

impl<'de> VariantAccess<'de> for NodeDeserializer<'_, '_> {
    type Error = Halt;

    fn unit_variant(self) -> Result<(), Halt> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Halt> {
        seed.deserialize(self).map_err(|halt| placed(halt, self.id))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        self.deserialize_map(visitor)
    }
}

/// Reads the number of a node from a visitor that gets nothing else.
pub(super) struct IdVisitor<T>(pub(super) PhantomData<T>);

impl<T: From<NodeId>> Visitor<'_> for IdVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node")
    }

    fn visit_u64<E>(self, id: u64) -> Result<T, E> {
        Ok(T::from(usize::try_from(id).unwrap_or(usize::MAX)))
    }
}
