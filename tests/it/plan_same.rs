//! When two readings of one plan are the same tree: field by field, save what EXPLAIN's text cannot carry.
//!
//! The list is written down for people in docs/method.md; this is the same list as code.

use std::collections::BTreeMap;

use planbook::plan::{Node, Plan, Properties};
use serde_json::Value;

/// Every field in which two plans differ, by path.
pub fn differences(text: &Plan, json: &Plan) -> Vec<String> {
    let verbose = text.nodes().any(|node| node.property("Output").is_some());
    let (mut text, mut json) = (flat(text), flat(json));
    if !verbose {
        text.retain(|key, _| !key.ends_with(".Inner Unique") && !key.ends_with(".Function Name"));
        json.retain(|key, _| !key.ends_with(".Inner Unique") && !key.ends_with(".Function Name"));
    }
    let keys: std::collections::BTreeSet<_> = text.keys().chain(json.keys()).collect();
    let shown = |value: Option<&Value>| value.map_or("(absent)".to_owned(), Value::to_string);
    keys.into_iter()
        .filter(|key| text.get(*key) != json.get(*key))
        .map(|key| format!("{key}: text {} json {}", shown(text.get(key)), shown(json.get(key))))
        .collect()
}

fn flat(plan: &Plan) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    put_node("", &plan.root, &mut out);
    for (name, value) in plan.properties().iter().filter(|(name, _)| !ONLY_AROUND.contains(name)) {
        put(&format!("top/{name}"), name, value, &mut out);
    }
    out
}

/// `auto_explain`'s notice has the statement and lacks these; the text is the other way round.
const ONLY_AROUND: [&str; 6] =
    ["Query Text", "Query Parameters", "Planning", "Planning Time", "Execution Time", "Serialization"];

fn put_node(path: &str, node: &Node, out: &mut BTreeMap<String, Value>) {
    let path = format!("{path}/{}", node.node_type());
    for (name, value) in fields(node.properties()) {
        put(&format!("{path}.{name}"), &name, &value, out);
    }
    for (i, child) in node.children().iter().enumerate() {
        put_node(&format!("{path}/{i}"), child, out);
    }
}

fn fields(properties: &Properties) -> Vec<(String, Value)> {
    properties.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

fn put(path: &str, name: &str, value: &Value, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                put(&format!("{path}.{name}"), name, value, out);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (i, item) in items.iter().enumerate() {
                put(&format!("{path}.{i}"), name, item, out);
            }
        }
        _ if hidden(name, value) => {}
        _ => {
            let path = path.replace(".I/O ", ".Shared I/O ");
            out.insert(path, value.as_f64().map_or_else(|| value.clone(), Value::from));
        }
    }
}

/// What text does not print: zeros, the usual, and a few names. A distance-ordered scan moves neither way for
/// JSON up to 17; of several functions text prints the alias, which reads as a function's name.
fn hidden(name: &str, value: &Value) -> bool {
    let zero = value.as_f64() == Some(0.0);
    let counter = name.ends_with(" Blocks") || name.starts_with("WAL ") || name.contains("I/O ");
    match name {
        "Async Capable" | "Trigger Name" | "Relation" => true,
        "Scan Direction" => value != "Backward",
        "Disabled" | "Inner Unique" => value == &Value::from(false),
        "Workers" | "Triggers" => value == &Value::Array(vec![]),
        _ => zero && counter,
    }
}
