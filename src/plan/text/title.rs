//! A node's line: words, index, relation, and the numbers in parentheses after them.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::lex::{number, numeral};
use crate::plan::Properties;
use crate::plan::label::Label;
use crate::plan::title::take_identifier;

/// A node's line, read.
pub(super) struct Title {
    pub(super) properties: Properties,
    /// Whether some PostgreSQL prints these words.
    pub(super) known: bool,
    /// Whether numbers stand after them.
    pub(super) measured: bool,
    /// Whether costs are among them.
    pub(super) costed: bool,
    /// Whether times are among them.
    pub(super) timed: bool,
}

/// How many properties a node with all options has.
const USUAL: usize = 28;

/// Reads the line of a node; `header` is the sub-plan's header above it.
pub(super) fn read(line: &str, header: Option<&str>, relationship: Option<&'static str>) -> Option<Title> {
    let (words, numbers) = Numbers::split(line);
    let label = Label::read(words);
    let known = label.is_some();
    let (label, rest) = label.unwrap_or_else(|| unknown(words));
    if label.node_type.is_empty() {
        return None;
    }
    let mut out = Properties::with_capacity(USUAL);
    push_type(&mut out, &label, header, relationship);
    let (measured, costed) = (numbers.any(), numbers.cost.is_some());
    let timed = numbers.actual.as_ref().is_some_and(|actual| actual.time.is_some());
    if !push_target(&mut out, &label, rest) {
        // Numbers that do not read are no part of a name.
        if BROKEN.iter().any(|begin| words.contains(begin)) {
            return None;
        }
        // What no PostgreSQL prints is kept whole, as a type of its own.
        out = Properties::with_capacity(USUAL);
        let label = Label { node_type: words, ..Label::default() };
        push_type(&mut out, &label, header, relationship);
        numbers.push(&mut out);
        return Some(Title { properties: out, known: false, measured, costed, timed });
    }
    numbers.push(&mut out);
    Some(Title { properties: out, known, measured, costed, timed })
}

/// How the numbers of a node begin.
const BROKEN: [&str; 3] = ["  (cost=", " (actual ", " (never "];

/// A node's line without its numbers.
pub(in crate::plan) fn words(line: &str) -> &str {
    Numbers::split(line).0
}

/// A type that no PostgreSQL up to 18 prints: the words up to `using` or `on`.
fn unknown(words: &str) -> (Label<'_>, &str) {
    let mut label = Label::default();
    let mut text = words;
    for (flag, prefix) in [(&mut label.parallel, "Parallel "), (&mut label.asynchronous, "Async ")] {
        if let Some(rest) = text.strip_prefix(prefix) {
            (*flag, text) = (true, rest);
        }
    }
    let end = [" using ", " on "].iter().filter_map(|stop| text.find(stop)).min().unwrap_or(text.len());
    label.node_type = &text[..end];
    (label, &text[end..])
}

fn push_type(out: &mut Properties, label: &Label, header: Option<&str>, relationship: Option<&'static str>) {
    let mut text = |name: &'static str, value: Option<&str>| {
        if let Some(value) = value {
            out.push(name, value);
        }
    };
    text("Node Type", Some(label.node_type));
    text("Strategy", label.strategy);
    text("Partial Mode", label.partial);
    text("Operation", label.operation);
    text("Parent Relationship", relationship);
    text("Subplan Name", header);
    text("Custom Plan Provider", label.provider);
    out.push("Parallel Aware", label.parallel);
    if label.asynchronous {
        out.push("Async Capable", true);
    }
    if let Some(join) = label.join {
        out.push("Join Type", join);
    }
    if let Some(command) = label.command {
        out.push("Command", command);
    }
}

/// ` using INDEX on SCHEMA.NAME ALIAS`; false where something else stands there.
fn push_target(out: &mut Properties, label: &Label, rest: &str) -> bool {
    let mut rest = rest;
    if matches!(label.node_type, "Index Scan" | "Index Only Scan") {
        out.push("Scan Direction", if label.backward { "Backward" } else { "Forward" });
    }
    if let Some(after) = rest.strip_prefix(" using ") {
        let Some((index, after)) = take_identifier(after) else { return false };
        out.push("Index Name", index);
        rest = after;
    }
    let Some(after) = rest.strip_prefix(" on ") else { return rest.is_empty() };
    let Some(target) = Target::read(after) else { return false };
    if label.node_type == "Bitmap Index Scan" {
        out.push("Index Name", target.name);
        return true;
    }
    target.push(out, target_key(label.node_type));
    true
}

/// The JSON name of what a node of this type scans; none where EXPLAIN prints only the alias.
fn target_key(node_type: &str) -> Option<&'static str> {
    Some(match node_type {
        "CTE Scan" | "WorkTable Scan" => "CTE Name",
        "Function Scan" => "Function Name",
        "Table Function Scan" => "Table Function Name",
        "Named Tuplestore Scan" => "Tuplestore Name",
        "Subquery Scan" | "Values Scan" => return None,
        _ => "Relation Name",
    })
}

/// What stands after `on`.
pub(super) struct Target {
    schema: Option<String>,
    name: String,
    alias: Option<String>,
}

impl Target {
    /// Reads `SCHEMA.NAME ALIAS` to the end of the text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (mut name, mut rest) = take_identifier(text)?;
        let mut schema = None;
        if let Some(after) = rest.strip_prefix('.') {
            let (second, after) = take_identifier(after)?;
            (schema, name, rest) = (Some(name), second, after);
        }
        let alias = match rest.strip_prefix(' ') {
            Some(after) => {
                let (alias, after) = take_identifier(after)?;
                rest = after;
                Some(alias)
            }
            None => None,
        };
        rest.is_empty().then_some(Self { schema, name, alias })
    }

    /// Adds the target under `key`, its alias being its name where no other is printed.
    pub(super) fn push(self, out: &mut Properties, key: Option<&'static str>) {
        let alias = self.alias.unwrap_or_else(|| self.name.clone());
        if let Some(key) = key {
            out.push(key, self.name);
        }
        if let Some(schema) = self.schema {
            out.push("Schema", schema);
        }
        out.push("Alias", alias);
    }
}

/// The numbers in parentheses at the end of a node's line.
#[derive(Default)]
struct Numbers {
    cost: Option<[Number; 4]>,
    actual: Option<Actual>,
}

/// `(actual time=a..b rows=r loops=l)`; what was never executed has no numbers.
pub(super) struct Actual {
    time: Option<[Number; 2]>,
    rows: Number,
    loops: Number,
}

impl Actual {
    fn never() -> Self {
        Self { time: None, rows: Number::from(0), loops: Number::from(0) }
    }

    /// Reads `time=a..b rows=r loops=l`, as it stands after `actual `.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (time, text) = match text.strip_prefix("time=") {
            Some(rest) => {
                let (time, rest) = rest.split_once(' ')?;
                (Some(range(time)?), rest)
            }
            None => (None, text),
        };
        let (rows, loops) = text.strip_prefix("rows=")?.split_once(' ')?;
        Some(Self { time, rows: numeral(rows)?, loops: numeral(loops.strip_prefix("loops=")?)? })
    }

    pub(super) fn push(self, out: &mut Properties) {
        if let Some([first, last]) = self.time {
            out.push("Actual Startup Time", Value::Number(first));
            out.push("Actual Total Time", Value::Number(last));
        }
        out.push("Actual Rows", Value::Number(self.rows));
        out.push("Actual Loops", Value::Number(self.loops));
    }
}

impl Numbers {
    /// The words of a line, and the numbers behind them.
    fn split(line: &str) -> (&str, Self) {
        let mut out = Self::default();
        let mut words = line;
        if let Some(rest) = words.strip_suffix(" (never executed)") {
            (out.actual, words) = (Some(Actual::never()), rest);
        } else if let Some((rest, inside)) = parentheses(words, " (actual ")
            && let Some(actual) = Actual::read(inside)
        {
            (out.actual, words) = (Some(actual), rest);
        }
        if let Some((rest, inside)) = parentheses(words, "(cost=")
            && let Some(cost) = read_cost(inside)
        {
            (out.cost, words) = (Some(cost), rest);
        }
        (words.trim_end(), out)
    }

    fn any(&self) -> bool {
        self.cost.is_some() || self.actual.is_some()
    }

    fn push(self, out: &mut Properties) {
        if let Some(cost) = self.cost {
            let names = ["Startup Cost", "Total Cost", "Plan Rows", "Plan Width"];
            names.into_iter().zip(cost).for_each(|(name, number)| out.push(name, Value::Number(number)));
        }
        if let Some(actual) = self.actual {
            actual.push(out);
        }
    }
}

/// The last `open…)` of a line, where it ends the line. Numbers hold no parentheses, so that it begins at the
/// last one that opens.
fn parentheses<'a>(line: &'a str, open: &str) -> Option<(&'a str, &'a str)> {
    let inside = line.strip_suffix(')')?;
    let at = memchr::memrchr(b'(', inside.as_bytes())?;
    let begins = (at + 1).checked_sub(open.find('(')? + 1)?;
    Some((line.get(..begins)?, inside.get(begins..)?.strip_prefix(open)?))
}

/// `a..b`
fn range(text: &str) -> Option<[Number; 2]> {
    let at = text.as_bytes().windows(2).position(|pair| pair == b"..")?;
    Some([numeral(&text[..at])?, numeral(&text[at + 2..])?])
}

/// `a..b rows=r width=w`
fn read_cost(text: &str) -> Option<[Number; 4]> {
    let (costs, rest) = text.split_once(' ')?;
    let [startup, total] = range(costs)?;
    let (rows, width) = rest.split_once(' ')?;
    Some([startup, total, numeral(rows.strip_prefix("rows=")?)?, numeral(width.strip_prefix("width=")?)?])
}

pub(super) fn push_number(out: &mut Properties, name: impl Into<Cow<'static, str>>, text: &str) {
    if let Some(value) = number(text) {
        out.push(name, value);
    } else {
        out.push(name, Value::from(text));
    }
}
