//! The stable shape of a plan: node types, relations, aliases, indexes and the order of joins, and no numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Node, print, title};

/// What two executions of one plan have in common; equal shapes are the same plan.
///
/// Schemas are left out (only VERBOSE prints them), as are workers, estimates and conditions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(String);

impl Shape {
    pub(super) fn of(root: &Node) -> Self {
        Self(print::lines(root, &|node| title::title(node, false), &|_, _| {}))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
