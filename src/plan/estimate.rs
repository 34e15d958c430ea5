//! How far the planner's row estimates were from what happened.
//!
//! The factor is the q-error of Moerkotte, Neumann and Steidl ("Preventing bad plans by bounding the impact of
//! cardinality estimation errors", VLDB 2009): max(estimate / actual, actual / estimate), both at least 1.

use std::collections::BTreeSet;

use super::{Node, Plan};

/// Estimate and fact of one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate<'p> {
    /// The node.
    pub node: &'p Node,
    /// Rows that the planner expected per loop; of all processes together where the node is a part of each.
    pub expected: f64,
    /// Rows that came, counted alike.
    pub actual: f64,
}

impl Estimate<'_> {
    /// The q-error: 1 is exact.
    #[must_use]
    pub fn factor(&self) -> f64 {
        let (expected, actual) = (self.expected.max(1.0), self.actual.max(1.0));
        (expected / actual).max(actual / expected)
    }
}

impl Plan {
    /// The nodes whose estimates can be held against what happened, depth first. Left out are nodes that never
    /// ran, nodes that a LIMIT, a merge join, a semi join or an EXISTS may have stopped early, and those that
    /// return no rows by design (BitmapAnd, BitmapOr, ModifyTable).
    #[must_use]
    pub fn estimates(&self) -> Vec<Estimate<'_>> {
        // A CTE is pulled by its scans: one that was stopped early stops it too.
        let mut stopped_ctes = BTreeSet::new();
        walk(&self.root, Context::default(), &mut |node, context| {
            if let Some(name) =
                node.property("CTE Name").and_then(|name| name.as_str()).filter(|_| context.stopped)
            {
                stopped_ctes.insert(name);
            }
        });
        let mut out = vec![];
        walk(
            &self.root,
            Context { ctes: Some(&stopped_ctes), ..Context::default() },
            &mut |node, context| {
                out.extend(estimate(node, context));
            },
        );
        out
    }

    /// The worst factor in the tree; absent without ANALYZE.
    #[must_use]
    pub fn q_error(&self) -> Option<f64> {
        self.estimates().iter().map(Estimate::factor).reduce(f64::max)
    }
}

/// What the nodes above say about one below.
#[derive(Clone, Copy, Default)]
struct Context<'a> {
    /// Whether something above may have stopped it before its last row.
    stopped: bool,
    /// Workers planned, and how often the Gather ran, where one stands above.
    gather: Option<(f64, f64)>,
    ctes: Option<&'a BTreeSet<&'a str>>,
}

fn walk<'p, 'c>(root: &'p Node, context: Context<'c>, visit: &mut impl FnMut(&'p Node, Context<'c>)) {
    let mut stack = vec![(root, context)];
    while let Some((node, context)) = stack.pop() {
        visit(node, context);
        for (i, child) in node.children().iter().enumerate().rev() {
            let below = Context { stopped: stops(node, i, child, context), ..context };
            let gather = match node.node_type() {
                "Gather" | "Gather Merge" => node.number("Workers Planned").zip(node.loops()),
                _ => context.gather,
            };
            stack.push((child, Context { gather, ..below }));
        }
    }
}

fn estimate<'p>(node: &'p Node, context: Context) -> Option<Estimate<'p>> {
    let loops = node.loops().filter(|loops| *loops > 0.0)?;
    let (expected, actual) = (node.plan_rows()?, node.actual_rows()?);
    if context.stopped || matches!(node.node_type(), "BitmapAnd" | "BitmapOr" | "ModifyTable") {
        return None;
    }
    Some(match context.gather {
        // The planner divides a partial node's rows by the processes it counts on; its loops are those that came.
        Some((workers, runs)) if is_partial(node) && runs > 0.0 => {
            Estimate { node, expected: expected * divisor(workers), actual: actual * loops / runs }
        }
        _ => Estimate { node, expected, actual },
    })
}

/// `get_parallel_divisor` of PostgreSQL's costsize.c: the leader helps, the less the more workers there are.
fn divisor(workers: f64) -> f64 {
    workers + (1.0 - 0.3 * workers).max(0.0)
}

/// Whether each process produces a share of the node's rows: it reads a parallel scan without grouping on the way.
fn is_partial(node: &Node) -> bool {
    let mut node = node;
    loop {
        if node.properties().flag("Parallel Aware") && node.node_type() != "Hash" {
            return true;
        }
        if node.node_type() == "Aggregate" {
            return false;
        }
        let outer = node.children().iter().find(|child| child.subplan_name().is_none());
        match outer {
            Some(child) => node = child,
            None => return false,
        }
    }
}

/// Whether a child may have been stopped before its last row.
fn stops(node: &Node, position: usize, child: &Node, context: Context) -> bool {
    if let Some(header) = child.subplan_name() {
        if let Some(cte) = header.strip_prefix("CTE ") {
            return context.ctes.is_some_and(|ctes| ctes.contains(cte));
        }
        // EXISTS and scalar sub-queries ask for one row; which they are the plan does not say.
        return child.actual_rows().is_some_and(|rows| rows <= 1.0)
            && child.plan_rows().is_some_and(|rows| rows > 1.0);
    }
    let join = node.property("Join Type").and_then(|kind| kind.as_str()).unwrap_or_default();
    let inner = child.parent_relationship() == Some("Inner")
        || (child.parent_relationship().is_none() && position > 0);
    match node.node_type() {
        // A Limit that returned less than it expected came to the end of its input.
        "Limit" => {
            context.stopped || node.actual_rows().zip(node.plan_rows()).is_none_or(|(got, want)| got >= want)
        }
        "Merge Join" => context.stopped || inner || !matches!(join, "Left" | "Full" | "Anti"),
        "Nested Loop" => context.stopped || (inner && matches!(join, "Semi" | "Anti")),
        "Sort" | "Hash" | "Bitmap Heap Scan" | "BitmapAnd" | "BitmapOr" => false,
        "Aggregate" | "SetOp" => {
            let streams = node.property("Strategy").and_then(|strategy| strategy.as_str()) == Some("Sorted");
            context.stopped && streams
        }
        _ => context.stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(json: &str) -> Option<f64> {
        Plan::from_json(json).expect("plan").q_error()
    }

    #[test]
    fn the_factor_is_symmetric_and_at_least_one() {
        let node = |plan, rows| {
            q(&format!(
                "{{\"Node Type\": \"Result\", \"Plan Rows\": {plan}, \"Actual Rows\": {rows}, \"Actual Loops\": 1}}"
            ))
        };
        assert_eq!(node(100, 5), Some(20.0));
        assert_eq!(node(5, 100), Some(20.0));
        assert_eq!(node(1, 0), Some(1.0));
        assert_eq!(node(0, 7), Some(7.0));
        assert_eq!(q(r#"{"Node Type": "Result", "Plan Rows": 5}"#), None, "not analyzed");
        assert_eq!(
            q(r#"{"Node Type": "Result", "Plan Rows": 5, "Actual Rows": 0, "Actual Loops": 0}"#),
            None
        );
    }

    #[test]
    fn what_a_limit_stopped_is_not_held_against_the_planner() {
        let plan = |limit_rows| {
            format!(
                r#"{{"Node Type": "Limit", "Plan Rows": 5, "Actual Rows": {limit_rows}, "Actual Loops": 1, "Plans": [
                {{"Node Type": "Seq Scan", "Plan Rows": 39947, "Actual Rows": {limit_rows}, "Actual Loops": 1}}]}}"#
            )
        };
        assert_eq!(q(&plan(5)), Some(1.0));
        assert_eq!(q(&plan(4)), Some(39947.0 / 4.0), "the scan came to its end");
    }

    #[test]
    fn below_a_sort_a_limit_stops_nothing() {
        let json = r#"{"Node Type": "Limit", "Plan Rows": 5, "Actual Rows": 5, "Actual Loops": 1, "Plans": [
            {"Node Type": "Sort", "Plan Rows": 1000, "Actual Rows": 5, "Actual Loops": 1, "Plans": [
            {"Node Type": "Seq Scan", "Plan Rows": 1000, "Actual Rows": 3000, "Actual Loops": 1}]}]}"#;
        assert_eq!(q(json), Some(3.0));
    }

    #[test]
    fn a_perfect_estimate_of_a_partial_plan_is_perfect() {
        // 200,000 rows over two workers and the leader: the planner divides by 2.4, the loops are three.
        let json = r#"{"Node Type": "Gather", "Workers Planned": 2, "Plan Rows": 200000, "Actual Rows": 200000, "Actual Loops": 1,
            "Plans": [{"Node Type": "Seq Scan", "Parallel Aware": true, "Plan Rows": 83333, "Actual Rows": 66666.67, "Actual Loops": 3}]}"#;
        assert!(q(json).expect("analyzed") < 1.001);
    }

    #[test]
    fn bitmap_and_returns_nothing_by_design() {
        let json = r#"{"Node Type": "BitmapAnd", "Plan Rows": 10, "Actual Rows": 0, "Actual Loops": 1}"#;
        assert_eq!(q(json), None);
    }
}
