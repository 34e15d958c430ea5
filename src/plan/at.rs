//! What a notebook says of the nodes at one place: `{node: Seq Scan on part, count: 2, Filter: absent}`.

use std::fmt;

use regex::Regex;
use serde_json::Value;

use super::pattern::{Families, Pattern, PatternError};
use super::{Comparison, Node, Plan, key, measure};

/// A node pattern with what must hold of the nodes that match it.
///
/// Without `count`, at least one node must match, and every node that matches must satisfy the rest. With
/// `count`, that many nodes must match and satisfy the rest.
#[derive(Debug, Clone)]
pub struct At {
    pattern: Pattern,
    count: Option<Comparison>,
    executed: Option<bool>,
    properties: Vec<(String, Expected)>,
}

/// Why an entry of `at` is not one. `key` is where to point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct AtError {
    /// The key at fault.
    pub key: String,
    /// What is wrong, and the nearest right form.
    pub message: String,
}

/// What a place in a plan was found to hold.
#[derive(Debug, Clone)]
pub struct AtOutcome<'p> {
    /// Whether everything held.
    pub holds: bool,
    /// What was seen, in words.
    pub seen: String,
    /// The nodes that match the pattern.
    pub nodes: Vec<&'p Node>,
}

#[derive(Debug, Clone)]
enum Expected {
    Absent,
    Regex(Regex),
    /// A comparison, and the text it was read from, for properties that are text.
    Number(Comparison, String),
    Text(String),
}

/// Labels of EXPLAIN's text that are names of their own in its JSON.
const TEXT_LABELS: &[(&str, &[&str])] = &[
    ("Batches", &["Hash Batches", "HashAgg Batches"]),
    ("Buckets", &["Hash Buckets"]),
    ("Memory Usage", &["Peak Memory Usage"]),
    ("Hits", &["Cache Hits"]),
    ("Misses", &["Cache Misses"]),
    ("Evictions", &["Cache Evictions"]),
    ("Overflows", &["Cache Overflows"]),
];

impl At {
    /// Reads an entry from its keys and values, each value as it was written (`2`, `false`, `< 10`, `/re/`, `absent`).
    ///
    /// # Errors
    /// One for every key that is wrong.
    pub fn from_entries<'a>(
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Vec<AtError>> {
        let (mut pattern, mut count, mut executed, mut properties, mut errors) =
            (None, None, None, vec![], vec![]);
        for (key, value) in entries {
            let mut fault = |message: String| errors.push(AtError { key: key.to_owned(), message });
            match key {
                "node" => match value.parse::<Pattern>() {
                    Ok(read) => pattern = Some(read),
                    Err(error) => fault(PatternError::to_string(&error)),
                },
                "count" => match value.parse() {
                    Ok(read) => count = Some(read),
                    Err(error) => fault(super::ComparisonError::to_string(&error)),
                },
                "executed" => match value {
                    "true" => executed = Some(true),
                    "false" => executed = Some(false),
                    _ => fault(format!("`{value}` is neither true nor false")),
                },
                _ => match check_name(key).and_then(|()| Expected::read(value)) {
                    Ok(expected) => properties.push((key.to_owned(), expected)),
                    Err(message) => fault(message),
                },
            }
        }
        match pattern {
            Some(pattern) if errors.is_empty() => Ok(Self { pattern, count, executed, properties }),
            None if errors.iter().all(|error| error.key != "node") => {
                let message = "name the node, such as `node: Seq Scan on events`".to_owned();
                errors.push(AtError { key: "node".to_owned(), message });
                Err(errors)
            }
            _ => Err(errors),
        }
    }

    /// The pattern that says which nodes are meant.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Holds the plan against it.
    #[must_use]
    pub fn check<'p>(&self, plan: &'p Plan, families: &Families) -> AtOutcome<'p> {
        let nodes = self.pattern.find(plan, families);
        let faults: Vec<Option<String>> = nodes.iter().map(|node| self.fault(node, plan)).collect();
        let good = faults.iter().filter(|fault| fault.is_none()).count();
        let first = faults
            .iter()
            .zip(&nodes)
            .find_map(|(fault, node)| Some(format!("{}: {}", node.title(), fault.as_ref()?)));
        let (holds, seen) = match (self.count, first) {
            #[expect(clippy::cast_precision_loss, reason = "a plan has far fewer than 2^52 nodes")]
            (Some(count), first) => {
                let why = first.map_or_else(String::new, |first| format!("; {first}"));
                let of = if good == nodes.len() {
                    String::new()
                } else {
                    format!(" of {} that match", nodes.len())
                };
                (
                    count.holds(good as f64),
                    format!("{good} such node{}{of}{why}", if good == 1 { "" } else { "s" }),
                )
            }
            (None, _) if nodes.is_empty() => (false, "no such node".to_owned()),
            (None, None) => (true, nodes.iter().map(|node| node.title()).collect::<Vec<_>>().join("; ")),
            (None, Some(first)) => (false, first),
        };
        AtOutcome { holds, seen, nodes }
    }

    /// What is wrong with a node that matches.
    fn fault(&self, node: &Node, plan: &Plan) -> Option<String> {
        match (self.executed, node.executed()) {
            (Some(want), Some(is)) if want != is => {
                return Some(if is { "was executed" } else { "was never executed" }.to_owned());
            }
            (Some(_), None) => {
                return Some(
                    "the plan was not analyzed, so nothing tells whether it was executed".to_owned(),
                );
            }
            _ => {}
        }
        self.properties.iter().find_map(|(name, expected)| {
            let seen = read(node, plan, name);
            (!expected.holds(seen.as_ref())).then(|| match seen {
                Some(seen) => format!("{name} is {}", shown(&seen)),
                None => format!("{name} is absent"),
            })
        })
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pattern)?;
        if let Some(count) = &self.count {
            write!(f, ", count: {count}")?;
        }
        if let Some(executed) = self.executed {
            write!(f, ", executed: {executed}")?;
        }
        self.properties.iter().try_for_each(|(name, expected)| match expected {
            Expected::Absent => write!(f, ", {name}: absent"),
            Expected::Regex(regex) => write!(f, ", {name}: /{regex}/"),
            Expected::Number(_, text) | Expected::Text(text) => write!(f, ", {name}: {text}"),
        })
    }
}

impl Expected {
    fn read(value: &str) -> Result<Self, String> {
        let value = value.trim();
        if value == "absent" {
            return Ok(Self::Absent);
        }
        if let Some(source) =
            value.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|_| value.len() > 1)
        {
            let regex = Regex::new(source).map_err(|_| format!("`{value}` is not a regular expression"))?;
            return Ok(Self::Regex(regex));
        }
        match value.parse() {
            Ok(comparison) => Ok(Self::Number(comparison, value.to_owned())),
            Err(error) if value.starts_with(['<', '>', '!', '=']) => {
                Err(super::ComparisonError::to_string(&error))
            }
            Err(_) => Ok(Self::Text(value.to_owned())),
        }
    }

    fn holds(&self, seen: Option<&Value>) -> bool {
        let Some(seen) = seen else { return matches!(self, Self::Absent) };
        match self {
            Self::Absent => false,
            Self::Regex(regex) => regex.is_match(&shown(seen)),
            Self::Number(comparison, text) => match seen.as_f64() {
                Some(number) => comparison.holds(number),
                None => shown(seen) == *text,
            },
            Self::Text(text) => shown(seen) == *text,
        }
    }
}

/// A value as EXPLAIN's text prints it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What a node says under a name: a property by EXPLAIN's own name, or a number by a notebook's.
fn read(node: &Node, plan: &Plan, name: &str) -> Option<Value> {
    if name == "q_error" {
        let all = plan.estimates();
        return all
            .iter()
            .find(|estimate| std::ptr::eq(estimate.node, node))
            .map(|e| Value::from(e.factor()));
    }
    if measure::is_measure(name) {
        return node.measure(name).map(Value::from);
    }
    if let "Memory" | "Disk" = name {
        let kind = node.property("Sort Space Type").and_then(Value::as_str);
        return node.property("Sort Space Used").filter(|_| kind == Some(name)).cloned();
    }
    let aliases = TEXT_LABELS.iter().find(|(label, _)| *label == name).map_or(&[][..], |(_, names)| names);
    let found = node.property(name).or_else(|| aliases.iter().find_map(|name| node.property(name)));
    found.cloned()
}

/// Refuses times, and names that are nearly a known one.
fn check_name(name: &str) -> Result<(), String> {
    let time = name.ends_with(" Time")
        || name == "I/O Timings"
        || ["planning", "execution", "median", "time"].contains(&name);
    if time {
        return Err(
            "times differ from run to run and are not allowed here: put a claim into `check`".to_owned()
        );
    }
    let labels = TEXT_LABELS
        .iter()
        .map(|(label, _)| *label)
        .chain(["Memory", "Disk", "q_error", "count", "executed", "node"]);
    let mut known: Vec<&str> = key::known().chain(measure::names()).chain(labels).collect();
    if known.contains(&name) {
        return Ok(());
    }
    known.sort_by_key(|known| strsim::damerau_levenshtein(known, name));
    let near = known
        .first()
        .filter(|known| strsim::damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase()) <= 2);
    match near {
        Some(near) => Err(format!("no PostgreSQL prints this property: nearest is `{near}`")),
        None if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
            Err(format!("not a number of a node: {}", measure::names().collect::<Vec<_>>().join(", ")))
        }
        // An extension may print it.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::from_json(
            r#"{"Node Type": "Append", "Actual Rows": 7, "Actual Loops": 1, "Plans": [
            {"Node Type": "Seq Scan", "Relation Name": "p1", "Actual Rows": 5, "Actual Loops": 1, "Filter": "(d = 3)"},
            {"Node Type": "Seq Scan", "Relation Name": "p2", "Actual Rows": 0, "Actual Loops": 0, "Filter": "(d = 3)"},
            {"Node Type": "Sort", "Actual Rows": 2, "Actual Loops": 3, "Sort Key": ["a", "b"], "Sort Method": "quicksort",
             "Sort Space Used": 25, "Sort Space Type": "Memory", "Index Cond": "(weekday = 5)", "Disabled": true}]}"#,
        )
        .expect("plan")
    }

    fn check(entries: &[(&str, &str)]) -> (bool, String) {
        let at = At::from_entries(entries.iter().copied()).expect("entry");
        let plan = plan();
        let outcome = at.check(&plan, &Families::default());
        (outcome.holds, outcome.seen)
    }

    #[test]
    fn counts_executed_and_properties() {
        for (entries, holds, seen) in [
            (&[("node", "Seq Scan"), ("count", "2")][..], true, "2 such nodes"),
            (
                &[("node", "Seq Scan"), ("count", "1"), ("executed", "true")],
                true,
                "1 such node of 2 that match; Seq Scan on p2: was never executed",
            ),
            (&[("node", "Seq Scan on p2"), ("executed", "false")], true, "Seq Scan on p2"),
            (&[("node", "Seq Scan"), ("executed", "false")], false, "Seq Scan on p1: was executed"),
            (&[("node", "Sort"), ("rows", "6"), ("loops", "3")], true, "Sort"),
            (&[("node", "Sort"), ("rows", "< 6")], false, "Sort: rows is 6.0"),
            (
                &[("node", "Sort"), ("Sort Key", "a, b"), ("Filter", "absent"), ("Memory", "<= 25")],
                true,
                "Sort",
            ),
            (&[("node", "Sort"), ("Disk", "absent"), ("Disabled", "true")], true, "Sort"),
            (&[("node", "Sort"), ("Index Cond", "/weekday/")], true, "Sort"),
            (&[("node", "Sort"), ("Index Cond", "/week$/")], false, "Sort: Index Cond is (weekday = 5)"),
            (&[("node", "Seq Scan"), ("Filter", "absent")], false, "Seq Scan on p1: Filter is (d = 3)"),
            (&[("node", "Sort"), ("heap_fetches", "0")], false, "Sort: heap_fetches is absent"),
            (&[("node", "Limit")], false, "no such node"),
            (&[("node", "Limit"), ("count", "0")], true, "0 such nodes"),
        ] {
            assert_eq!(check(entries), (holds, seen.to_owned()), "{entries:?}");
        }
    }

    #[test]
    fn every_fault_is_reported_at_its_key() {
        let errors = At::from_entries([
            ("count", "many"),
            ("executed", "yes"),
            ("Index Con", "x"),
            ("Actual Total Time", "5"),
            ("rowz", "5"),
            ("Filter", "/(/"),
            ("zzzz_zzzz", "1"),
        ])
        .expect_err("faults");
        let keys: Vec<_> = errors.iter().map(|error| error.key.as_str()).collect();
        assert_eq!(
            keys,
            ["count", "executed", "Index Con", "Actual Total Time", "rowz", "Filter", "zzzz_zzzz", "node"]
        );
        assert!(errors[2].message.contains("nearest is `Index Cond`"), "{}", errors[2]);
        assert!(errors[4].message.contains("nearest is `rows`"), "{}", errors[4]);
        assert_eq!(At::from_entries([("node", "Blorp")]).expect_err("pattern").len(), 1);
        assert!(At::from_entries([("node", "Sort"), ("Blorp Factor", "5")]).is_ok(), "an extension's own");
    }
}
