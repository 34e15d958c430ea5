//! What changed between two plans: nodes that came, went, moved or were replaced, and the cause as far as the
//! plans show it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde_json::Value;

use super::{Node, Plan, title};

/// The difference of two plans.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDiff<'p> {
    /// What the plans show as the reason.
    pub cause: Cause,
    /// Every change, in the order of the new tree; what went stands where it was.
    pub changes: Vec<Change<'p>>,
}

/// Why two plans differ, as far as they show it. The first that applies is the cause: another shape explains
/// other work, other work explains other times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Nothing differs but what no plan counts.
    Nothing,
    /// Equal shape, estimates and work; the clock alone differs.
    OnlyTime,
    /// Equal shape and estimates; other rows, blocks, loops or spills.
    Work,
    /// Equal shape; the planner expected other rows or costs.
    Estimate,
    /// Another shape.
    Shape,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::OnlyTime => "only time",
            Self::Work => "work",
            Self::Estimate => "estimate",
            Self::Shape => "shape",
        })
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change<'p> {
    /// A node of the new plan that the old one does not have.
    Added(&'p Node),
    /// A node of the old plan that the new one does not have.
    Removed(&'p Node),
    /// The same place, done another way: another scan of a relation, another kind of join.
    Replaced {
        /// The old node.
        old: &'p Node,
        /// The new node.
        new: &'p Node,
    },
    /// The same node under another parent, or in another order.
    Moved {
        /// The old node.
        old: &'p Node,
        /// The new node.
        new: &'p Node,
    },
    /// The same node with other numbers or conditions.
    Altered {
        /// The old node.
        old: &'p Node,
        /// The new node.
        new: &'p Node,
        /// What differs: the property's name, before and after.
        values: Vec<(String, String, String)>,
    },
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(node) => write!(f, "+ {}", node.title()),
            Self::Removed(node) => write!(f, "- {}", node.title()),
            Self::Replaced { old, new } => write!(f, "~ {} became {}", old.title(), new.title()),
            Self::Moved { new, .. } => write!(f, "> {} moved", new.title()),
            Self::Altered { new, values, .. } => {
                write!(f, "  {}:", new.title())?;
                let mut sign = " ";
                values.iter().try_for_each(|(name, before, after)| {
                    let text = write!(f, "{sign}{name} {before} → {after}");
                    sign = ", ";
                    text
                })
            }
        }
    }
}

/// Conditions: their change is a change of shape to a reader, though not to [`Plan::shape`].
const CONDITIONS: &[&str] = &[
    "Index Cond",
    "Recheck Cond",
    "TID Cond",
    "Filter",
    "Join Filter",
    "Hash Cond",
    "Merge Cond",
    "One-Time Filter",
    "Run Condition",
    "Sort Key",
    "Presorted Key",
    "Group Key",
    "Cache Key",
];

const ESTIMATES: &[&str] = &["Plan Rows", "Total Cost", "Startup Cost", "Plan Width"];

/// Numbers of the work done, by a notebook's names: hits and reads are one, since the cache decides between them.
const WORK: &[&str] = &[
    "rows",
    "loops",
    "blocks",
    "temp_read",
    "temp_written",
    "heap_fetches",
    "index_searches",
    "exact_blocks",
    "lossy_blocks",
    "rows_removed",
    "workers_launched",
    "hash_batches",
    "spilled",
];

impl<'p> PlanDiff<'p> {
    /// Compares an old plan with a new one.
    #[must_use]
    pub fn between(old: &'p Plan, new: &'p Plan) -> Self {
        let (old_tree, new_tree) = (Flat::of(&old.root), Flat::of(&new.root));
        let to_new = pair(&old_tree, &new_tree);
        let to_old = to_new.iter().map(|(old, new)| (*new, *old)).collect();
        let pairs = Pairs { to_new, to_old };
        let mut changes = vec![];
        let mut cause = if old.shape() == new.shape() { Cause::Nothing } else { Cause::Shape };
        let mut gone =
            old_tree.items.iter().enumerate().filter(|(at, _)| !pairs.to_new.contains_key(at)).peekable();
        for (at, item) in new_tree.items.iter().enumerate() {
            let Some(before) = pairs.to_old.get(&at).copied() else {
                changes.push(Change::Added(item.node));
                continue;
            };
            while let Some((_, gone)) = gone.next_if(|(old, _)| *old < before) {
                changes.push(Change::Removed(gone.node));
            }
            let (old, new) = (old_tree.items[before].node, item.node);
            if identity(old) != identity(new) {
                changes.push(Change::Replaced { old, new });
            } else if old_tree.moved(before, &new_tree, at, &pairs) {
                changes.push(Change::Moved { old, new });
            }
            let values = altered(old, new, &mut cause);
            if !values.is_empty() {
                changes.push(Change::Altered { old, new, values });
            }
        }
        changes.extend(gone.map(|(_, item)| Change::Removed(item.node)));
        if cause == Cause::Nothing && times(old) != times(new) {
            cause = Cause::OnlyTime;
        }
        Self { cause, changes }
    }
}

impl fmt::Display for PlanDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cause: {}", self.cause)?;
        self.changes.iter().try_for_each(|change| write!(f, "\n{change}"))
    }
}

fn times(plan: &Plan) -> Vec<Option<f64>> {
    plan.nodes().map(Node::actual_total_time).chain([plan.execution_time(), plan.planning_time()]).collect()
}

/// The properties of a pair that differ; raises the cause to what they show.
fn altered(old: &Node, new: &Node, cause: &mut Cause) -> Vec<(String, String, String)> {
    let mut out = vec![];
    let mut put = |name: &str, before: String, after: String, shows: Cause| {
        if before != after {
            out.push((name.to_owned(), before, after));
            *cause = (*cause).max(shows);
        }
    };
    let property = |node: &Node, name: &str| node.property(name).map_or_else(|| "absent".to_owned(), words);
    for name in CONDITIONS {
        put(name, property(old, name), property(new, name), Cause::Shape);
    }
    for (names, shows, both) in [(ESTIMATES, Cause::Estimate, false), (WORK, Cause::Work, true)] {
        for name in names {
            let read = |node: &Node| if both { node.measure(name) } else { node.number(name) };
            // What only one side reports is no difference of the plans, but of the options of EXPLAIN.
            if let (Some(before), Some(after)) = (read(old), read(new)) {
                put(name, before.to_string(), after.to_string(), shows);
            }
        }
    }
    out
}

/// A condition, or the keys of a list with commas between them. Around a key that a node below computed EXPLAIN puts
/// parentheses; they are no part of it.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(keys) => {
            let keys = keys.iter().map(|key| key.as_str().map_or_else(|| key.to_string(), unwrapped));
            keys.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// The text without a pair of parentheses that stands around the whole of it.
fn unwrapped(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return text.to_owned();
    };
    let mut depth = 0_i32;
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return text.to_owned();
        }
    }
    inner.to_owned()
}

struct Item<'p> {
    node: &'p Node,
    parent: Option<usize>,
    position: usize,
}

/// Positions of paired nodes in either tree.
struct Pairs {
    to_new: BTreeMap<usize, usize>,
    to_old: BTreeMap<usize, usize>,
}

struct Flat<'p> {
    items: Vec<Item<'p>>,
}

impl<'p> Flat<'p> {
    fn of(root: &'p Node) -> Self {
        let mut items = vec![];
        let mut stack = vec![(root, None, 0)];
        while let Some((node, parent, position)) = stack.pop() {
            items.push(Item { node, parent, position });
            let at = items.len() - 1;
            stack.extend(node.children().iter().enumerate().rev().map(|(i, child)| (child, Some(at), i)));
        }
        Self { items }
    }

    /// Whether a paired node hangs under another parent, or under the same in another order.
    fn moved(&self, at: usize, other: &Flat, there: usize, pairs: &Pairs) -> bool {
        let (here, there) = (&self.items[at], &other.items[there]);
        match (here.parent, there.parent) {
            (Some(a), Some(b)) if pairs.to_new.get(&a) == Some(&b) => here.position != there.position,
            (None, None) => false,
            // Its parent was taken out or put in: it did not move by itself.
            (a, b) => {
                a.is_none_or(|a| pairs.to_new.contains_key(&a))
                    && b.is_none_or(|b| pairs.to_old.contains_key(&b))
            }
        }
    }
}

/// What two nodes have in common where they are a pair; none where the node has no such thing.
type Key = fn(&Flat, usize) -> Option<String>;

/// Pairs nodes of the old tree with nodes of the new one, the surest first: the same node at the same place, the
/// same node elsewhere, another way of reading the same, another way of doing the same work at the same place.
fn pair(old: &Flat, new: &Flat) -> BTreeMap<usize, usize> {
    let rounds: [Key; 4] = [
        path,
        |tree, at| Some(format!("{:?}", identity(tree.items[at].node))),
        |tree, at| target(tree.items[at].node),
        |tree, at| Some(format!("{} {:?}", work(tree.items[at].node)?, place(tree, at))),
    ];
    let mut pairs = BTreeMap::new();
    let mut taken = vec![false; new.items.len()];
    for key in rounds {
        let mut free: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for at in (0..new.items.len()).filter(|at| !taken[*at]) {
            if let Some(key) = key(new, at) {
                free.entry(key).or_default().push_back(at);
            }
        }
        for at in 0..old.items.len() {
            if pairs.contains_key(&at) {
                continue;
            }
            let found = key(old, at).and_then(|key| free.get_mut(&key)?.pop_front());
            if let Some(found) = found {
                pairs.insert(at, found);
                taken[found] = true;
            }
        }
    }
    pairs
}

/// What makes a node the same: its printed title without schema, and the sub-plan it heads.
fn identity(node: &Node) -> (String, Option<String>) {
    let header = node.subplan_name().map(|name| name.split(" (returns").next().unwrap_or(name).to_owned());
    (title::title(node, false), header)
}

/// Identities and positions from the node up to the root.
fn path(tree: &Flat, at: usize) -> Option<String> {
    let mut out = String::new();
    let mut above = Some(at);
    while let Some(here) = above {
        let item = &tree.items[here];
        out.push_str(&format!("{} {:?}\n", item.position, identity(item.node)));
        above = item.parent;
    }
    Some(out)
}

/// Depth and position: where a node stands, whatever stands above.
fn place(tree: &Flat, at: usize) -> (usize, usize) {
    let mut depth = 0;
    let mut above = tree.items[at].parent;
    while let Some(parent) = above {
        depth += 1;
        above = tree.items[parent].parent;
    }
    (depth, tree.items[at].position)
}

/// The relation that a node reads, under its alias.
fn target(node: &Node) -> Option<String> {
    Some(format!("{:?} {:?}", node.relation(), node.alias()?))
}

/// The kind of work that a node does, whichever way.
fn work(node: &Node) -> Option<&'static str> {
    match node.node_type() {
        "Nested Loop" | "Hash Join" | "Merge Join" => Some("join"),
        "Sort" | "Incremental Sort" => Some("sort"),
        "Aggregate" | "Group" | "Unique" => Some("aggregate"),
        "Append" | "Merge Append" => Some("append"),
        "Gather" | "Gather Merge" => Some("gather"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let (old, new) = (Plan::from_text(old).expect("old"), Plan::from_text(new).expect("new"));
        PlanDiff::between(&old, &new).to_string()
    }

    const JOIN: &str = "Hash Join  (cost=1.00..9.00 rows=5 width=4) (actual time=1.000..2.000 rows=5 loops=1)
  Hash Cond: (a.id = b.id)
  Buffers: shared hit=20
  ->  Seq Scan on a  (cost=0.00..4.00 rows=5 width=4) (actual time=0.100..0.200 rows=5 loops=1)
        Buffers: shared hit=10
  ->  Hash  (cost=4.00..4.00 rows=5 width=4) (actual time=0.300..0.400 rows=5 loops=1)
        Buffers: shared hit=10
        ->  Seq Scan on b  (cost=0.00..4.00 rows=5 width=4) (actual time=0.100..0.200 rows=5 loops=1)
              Buffers: shared hit=10
";

    #[test]
    fn only_time_and_nothing() {
        assert_eq!(diff(JOIN, JOIN), "cause: nothing");
        assert_eq!(diff(JOIN, &JOIN.replace("..2.000", "..3.000")), "cause: only time");
        assert_eq!(
            diff(JOIN, &JOIN.replace("hit=10", "read=10")),
            "cause: nothing",
            "the cache is no change of the plan"
        );
    }

    #[test]
    fn work_before_time_and_estimate_before_work() {
        let more = JOIN.replace("hit=20", "hit=25").replace("..2.000", "..3.000");
        assert_eq!(diff(JOIN, &more), "cause: work\n  Hash Join: blocks 20 → 25");
        let expected = more.replacen("rows=5 width", "rows=9 width", 1);
        assert_eq!(diff(JOIN, &expected), "cause: estimate\n  Hash Join: Plan Rows 5 → 9, blocks 20 → 25");
    }

    #[test]
    fn another_scan_of_a_relation_is_a_replacement() {
        let new = JOIN.replace("Seq Scan on a", "Index Scan using a_pkey on a");
        assert_eq!(diff(JOIN, &new), "cause: shape\n~ Seq Scan on a became Index Scan using a_pkey on a");
    }

    #[test]
    fn another_join_and_what_it_no_longer_needs() {
        let new = "Nested Loop  (cost=1.00..9.00 rows=5 width=4) (actual time=1.000..2.000 rows=5 loops=1)
  Buffers: shared hit=20
  ->  Seq Scan on a  (cost=0.00..4.00 rows=5 width=4) (actual time=0.100..0.200 rows=5 loops=1)
        Buffers: shared hit=10
  ->  Index Scan using b_pkey on b  (cost=0.00..4.00 rows=5 width=4) (actual time=0.100..0.200 rows=5 loops=1)
        Buffers: shared hit=10
";
        assert_eq!(
            diff(JOIN, new),
            "cause: shape\n~ Hash Join became Nested Loop\n  Nested Loop: Hash Cond (a.id = b.id) → absent\n- Hash\n\
             ~ Seq Scan on b became Index Scan using b_pkey on b"
        );
    }

    #[test]
    fn sides_that_changed_places_moved() {
        let swap = |text: &str| {
            text.replace(" on a ", " on x ").replace(" on b ", " on a ").replace(" on x ", " on b ")
        };
        let found = diff(JOIN, &swap(JOIN));
        assert_eq!(found, "cause: shape\n> Seq Scan on b moved\n> Seq Scan on a moved");
    }

    #[test]
    fn keys_differ_by_what_they_are_and_not_by_parentheses() {
        let plan = |keys: &str| {
            format!(
                "HashAggregate  (cost=1.00..9.00 rows=5 width=4)\n  Group Key: {keys}\n  ->  Seq Scan on a  (cost=0.00..4.00 rows=5 width=4)\n"
            )
        };
        let plain = plan("date_trunc('hour'::text, t), host");
        assert_eq!(diff(&plain, &plan("(date_trunc('hour'::text, t)), host")), "cause: nothing");
        assert_eq!(
            diff(&plain, &plan("host")),
            "cause: shape\n  HashAggregate: Group Key date_trunc('hour'::text, t), host → host"
        );
        assert_eq!(unwrapped("(a) + (b)"), "(a) + (b)");
    }

    #[test]
    fn what_was_put_on_top_moves_nothing_below() {
        let indented: String = JOIN
            .lines()
            .enumerate()
            .map(|(at, line)| if at == 0 { format!("  ->  {line}\n") } else { format!("      {line}\n") })
            .collect();
        let new = format!(
            "Limit  (cost=1.00..9.00 rows=5 width=4) (actual time=1.000..2.000 rows=5 loops=1)\n{indented}"
        );
        assert_eq!(diff(JOIN, &new), "cause: shape\n+ Limit");
    }
}
