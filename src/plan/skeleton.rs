//! A pasted tree, as EXPLAIN (COSTS OFF) prints it, that a plan must have from root to leaves.

use std::fmt;
use std::str::FromStr;

use super::pattern::{Families, PatternError, Single};
use super::{Node, Plan, print, text};

/// A whole tree of node patterns: as many children as written, in that order, and nothing else.
///
/// Each line is a pattern, so that a base name covers its variants there too; conditions that are written under
/// a node must be the node's own.
#[derive(Debug, Clone)]
pub struct Skeleton {
    root: Branch,
}

#[derive(Debug, Clone)]
struct Branch {
    header: Option<Single>,
    node: Single,
    properties: Vec<(String, String)>,
    children: Vec<Branch>,
}

/// Why a text is not a skeleton; `line` is where to point, from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the tree: {message}")]
pub struct SkeletonError {
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong, and the nearest right form.
    pub message: String,
}

/// Where a plan first departs from a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Departure<'p> {
    /// The line of the skeleton, or what it expected there.
    pub expected: String,
    /// The node that stands there; none where the plan ends.
    pub found: Option<&'p Node>,
    /// What differs, in words.
    pub seen: String,
}

impl Skeleton {
    /// Where the plan first departs from the tree; `None` where it does not.
    #[must_use]
    pub fn departure<'p>(&self, plan: &'p Plan, families: &Families) -> Option<Departure<'p>> {
        self.root.departure(&plan.root, families)
    }

    /// Whether the plan has this tree.
    #[must_use]
    pub fn matches(&self, plan: &Plan, families: &Families) -> bool {
        self.departure(plan, families).is_none()
    }

    /// The tables that must exist for the tree to mean anything.
    #[must_use]
    pub fn relations(&self) -> Vec<&str> {
        self.root.all().into_iter().flat_map(|branch| branch.node.relations()).collect()
    }

    /// The indexes that must exist for the tree to mean anything.
    #[must_use]
    pub fn indexes(&self) -> Vec<&str> {
        self.root.all().into_iter().flat_map(|branch| branch.node.indexes()).collect()
    }
}

impl Branch {
    fn all(&self) -> Vec<&Branch> {
        let mut out = vec![self];
        out.extend(self.children.iter().flat_map(Branch::all));
        out
    }

    fn line(&self) -> String {
        match &self.header {
            Some(header) => format!("{header} > {}", self.node),
            None => self.node.to_string(),
        }
    }

    fn departure<'p>(&self, node: &'p Node, families: &Families) -> Option<Departure<'p>> {
        let depart = |expected: String, seen: String| Some(Departure { expected, found: Some(node), seen });
        let headed = match &self.header {
            Some(header) => header.heads(node),
            None => node.subplan_name().is_none(),
        };
        if !headed || !self.node.matches(node, families) {
            let header = node.subplan_name().map_or_else(String::new, |name| format!("{name} > "));
            return depart(self.line(), format!("{header}{}", node.title()));
        }
        for (name, want) in &self.properties {
            let have = node.property(name).and_then(print::shown);
            if have.as_deref() != Some(want) {
                let have = have.map_or_else(|| "absent".to_owned(), |have| format!("`{have}`"));
                return depart(format!("{name}: {want}"), format!("{}: {name} is {have}", node.title()));
            }
        }
        let mut children = node.children().iter();
        for branch in &self.children {
            match children.next() {
                Some(child) => {
                    if let Some(found) = branch.departure(child, families) {
                        return Some(found);
                    }
                }
                None => {
                    let seen = format!("{} has {} below it", node.title(), node.children().len());
                    return Some(Departure { expected: branch.line(), found: None, seen });
                }
            }
        }
        let more = children.next()?;
        let seen = format!("{} below {}", more.title(), node.title());
        Some(Departure { expected: format!("nothing more below {}", self.line()), found: Some(more), seen })
    }

    fn print(&self, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut indent = indent;
        if let Some(header) = &self.header {
            writeln!(f, "{:indent$}{header}", "")?;
            indent += 2;
        }
        let arrow = if indent > 0 { "->  " } else { "" };
        writeln!(f, "{:indent$}{arrow}{}", "", self.node)?;
        indent += if indent > 0 { 6 } else { 2 };
        for (name, value) in &self.properties {
            writeln!(f, "{:indent$}{name}: {value}", "")?;
        }
        self.children.iter().try_for_each(|child| child.print(indent, f))
    }
}

impl fmt::Display for Skeleton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.print(0, f)
    }
}

impl FromStr for Skeleton {
    type Err = SkeletonError;

    fn from_str(source: &str) -> Result<Self, SkeletonError> {
        let mut reader = Reader::default();
        for (i, raw) in source.lines().enumerate() {
            let content = raw.trim();
            if !content.is_empty() {
                let indent = raw.len() - raw.trim_start().len();
                reader.take(indent, content).map_err(|message| SkeletonError { line: i + 1, message })?;
            }
        }
        let last = source.lines().count().max(1);
        reader.finish().map(|root| Self { root }).map_err(|message| SkeletonError { line: last, message })
    }
}

/// The branches that are open, with the column of each.
#[derive(Default)]
struct Reader {
    open: Vec<(usize, Branch)>,
    header: Option<(usize, Single)>,
}

/// Skeletons nest no deeper than what a stack of ordinary size walks.
const DEEPEST: usize = super::MAX_DEPTH;

impl Reader {
    fn take(&mut self, indent: usize, content: &str) -> Result<(), String> {
        let (words, arrow) = match content.strip_prefix("->") {
            Some(rest) => (rest.trim_start(), true),
            None => (content, false),
        };
        if self.open.is_empty() && self.header.is_none() || arrow {
            return self.open_node(indent, words);
        }
        match pasted(words) {
            Some((name, value)) if print::is_shown(name) => {
                self.close(indent);
                let (_, branch) = self.open.last_mut().ok_or("this line stands under no node")?;
                branch.properties.push((name.to_owned(), value.to_owned()));
                Ok(())
            }
            Some((name, _)) => Err(format!(
                "`{name}` tells of one execution, or of more than the plan: paste what EXPLAIN (COSTS OFF) prints"
            )),
            None => {
                let header = Single::read(words).map_err(|error| PatternError::to_string(&error))?;
                if !header.is_header() {
                    return Err(format!("a node below another stands behind an arrow: `->  {words}`"));
                }
                self.header = Some((indent, header));
                Ok(())
            }
        }
    }

    fn open_node(&mut self, indent: usize, words: &str) -> Result<(), String> {
        let node = Single::read(text::words(words)).map_err(|error| PatternError::to_string(&error))?;
        let header = self.header.take();
        let column = header.as_ref().map_or(indent, |(column, _)| *column);
        self.close(column);
        if self.open.len() == DEEPEST {
            return Err(format!("more than {DEEPEST} levels"));
        }
        let header = header.map(|(_, header)| header);
        self.open.push((column, Branch { header, node, properties: vec![], children: vec![] }));
        Ok(())
    }

    /// Closes what cannot be the parent of a line at `column`; the root always can.
    fn close(&mut self, column: usize) {
        while self.open.len() > 1 && self.open.last().is_some_and(|(open, _)| *open >= column) {
            self.fold();
        }
    }

    fn fold(&mut self) {
        if let Some((_, branch)) = self.open.pop()
            && let Some((_, parent)) = self.open.last_mut()
        {
            parent.children.push(branch);
        }
    }

    fn finish(mut self) -> Result<Branch, String> {
        if self.header.is_some() {
            return Err("a sub-plan's header without a node under it".to_owned());
        }
        while self.open.len() > 1 {
            self.fold();
        }
        let root = self.open.pop().map(|(_, root)| root);
        root.ok_or_else(|| "the tree is empty: paste what EXPLAIN (COSTS OFF) prints".to_owned())
    }
}

/// `Name: value`
fn pasted(words: &str) -> Option<(&str, &str)> {
    let (name, value) = words.split_once(": ")?;
    (!name.starts_with('"')).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "Nested Loop
  ->  Seq Scan on customers c
        Filter: (region = 5)
  ->  Index Scan using orders_customer on orders o
        Index Cond: (customer_id = c.id)
        SubPlan 1
          ->  Seq Scan on u
";

    fn plan(outer: &str, sub: &str) -> Plan {
        let text = TREE.replace("Seq Scan on customers c", outer).replace("SubPlan 1", sub);
        Plan::from_text(&text).expect("plan")
    }

    fn seen(skeleton: &str, plan: &Plan) -> Option<(String, String)> {
        let skeleton: Skeleton = skeleton.parse().unwrap_or_else(|error| panic!("{error}"));
        let departure = skeleton.departure(plan, &Families::default())?;
        Some((departure.expected, departure.seen))
    }

    #[test]
    fn a_plan_has_its_own_tree() {
        let plan = plan("Seq Scan on customers c", "SubPlan 1");
        assert_eq!(seen(TREE, &plan), None);
        assert_eq!(seen(&plan.tree(), &plan), None);
        assert_eq!(seen(&plan.skeleton(), &plan), None);
        assert_eq!(TREE.parse::<Skeleton>().expect("tree").to_string(), TREE);
    }

    #[test]
    fn base_names_cover_variants_and_equals_does_not() {
        let plan = plan("Parallel Seq Scan on customers c", "SubPlan 1");
        assert_eq!(seen(TREE, &plan), None);
        let exact = TREE.replace("Seq Scan on customers", "= Seq Scan on customers");
        let want = ("= Seq Scan on customers c".to_owned(), "Parallel Seq Scan on customers c".to_owned());
        assert_eq!(seen(&exact, &plan), Some(want));
    }

    #[test]
    fn the_first_departure_is_named() {
        let plan = plan("Seq Scan on customers c", "SubPlan 1");
        for (from, to, expected, found) in [
            (
                "(region = 5)",
                "(region = 6)",
                "Filter: (region = 6)",
                "Seq Scan on customers c: Filter is `(region = 5)`",
            ),
            (
                "using orders_customer",
                "using other",
                "Index Scan using other on orders o",
                "Index Scan using orders_customer on orders o",
            ),
            ("SubPlan 1", "SubPlan 2", "SubPlan 2 > Seq Scan on u", "SubPlan 1 > Seq Scan on u"),
            (
                "        SubPlan 1\n          ->  Seq Scan on u\n",
                "",
                "nothing more below Index Scan using orders_customer on orders o",
                "Seq Scan on u below Index Scan using orders_customer on orders o",
            ),
            ("on u\n", "on u\n                ->  Sort\n", "Sort", "Seq Scan on u has 0 below it"),
        ] {
            let skeleton = TREE.replace(from, to);
            assert_eq!(seen(&skeleton, &plan), Some((expected.to_owned(), found.to_owned())), "{skeleton}");
        }
    }

    #[test]
    fn errors_point_at_their_line() {
        for (text, line, part) in [
            ("", 1, "the tree is empty"),
            ("Sort\n  ->  Blorp\n", 2, "no PostgreSQL prints a node `Blorp`"),
            ("Sort\n  Seq Scan on t\n", 2, "`->  Seq Scan on t`"),
            ("Sort\n  Buffers: shared hit=5\n", 2, "EXPLAIN (COSTS OFF)"),
            ("Sort\n  SubPlan 1\n", 2, "without a node"),
            ("Sort\n  ->  Hash > Seq Scan\n", 2, "one node a line"),
        ] {
            let error = text.parse::<Skeleton>().expect_err(text);
            assert!(error.line == line && error.message.contains(part), "{text}: {error}");
        }
        assert!(
            "Sort  (cost=0.00..1.00 rows=1 width=4)\n".parse::<Skeleton>().is_ok(),
            "numbers are left out"
        );
    }
}
