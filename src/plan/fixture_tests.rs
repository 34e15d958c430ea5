//! Every fixture: EXPLAIN's JSON of PostgreSQL 13 to 18.

use super::*;

fn fixture(name: &str) -> Plan {
    let path = format!("{}/tests/fixtures/explain/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Plan::from_json(&std::fs::read_to_string(path).expect(name)).expect(name)
}

#[test]
fn titles_read_as_the_text_prints_them() {
    let memo: Vec<String> = fixture("18_memo").nodes().map(Node::title).collect();
    assert_eq!(
        memo,
        ["Aggregate", "Hash Join", "Index Scan using t_id on public.t", "Hash", "Seq Scan on public.u"]
    );
}

#[test]
fn tree_and_shape_of_a_sub_plan() {
    let plan = fixture("15_hsub");
    insta::assert_snapshot!(plan.tree(), @r"
    Finalize Aggregate
      ->  Gather
            Workers Planned: 1
            ->  Partial Aggregate
                  ->  Parallel Seq Scan on public.t
                        Filter: (NOT (hashed SubPlan 1))
                        SubPlan 1
                          ->  Seq Scan on public.u
    ");
    assert_eq!(plan.shape(), fixture("13_hsub").shape(), "no numbers, so no difference between versions");
}

#[test]
fn a_summary_is_adopted_from_the_text() {
    let mut plan =
        Plan::from_json(r#"{"Query Text": "q", "Plan": {"Node Type": "Result", "Shared Hit Blocks": 0}}"#)
            .expect("plan");
    let text = "Result  (cost=0.00..0.01 rows=1 width=4) (actual time=0.001..0.001 rows=1 loops=1)\nPlanning:\n  \
                Buffers: shared hit=5 read=2, local hit=1\n  I/O Timings: shared read=0.250\n  Memory: used=9kB  \
                allocated=16kB\nPlanning Time: 0.500 ms\nSerialization: time=0.010 ms  output=1kB  format=text\n  \
                Buffers: shared hit=3\nExecution Time: 1.250 ms";
    plan.adopt_summary(text).expect("summary");
    assert_eq!(plan.planning_time(), Some(0.5));
    assert_eq!(plan.execution_time(), Some(1.25));
    assert_eq!(plan.planning_blocks(), Some(8.0));
    let planning = plan.property("Planning").expect("planning");
    assert_eq!(planning["Memory Allocated"], 16);
    assert_eq!(planning["Shared I/O Read Time"], 0.25);
    let serialization = plan.property("Serialization").expect("serialization");
    assert_eq!(serialization["Time"], 0.01);
    assert_eq!(serialization["Output Volume"], 1);
    assert_eq!(serialization["Shared Hit Blocks"], 3);
    assert!(plan.adopt_summary("Result").is_err());
}
