//! What text hides because it is zero or the usual, and JSON says: put back, where the text proves that the
//! server counted it.

use serde_json::Value;

use super::summary;
use super::title::Title;
use crate::plan::key::BUFFER_COUNTERS;
use crate::plan::{Node, Plan, Properties};

/// What some line of the plan proves about all of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    buffers: bool,
    timing: bool,
    verbose: bool,
    costs: bool,
}

impl Shown {
    /// Takes note of a node's line.
    pub(super) fn see_title(&mut self, title: &Title) {
        self.timing |= title.timed;
        self.costs |= title.costed;
    }

    /// Takes note of a line under a node.
    pub(super) fn see_line(&mut self, content: &str) {
        self.buffers |= content.starts_with("Buffers: ");
        self.verbose |= content.starts_with("Output: ");
    }
}

/// Completes a plan that was read from text.
pub(super) fn fill(plan: &mut Plan, mut shown: Shown) {
    let groups = ["Planning", "Serialization"].iter().filter_map(|name| plan.top.get(name)?.as_object());
    shown.buffers |= groups.flat_map(|group| group.keys()).any(|key| key.ends_with(" Blocks"));
    if shown.buffers && plan.root.loops().is_some() {
        summary::fill_groups(&mut plan.top);
    }
    let mut stack = vec![&mut plan.root];
    while let Some(node) = stack.pop() {
        fill_node(node, shown);
        stack.extend(node.children.iter_mut());
    }
}

fn fill_node(node: &mut Node, shown: Shown) {
    let out = &mut node.properties;
    let seen = Seen::of(out);
    if seen.analyzed && shown.timing && !seen.times {
        out.push("Actual Startup Time", 0.0);
        out.push("Actual Total Time", 0.0);
    }
    fill_by_type(out, seen.analyzed, shown);
    if seen.analyzed {
        for ((condition, removed), there) in REMOVED.iter().zip(seen.conditions) {
            if there && removes(out, condition) && !(seen.removed && out.get(removed).is_some()) {
                out.push(*removed, 0);
            }
        }
    }
    if seen.analyzed && shown.buffers {
        out.set_counted();
    }
    if seen.workers {
        fill_workers(out, shown);
    }
}

/// What a node says already, found in one pass: this runs for every node of every plan.
#[derive(Default)]
struct Seen {
    analyzed: bool,
    times: bool,
    workers: bool,
    /// Whether some counter of removed rows is there.
    removed: bool,
    conditions: [bool; REMOVED.len()],
}

impl Seen {
    fn of(properties: &Properties) -> Self {
        let mut seen = Self::default();
        for (name, _) in properties.iter() {
            match name {
                "Actual Loops" => seen.analyzed = true,
                "Actual Total Time" => seen.times = true,
                "Workers" => seen.workers = true,
                _ if name.starts_with("Rows Removed") => seen.removed = true,
                _ if name.ends_with("Cond") || name.ends_with("Filter") => {
                    if let Some(at) = REMOVED.iter().position(|(condition, _)| *condition == name) {
                        seen.conditions[at] = true;
                    }
                }
                _ => {}
            }
        }
        seen
    }
}

fn fill_workers(out: &mut Properties, shown: Shown) {
    let Some(Value::Array(workers)) = out.get_mut("Workers") else { return };
    for worker in workers.iter_mut().filter_map(Value::as_object_mut) {
        if shown.buffers && worker.contains_key("Actual Loops") {
            for name in BUFFER_COUNTERS {
                worker.entry(name).or_insert(Value::from(0));
            }
        }
        if worker.contains_key("HashAgg Batches") {
            worker.entry("Disk Usage").or_insert(Value::from(0));
        }
    }
}

/// Conditions, and the counter that JSON prints with each.
const REMOVED: [(&str, &str); 5] = [
    ("Index Cond", "Rows Removed by Index Recheck"),
    ("Recheck Cond", "Rows Removed by Index Recheck"),
    ("Filter", "Rows Removed by Filter"),
    ("Join Filter", "Rows Removed by Join Filter"),
    ("Conflict Filter", "Rows Removed by Conflict Filter"),
];

fn removes(node: &Properties, condition: &str) -> bool {
    condition != "Index Cond" || matches!(node.text("Node Type"), Some("Index Scan" | "Index Only Scan"))
}

fn fill_by_type(out: &mut Properties, analyzed: bool, shown: Shown) {
    match out.text("Node Type").unwrap_or_default() {
        "Nested Loop" | "Hash Join" | "Merge Join" if shown.verbose => default(out, "Inner Unique", false),
        "Gather" => default(out, "Single Copy", false),
        "Append" | "Merge Append" => default(out, "Subplans Removed", 0),
        "Bitmap Heap Scan" if analyzed => {
            default(out, "Exact Heap Blocks", 0);
            default(out, "Lossy Heap Blocks", 0);
        }
        "Aggregate" if matches!(out.text("Strategy"), Some("Hashed" | "Mixed")) => {
            if shown.costs {
                default(out, "Planned Partitions", 0);
            }
            if out.get("HashAgg Batches").is_some() {
                default(out, "Disk Usage", 0);
            }
        }
        "ModifyTable" if analyzed && out.text("Operation") == Some("Merge") => {
            for name in ["Tuples Inserted", "Tuples Updated", "Tuples Deleted", "Tuples Skipped"] {
                default(out, name, 0);
            }
        }
        // VERBOSE prints the schema of a function; without one, `on f` is the alias of several functions.
        "Function Scan" if shown.verbose && out.get("Schema").is_none() => out.remove("Function Name"),
        _ => {}
    }
}

fn default(out: &mut Properties, name: &'static str, value: impl Into<Value>) {
    if out.get(name).is_none() {
        out.push(name, value);
    }
}
