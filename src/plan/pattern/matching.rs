//! Finding the nodes that match a pattern, and the one that comes nearest.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Families, Link, Name, NodeName, Step, Target};
use crate::plan::label::Label;
use crate::plan::{Node, Plan, title};

/// A line of the printed tree: a node, or the header (`SubPlan 1`) that stands above one.
struct Element<'p> {
    node: &'p Node,
    header: bool,
    parent: Option<usize>,
}

/// Which prefixes of the pattern end at an element, and at any element above it: bit i for steps 0..=i.
#[derive(Clone, Copy, Default)]
struct Reached {
    here: u64,
    above: u64,
}

pub(super) fn find<'p>(steps: &[Step], plan: &'p Plan, families: &Families) -> Vec<&'p Node> {
    let elements = elements(plan);
    let mut reached: Vec<Reached> = Vec::with_capacity(elements.len());
    let mut found: Vec<&Node> = vec![];
    for element in &elements {
        let parent = element.parent.map(|at| reached[at]).unwrap_or_default();
        // A child of a node may stand under a header: `Seq Scan on t > Seq Scan on u` holds for a sub-plan's root.
        let header = element.parent.filter(|at| elements[*at].header && !element.header);
        let past = header.and_then(|at| elements[at].parent).map_or(0, |at| reached[at].here);
        let mut now = Reached { here: 0, above: parent.above | parent.here };
        for (i, step) in steps.iter().enumerate() {
            let linked = match step.link {
                Link::First => true,
                Link::Child => (parent.here | past) >> (i - 1) & 1 == 1,
                Link::Descendant => now.above >> (i - 1) & 1 == 1,
            };
            if linked && step.matches(element, families) {
                now.here |= 1 << i;
            }
        }
        if now.here >> (steps.len() - 1) & 1 == 1
            && !found.last().is_some_and(|last| std::ptr::eq(*last, element.node))
        {
            found.push(element.node);
        }
        reached.push(now);
    }
    found
}

/// Every line of the tree, parents before children, in the order of printing.
fn elements(plan: &Plan) -> Vec<Element<'_>> {
    let mut out: Vec<Element> = vec![];
    let mut stack = vec![(&plan.root, None)];
    while let Some((node, mut parent)) = stack.pop() {
        if node.subplan_name().is_some() {
            out.push(Element { node, header: true, parent });
            parent = Some(out.len() - 1);
        }
        out.push(Element { node, header: false, parent });
        let at = out.len() - 1;
        stack.extend(node.children().iter().rev().map(|child| (child, Some(at))));
    }
    out
}

/// Whether the step names this very node.
pub(super) fn is(step: &Step, node: &Node, families: &Families) -> bool {
    step.matches(&Element { node, header: false, parent: None }, families)
}

/// Whether the step names the header above this node.
pub(super) fn heads(step: &Step, node: &Node) -> bool {
    step.matches(&Element { node, header: true, parent: None }, &Families::default())
}

impl Step {
    fn matches(&self, element: &Element, families: &Families) -> bool {
        match &self.node {
            NodeName::Header(kind, name) => {
                element.header && header_matches(element.node, kind, name.as_ref())
            }
            NodeName::Words(words) => !element.header && self.matches_node(words, element.node, families),
        }
    }

    fn matches_node(&self, words: &str, node: &Node, families: &Families) -> bool {
        let named = if self.exact { node.label() == words } else { covers(words, node) };
        named
            && self.index.as_ref().is_none_or(|index| node.index().is_some_and(|name| index.matches(name)))
            && self.target.as_ref().is_none_or(|target| target_matches(target, node, families))
    }
}

fn header_matches(node: &Node, kind: &str, name: Option<&Name>) -> bool {
    let Some(rest) = node.subplan_name().and_then(|header| header.strip_prefix(kind)?.strip_prefix(' '))
    else {
        return false;
    };
    // Before 17 the header tells the parameter too: `InitPlan 1 (returns $0)`.
    let rest = if kind == "CTE" { rest } else { rest.split(" (returns").next().unwrap_or(rest) };
    name.is_none_or(|name| name.matches(rest))
}

/// Whether the words name the node or a base form of it.
fn covers(words: &str, node: &Node) -> bool {
    let Some((want, _)) = Label::read(words) else { return false };
    let have = title::label_of(node);
    let said = |want: Option<&str>, base: &str, have: Option<&str>| {
        want.is_none_or(|w| w == base || have == Some(w))
    };
    want.node_type == have.node_type
        && (!want.parallel || have.parallel)
        && (!want.asynchronous || have.asynchronous)
        && (!want.backward || have.backward)
        && said(want.join, "Inner", have.join)
        && said(want.partial, "Simple", have.partial)
        && said(want.strategy, if want.node_type == "SetOp" { "Sorted" } else { "Plain" }, have.strategy)
        && want.command.is_none_or(|command| have.command == Some(command))
        && want.provider.is_none_or(|provider| have.provider == Some(provider))
        && want.operation.is_none_or(|want| want == have.operation.unwrap_or("Select"))
}

fn target_matches(target: &Target, node: &Node, families: &Families) -> bool {
    if node.node_type() == "Bitmap Index Scan" {
        return node.index().is_some_and(|name| target.name.matches(name));
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let targets = node.property("Target Tables").and_then(Value::as_array).into_iter().flatten();
    let others =
        targets.map(|one| (text(one.get("Relation Name")), text(one.get("Schema")), text(one.get("Alias"))));
    let own = (
        node.relation().map(str::to_owned),
        node.schema().map(str::to_owned),
        node.alias().map(str::to_owned),
    );
    std::iter::once(own).chain(others).any(|(relation, schema, alias)| {
        let named = relation.as_deref().or(alias.as_deref()).is_some_and(|name| match &target.name {
            Name::Plain(plain) => families.covers(plain, name),
            Name::Regex(regex) => regex.is_match(name),
        });
        // Without VERBOSE no schema is printed, and none can be held against the node.
        named
            && target.schema.as_ref().is_none_or(|want| schema.as_ref().is_none_or(|have| want == have))
            && target
                .alias
                .as_ref()
                .is_none_or(|want| alias.as_deref().is_some_and(|have| want.matches(have)))
    })
}

/// The node that shares most with the step: type before relation and index, and a related type before none.
pub(super) fn nearest<'p>(step: &Step, plan: &'p Plan) -> Option<&'p Node> {
    let mut best: BTreeMap<u32, &Node> = BTreeMap::new();
    for node in plan.nodes() {
        best.entry(likeness(step, node)).or_insert(node);
    }
    best.into_iter().next_back().filter(|(score, _)| *score > 0).map(|(_, node)| node)
}

fn likeness(step: &Step, node: &Node) -> u32 {
    let none = Families::default();
    let (words, header) = match &step.node {
        NodeName::Words(words) => (words.as_str(), None),
        NodeName::Header(kind, name) => ("", Some((kind, name))),
    };
    let type_points = match header {
        Some((kind, _)) => 4 * u32::from(header_matches(node, kind, None)),
        None if covers(words, node) => 5,
        None if step.node_type() == Some(node.node_type()) => 4,
        None if step.node_type().and_then(group).is_some_and(|g| group(node.node_type()) == Some(g)) => 2,
        None => 0,
    };
    let index = step.index.as_ref().is_some_and(|index| node.index().is_some_and(|name| index.matches(name)));
    let target = step.target.as_ref().is_some_and(|target| target_matches(target, node, &none));
    let relation =
        step.target.as_ref().is_some_and(|target| node.relation().is_some_and(|r| target.name.matches(r)));
    type_points + 4 * u32::from(index) + 3 * u32::from(relation) + u32::from(target)
}

/// What kinds of work can stand in for one another.
fn group(node_type: &str) -> Option<&'static str> {
    Some(match node_type {
        "Nested Loop" | "Merge Join" | "Hash Join" => "join",
        "Sort" | "Incremental Sort" => "sort",
        "Aggregate" | "Group" | "Unique" => "aggregate",
        "Append" | "Merge Append" => "append",
        "Gather" | "Gather Merge" => "gather",
        scan if scan.ends_with(" Scan") => "scan",
        _ => return None,
    })
}
