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
use super::{Node, Plan, PlanError, Properties};
use lines::Lines;
use scope::Open;
pub(super) use summary::adopted;
pub(super) use title::words;

/// Reads one plan.
pub(super) fn read(text: &str) -> Result<Plan, PlanError> {
    if text.len() > MAX_BYTES {
        return Err(PlanError::TooLarge);
    }
    let mut lines = Lines::new(text);
    let mut tree = Tree::default();
    while let Some(line) = lines.next_structural() {
        let margin = tree.margin();
        match margin {
            None => tree.open_root(line, &mut lines)?,
            Some(margin) if line.indent <= margin => {
                let root = tree.finish(&lines)?;
                let mut plan = Plan { root, top: summary::read(line, &mut lines, margin)? };
                zeros::fill(&mut plan);
                return Ok(plan);
            }
            Some(_) => tree.take(line, &mut lines)?,
        }
    }
    let mut plan = Plan { root: tree.finish(&lines)?, top: Properties::default() };
    zeros::fill(&mut plan);
    Ok(plan)
}

/// The nodes that are open: each the parent of the next.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    header: Option<(usize, String)>,
}

impl Tree {
    /// The column of the root.
    fn margin(&self) -> Option<usize> {
        self.open.first().map(|root| root.properties_at - 2)
    }

    fn open_root(&mut self, line: lines::Line, lines: &mut Lines) -> Result<(), PlanError> {
        let content = lines.joined(line.content);
        let properties = title::read(&content, None, None)
            .filter(|read| read.known || read.measured)
            .ok_or_else(|| {
                PlanError::text(
                    line.number,
                    line.content,
                    "expected a plan's first node, such as `Seq Scan on t`",
                )
            })?;
        self.open.push(Open::new(line.indent + 2, properties.properties));
        Ok(())
    }

    fn take(&mut self, line: lines::Line, lines: &mut Lines) -> Result<(), PlanError> {
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

    fn open_child(&mut self, line: &lines::Line, content: &str, lines: &mut Lines) -> Result<(), PlanError> {
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
