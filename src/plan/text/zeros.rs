//! What text hides because it is zero or the usual, and JSON says: put back, where the text proves that the
//! server counted it.

use serde_json::Value;

use super::summary;
use crate::plan::key::BUFFER_COUNTERS;
use crate::plan::{Node, Plan, Properties};

/// What some line of the plan proves about all of them.
#[derive(Clone, Copy)]
struct Shown {
    buffers: bool,
    timing: bool,
    verbose: bool,
    costs: bool,
}

/// Completes a plan that was read from text.
pub(super) fn fill(plan: &mut Plan) {
    let has = |name: &str| plan.nodes().any(|node| node.properties.get(name).is_some());
    let counted = |properties: &Properties| BUFFER_COUNTERS.iter().any(|name| properties.get(name).is_some());
    let planning = ["Planning", "Serialization"].iter().filter_map(|name| plan.top.get(name));
    let shown = Shown {
        buffers: plan.nodes().any(|node| counted(&node.properties))
            || planning
                .flat_map(Value::as_object)
                .any(|group| group.keys().any(|key| key.ends_with(" Blocks"))),
        timing: has("Actual Total Time"),
        verbose: has("Output"),
        costs: has("Total Cost"),
    };
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
    let node_type = node.node_type().to_owned();
    let analyzed = node.loops().is_some();
    let out = &mut node.properties;
    if analyzed && shown.timing {
        default(out, "Actual Startup Time", 0.0);
        default(out, "Actual Total Time", 0.0);
    }
    fill_by_type(out, &node_type, analyzed, shown);
    if analyzed {
        for (condition, removed) in REMOVED {
            if out.get(condition).is_some() && removes(&node_type, condition) {
                default(out, removed, 0);
            }
        }
    }
    if analyzed && shown.buffers {
        for name in BUFFER_COUNTERS {
            default(out, name, 0);
        }
    }
    if let Some(Value::Array(workers)) = out.get_mut("Workers") {
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
}

/// Conditions, and the counter that JSON prints with each.
const REMOVED: [(&str, &str); 5] = [
    ("Index Cond", "Rows Removed by Index Recheck"),
    ("Recheck Cond", "Rows Removed by Index Recheck"),
    ("Filter", "Rows Removed by Filter"),
    ("Join Filter", "Rows Removed by Join Filter"),
    ("Conflict Filter", "Rows Removed by Conflict Filter"),
];

fn removes(node_type: &str, condition: &str) -> bool {
    condition != "Index Cond" || matches!(node_type, "Index Scan" | "Index Only Scan")
}

fn fill_by_type(out: &mut Properties, node_type: &str, analyzed: bool, shown: Shown) {
    match node_type {
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
