//! One property of a node, a worker or a target: `Filter: (a = 5)`, `Heap Fetches: 12`.

use serde_json::Value;

use super::composite;
use super::lex;
use super::lines::{Line, Lines};
use super::title::push_number;
use crate::plan::{PlanError, Properties, key};

/// How a known property is printed.
enum Kind {
    /// An expression or a name; its quotes may be open at the end of a line.
    Expression,
    /// Several of them, joined by commas.
    List,
    /// Text whose quotes mean nothing.
    Raw,
    Number,
    Flag,
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "Output"
        | "Group Key"
        | "Sort Key"
        | "Presorted Key"
        | "Conflict Arbiter Indexes"
        | "Params Evaluated" => Kind::List,
        "Index Cond"
        | "Order By"
        | "Filter"
        | "Recheck Cond"
        | "TID Cond"
        | "Join Filter"
        | "Merge Cond"
        | "Hash Cond"
        | "One-Time Filter"
        | "Run Condition"
        | "Window"
        | "Function Call"
        | "Table Function Call"
        | "Cache Key"
        | "Conflict Filter"
        | "Relations"
        | "Remote SQL" => Kind::Expression,
        "Foreign File" | "Foreign Program" | "Cache Mode" | "Conflict Resolution" => Kind::Raw,
        "Rows Removed by Filter"
        | "Rows Removed by Join Filter"
        | "Rows Removed by Index Recheck"
        | "Rows Removed by Conflict Filter"
        | "Heap Fetches"
        | "Index Searches"
        | "Workers Planned"
        | "Workers Launched"
        | "Subplans Removed"
        | "Tuples Inserted"
        | "Conflicting Tuples"
        | "Batch Size"
        | "Query Identifier" => Kind::Number,
        "Disabled" | "Inner Unique" | "Single Copy" => Kind::Flag,
        _ => return None,
    })
}

/// Reads a line into `out`, with the lines after it that its open quotes need.
pub(super) fn take(line: &Line, lines: &mut Lines, out: &mut Properties) -> Result<(), PlanError> {
    let Some((name, value)) = split(line.content) else {
        return Err(PlanError::text(
            line.number,
            line.content,
            "expected a property `Name: value`, or a node `->  …`",
        ));
    };
    match kind(name) {
        Some(Kind::Expression) => out.push(key::intern(name), &*lines.joined(value)),
        Some(Kind::List) => out.push(key::intern(name), lex::list(&lines.joined(value))),
        _ if take_one(line.content, out) => {}
        _ => {
            return Err(PlanError::text(
                line.number,
                line.content,
                "this value does not fit the property's name",
            ));
        }
    }
    Ok(())
}

/// Reads one property that stands on one line.
pub(super) fn take_one(content: &str, out: &mut Properties) -> bool {
    let Some((name, value)) = split(content) else { return false };
    if let Some(taken) = composite::take(name, value, out) {
        return taken;
    }
    let name = key::intern(name);
    match kind(&name) {
        Some(Kind::Number) => {
            push_number(out, name, value);
            return out.iter().last().is_some_and(|(_, value)| value.is_number());
        }
        Some(Kind::Flag) => match value {
            "true" => out.push(name, true),
            "false" => out.push(name, false),
            _ => return false,
        },
        Some(Kind::List) => out.push(name, lex::list(value)),
        Some(Kind::Expression | Kind::Raw) => out.push(name, value),
        None => out.push(name, lex::number(value).unwrap_or_else(|| Value::from(value))),
    }
    true
}

/// `Name: value`; a name begins with a capital or a digit and is short.
fn split(content: &str) -> Option<(&str, &str)> {
    let at = content.find(':')?;
    let (name, rest) = (&content[..at], &content[at + 1..]);
    let value = if rest.is_empty() { "" } else { rest.strip_prefix(' ')? };
    let plausible = name.len() <= 60
        && name.starts_with(|c: char| c.is_uppercase())
        && !name.as_bytes().windows(2).any(|pair| pair == b"  ");
    plausible.then_some((name, value))
}
