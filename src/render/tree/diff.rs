//! What changed between two plans, in words, and as marks on the nodes of either tree.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::number;
use crate::plan::{Cause, Change, Node, Plan, PlanDiff};

/// What changed of the nodes of a tree.
pub type Marks = BTreeMap<*const Node, Mark>;

/// What changed of one node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "change")]
pub struct Mark {
    /// `added`, `removed`, `replaced`, `moved` or `altered`.
    pub kind: &'static str,
    /// The same in words.
    pub words: String,
    /// Its conditions and numbers that differ: name, before, after.
    pub values: Vec<(String, String, String)>,
}

/// What changed between two plans.
#[derive(Debug, Default)]
pub struct Compared {
    /// In one sentence, what differs.
    pub cause: String,
    /// A line for each node that came, went, moved, was replaced or did other work, with a sign before it.
    pub lines: Vec<String>,
    /// Marks on the old tree.
    pub old: Marks,
    /// Marks on the new tree.
    pub new: Marks,
}

/// Compares two plans.
pub fn compared(old: &Plan, new: &Plan) -> Compared {
    let diff = PlanDiff::between(old, new);
    let worked = diff.changes.iter().any(|change| match change {
        Change::Altered { values, .. } => values.iter().any(|(name, ..)| !is_estimate(name)),
        _ => false,
    });
    let mut out = Compared { cause: sentence(diff.cause, worked).to_owned(), ..Compared::default() };
    for change in &diff.changes {
        match change {
            Change::Added(node) => put(&mut out.new, node, "added", "only here".to_owned()),
            Change::Removed(node) => put(&mut out.old, node, "removed", "only here".to_owned()),
            Change::Replaced { old, new } => {
                put(&mut out.old, old, "replaced", format!("became {}", new.title()));
                put(&mut out.new, new, "replaced", format!("was {}", old.title()));
            }
            Change::Moved { old, new } => {
                put(&mut out.old, old, "moved", "stands elsewhere there".to_owned());
                put(&mut out.new, new, "moved", "stood elsewhere".to_owned());
            }
            Change::Altered { new, values, .. } => {
                let values: Vec<(String, String, String)> = values
                    .iter()
                    .map(|(name, before, after)| (readable(name), printed(before), printed(after)))
                    .collect();
                let said = values.iter().map(|(name, before, after)| format!("{name} {before} → {after}"));
                out.lines.push(format!("  {}: {}", new.title(), said.collect::<Vec<_>>().join(", ")));
                let mark = out.new.entry(std::ptr::from_ref(*new));
                mark.or_insert_with(|| Mark { kind: "altered", words: String::new(), values: vec![] })
                    .values = values;
                continue;
            }
        }
        out.lines.push(change.to_string());
    }
    out
}

fn put(marks: &mut Marks, node: &Node, kind: &'static str, words: String) {
    marks.insert(std::ptr::from_ref(node), Mark { kind, words, values: vec![] });
}

/// `worked` says whether anything but estimates differs.
fn sentence(cause: Cause, worked: bool) -> &'static str {
    match (cause, worked) {
        (Cause::Nothing, _) => "The same plan, which did the same work.",
        (Cause::OnlyTime, _) => "The same plan did the same work; only the times differ.",
        (Cause::Work, _) => "The same plan, expected to cost the same, did other work.",
        (Cause::Estimate, false) => {
            "The same plan did the same work, though the planner expected something else of it."
        }
        (Cause::Estimate, true) => {
            "The same plan did other work, and the planner expected something else of it."
        }
        (Cause::Shape, _) => "Another plan.",
    }
}

/// What EXPLAIN names with capitals is the planner's; the work bears a notebook's names.
fn is_estimate(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// A notebook's names in words.
fn readable(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// Numbers with thousands separators; conditions as they are.
fn printed(value: &str) -> String {
    value.parse::<f64>().map_or_else(|_| value.to_owned(), number::count)
}
