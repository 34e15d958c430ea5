//! The metrics of one captured plan: section "Metrics" of the design, and nothing that the server did not report.

use std::collections::BTreeMap;

use super::Metric;
use crate::plan::{Node, Plan};

/// PostgreSQL's block size in kilobytes, unless built otherwise.
const BLOCK_KB: f64 = 8.0;

/// Every metric that the plan reports. What is absent stays absent.
#[must_use]
pub fn of_plan(plan: &Plan) -> BTreeMap<Metric, f64> {
    let root = &plan.root;
    let sum = |name: &str| plan.nodes().filter_map(|node| node.number(name)).reduce(|a, b| a + b);
    let metrics = [
        (Metric::Rows, root.rows()),
        (Metric::PlanRows, root.plan_rows()),
        (Metric::Cost, root.total_cost()),
        (Metric::StartupCost, root.startup_cost()),
        (Metric::Blocks, root.blocks()),
        (Metric::Hit, root.sum(&["Shared Hit Blocks", "Local Hit Blocks"])),
        (Metric::Read, root.sum(&["Shared Read Blocks", "Local Read Blocks"])),
        (Metric::Dirtied, root.sum(&["Shared Dirtied Blocks", "Local Dirtied Blocks"])),
        (Metric::Written, root.sum(&["Shared Written Blocks", "Local Written Blocks"])),
        (Metric::TempRead, root.number("Temp Read Blocks")),
        (Metric::TempWritten, root.number("Temp Written Blocks")),
        (Metric::HeapFetches, sum("Heap Fetches")),
        (Metric::IndexSearches, sum("Index Searches")),
        (Metric::ExactBlocks, sum("Exact Heap Blocks")),
        (Metric::LossyBlocks, sum("Lossy Heap Blocks")),
        (Metric::RowsRemoved, plan.nodes().filter_map(Node::rows_removed).reduce(|a, b| a + b)),
        (Metric::WorkersPlanned, sum("Workers Planned")),
        (Metric::WorkersLaunched, sum("Workers Launched")),
        (Metric::SortSpace, plan.nodes().filter_map(Node::sort_space).reduce(|a, b| a + b)),
        (Metric::HashBatches, plan.nodes().filter_map(Node::hash_batches).reduce(f64::max)),
        (Metric::Spilled, spilled(plan)),
        (Metric::WalRecords, root.number("WAL Records")),
        (Metric::WalBytes, root.number("WAL Bytes")),
        (Metric::WalFpi, root.number("WAL FPI")),
        (Metric::PlanningBlocks, plan.planning_blocks()),
        (Metric::Planning, plan.planning_time()),
        (Metric::Execution, plan.execution_time()),
    ];
    metrics.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect()
}

/// Kilobytes on disk. A plan whose root wrote no temporary block spilled nothing, whatever its nodes.
fn spilled(plan: &Plan) -> Option<f64> {
    let nodes = plan.nodes().filter_map(|node| node.spilled_kilobytes(BLOCK_KB)).reduce(|a, b| a + b);
    nodes.or_else(|| plan.root.number("Temp Written Blocks").filter(|blocks| *blocks == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(json: &str) -> BTreeMap<Metric, f64> {
        of_plan(&Plan::from_json(json).expect("plan"))
    }

    #[test]
    fn rows_removed_counts_loops_and_every_reason() {
        let found = metrics(
            r#"{"Node Type": "Nested Loop", "Actual Rows": 2, "Actual Loops": 1, "Rows Removed by Join Filter": 7, "Plans": [
            {"Node Type": "Index Scan", "Actual Rows": 1.5, "Actual Loops": 10, "Rows Removed by Filter": 3,
             "Rows Removed by Index Recheck": 1, "Heap Fetches": 2}]}"#,
        );
        assert_eq!(found.get(&Metric::RowsRemoved), Some(&47.0));
        assert_eq!(found.get(&Metric::Rows), Some(&2.0));
    }

    #[test]
    fn what_the_server_did_not_report_is_absent() {
        let found =
            metrics(r#"{"Node Type": "Seq Scan", "Plan Rows": 5, "Total Cost": 9.5, "Startup Cost": 0.0}"#);
        let names: Vec<_> = found.keys().map(|metric| metric.name()).collect();
        assert_eq!(names, ["plan_rows", "cost", "startup_cost"]);
    }

    #[test]
    fn spills_of_sorts_hashes_and_aggregates_add_up() {
        let found = metrics(
            r#"{"Node Type": "Sort", "Sort Space Used": 100, "Sort Space Type": "Disk", "Temp Written Blocks": 40,
            "Workers": [{"Worker Number": 0, "Sort Space Used": 50, "Sort Space Type": "Disk"}], "Plans": [
            {"Node Type": "Hash Join", "Temp Written Blocks": 12, "Plans": [
                {"Node Type": "Aggregate", "Disk Usage": 8, "HashAgg Batches": 3, "Temp Written Blocks": 1},
                {"Node Type": "Hash", "Hash Batches": 4, "Temp Written Blocks": 9, "Plans": [
                    {"Node Type": "Seq Scan", "Temp Written Blocks": 2}]}]}]}"#,
        );
        assert_eq!(found.get(&Metric::Spilled), Some(&(150.0 + 8.0 + 9.0 * BLOCK_KB)));
        assert_eq!(found.get(&Metric::SortSpace), Some(&150.0));
        assert_eq!(found.get(&Metric::HashBatches), Some(&4.0));
    }

    #[test]
    fn nothing_written_is_nothing_spilled() {
        assert_eq!(
            metrics(r#"{"Node Type": "Result", "Temp Written Blocks": 0}"#).get(&Metric::Spilled),
            Some(&0.0)
        );
        assert_eq!(
            metrics(r#"{"Node Type": "Result", "Temp Written Blocks": 5}"#).get(&Metric::Spilled),
            None
        );
    }
}
