//! What each node did itself: its time and blocks less those of the nodes it called. The definition is written
//! down in docs/method.md; this is that definition as code.

use std::collections::BTreeMap;

use super::{Node, Plan};

/// What one node did itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Own<'p> {
    /// The node.
    pub node: &'p Node,
    /// How deep it stands; the root at 0.
    pub depth: usize,
    /// The position of its parent among all nodes, depth first.
    pub parent: Option<usize>,
    /// Processes that shared its loops: 1 but below a Gather.
    pub processes: f64,
    /// Milliseconds by the clock; absent where the server took no times.
    pub milliseconds: Option<f64>,
    /// Shared and local blocks hit or read; absent where the server did not count.
    pub blocks: Option<f64>,
}

impl Plan {
    /// What each node did itself, depth first; never negative.
    #[must_use]
    pub fn exclusive(&self) -> Vec<Own<'_>> {
        let tree = Tree::new(&self.root);
        let times = tree.times();
        let blocks: Vec<_> = tree.nodes.iter().map(|item| item.node.blocks()).collect();
        let times = tree.own(&times);
        let blocks = tree.own(&blocks);
        let items = tree.nodes.iter().zip(times.into_iter().zip(blocks));
        items
            .map(|(item, (milliseconds, blocks))| Own {
                node: item.node,
                depth: item.depth,
                parent: item.parent,
                processes: item.processes,
                milliseconds,
                blocks,
            })
            .collect()
    }
}

struct Item<'p> {
    node: &'p Node,
    parent: Option<usize>,
    depth: usize,
    /// Processes that shared the node's loops.
    processes: f64,
    /// The nearest Gather above.
    gather: Option<usize>,
}

struct Tree<'p> {
    nodes: Vec<Item<'p>>,
}

impl<'p> Tree<'p> {
    fn new(root: &'p Node) -> Self {
        let mut nodes: Vec<Item> = vec![];
        let mut stack = vec![(root, None)];
        while let Some((node, parent)) = stack.pop() {
            let above = parent.map(|at: usize| &nodes[at]);
            let depth = above.map_or(0, |item| item.depth + 1);
            let (processes, gather) = match above {
                Some(item) if item.node.node_type().starts_with("Gather") => {
                    (processes(item.node, node), parent)
                }
                Some(item) => (item.processes, item.gather),
                None => (1.0, None),
            };
            nodes.push(Item { node, parent, depth, processes, gather });
            let at = nodes.len() - 1;
            stack.extend(node.children().iter().rev().map(|child| (child, Some(at))));
        }
        Self { nodes }
    }

    /// Milliseconds of each node with all it called, by the clock: the average of a loop, times the loops that
    /// one process made.
    fn times(&self) -> Vec<Option<f64>> {
        let time = |item: &Item| Some(item.node.actual_total_time()? * item.node.loops()? / item.processes);
        self.nodes.iter().map(time).collect()
    }

    /// Takes from each node what the nodes that it called took.
    fn own(&self, inclusive: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut own = inclusive.to_vec();
        for (at, item) in self.nodes.iter().enumerate() {
            let Some(mut amount) = inclusive[at] else { continue };
            for caller in self.callers(at, item) {
                let Some(left) = own[caller].as_mut() else { continue };
                let taken = amount.min(left.max(0.0));
                *left -= taken;
                amount -= taken;
            }
        }
        own.into_iter().map(|own| own.map(|own| own.max(0.0))).collect()
    }

    /// The nodes in whose time the node's time lies, the likeliest first.
    fn callers(&self, at: usize, item: &Item) -> Vec<usize> {
        let Some(parent) = item.parent else { return vec![] };
        let Some(header) = item.node.subplan_name() else { return vec![parent] };
        if let Some(name) = header.strip_prefix("CTE ") {
            return self.scans_of_cte(name, parent);
        }
        if header.starts_with("SubPlan") {
            return vec![parent];
        }
        vec![self.user_of(header, at, parent)]
    }

    /// A CTE runs while its scans ask it for rows, wherever they stand; a change of data that no scan reads runs
    /// after the plan itself, in nobody's time.
    fn scans_of_cte(&self, name: &str, parent: usize) -> Vec<usize> {
        let mut scans: BTreeMap<usize, &Item> = BTreeMap::new();
        for (at, item) in self.within(parent) {
            if item.node.node_type() == "CTE Scan" && item.node.relation() == Some(name) {
                scans.insert(at, item);
            }
        }
        scans.into_keys().collect()
    }

    /// An init-plan runs when the first expression asks for its value; below a Gather, the Gather asks before it
    /// starts its workers.
    fn user_of(&self, header: &str, plan: usize, parent: usize) -> usize {
        let marks = marks(header);
        let mentions = |item: &Item| {
            let texts = item
                .node
                .properties()
                .iter()
                .filter(|(name, _)| *name != "Subplan Name" && *name != "Output");
            texts
                .filter_map(|(_, value)| value.as_str())
                .any(|text| marks.iter().any(|mark| mentions(text, mark)))
        };
        let ran = |item: &Item| item.node.loops().is_some_and(|loops| loops > 0.0);
        let user =
            self.within(parent).find(|(at, item)| !self.is_below(*at, plan) && ran(item) && mentions(item));
        match user {
            Some((at, item)) => item.gather.filter(|gather| *gather >= parent).unwrap_or(at),
            None => parent,
        }
    }

    fn within(&self, parent: usize) -> impl Iterator<Item = (usize, &Item<'p>)> {
        let depth = self.nodes[parent].depth;
        let below =
            self.nodes.iter().enumerate().skip(parent + 1).take_while(move |(_, item)| item.depth > depth);
        std::iter::once((parent, &self.nodes[parent])).chain(below)
    }

    fn is_below(&self, at: usize, above: usize) -> bool {
        at >= above && self.within(above).any(|(found, _)| found == at)
    }
}

/// Processes that ran what stands below a Gather: those of its child's loops that belong to one of its own.
fn processes(gather: &Node, child: &Node) -> f64 {
    match (child.loops(), gather.loops()) {
        (Some(child), Some(gather)) if gather > 0.0 => (child / gather).max(1.0),
        _ => 1.0,
    }
}

/// How expressions name an init-plan's value: `$0` up to 16, `(InitPlan 1).col1` from 17.
fn marks(header: &str) -> Vec<String> {
    match header.split_once(" (returns ") {
        Some((_, parameters)) => {
            parameters.trim_end_matches(')').split(',').map(|p| p.trim().to_owned()).collect()
        }
        None => vec![format!("{header})")],
    }
}

/// Whether `text` names `mark`, and not a longer parameter that begins alike.
fn mentions(text: &str, mark: &str) -> bool {
    text.match_indices(mark).any(|(at, _)| !text[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(json: &str) -> Vec<(String, f64, f64)> {
        let plan = Plan::from_json(json).expect("plan");
        let rounded = |x: Option<f64>| (x.expect("reported") * 1000.0).round() / 1000.0;
        plan.exclusive()
            .iter()
            .map(|own| (own.node.title(), rounded(own.milliseconds), rounded(own.blocks)))
            .collect()
    }

    fn node(rest: &str, time: f64, loops: u32, blocks: u32) -> String {
        format!(
            "{{{rest}, \"Actual Total Time\": {time}, \"Actual Loops\": {loops}, \"Actual Rows\": 1, \"Shared Hit Blocks\": {blocks}"
        )
    }

    #[test]
    fn loops_multiply_times_and_not_blocks() {
        let scan = node(r#""Node Type": "Index Scan", "Relation Name": "t""#, 0.5, 10, 30);
        let root = node(r#""Node Type": "Nested Loop", "Join Type": "Inner""#, 8.0, 1, 35);
        assert_eq!(
            own(&format!("{root}, \"Plans\": [{scan}}}]}}")),
            [("Nested Loop".to_owned(), 3.0, 5.0), ("Index Scan on t".to_owned(), 5.0, 30.0)]
        );
    }

    #[test]
    fn parallel_processes_share_the_clock() {
        let scan =
            node(r#""Node Type": "Seq Scan", "Parallel Aware": true, "Relation Name": "t""#, 26.0, 3, 100);
        let gather = node(r#""Node Type": "Gather", "Workers Planned": 2"#, 30.0, 1, 100);
        assert_eq!(
            own(&format!("{gather}, \"Plans\": [{scan}}}]}}")),
            [("Gather".to_owned(), 4.0, 0.0), ("Parallel Seq Scan on t".to_owned(), 26.0, 100.0)]
        );
    }

    #[test]
    fn a_cte_is_counted_once_and_taken_from_its_scan() {
        let cte =
            node(r#""Node Type": "Seq Scan", "Relation Name": "u", "Subplan Name": "CTE c""#, 5.0, 1, 23);
        let scan = node(r#""Node Type": "CTE Scan", "CTE Name": "c""#, 7.0, 1, 23);
        let root = node(r#""Node Type": "Aggregate""#, 9.0, 1, 23);
        let found = own(&format!("{root}, \"Plans\": [{cte}}}, {scan}}}]}}"));
        let times: Vec<_> = found.iter().map(|(_, ms, blocks)| (*ms, *blocks)).collect();
        assert_eq!(times, [(2.0, 0.0), (5.0, 23.0), (2.0, 0.0)]);
    }

    #[test]
    fn an_init_plan_is_taken_from_the_node_that_asks_for_it() {
        let init = node(r#""Node Type": "Result", "Subplan Name": "InitPlan 1 (returns $1)""#, 4.0, 1, 3);
        let scan =
            node(r#""Node Type": "Index Scan", "Relation Name": "t", "Index Cond": "(id = $1)""#, 6.0, 1, 7);
        let other =
            node(r#""Node Type": "Seq Scan", "Relation Name": "u", "Filter": "(id = $10)""#, 1.0, 1, 1);
        let root = node(r#""Node Type": "Append""#, 8.0, 1, 8);
        let found = own(&format!("{root}, \"Plans\": [{init}}}, {other}}}, {scan}}}]}}"));
        let times: Vec<_> = found.iter().map(|(_, ms, blocks)| (*ms, *blocks)).collect();
        assert_eq!(times, [(1.0, 0.0), (4.0, 3.0), (1.0, 1.0), (2.0, 4.0)]);
    }

    #[test]
    fn what_no_scan_reads_is_in_nobodys_time() {
        let change = node(
            r#""Node Type": "ModifyTable", "Operation": "Update", "Subplan Name": "CTE moved""#,
            50.0,
            1,
            11048,
        );
        let root = node(r#""Node Type": "Result""#, 0.1, 1, 0);
        let found = own(&format!("{root}, \"Plans\": [{change}}}]}}"));
        assert_eq!((found[0].1, found[1].1, found[1].2), (0.1, 50.0, 11048.0));
    }
}
