//! Plans as EXPLAIN's text prints them without costs.

use serde_json::Value;

use super::{Node, title};

/// Conditions and keys that EXPLAIN prints without ANALYZE and VERBOSE, in its order.
const SHOWN: &[&str] = &[
    "Disabled",
    "Window",
    "Index Cond",
    "Recheck Cond",
    "TID Cond",
    "Order By",
    "Hash Cond",
    "Merge Cond",
    "Join Filter",
    "Cache Key",
    "Cache Mode",
    "Sort Key",
    "Presorted Key",
    "Group Key",
    "One-Time Filter",
    "Filter",
    "Run Condition",
    "Workers Planned",
    "Params Evaluated",
    "Single Copy",
    "Conflict Resolution",
    "Conflict Arbiter Indexes",
    "Conflict Filter",
    "Subplans Removed",
];

/// Whether EXPLAIN (COSTS OFF) prints the property.
pub(super) fn is_shown(name: &str) -> bool {
    SHOWN.contains(&name)
}

/// The node lines alone.
pub(super) fn skeleton(root: &Node) -> String {
    lines(root, &Node::title, &|_, _| {})
}

/// The tree with its conditions.
pub(super) fn tree(root: &Node) -> String {
    lines(root, &|node| title::title(node, true), &|node, out| {
        for name in SHOWN {
            if let Some(text) = node.property(name).and_then(shown) {
                out.push(format!("{name}: {text}"));
            }
        }
        for (name, value) in node.unknown_properties() {
            out.push(format!("{name}: {}", shown(value).unwrap_or_else(|| value.to_string())));
        }
    })
}

/// A condition or key as text prints it; none where text prints nothing.
pub(super) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        Value::Bool(true) => Some("true".to_owned()),
        Value::Number(number) if number.as_f64() != Some(0.0) => Some(number.to_string()),
        _ => None,
    }
}

/// Lays a tree out as EXPLAIN does: `name` gives the title, `details` the lines under it.
pub(super) fn lines(
    root: &Node,
    name: &dyn Fn(&Node) -> String,
    details: &dyn Fn(&Node, &mut Vec<String>),
) -> String {
    let mut out = String::new();
    let mut stack = vec![(root, 0_usize)];
    while let Some((node, indent)) = stack.pop() {
        let mut indent = indent;
        if let Some(header) = node.subplan_name() {
            push_line(&mut out, indent, header.split(" (returns").next().unwrap_or(header));
            indent += 2;
        }
        if indent > 0 {
            push_line(&mut out, indent, &format!("->  {}", name(node)));
            indent += 6;
        } else {
            push_line(&mut out, 0, &name(node));
            indent += 2;
        }
        let mut under = Vec::new();
        details(node, &mut under);
        for line in under {
            push_line(&mut out, indent, &line);
        }
        stack.extend(node.children.iter().rev().map(|child| (child, indent)));
    }
    out
}

fn push_line(out: &mut String, indent: usize, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&" ".repeat(indent));
    out.push_str(line);
}
