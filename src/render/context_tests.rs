//! docs/templates.md describes what templates see, key by key; these tables come from the types themselves.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::index::IndexView;
use super::tree::ExplainView;
use super::view::View;

fn schema<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// The name of a type, or what it is.
fn kind(schema: &Value) -> String {
    let named = |schema: &Value| {
        let name = schema["$ref"].as_str()?.rsplit('/').next()?.replace("%20", " ");
        Some(format!("[{name}](#{})", name.replace(' ', "-")))
    };
    if let Some(name) = named(schema) {
        return name;
    }
    if let Some(all) = schema["allOf"].as_array() {
        return all.iter().filter_map(named).collect();
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let some: Vec<String> = any.iter().filter(|one| one["type"] != "null").map(kind).collect();
        return format!("{} or none", some.join(" or "));
    }
    if schema["type"] == "array" {
        return match schema["prefixItems"].as_array() {
            Some(items) => format!("[{}]", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
            None => format!("list of {}", kind(&schema["items"])),
        };
    }
    let word = |value: &Value| match value.as_str() {
        Some("string") => "text".to_owned(),
        Some("integer" | "number") => "number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        _ => String::new(),
    };
    match &schema["type"] {
        Value::Array(types) => {
            let some: Vec<String> = types.iter().filter(|one| *one != "null").map(word).collect();
            format!("{} or none", some.join(" or "))
        }
        one => word(one),
    }
}

fn rows(out: &mut String, properties: &Value) {
    out.push_str("| key | | what it is |\n|---|---|---|\n");
    for (name, property) in properties.as_object().into_iter().flatten() {
        let what = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        assert!(!what.is_empty() || property["const"].is_string(), "{name} is not described");
        let (kind, what) = match property["const"].as_str() {
            Some(word) => ("text".to_owned(), format!("`{word}`")),
            None => (kind(property), what.trim_end_matches('.').to_owned()),
        };
        out.push_str(&format!("| `{name}` | {kind} | {what} |\n"));
    }
}

/// One type: its keys, and those of each of its kinds.
fn described(out: &mut String, heading: &str, schema: &Value, all: &BTreeMap<String, Value>) {
    let about = schema["description"].as_str().unwrap_or_default();
    out.push_str(&format!("{heading}\n\n{about}\n\n"));
    if schema["properties"].is_object() {
        rows(out, &schema["properties"]);
        out.push('\n');
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let word = variant["properties"]["kind"]["const"].as_str().unwrap_or_default();
        let about = variant["description"].as_str().unwrap_or_default();
        out.push_str(&format!("Where `kind` is `{word}`: {about}\n\n"));
        let mut properties = variant["properties"].clone();
        if let Some(name) = variant["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            for (key, value) in all[&name.replace("%20", " ")]["properties"].as_object().into_iter().flatten()
            {
                properties[key] = value.clone();
            }
        }
        rows(out, &properties);
        out.push('\n');
    }
}

fn tables() -> String {
    let mut out = String::new();
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    let roots = [
        ("`report.md`, `report.html`", schema::<View>()),
        ("`index.md`, `index.html`", schema::<IndexView>()),
        ("`explain.html`", schema::<ExplainView>()),
    ];
    for (_, root) in &roots {
        for (name, schema) in root["$defs"].as_object().into_iter().flatten() {
            all.insert(name.clone(), schema.clone());
        }
    }
    for (files, root) in &roots {
        described(&mut out, &format!("### {files}"), root, &all);
    }
    // What a step is stands with the step, kind by kind.
    let kinds: Vec<&str> = all["step"]["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|kind| kind["$ref"].as_str())
        .collect();
    let named = |name: &str| kinds.contains(&format!("#/$defs/{}", name.replace(' ', "%20")).as_str());
    for (name, schema) in all.iter().filter(|(name, _)| !named(name)) {
        described(&mut out, &format!("### {name}"), schema, &all);
    }
    out
}

/// After a change of what templates see: `PLANBOOK_WRITE_DOCS=1 cargo test --lib context_tests`.
#[test]
fn every_key_that_templates_see_is_documented_and_no_other() {
    let path = "docs/templates.md";
    let page = std::fs::read_to_string(path).expect("the page");
    let (begin, end) = ("<!-- context: begin -->\n", "<!-- context: end -->");
    let (before, rest) = page.split_once(begin).expect("the beginning of the tables");
    let (table, after) = rest.split_once(end).expect("the end of the tables");
    if std::env::var_os("PLANBOOK_WRITE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{begin}{}{end}{after}", tables())).expect("the page");
        return;
    }
    assert_eq!(table, tables(), "docs/templates.md is stale");
    for link in table.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        let heading = format!("### {}\n", link.replace('-', " "));
        assert!(table.contains(&heading), "a link leads to {link}, which is not described");
    }
}
