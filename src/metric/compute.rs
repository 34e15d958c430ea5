//! The metrics of one captured plan: section "Metrics" of the design, and nothing that the server did not report.

use std::collections::BTreeMap;

use super::Metric;
use crate::plan::Plan;

/// Every metric that the plan reports. What is absent stays absent.
#[must_use]
pub fn of_plan(plan: &Plan) -> BTreeMap<Metric, f64> {
    let value = |metric: &Metric| Some((*metric, of_metric(plan, *metric)?));
    Metric::ALL.iter().filter_map(value).collect()
}

fn of_metric(plan: &Plan, metric: Metric) -> Option<f64> {
    let name = metric.name();
    let nodes = || plan.nodes().filter_map(|node| node.measure(name));
    match metric {
        Metric::HeapFetches
        | Metric::IndexSearches
        | Metric::ExactBlocks
        | Metric::LossyBlocks
        | Metric::RowsRemoved
        | Metric::WorkersPlanned
        | Metric::WorkersLaunched
        | Metric::SortSpace => nodes().reduce(|a, b| a + b),
        Metric::HashBatches => nodes().reduce(f64::max),
        // A root that wrote no temporary block proves that nothing below it spilled, whatever its nodes are.
        Metric::Spilled => {
            let none = || plan.root.measure("temp_written").filter(|blocks| *blocks == 0.0);
            nodes().reduce(|a, b| a + b).or_else(none)
        }
        Metric::QError => plan.q_error(),
        Metric::PlanningBlocks => plan.planning_blocks(),
        Metric::Planning => plan.planning_time(),
        Metric::Execution => plan.execution_time(),
        _ => plan.root.measure(name),
    }
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
        assert_eq!(found.get(&Metric::Spilled), Some(&(150.0 + 8.0 + 9.0 * 8.0)));
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
