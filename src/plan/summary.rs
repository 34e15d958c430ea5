//! The lines below the tree in EXPLAIN's text: planning, times, serialization.

use serde_json::{Map, Value};

use super::PlanError;
use super::key::BUFFER_COUNTERS;

/// What `auto_explain`'s JSON lacks of the same execution's text, by the names of EXPLAIN's JSON.
pub(super) fn adopted(text: &str, buffers: bool) -> Result<Vec<(&'static str, Value)>, PlanError> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let last = lines.len();
    let bad = |why| PlanError::text(last, lines.last().copied().unwrap_or_default(), why);
    let time = |name: &str| {
        let line = lines.iter().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.and_then(|rest| rest.strip_suffix(" ms")?.parse::<f64>().ok())
    };
    let planning = time("Planning Time").ok_or_else(|| bad("expected a line `Planning Time: … ms`"))?;
    let execution = time("Execution Time").ok_or_else(|| bad("expected a line `Execution Time: … ms`"))?;
    let mut out = vec![];
    let mut group = block(&lines, "Planning:");
    if buffers {
        let counters = group.get_or_insert_default();
        for name in BUFFER_COUNTERS {
            counters.entry(name).or_insert(Value::from(0));
        }
    }
    if let Some(group) = group {
        out.push(("Planning", Value::Object(group)));
    }
    out.push(("Planning Time", Value::from(planning)));
    if let Some(group) = serialization(&lines, buffers) {
        out.push(("Serialization", Value::Object(group)));
    }
    out.push(("Execution Time", Value::from(execution)));
    Ok(out)
}

/// The indented lines under the last line that is `header`.
fn block(lines: &[&str], header: &str) -> Option<Map<String, Value>> {
    let at = lines.iter().rposition(|line| *line == header)?;
    let mut group = Map::new();
    for line in lines[at + 1..].iter().take_while(|line| line.starts_with("  ")) {
        read_measure(line.trim_start(), &mut group);
    }
    Some(group)
}

fn serialization(lines: &[&str], buffers: bool) -> Option<Map<String, Value>> {
    let at = lines.iter().rposition(|line| line.starts_with("Serialization: "))?;
    let mut group = Map::new();
    for part in
        lines[at].split("  ").flat_map(|part| part.trim_start_matches("Serialization: ").split_once('='))
    {
        match part {
            ("time", ms) => insert(&mut group, "Time", ms.trim_end_matches(" ms")),
            ("output", size) => insert(&mut group, "Output Volume", size.trim_end_matches("kB")),
            ("format", format) => drop(group.insert("Format".to_owned(), Value::from(format))),
            _ => {}
        }
    }
    for line in lines[at + 1..].iter().take_while(|line| line.starts_with("  ")) {
        read_measure(line.trim_start(), &mut group);
    }
    if buffers {
        for name in BUFFER_COUNTERS {
            group.entry(name).or_insert(Value::from(0));
        }
    }
    Some(group)
}

/// `Buffers: …`, `I/O Timings: …` or `Memory: …`.
fn read_measure(line: &str, into: &mut Map<String, Value>) {
    if let Some(rest) = line.strip_prefix("Buffers: ") {
        scoped(rest, "Blocks", into);
    } else if let Some(rest) = line.strip_prefix("I/O Timings: ") {
        scoped(rest, "Time", into);
    } else if let Some(rest) = line.strip_prefix("Memory: ") {
        for (name, size) in rest.split("  ").filter_map(|part| part.split_once('=')) {
            let name = if name == "used" { "Memory Used" } else { "Memory Allocated" };
            insert(into, name, size.trim_end_matches("kB"));
        }
    }
}

/// `shared hit=1 read=2, temp read=3`: the scope holds until the next one.
fn scoped(text: &str, unit: &str, into: &mut Map<String, Value>) {
    let mut scope = "Shared";
    for word in text.split([' ', ',']) {
        match word {
            "shared" => scope = "Shared",
            "local" => scope = "Local",
            "temp" => scope = "Temp",
            _ => {
                let Some((what, number)) = word.split_once('=') else { continue };
                let what = match what {
                    "hit" => "Hit",
                    "read" => "Read",
                    "dirtied" => "Dirtied",
                    _ => {
                        if unit == "Time" {
                            "Write"
                        } else {
                            "Written"
                        }
                    }
                };
                let name = if unit == "Time" {
                    format!("{scope} I/O {what} Time")
                } else {
                    format!("{scope} {what} {unit}")
                };
                insert(into, &name, number);
            }
        }
    }
}

fn insert(into: &mut Map<String, Value>, name: &str, number: &str) {
    let value = number.parse::<u64>().map(Value::from).or_else(|_| number.parse::<f64>().map(Value::from));
    if let Ok(value) = value {
        into.insert(name.to_owned(), value);
    }
}
