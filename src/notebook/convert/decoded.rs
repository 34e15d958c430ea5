//! Steps as they were read, before they are looked at together.

use super::super::de::Reader;
use super::super::node::{Content, NodeId};
use super::super::source::Place;
use super::super::wire::{self, Any};

/// A step as it was read, or a hole where it could not be.
pub(super) struct Decoded {
    pub(super) number: usize,
    pub(super) node: NodeId,
    pub(super) at: Place,
    pub(super) step: Option<wire::Step>,
}

/// Decodes every step by itself, so that the faults of one leave the others be.
pub(super) fn decode(reader: &Reader<'_>, steps: &[Any]) -> Vec<Decoded> {
    let decode = |(index, any): (usize, &Any)| {
        let key = match &reader.tree.node(any.0).content {
            Content::Map(entries) => entries.first().map_or(any.0, |(key, _)| *key),
            _ => any.0,
        };
        Decoded { number: index + 1, node: any.0, at: reader.tree.place(key), step: reader.decode(any.0) }
    };
    steps.iter().enumerate().map(decode).collect()
}
