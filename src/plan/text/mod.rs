//! Plans from EXPLAIN's text.
//!
//! Structure is indentation: the root stands at the margin and its properties two to the right; a child's arrow
//! stands where its parent's properties do, and its own properties six further. A sub-plan's header stands among
//! the properties, its arrow two to the right of it. Names and literals may hold line breaks: a line whose
//! quotes are open goes on in the next one.

mod composite;
mod lex;
mod lines;
mod property;
mod scope;
mod summary;
mod title;
mod zeros;

use super::error::{MAX_BYTES, MAX_DEPTH};
use super::label::Label;
use super::{Node, Plan, PlanError, Properties};
use lines::{Line, Lines};
use scope::Open;
pub(super) use summary::adopted;
pub(super) use title::words;
use zeros::Shown;

/// Reads every plan of a text: a statement that rules rewrite has several.
pub(super) fn read_all(text: &str) -> Result<Vec<Plan>, PlanError> {
    if text.len() > MAX_BYTES {
        return Err(PlanError::TooLarge);
    }
    let mut lines = Lines::new(text);
    let mut plans = vec![];
    let mut first = lines.next_structural();
    while let Some(line) = first {
        let (plan, next) = read_one(line, &mut lines)?;
        plans.push(plan);
        first = next;
    }
    if plans.is_empty() { Err(PlanError::Empty) } else { Ok(plans) }
}

/// Reads one plan, and the first line of the next where there is one.
fn read_one<'a>(first: Line<'a>, lines: &mut Lines<'a>) -> Result<(Plan, Option<Line<'a>>), PlanError> {
    let margin = first.indent;
    let mut tree = Tree::default();
    tree.open_root(first, lines)?;
    let mut next = lines.next_structural();
    while let Some(line) = next.filter(|line| line.indent > margin) {
        tree.take(line, lines)?;
        next = lines.next_structural();
    }
    let shown = tree.shown;
    let root = tree.finish(lines)?;
    let (top, next) = match next {
        Some(line) if !starts_plan(line.content) => summary::read(line, lines, margin)?,
        next => (Properties::default(), next),
    };
    let mut plan = Plan { root, top };
    zeros::fill(&mut plan, shown);
    Ok((plan, next))
}

/// Whether some line tells of buffers.
pub(super) fn shows_buffers(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("Buffers: "))
}

/// Whether a line is the first of a plan: a node with its numbers, or a node and nothing else.
pub(super) fn starts_plan(content: &str) -> bool {
    Label::read(content).is_some() && title::read(content, None, None).is_some_and(|title| title.known)
}

/// Whether a line begins with a node's words, whatever follows.
pub(super) fn names_node(content: &str) -> bool {
    Label::read(content).is_some()
}

/// The nodes that are open: each the parent of the next.
#[derive(Default)]
struct Tree {
    shown: Shown,
    open: Vec<Open>,
    header: Option<(usize, String)>,
}

impl Tree {
    fn open_root(&mut self, line: Line, lines: &mut Lines) -> Result<(), PlanError> {
        let content = lines.joined(line.content);
        let read = title::read(&content, None, None).filter(|read| read.known || read.measured).ok_or_else(
            || {
                PlanError::text(
                    line.number,
                    line.content,
                    "expected a plan's first node, such as `Seq Scan on t`",
                )
            },
        )?;
        self.shown.see_title(&read);
        self.open.push(Open::new(line.indent + 2, read.properties));
        Ok(())
    }

    fn take(&mut self, line: Line, lines: &mut Lines) -> Result<(), PlanError> {
        self.shown.see_line(line.content);
        if let Some(content) = line.content.strip_prefix("->  ") {
            return self.open_child(&line, content, lines);
        }
        if let Some((_, header)) = &self.header {
            return Err(PlanError::text(line.number, header, "a sub-plan's header without a node under it"));
        }
        while self.open.len() > 1 && self.open.last().is_some_and(|node| node.properties_at > line.indent) {
            self.close();
        }
        let Some(node) = self.open.last_mut() else {
            return Err(PlanError::text(line.number, line.content, "no node stands above this line"));
        };
        if line.indent == node.properties_at && scope::is_header(line.content) && lines.arrow_follows() {
            let name = lines.joined_until_arrow(line.content);
            self.header = Some((line.indent, name));
            return Ok(());
        }
        node.take(&line, lines)
    }

    fn open_child(&mut self, line: &Line, content: &str, lines: &mut Lines) -> Result<(), PlanError> {
        let header = self.header.take();
        let at = header.as_ref().map_or(line.indent, |(at, _)| *at);
        while self.open.len() > 1 && self.open.last().is_some_and(|node| node.properties_at > at) {
            self.close();
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(PlanError::TooDeep);
        }
        let Some(parent) = self.open.last_mut() else {
            return Err(PlanError::text(line.number, content, "no node stands above this one"));
        };
        parent.finish_scope();
        let header = header.map(|(_, name)| name);
        let relationship = scope::relationship(parent, header.as_deref());
        let content = lines.joined(content);
        let read = title::read(&content, header.as_deref(), Some(relationship))
            .ok_or_else(|| PlanError::text(line.number, line.content, "expected a node after the arrow"))?;
        self.shown.see_title(&read);
        self.open.push(Open::new(line.indent + 6, read.properties));
        Ok(())
    }

    fn close(&mut self) {
        if self.open.len() > 1
            && let Some(node) = self.open.pop()
            && let Some(parent) = self.open.last_mut()
        {
            parent.children.push(node.finish());
        }
    }

    fn finish(&mut self, lines: &Lines) -> Result<Node, PlanError> {
        while self.open.len() > 1 {
            self.close();
        }
        match self.open.pop() {
            Some(_) if self.header.is_some() => {
                Err(PlanError::text(lines.number(), "", "a sub-plan's header without a node under it"))
            }
            Some(root) => Ok(root.finish()),
            None => Err(PlanError::Empty),
        }
    }
}
