//! Which tables stand for which: partitions and children of a parent.

use std::collections::{BTreeMap, BTreeSet};

/// The partitions and children of each parent; no plan prints a scan of a partitioned parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Families(BTreeMap<String, BTreeSet<String>>);

impl Families {
    /// Whether `relation` is `name`, or a partition or child of it at any depth.
    #[must_use]
    pub fn covers(&self, name: &str, relation: &str) -> bool {
        let mut todo = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(name) = todo.pop() {
            if name == relation {
                return true;
            }
            if seen.insert(name) {
                todo.extend(self.0.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }
}

impl From<BTreeMap<String, BTreeSet<String>>> for Families {
    fn from(children: BTreeMap<String, BTreeSet<String>>) -> Self {
        Self(children)
    }
}
