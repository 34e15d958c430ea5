//! Plans as EXPLAIN's text: the inverse of reading it, so that JSON can be shown, and pasted, as text.

mod composite;

use serde_json::{Map, Value};

use super::key::IN_TITLE;
use super::{Node, Plan, Properties, print, title};
use composite::Fields;

impl Plan {
    /// The plan as EXPLAIN's text prints it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let verbose = self.nodes().any(|node| node.property("Output").is_some() || node.schema().is_some());
        let mut out = Writer { verbose, ..Writer::default() };
        out.tree(&self.root);
        out.summary(&self.top);
        out.text
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    /// Whether EXPLAIN was VERBOSE, and so told more of joins and triggers.
    verbose: bool,
}

impl Writer {
    fn line(&mut self, indent: usize, line: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn tree(&mut self, root: &Node) {
        let mut stack = vec![(root, 0)];
        while let Some((node, mut indent)) = stack.pop() {
            if let Some(header) = node.subplan_name() {
                self.line(indent, header);
                indent += 2;
            }
            let arrow = if indent > 0 { "->  " } else { "" };
            let title = title::title(node, true);
            self.line(indent, &format!("{arrow}{title}{}{}", cost(node), actual(node)));
            indent += if indent > 0 { 6 } else { 2 };
            let fields = Fields::Node(node.properties());
            self.properties(indent, fields, node);
            stack.extend(node.children().iter().rev().map(|child| (child, indent)));
        }
    }

    /// Everything that stands under a title.
    fn properties(&mut self, indent: usize, fields: Fields, node: &Node) {
        let mut done: Vec<&str> = vec![];
        for (name, value) in fields.iter() {
            if IN_TITLE.contains(&name)
                || done.contains(&name)
                || hidden(name, value)
                || (name == "Inner Unique" && !self.verbose)
            {
                continue;
            }
            match name {
                "Workers" => self.workers(indent, value, node),
                "Target Tables" => self.targets(indent, value, node),
                "Grouping Sets" => self.grouping_sets(indent, value),
                "JIT" => self.jit(indent, value),
                _ => match composite::group_of(name, &fields) {
                    Some(group) => {
                        done.extend(group);
                        if let Some(line) = composite::line(name, &fields) {
                            self.line(indent, &line);
                        }
                    }
                    None => self.line(indent, &format!("{name}: {}", plain(value))),
                },
            }
        }
    }

    fn workers(&mut self, indent: usize, workers: &Value, node: &Node) {
        for worker in workers.as_array().into_iter().flatten().filter_map(Value::as_object) {
            let number = worker.get("Worker Number").map(plain).unwrap_or_default();
            let fields = Fields::Object(worker);
            let mut lines = Self { verbose: self.verbose, ..Self::default() };
            let rest: Map<String, Value> =
                worker.iter().filter(|(name, _)| *name != "Worker Number").map(own).collect();
            lines.properties(0, Fields::Object(&rest), node);
            let actual =
                actual_of(&fields).map(|actual| format!("{}\n", actual.trim_matches([' ', '(', ')'])));
            let text = actual.unwrap_or_default() + &lines.text;
            for (at, line) in text.lines().enumerate() {
                if at == 0 {
                    self.line(indent, &format!("Worker {number}:  {line}"));
                } else {
                    self.line(indent + 2, line);
                }
            }
        }
    }

    fn targets(&mut self, indent: usize, targets: &Value, node: &Node) {
        for target in targets.as_array().into_iter().flatten().filter_map(Value::as_object) {
            let mut properties = Properties::default();
            for (name, value) in target {
                properties.push(name.clone(), value.clone());
            }
            let foreign =
                if target.keys().any(|name| !IN_TITLE.contains(&name.as_str())) { "Foreign " } else { "" };
            let mut line = format!("{foreign}{}", node.label());
            title::push_target(&mut line, &properties, true);
            self.line(indent, &line);
            self.properties(indent + 2, Fields::Object(target), node);
        }
    }

    fn grouping_sets(&mut self, indent: usize, sets: &Value) {
        for set in sets.as_array().into_iter().flatten() {
            let mut indent = indent;
            if let Some(keys) = set.get("Sort Key") {
                self.line(indent, &format!("Sort Key: {}", plain(keys)));
                indent += 2;
            }
            for (name, label) in [("Hash Keys", "Hash Key"), ("Group Keys", "Group Key")] {
                for keys in set.get(name).and_then(Value::as_array).into_iter().flatten() {
                    let keys = plain(keys);
                    self.line(indent, &format!("{label}: {}", if keys.is_empty() { "()" } else { &keys }));
                }
            }
        }
    }

    fn jit(&mut self, indent: usize, jit: &Value) {
        self.line(indent, "JIT:");
        for line in composite::jit(jit) {
            self.line(indent + 2, &line);
        }
    }

    fn summary(&mut self, top: &Properties) {
        for (name, value) in top.iter() {
            match (name, value) {
                ("Query Text" | "Query Parameters", _) => {}
                ("Settings", Value::Object(settings)) if !settings.is_empty() => {
                    let setting = |(name, value): (&String, &Value)| match value.as_str() {
                        Some(text) => format!("{name} = '{text}'"),
                        None => format!("{name} = NULL"),
                    };
                    let settings: Vec<_> = settings.iter().map(setting).collect();
                    self.line(0, &format!("Settings: {}", settings.join(", ")));
                }
                ("Planning" | "Serialization", Value::Object(group)) => self.group(name, group),
                ("Planning Time" | "Execution Time", _) => {
                    self.line(0, &format!("{name}: {:.3} ms", value.as_f64().unwrap_or_default()));
                }
                ("Triggers", Value::Array(triggers)) => {
                    triggers.iter().for_each(|t| self.line(0, &composite::trigger(t, self.verbose)))
                }
                ("JIT", jit) => self.jit(0, jit),
                ("Settings" | "Triggers", _) => {}
                _ => self.line(0, &format!("{name}: {}", plain(value))),
            }
        }
    }

    /// `Planning:` with its lines; nothing where all are zero.
    fn group(&mut self, name: &str, group: &Map<String, Value>) {
        let fields = Fields::Object(group);
        let lines = ["Shared Hit Blocks", "I/O Read Time", "Memory Used"]
            .map(|first| composite::line(first, &fields));
        if name == "Serialization" {
            self.line(0, &composite::serialization(group));
        } else if lines.iter().any(Option::is_some) {
            self.line(0, "Planning:");
        }
        for line in lines.iter().flatten() {
            self.line(2, line);
        }
    }
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn cost(node: &Node) -> String {
    let number = |name| node.number(name);
    match (number("Startup Cost"), number("Total Cost"), number("Plan Rows"), number("Plan Width")) {
        (Some(startup), Some(total), Some(rows), Some(width)) => {
            format!("  (cost={startup:.2}..{total:.2} rows={rows:.0} width={width:.0})")
        }
        _ => String::new(),
    }
}

fn actual(node: &Node) -> String {
    if node.loops() == Some(0.0) {
        return " (never executed)".to_owned();
    }
    actual_of(&Fields::Node(node.properties())).unwrap_or_default()
}

/// ` (actual time=a..b rows=r loops=l)`
fn actual_of(fields: &Fields) -> Option<String> {
    let rows = plain_rows(fields.get("Actual Rows")?);
    let loops = fields.get("Actual Loops")?.as_f64()?;
    let time = |name| fields.get(name).and_then(Value::as_f64);
    let time = match (time("Actual Startup Time"), time("Actual Total Time")) {
        (Some(first), Some(last)) => format!("time={first:.3}..{last:.3} "),
        _ => String::new(),
    };
    Some(format!(" (actual {time}rows={rows} loops={loops:.0})"))
}

/// From 18 rows have two decimals.
fn plain_rows(rows: &Value) -> String {
    if rows.is_f64() { format!("{:.2}", rows.as_f64().unwrap_or_default()) } else { rows.to_string() }
}

/// What text does not print.
fn hidden(name: &str, value: &Value) -> bool {
    match name {
        "Disabled" | "Inner Unique" | "Single Copy" => value == &Value::from(false),
        "Rows Removed by Filter"
        | "Rows Removed by Join Filter"
        | "Rows Removed by Index Recheck"
        | "Rows Removed by Conflict Filter"
        | "Subplans Removed" => value.as_f64() == Some(0.0),
        _ => false,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => print::shown(other).unwrap_or_else(|| other.to_string()),
    }
}
