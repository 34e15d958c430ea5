//! The right form of a key that takes keys of its own, for whoever gave it a value instead.

use super::node::{Content, NodeId, Tree};

/// What to write in place of a value, with that value where it has a place in the right form.
pub(super) fn of(what: &str, tree: &Tree, found: NodeId) -> Option<String> {
    let names = names(tree, found).unwrap_or_else(|| "…".to_owned());
    let example = match what {
        "`crossing`" => format!("crossing: {{of: [{}]}}", two(&names)),
        "`x`" => format!("x: {{label: what it is, expr: {names}}}"),
        "`storage`" => format!("storage: {{id: sizes, of: [{names}]}}"),
        "`compare`" => format!("compare: {{of: [{names}]}}"),
        "a plan" => format!("plan: {{of: [{names}]}}"),
        "a table" => format!("table: {{id: overview, of: [{names}], columns: [median, blocks]}}"),
        "a plot" => format!("plot: {{id: figure, kind: distribution, of: [{names}]}}"),
        "`dataset`" => format!("dataset: {{file: {names}}}"),
        "`server`" => format!("server: {{service: {names}}}"),
        "`session`" => format!("session: {{name: {names}, sql: SELECT 1}}"),
        "`explain`" => "explain: {timing: off}".to_owned(),
        _ => return None,
    };
    Some(format!("write `{example}`"))
}

/// Arms cross in pairs.
fn two(names: &str) -> &str {
    if names.matches(',').count() == 1 { names } else { "one, other" }
}

/// A text or a list of texts as it goes into brackets. What is long or holds signs of YAML is left out.
fn names(tree: &Tree, found: NodeId) -> Option<String> {
    let names = match &tree.node(found).content {
        Content::Scalar(text) => text.clone(),
        Content::List(items) => items.iter().map(|item| tree.text(*item)).collect::<Vec<_>>().join(", "),
        _ => return None,
    };
    let fits =
        !names.is_empty() && names.chars().count() <= 40 && !names.contains(['{', '}', '#', ':', '\n']);
    fits.then_some(names)
}
