//! A node while its lines are read: its own properties, and the narrower scopes inside it (a worker, a target
//! of a change, a sort of grouping sets), whose lines stand two columns further right.

use serde_json::{Map, Value};

use super::lines::{Line, Lines};
use super::title::{Actual, Target};
use super::{composite, lex, property};
use crate::plan::{Node, PlanError, Properties};

/// A node that more lines may belong to.
pub(super) struct Open {
    /// The column of its properties.
    pub(super) properties_at: usize,
    pub(super) properties: Properties,
    pub(super) children: Vec<Node>,
    scope: Scope,
    workers: Vec<Value>,
    targets: Vec<Value>,
    grouping: Vec<Grouping>,
}

enum Scope {
    Own,
    Worker(Properties),
    Target(Properties),
    /// `JIT:` of the node or of a worker: what it belongs to, and its lines.
    Jit(Box<Scope>, Properties),
}

/// A line of grouping keys.
struct Grouping {
    kind: &'static str,
    keys: Value,
    indented: bool,
}

const GROUPING: [&str; 3] = ["Group Key", "Hash Key", "Sort Key"];

/// `InitPlan 1`, `SubPlan 2`, `CTE x`.
pub(super) fn is_header(content: &str) -> bool {
    ["InitPlan ", "SubPlan ", "CTE "].iter().any(|kind| content.starts_with(kind))
}

/// What the next child is to its parent, as EXPLAIN's JSON would say.
pub(super) fn relationship(parent: &Open, header: Option<&str>) -> &'static str {
    match header {
        Some(header) if header.starts_with("SubPlan") => return "SubPlan",
        Some(_) => return "InitPlan",
        None => {}
    }
    match parent.properties.text("Node Type") {
        Some("Append" | "Merge Append" | "BitmapAnd" | "BitmapOr") => "Member",
        Some("Subquery Scan") => "Subquery",
        Some("Custom Scan") => "child",
        _ if parent.children.iter().all(|child| child.subplan_name().is_some()) => "Outer",
        _ => "Inner",
    }
}

impl Open {
    pub(super) fn new(properties_at: usize, properties: Properties) -> Self {
        Self {
            properties_at,
            properties,
            children: vec![],
            scope: Scope::Own,
            workers: vec![],
            targets: vec![],
            grouping: vec![],
        }
    }

    /// Takes one line that belongs to the node.
    pub(super) fn take(&mut self, line: &Line, lines: &mut Lines) -> Result<(), PlanError> {
        let deeper = line.indent.checked_sub(self.properties_at);
        match deeper {
            Some(0) => {
                self.finish_scope();
                self.take_own(line, lines)
            }
            Some(2) if self.grouping.last().is_some_and(|last| last.kind == "Sort Key" || last.indented) => {
                self.take_grouping(line, lines, true).unwrap_or_else(|| Err(misplaced(line)))
            }
            Some(2 | 4) => self.take_scoped(line, lines),
            _ => Err(misplaced(line)),
        }
    }

    fn take_own(&mut self, line: &Line, lines: &mut Lines) -> Result<(), PlanError> {
        if let Some((number, rest)) = worker(line.content) {
            let mut properties = Properties::with_capacity(16);
            properties.push("Worker Number", number);
            take_inline(rest, line, &mut properties)?;
            self.scope = Scope::Worker(properties);
            return Ok(());
        }
        if let Some(target) = self.target(line, lines) {
            if self.targets.is_empty() {
                self.properties.push("Target Tables", Value::Null);
            }
            self.scope = Scope::Target(target);
            return Ok(());
        }
        if line.content == "JIT:" {
            self.scope = Scope::Jit(Box::new(Scope::Own), Properties::default());
            return Ok(());
        }
        if self.properties.text("Node Type") == Some("Aggregate")
            && let Some(taken) = self.take_grouping(line, lines, false)
        {
            return taken;
        }
        property::take(line, lines, &mut self.properties)
    }

    fn take_scoped(&mut self, line: &Line, lines: &mut Lines) -> Result<(), PlanError> {
        let opens_jit = line.content == "JIT:";
        match &mut self.scope {
            Scope::Worker(_) if opens_jit => {
                let worker = std::mem::replace(&mut self.scope, Scope::Own);
                self.scope = Scope::Jit(Box::new(worker), Properties::default());
                Ok(())
            }
            Scope::Jit(within, jit) => match (composite::jit(line.content, jit), within.as_mut()) {
                (true, _) => Ok(()),
                (false, Scope::Worker(properties)) => property::take(line, lines, properties),
                (false, _) => Err(misplaced(line)),
            },
            Scope::Worker(properties) | Scope::Target(properties) => property::take(line, lines, properties),
            Scope::Own => Err(misplaced(line)),
        }
    }

    /// A target of a change of several tables: `Update on part_1`.
    fn target(&self, line: &Line, lines: &mut Lines) -> Option<Properties> {
        if self.properties.text("Node Type") != Some("ModifyTable") {
            return None;
        }
        let operation = self.properties.text("Operation")?;
        let words = line.content.strip_prefix("Foreign ").unwrap_or(line.content);
        let rest = words.strip_prefix(operation)?.strip_prefix(" on ")?;
        let mut out = Properties::default();
        Target::read(&lines.joined(rest))?.push(&mut out, Some("Relation Name"));
        Some(out)
    }

    fn take_grouping(
        &mut self,
        line: &Line,
        lines: &mut Lines,
        indented: bool,
    ) -> Option<Result<(), PlanError>> {
        let (kind, keys) = GROUPING
            .iter()
            .find_map(|kind| Some((*kind, line.content.strip_prefix(kind)?.strip_prefix(": ")?)))?;
        let keys = if keys == "()" { Value::Array(vec![]) } else { lex::list(&lines.joined(keys)) };
        if self.grouping.is_empty() {
            // The place of the keys among the properties; what they are is known when all are read.
            self.properties.push(GROUPING[0], Value::Null);
        }
        self.grouping.push(Grouping { kind, keys, indented });
        Some(Ok(()))
    }

    /// Ends what a worker, a target or a JIT block had to say.
    pub(super) fn finish_scope(&mut self) {
        let scope = std::mem::replace(&mut self.scope, Scope::Own);
        self.put(scope);
    }

    fn put(&mut self, scope: Scope) {
        match scope {
            Scope::Own => {}
            Scope::Worker(properties) => self.workers.push(lex::object(properties)),
            Scope::Target(properties) => self.targets.push(lex::object(properties)),
            Scope::Jit(within, jit) => match *within {
                Scope::Worker(mut properties) => {
                    properties.push("JIT", lex::object(jit));
                    self.workers.push(lex::object(properties));
                }
                _ => self.properties.push("JIT", lex::object(jit)),
            },
        }
    }

    pub(super) fn finish(mut self) -> Node {
        self.finish_scope();
        self.finish_grouping();
        if !self.targets.is_empty() {
            self.properties.set("Target Tables", std::mem::take(&mut self.targets));
        }
        if !self.workers.is_empty() {
            self.properties.push("Workers", std::mem::take(&mut self.workers));
        }
        Node { properties: self.properties, children: self.children }
    }

    /// One `Group Key` is a list; anything else are grouping sets. Each hashed set is a group of its own; sorted
    /// sets that share a sort are one.
    fn finish_grouping(&mut self) {
        let lines = std::mem::take(&mut self.grouping);
        if let [one] = lines.as_slice()
            && one.kind == "Group Key"
            && one.keys.as_array().is_some_and(|keys| !keys.is_empty())
        {
            self.properties.set("Group Key", one.keys.clone());
            return;
        }
        let mut sets: Vec<Map<String, Value>> = vec![];
        let mut before = "";
        for line in lines {
            let name = match line.kind {
                "Sort Key" => "Sort Key",
                "Hash Key" => "Hash Keys",
                _ => "Group Keys",
            };
            let joins = name == "Group Keys" && (line.indented || before == "Group Key");
            let keys = |keys| Value::Array(vec![keys]);
            match sets.last_mut().filter(|_| joins) {
                Some(set) => match set.get_mut(name).and_then(Value::as_array_mut) {
                    Some(list) => list.push(line.keys),
                    None => drop(set.insert(name.to_owned(), keys(line.keys))),
                },
                None if name == "Sort Key" => sets.push(Map::from_iter([(name.to_owned(), line.keys)])),
                None => sets.push(Map::from_iter([(name.to_owned(), keys(line.keys))])),
            }
            before = if line.indented { "" } else { line.kind };
        }
        if !sets.is_empty() {
            self.properties.replace(GROUPING[0], "Grouping Sets", Value::from(sets));
        }
    }
}

/// `Worker 0:  …`
fn worker(content: &str) -> Option<(u64, &str)> {
    let (number, rest) = content.strip_prefix("Worker ")?.split_once(':')?;
    Some((number.parse().ok()?, rest.trim_start()))
}

/// What stands on a worker's own line.
fn take_inline(rest: &str, line: &Line, out: &mut Properties) -> Result<(), PlanError> {
    if rest.is_empty() {
        return Ok(());
    }
    match rest.strip_prefix("actual ").and_then(Actual::read) {
        Some(actual) => actual.push(out),
        None if property::take_one(rest, out) => {}
        None => return Err(PlanError::text(line.number, line.content, "expected what the worker did")),
    }
    Ok(())
}

fn misplaced(line: &Line) -> PlanError {
    PlanError::text(line.number, line.content, "this line is indented like no property of the node above it")
}
