//! Keys of the top level, whether their values can be read or not.

use crate::nearest::nearest;

use super::super::de::Reader;
use super::super::node::{Content, NodeId};
use super::super::source::Place;

/// Whether the file has the key at its top level, well or badly valued, or one that was meant to be it.
pub(super) fn has_key(reader: &Reader<'_>, wanted: &str) -> bool {
    let Content::Map(entries) = &reader.tree.node(reader.tree.root).content else { return false };
    entries.iter().any(|(key, _)| {
        let name = reader.tree.text(*key);
        name == wanted || nearest(name, [wanted]).is_some()
    })
}

/// Whether a mapping at the top level has one of the keys, well or badly valued.
pub(super) fn has_nested(reader: &Reader<'_>, outer: &str, keys: &[&str]) -> bool {
    let tree = reader.tree;
    let Some((_, value)) = top_level(reader, outer) else { return false };
    let Content::Map(entries) = &tree.node(value).content else { return false };
    entries.iter().any(|(key, _)| {
        let name = tree.text(*key);
        keys.contains(&name) || nearest(name, keys.iter().copied()).is_some()
    })
}

/// Where a key of the top level stands.
pub(super) fn place_of(reader: &Reader<'_>, key: &str) -> Place {
    top_level(reader, key).map_or_else(Place::default, |(key, _)| reader.tree.place(key))
}

fn top_level(reader: &Reader<'_>, wanted: &str) -> Option<(NodeId, NodeId)> {
    let Content::Map(entries) = &reader.tree.node(reader.tree.root).content else { return None };
    entries.iter().copied().find(|(key, _)| reader.tree.text(*key) == wanted)
}
