//! What changed between two plans, in words, and as marks on the nodes of either tree.

use std::collections::{BTreeMap, BTreeSet};

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
    let shared: BTreeSet<*const Node> = [old, new].into_iter().flat_map(by_several).collect();
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
            Change::Altered { old, new, values } => {
                let each = [*old, *new].iter().any(|node| shared.contains(&std::ptr::from_ref(*node)));
                let values: Vec<(String, String, String)> = values
                    .iter()
                    .map(|(name, before, after)| (readable(name, each), printed(before), printed(after)))
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

/// The nodes that several processes ran.
fn by_several(plan: &Plan) -> impl Iterator<Item = *const Node> {
    plan.exclusive().into_iter().filter(|own| own.processes >= 1.5).map(|own| std::ptr::from_ref(own.node))
}

/// A notebook's names in words. `each` says that one of the two nodes was run by several processes, for each of which the
/// planner expects rows.
fn readable(name: &str, each: bool) -> String {
    let words = name.replace('_', " ").to_lowercase();
    if each && name == "Plan Rows" { format!("{words} of a process") } else { words }
}

/// Numbers with thousands separators; conditions as they are.
fn printed(value: &str) -> String {
    value.parse::<f64>().map_or_else(|_| value.to_owned(), number::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_each_of_several_processes_expects_are_named_so() {
        let scan = |name: &str, rows: u32, loops: u32| {
            format!(
                "{name} on t  (cost=0.00..9.00 rows={rows} width=4) (actual time=1.000..2.000 rows=60 loops={loops})"
            )
        };
        let alone = Plan::from_text(&scan("Seq Scan", 120, 1)).expect("a plan");
        let gathered = format!(
            "Gather  (cost=0.00..9.00 rows=120 width=4) (actual time=1.000..2.000 rows=180 loops=1)\n  Workers Planned: 2\n  \
             Workers Launched: 2\n  ->  {}",
            scan("Parallel Seq Scan", 50, 3)
        );
        let lines = |old: &Plan, new: &Plan| compared(old, new).lines.join("\n");
        let gathered = Plan::from_text(&gathered).expect("a plan");
        let said = lines(&alone, &gathered);
        assert!(said.contains("plan rows of a process 120 → 50"), "{said}");
        let more = Plan::from_text(&scan("Seq Scan", 150, 1)).expect("a plan");
        assert!(lines(&alone, &more).contains("plan rows 120 → 150"));
    }
}
