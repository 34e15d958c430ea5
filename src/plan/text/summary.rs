//! What EXPLAIN prints below the tree, at the margin: settings, planning, triggers, JIT, times.

use serde_json::{Map, Value};

use super::lex::{number, object};
use super::lines::{Line, Lines};
use super::{composite, property};
use crate::plan::key::BUFFER_COUNTERS;
use crate::plan::{PlanError, Properties};

/// A group whose lines stand two columns to the right.
struct Group {
    name: &'static str,
    properties: Properties,
}

/// Reads from the first line at the margin to the end, or to the first line of another plan, which it gives back.
pub(super) fn read<'a>(
    first: Line<'a>,
    lines: &mut Lines<'a>,
    margin: usize,
) -> Result<(Properties, Option<Line<'a>>), PlanError> {
    let mut out = Properties::with_capacity(8);
    let mut triggers = vec![];
    let mut group: Option<Group> = None;
    let mut next = Some(first);
    while let Some(line) = next.filter(|line| line.indent > margin || !super::starts_plan(line.content)) {
        if line.indent > margin {
            let taken = group.as_mut().is_some_and(|group| group.take(line.content));
            if !taken {
                return Err(PlanError::text(
                    line.number,
                    line.content,
                    "this line belongs to nothing above it",
                ));
            }
        } else {
            finish(group.take(), &mut out);
            group = start(&line, lines, &mut out, &mut triggers)?;
        }
        next = lines.next_structural();
    }
    finish(group, &mut out);
    if !triggers.is_empty() {
        out.set("Triggers", triggers);
    }
    Ok((out, next))
}

/// What `auto_explain`'s JSON lacks of the same execution's text, by the names of EXPLAIN's JSON.
pub(in crate::plan) fn adopted(text: &str, buffers: bool) -> Result<Vec<(&'static str, Value)>, PlanError> {
    const NAMES: [&str; 4] = ["Planning", "Planning Time", "Serialization", "Execution Time"];
    let all: Vec<&str> = text.lines().collect();
    let bad = |why| PlanError::text(all.len(), all.last().copied().unwrap_or_default(), why);
    let time = all.iter().rposition(|line| line.starts_with("Planning Time: "));
    let time = time.ok_or_else(|| bad("expected a line `Planning Time: … ms`"))?;
    // The group `Planning:` stands above, its lines indented.
    let above = all[..time].iter().rposition(|line| !line.starts_with("  "));
    let start = above.filter(|at| all[*at] == "Planning:").unwrap_or(time);
    let rest = all[start..].join("\n");
    let mut lines = Lines::new(&rest);
    let Some(line) = lines.next_structural() else { return Err(PlanError::Empty) };
    let (mut top, _) = read(line, &mut lines, 0)?;
    if buffers {
        fill_groups(&mut top);
    }
    if top.number("Execution Time").is_none() {
        return Err(bad("expected a line `Execution Time: … ms`"));
    }
    Ok(NAMES.into_iter().filter_map(|name| Some((name, top.get(name)?.clone()))).collect())
}

/// Planning touched no block where text shows buffers elsewhere and none of it: zeros that were counted.
pub(super) fn fill_groups(top: &mut Properties) {
    let told = |group: Option<&Value>| {
        group
            .and_then(Value::as_object)
            .is_some_and(|group| group.keys().any(|name| name.ends_with(" Blocks")))
    };
    if top.get("Planning Time").is_none() || told(top.get("Planning")) {
        return;
    }
    if top.get("Planning").is_none() {
        top.push("Planning", Value::Object(Map::new()));
    }
    if let Some(Value::Object(group)) = top.get_mut("Planning") {
        group.extend(BUFFER_COUNTERS.map(|counter| (counter.to_owned(), Value::from(0))));
    }
}

impl Group {
    fn take(&mut self, content: &str) -> bool {
        match self.name {
            "JIT" => composite::jit(content, &mut self.properties),
            _ => property::take_one(content, &mut self.properties),
        }
    }
}

fn finish(group: Option<Group>, out: &mut Properties) {
    if let Some(group) = group {
        out.push(group.name, object(group.properties));
    }
}

/// A line at the margin; gives the group that it opens.
fn start(
    line: &Line,
    lines: &mut Lines,
    out: &mut Properties,
    triggers: &mut Vec<Value>,
) -> Result<Option<Group>, PlanError> {
    let unknown =
        || PlanError::text(line.number, line.content, "not a line that EXPLAIN prints below a plan");
    let group = |name| Some(Group { name, properties: Properties::default() });
    if line.content.starts_with("Trigger ") {
        if triggers.is_empty() {
            out.push("Triggers", Value::Null);
        }
        triggers.push(trigger(&lines.joined(line.content)).ok_or_else(unknown)?);
        return Ok(None);
    }
    match line.content {
        "Planning:" => return Ok(group("Planning")),
        "JIT:" => return Ok(group("JIT")),
        _ => {}
    }
    let (name, value) = line.content.split_once(": ").ok_or_else(unknown)?;
    match name {
        "Planning Time" | "Execution Time" => {
            let ms = value.strip_suffix(" ms").and_then(number).ok_or_else(unknown)?;
            out.push(if name == "Planning Time" { "Planning Time" } else { "Execution Time" }, ms);
        }
        "Settings" => out.push("Settings", settings(value).ok_or_else(unknown)?),
        "Serialization" => {
            let properties = serialization(value).ok_or_else(unknown)?;
            return Ok(Some(Group { name: "Serialization", properties }));
        }
        "Query Identifier" => out.push("Query Identifier", number(value).ok_or_else(unknown)?),
        _ if name.starts_with(|c: char| c.is_uppercase()) && name.len() < 40 => {
            out.push(name.to_owned(), number(value).unwrap_or_else(|| Value::from(value)));
        }
        _ => return Err(unknown()),
    }
    Ok(None)
}

/// `a = 'x', b = 'y''s'`: PostgreSQL does not escape quotes here, so a value ends where the next name begins.
fn settings(text: &str) -> Option<Value> {
    let mut out = Map::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once(" = ")?;
        if let Some(after) = after.strip_prefix("NULL") {
            out.insert(name.to_owned(), Value::Null);
            rest = after.strip_prefix(", ").unwrap_or(after);
            continue;
        }
        let value = after.strip_prefix('\'')?;
        let end = value.match_indices('\'').map(|(at, _)| at).find(|at| ends_setting(&value[at + 1..]))?;
        out.insert(name.to_owned(), Value::from(&value[..end]));
        rest = value[end + 1..].strip_prefix(", ").unwrap_or_default();
    }
    Some(Value::Object(out))
}

fn ends_setting(after: &str) -> bool {
    let Some(next) = after.strip_prefix(", ") else { return after.is_empty() };
    let name = next.split(" = ").next().unwrap_or_default();
    name.len() < next.len() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// `Trigger NAME for constraint C on REL: time=1.0 calls=3`
fn trigger(content: &str) -> Option<Value> {
    let (name, counts) = content.strip_prefix("Trigger ")?.rsplit_once(": ")?;
    let (name, relation) = match name.rsplit_once(" on ") {
        Some((name, relation)) => (name, Some(relation)),
        None => (name, None),
    };
    let (trigger, constraint) =
        match (name.strip_prefix("for constraint "), name.split_once(" for constraint ")) {
            (Some(constraint), _) => (None, Some(constraint)),
            (None, Some((trigger, constraint))) => (Some(trigger), Some(constraint)),
            (None, None) => (Some(name), None),
        };
    let mut out = Properties::default();
    for (key, text) in [("Trigger Name", trigger), ("Constraint Name", constraint), ("Relation", relation)] {
        if let Some(text) = text {
            out.push(key, text);
        }
    }
    for word in counts.split(' ') {
        match word.split_once('=')? {
            ("time", ms) => out.push("Time", number(ms)?),
            ("calls", calls) => out.push("Calls", number(calls)?),
            _ => return None,
        }
    }
    Some(object(out))
}

/// `time=0.123 ms  output=5kB  format=text`
fn serialization(text: &str) -> Option<Properties> {
    let mut out = Properties::default();
    for part in text.split("  ") {
        match part.split_once('=')? {
            ("time", ms) => out.push("Time", number(ms.strip_suffix(" ms")?)?),
            ("output", size) => out.push("Output Volume", number(size.strip_suffix("kB")?)?),
            ("format", format) => out.push("Format", format),
            _ => return None,
        }
    }
    Some(out)
}
