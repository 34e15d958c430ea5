//! What no input may do to the reader of plans: make it panic, lose a tree, or take forever.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use planbook::plan::{MAX_DEPTH, Plan, PlanDiff, PlanError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::plan_fixtures::{cases, explain_pairs};
use crate::plan_same::differences;

/// Names that EXPLAIN must quote, and some that it need not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9_]{0,8}",
        prop::sample::select(vec![
            "a  ->  Seq Scan on t",
            "t (cost=0.00..1.00 rows=1 width=4)",
            "Quoted \"Name\"",
            "größe",
            "two\nlines",
            "dot.ted",
            "select",
            " on ",
            "Planning Time: 1.000 ms",
            "it's",
            "SubPlan 1",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A condition, its quotes and brackets balanced as PostgreSQL's are.
fn condition() -> impl Strategy<Value = String> {
    let literal = "[a-z ,:()>\n\\-]{0,12}".prop_map(|text| format!("'{text}'::text"));
    let operand = prop_oneof![literal, name().prop_map(|name| format!("\"{}\"", name.replace('"', "\"\"")))];
    (operand.clone(), operand).prop_map(|(left, right)| format!("({left} = {right})"))
}

fn numbers() -> impl Strategy<Value = Map<String, Value>> {
    (0..100_000_u32, 0..1_000_000_u32, 1..50_u32, prop::bool::ANY, 0..5000_u32, 0..300_u32).prop_map(
        |(cost, rows, loops, ran, hit, removed)| {
            let value = json!({
                "Startup Cost": f64::from(cost) / 4.0, "Total Cost": f64::from(cost), "Plan Rows": rows, "Plan Width": 8,
                "Actual Startup Time": if ran { f64::from(cost) / 1000.0 } else { 0.0 },
                "Actual Total Time": if ran { f64::from(cost) / 500.0 } else { 0.0 },
                "Actual Rows": if ran { rows } else { 0 }, "Actual Loops": if ran { loops } else { 0 },
                "Shared Hit Blocks": hit, "Temp Written Blocks": removed, "I/O": Value::Null,
            });
            let Value::Object(mut map) = value else { unreachable!() };
            map.remove("I/O");
            map
        },
    )
}

/// The properties that name a node of some kind.
fn kind() -> impl Strategy<Value = Map<String, Value>> {
    let scan = (name(), name(), condition(), 0..9_u32).prop_map(|(relation, alias, filter, removed)| {
        json!({"Node Type": "Seq Scan", "Parallel Aware": false, "Relation Name": relation, "Alias": alias,
            "Filter": filter, "Rows Removed by Filter": removed})
    });
    let index = (name(), name(), condition(), prop::bool::ANY).prop_map(|(index, relation, condition, back)| {
        json!({"Node Type": "Index Scan", "Parallel Aware": false, "Scan Direction": if back { "Backward" } else { "Forward" },
            "Index Name": index, "Relation Name": relation, "Alias": relation, "Index Cond": condition,
            "Rows Removed by Index Recheck": 0, "Index Searches": 1})
    });
    let sort = (prop::collection::vec(condition(), 1..4), 1..900_u32).prop_map(|(keys, space)| {
        json!({"Node Type": "Sort", "Parallel Aware": false, "Sort Key": keys, "Sort Method": "external merge",
            "Sort Space Used": space, "Sort Space Type": "Disk"})
    });
    let join = (prop::sample::select(vec!["Inner", "Left", "Right", "Full", "Semi", "Anti"]), condition()).prop_map(|(join, on)| {
        json!({"Node Type": "Hash Join", "Parallel Aware": false, "Join Type": join, "Hash Cond": on})
    });
    let aggregate = prop::collection::vec(condition(), 1..3).prop_map(|keys| {
        json!({"Node Type": "Aggregate", "Strategy": "Hashed", "Partial Mode": "Simple", "Parallel Aware": false,
            "Group Key": keys, "Planned Partitions": 0, "HashAgg Batches": 1, "Peak Memory Usage": 24, "Disk Usage": 0})
    });
    let gather = (1..9_u32).prop_map(|workers| {
        json!({"Node Type": "Gather", "Parallel Aware": false, "Workers Planned": workers, "Workers Launched": workers,
            "Single Copy": false})
    });
    prop_oneof![scan, index, sort, join, aggregate, gather].prop_map(|value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

fn tree() -> impl Strategy<Value = Value> {
    let node = || {
        (kind(), numbers()).prop_map(|(mut kind, numbers)| {
            kind.extend(numbers);
            kind
        })
    };
    let leaf = node().prop_map(Value::Object);
    leaf.prop_recursive(6, 40, 3, move |inner| {
        (node(), prop::collection::vec(inner, 0..3), prop::option::of(name())).prop_map(
            |(mut node, children, sub)| {
                let mut children = children;
                for (at, child) in children.iter_mut().enumerate() {
                    child["Parent Relationship"] = Value::from(if at == 0 { "Outer" } else { "Inner" });
                }
                if let (Some(name), Some(first)) = (sub, children.first_mut()) {
                    // A CTE's name is printed raw: an arrow in it cannot be told from the tree's, nor a blank at its end.
                    let name = name.replace("->", "").replace('\n', " ");
                    first["Subplan Name"] = Value::from(format!("CTE {}", name.trim()));
                    first["Parent Relationship"] = Value::from("InitPlan");
                    if let Some(second) = children.get_mut(1) {
                        second["Parent Relationship"] = Value::from("Outer");
                    }
                }
                if !children.is_empty() {
                    node.insert("Plans".to_owned(), Value::from(children));
                }
                Value::Object(node)
            },
        )
    })
}

/// The tree with the zeros that the JSON of a server has, which text hides.
fn completed(value: &mut Value) {
    let Value::Object(map) = value else { return };
    for scope in ["Shared", "Local", "Temp"] {
        for what in ["Hit", "Read", "Dirtied", "Written"] {
            if scope != "Temp" || !matches!(what, "Hit" | "Dirtied") {
                map.entry(format!("{scope} {what} Blocks")).or_insert(json!(0));
            }
        }
    }
    for child in map.get_mut("Plans").and_then(Value::as_array_mut).into_iter().flatten() {
        completed(child);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_tree_is_the_same_from_text_and_from_json(tree in tree()) {
        let mut tree = tree;
        completed(&mut tree);
        // A root that never ran leaves nothing by which text could show whether times were taken.
        tree["Actual Loops"] = json!(1);
        let plan = Plan::from_value(json!([{"Plan": tree}])).unwrap();
        let json = serde_json::to_string(&[&plan]).unwrap();
        prop_assert_eq!(&Plan::from_json(&json).unwrap(), &plan);
        let text = plan.to_text();
        let read = Plan::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(differences(&read, &plan), Vec::<String>::new(), "{}", text);
        prop_assert_eq!(read.shape(), plan.shape());
        prop_assert_eq!(&Plan::paste(&text).unwrap(), &read);
        prop_assert!(PlanDiff::between(&plan, &plan).changes.is_empty());
        for own in plan.exclusive() {
            prop_assert!(own.milliseconds.is_some_and(|ms| ms >= 0.0) && own.blocks.is_some_and(|blocks| blocks >= 0.0));
        }
    }

    #[test]
    fn no_soup_of_plan_words_panics(words in prop::collection::vec(prop::sample::select(SOUP.to_vec()), 0..60)) {
        let soup = words.concat();
        for plan in Plan::paste_all(&soup).into_iter().flatten() {
            let _ = (plan.tree(), plan.to_text(), plan.exclusive().len(), plan.q_error(), plan.shape());
        }
        let _ = (Plan::from_text(&soup), Plan::from_json(&soup));
    }
}

const SOUP: &[&str] = &[
    "->  ",
    "\n",
    "\n  ",
    "\n    ",
    "\n      ",
    "\n        ",
    " ",
    "Seq Scan",
    " on t",
    " using i",
    "\"",
    "'",
    "(cost=0.00..1.00 rows=1 width=4)",
    " (actual time=0.1..0.2 rows=1 loops=1)",
    " (never executed)",
    "Filter: ",
    "Sort Key: ",
    "Group Key: ()",
    "Hash Key: a",
    "InitPlan 1",
    "CTE x",
    "SubPlan 1 (returns $0)",
    "Worker 0:  ",
    "Buffers: shared hit=1",
    "JIT:",
    "Functions: 1",
    "Planning:",
    "Planning Time: 1.0 ms",
    "Aggregate",
    "Update",
    "Update on p",
    "Sort Method: quicksort  Memory: 1kB",
    "Buckets: 1  Batches: 1  Memory Usage: 1kB",
    "Settings: a = 'x', b = NULL",
    "Trigger x: calls=1",
    "QUERY PLAN",
    "-----",
    "| ",
    " |",
    "│",
    "+",
    "↵",
    "…",
    ".",
    "-[ RECORD 1 ]-",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"Plan\"",
    "\"Node Type\": \"Result\"",
    "\t",
    "\r\n",
    "> ",
    "duration: 1.0 ms  plan:",
    "Query Text: x",
    "ß",
    "\u{feff}",
    "99999999999999999999",
    "-",
    "=",
];

/// Prefixes of one fixture, every `step`th of them: read or refused, never a panic.
fn try_prefixes(text: &str, json: &str, [text_step, json_step, paste_step]: [usize; 3]) {
    for at in boundaries(text, text_step) {
        let _ = Plan::from_text(&text[..at]);
    }
    for at in boundaries(json, json_step) {
        let _ = Plan::from_json(&json[..at]);
    }
    for text in [text, json] {
        for at in boundaries(text, paste_step) {
            let _ = Plan::paste_all(&text[..at]);
        }
    }
}

fn boundaries(text: &str, step: usize) -> impl Iterator<Item = usize> {
    (0..=text.len()).step_by(step).filter(|at| text.is_char_boundary(*at))
}

/// A sample of the prefixes of one fixture of each name: the versions differ in numbers.
#[test]
fn no_prefix_of_a_fixture_panics() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        let name = case.name.split(' ').next_back().unwrap_or_default().to_owned();
        if seen.insert(name) {
            let text_step = if case.text.len() > 1200 { 5 } else { 1 };
            try_prefixes(&case.text, &case.json, [text_step, 41, 97]);
        }
    }
    assert!(seen.len() > 100);
}

/// All prefixes of all fixtures: `cargo test --test it every_prefix -- --ignored` after a change to the readers.
#[test]
#[ignore = "takes minutes; a sample of the same runs always"]
fn every_prefix_of_every_fixture_is_read_or_refused() {
    let captured = cases().into_iter().map(|case| (case.name, case.text, case.json));
    let fixtures: Vec<_> = captured.chain(explain_pairs()).collect();
    let (next, threads) = (AtomicUsize::new(0), std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((_, text, json)) = fixtures.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_prefixes(text, json, [1, 1, 1]);
                }
            });
        }
    });
    assert!(fixtures.len() > 700, "{}", fixtures.len());
}

fn deep_text(levels: usize) -> String {
    let mut out = "Limit\n".to_owned();
    for level in 1..levels {
        let indent = 2 + (level - 1) * 6;
        out.push_str(&format!("{:indent$}->  Limit\n", ""));
    }
    out
}

fn deep_json(levels: usize) -> String {
    let open = "{\"Node Type\": \"Limit\", \"Plans\": [".repeat(levels - 1);
    format!("[{{\"Plan\": {open}{{\"Node Type\": \"Limit\"}}{}}}]", "]}".repeat(levels - 1))
}

#[test]
fn deep_plans_are_read_whole_and_deeper_ones_refused() {
    let text = Plan::from_text(&deep_text(MAX_DEPTH)).unwrap();
    let json = Plan::from_json(&deep_json(MAX_DEPTH)).unwrap();
    assert_eq!((text.nodes().count(), json.nodes().count()), (MAX_DEPTH, MAX_DEPTH));
    assert_eq!(text.shape(), json.shape());
    assert_eq!(Plan::from_text(&text.to_text()).unwrap(), text);
    let printed = serde_json::to_string(&[&text]).unwrap();
    assert_eq!(Plan::from_json(&printed).unwrap(), text);
    assert!(PlanDiff::between(&text, &text).changes.is_empty());
    assert!(text.exclusive().len() == MAX_DEPTH && text.skeleton().lines().count() == MAX_DEPTH);
    for levels in [MAX_DEPTH + 1, 2000, 10_000] {
        // The indentation alone of 10,000 levels is 300 MB.
        let refusal = if levels > 5000 { PlanError::TooLarge } else { PlanError::TooDeep };
        assert_eq!(Plan::from_text(&deep_text(levels)), Err(refusal));
        assert_eq!(Plan::from_json(&deep_json(levels)), Err(PlanError::TooDeep));
        assert_eq!(Plan::paste(&deep_json(levels)), Err(PlanError::TooDeep));
    }
}

/// Inputs that once could have been slow: many nodes, one long line, quotes that never close.
#[test]
fn huge_inputs_are_read_in_time() {
    let child = "  ->  Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n        Filter: (a = 'it''s')\n";
    let wide = format!("Append\n{}", child.repeat(50_000));
    let start = std::time::Instant::now();
    assert_eq!(Plan::paste(&wide).unwrap().nodes().count(), 50_001);
    let long = format!("Seq Scan on t\n  Filter: ({})\n", "a AND ".repeat(1_000_000));
    assert_eq!(Plan::paste(&long).unwrap().nodes().count(), 1);
    let open = format!("Append\n{}", "  ->  Seq Scan on t\n        Filter: (a = 'open)\n".repeat(20_000));
    let _ = Plan::paste(&open);
    let quotes = "'\"".repeat(1_000_000);
    assert!(Plan::paste(&quotes).is_err());
    assert!(Plan::paste(&"[".repeat(5_000_000)).is_err());
    assert!(Plan::paste(&"{\"Plan\":".repeat(100_000)).is_err());
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn an_error_names_the_line_that_made_no_sense() {
    for (text, line, part) in [
        ("Seq Scan on t\n  Filter (a = 5)\n", 2, "expected a property"),
        ("Seq Scan on t\n     Filter: (a = 5)\n", 2, "indented like no property"),
        ("Seq Scan on t\n  Heap Fetches: many\n", 2, "does not fit"),
        ("Seq Scan on t\n  Buffers: shared hit\n", 2, "does not fit"),
        ("Sort\n  ->  Seq Scan on t  (cost=0.28..=0.15 rows=1 width=4)\n", 2, "expected a node"),
        ("Seq Scan on t  (cost=1..2 rows=x width=4)\n", 1, "expected a plan's first node"),
        ("hello\n", 1, "expected a plan's first node"),
        ("Append\n  ->  \n", 2, "expected a property"),
        ("Append\n  InitPlan 1\n  Filter: x\n", 2, "expected a property"),
        ("Sort\n  Worker 0:  what\n", 2, "expected what the worker did"),
        ("Sort\nPlanning Time: soon\n", 2, "not a line that EXPLAIN prints below a plan"),
        ("Sort\nPlanning:\n  Buffers: x\n", 3, "belongs to nothing above it"),
    ] {
        match Plan::from_text(text) {
            Err(PlanError::Text { line: found, why, .. }) => {
                assert!(found == line && why.contains(part), "{text}: {found} {why}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
