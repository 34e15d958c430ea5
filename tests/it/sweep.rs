//! Sweeps from end to end, on a server of their own.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::project::{Project, wait_until};

/// A table of 20,000 rows on 109 pages, in which every value of `b` has 20 rows on pages of their own.
const TABLE: &str = "planbook: 1
title: A sweep
dataset:
  sql:
    - CREATE TABLE t (id int, b int, v int) WITH (autovacuum_enabled = off)
    - INSERT INTO t SELECT g, g % 1000, g FROM generate_series(1, 20000) AS g
    - CREATE INDEX t_b ON t (b)
settings: {max_parallel_workers_per_gather: 0, jit: off}
";

fn project(steps: &str) -> Project {
    Project::with("swept", &format!("{TABLE}{steps}"))
}

const PLACE: &str = "results/swept/local-15";

/// The rows of a CSV, each by the names of its columns.
fn rows(project: &Project, file: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let text = project.read(&format!("{PLACE}/{file}"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn a_point_without_a_place_on_the_axis_fails_before_any_is_measured() {
    let steps = "steps:
  - let: {zero: {sql: SELECT 0}}
  - sweep: {id: s, over: {n: [1, 2]}, query: SELECT 1, x: {label: share, expr: n / zero}}
";
    let project = project(steps);
    let said = project.planbook(&["run", "swept", "--server", "local"]).exits(1);
    assert!(said.out.contains("unable to calculate 1 / 0, where n=1"), "{}", said.out);
    assert!(said.out.contains("experiments/swept.yaml:11"), "{}", said.out);
    assert_eq!(project.read(&format!("{PLACE}/samples.csv")).lines().count(), 1);
}

const CROSSING: &str = r#"steps:
  - sweep:
      id: cross
      over: {n: [1, 10, 900]}
      x: {label: selectivity, expr: n / 1000, format: percent}
      query: SELECT sum(v) FROM t WHERE b < {{ n }}
      reps: 5
      turns: 5
      expect: {rows: 1}
      arms:
        planner:
          expect: {when: [{n: "<= 10", plan: Bitmap Heap Scan on t}, {n: "> 10", plan: Seq Scan on t}]}
        index:
          settings: {enable_seqscan: off, enable_bitmapscan: off}
          expect: {plan: Index Scan using t_b on t}
        seq:
          settings: {enable_indexscan: off, enable_bitmapscan: off}
          expect: {plan: Seq Scan on t, rows_removed: "{{ 20000 - n * 20 }}"}
      crossing: {of: [index, seq], metric: blocks}
  - check:
      - cross.index.at(n=1).blocks < cross.seq.at(n=1).blocks
      - cross.blocks_crossing.lo == 5 and cross.blocks_crossing.hi == 6
      - cross.blocks_crossing.x_lo == 0.005
      - cross.cost_crossing.count == 1 and cross.cost_crossing.hi == cross.cost_crossing.lo + 1
      - cross.flips|length == 1 and cross.flips[0].hi == cross.flips[0].lo + 1
      - cross.flips[0].before == "Bitmap Heap Scan on t" and cross.flips[0].after == "Seq Scan on t"
      - cross.planner.at(n=1).median < 1000
  - table: {id: overview, of: [cross.index], columns: [plan, blocks]}
  - text: "At {{ cross.index.at(n=10).x | percent }} the index touched {{ cross.index.at(n=10).blocks }} blocks."
"#;

#[test]
fn the_crossing_in_blocks_and_the_flip_of_the_planner_are_found_where_they_are() {
    let project = project(CROSSING);
    let said = project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    assert!(
        said.out.contains("by blocks: index touches fewer up to n = 5 (0.500%), seq from n = 6"),
        "{}",
        said.out
    );
    assert!(
        said.err.contains("sweep    cross · 3 points × 3 arms, 1 min 32 s of timing at most"),
        "{}",
        said.err
    );
    assert!(said.err.contains("point 2 of 3 · about"), "{}", said.err);

    // Twenty rows for each value, each on a page of its own, and two pages of the index: 5 · 20 + 2 < 109 < 6 · 20 + 2.
    let values = project.json(&format!("{PLACE}/values.json"));
    assert_eq!(values["cross.index.at(n=5).blocks"], 102);
    assert_eq!(values["cross.index.at(n=6).blocks"], 122);
    assert_eq!(values["cross.seq.at(n=6).blocks"], 109);
    assert_eq!(values["cross.planner.at(n=900).plan"], "Seq Scan on t");

    // The flip is where EXPLAIN by itself says so.
    let flip = values["cross.flips[0].lo"].as_i64().unwrap();
    let estimates = rows(&project, "plans/cross.estimates.csv");
    let plan = |n: i64| {
        let of_n = estimates.iter().find(|row| row["n"] == n.to_string() && row["arm"] == "planner").unwrap();
        of_n["plan"].clone()
    };
    assert_eq!(estimates.iter().filter(|row| row["arm"] == "planner").count(), 900, "every integer");
    assert!(plan(1) == plan(flip) && plan(flip) != plan(flip + 1) && plan(flip + 1) == plan(900));

    let report = project.read(&format!("{PLACE}/report.md"));
    for told in [
        "At 1.00% the index touched 202 blocks.",
        "| 5 + | 0.500% |",
        "costs within 1% of each other are equal to the planner",
        "[planner](plans/cross.planner.n=900.txt)",
        "✓ `plan: Seq Scan on t` — planner, at 1 point",
    ] {
        assert!(report.contains(told), "{told}: {report}");
    }
    let again = project.planbook(&["render"]).exits(0);
    assert!(again.err.is_empty(), "{}", again.err);
    assert_eq!(project.read(&format!("{PLACE}/report.md")), report, "the recording alone tells it");
}

#[test]
fn every_file_names_the_point() {
    let project = project(CROSSING);
    project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    let swept = rows(&project, "cross.csv");
    let row = |n: &str, arm: &str| swept.iter().find(|row| row["n"] == n && row["arm"] == arm).unwrap();
    let planner = row("1", "planner");
    assert_eq!(planner["selectivity"], "0.001");
    assert_eq!(planner["planner_choice"], "Bitmap Heap Scan on t");
    assert_eq!((planner["samples"].as_str(), planner["asked"].as_str()), ("5", "5"));
    assert!(planner["median_lo_ms"].parse::<f64>().unwrap() <= planner["median_ms"].parse().unwrap());
    assert!(
        !planner["cost"].is_empty() && !planner["plan_rows"].is_empty() && !planner["regret_ms"].is_empty()
    );
    let added = row("6", "seq");
    assert_eq!(
        (added["added"].as_str(), added["blocks"].as_str(), added["median_ms"].as_str()),
        ("true", "109", "")
    );
    assert_eq!(rows(&project, "overview.csv")[0]["point"], "n=1");
    assert_eq!(rows(&project, "summary.csv")[0]["point"], "n=1");
    let samples = rows(&project, "samples.csv");
    assert_eq!(samples.len(), 3 * 3 * 5);
    assert!(samples.iter().all(|sample| ["n=1", "n=10", "n=900"].contains(&sample["point"].as_str())));
    assert!(project.exists(&format!("{PLACE}/plans/cross.index.n=10.json")));
    assert!(project.exists(&format!("{PLACE}/plans/attempts/cross.index.n=10.1.txt")));
}

#[test]
fn each_point_has_a_state_of_its_own_and_leaves_nothing() {
    let project = project(
        r#"steps:
  - sweep:
      id: filled
      over: {fill: [20, 100], columns: [v, id]}
      setup:
        - sql: CREATE INDEX t_own ON t ({{ columns }}) WITH (fillfactor = {{ fill }})
        - vacuum: t
      query: SELECT b FROM t WHERE {{ columns }} = 7
      probe: {index_pages: "SELECT pg_relation_size('t_own') / 8192", never: "SELECT NULL::int"}
      reps: 5
      turns: 5
      arms:
        shared: {}
        own: {setup: {sql: CREATE INDEX t_other ON t (v)}}
      expect: {any: [Index Scan using t_own on t, Index Scan using t_other on t]}
  - check:
      - filled.shared.at(fill=20, columns='v').index_pages > 3 * filled.shared.at(columns='v', fill=100).index_pages
      - filled.shared.points|length == 4
  # It is not there: the name is free.
  - sql: CREATE INDEX t_own ON t (v)
"#,
    );
    project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    let samples = project.read(&format!("{PLACE}/samples.csv"));
    assert!(samples.contains("filled,own,\"fill=20,columns=id\",1,1,"), "{samples}");
    let values = project.json(&format!("{PLACE}/values.json"));
    assert!(values["filled.own.at(fill=100, columns='id').index_pages"].as_i64().unwrap() > 10);
    assert!(values["filled.own.at(fill=100, columns='id').never"].is_null(), "NULL is absent");
    let verdicts = project.read(&format!("{PLACE}/verdicts.json"));
    assert_eq!(verdicts.matches("the visibility map of t is complete").count(), 4);
}

#[test]
fn a_parameter_of_the_dataset_is_swept_over_datasets() {
    let project = Project::with(
        "swept",
        r#"planbook: 1
title: Sizes
dataset: {file: datasets/sized.yaml}
steps:
  - sweep:
      id: sizes
      over: {size: [100, 400]}
      query: SELECT * FROM sized
      reps: 5
      turns: 5
      expect: {rows: "{{ size }}"}
  - measure: {id: base, query: SELECT * FROM sized, reps: 5, turns: 5, expect: {rows: 50}}
"#,
    );
    project.write(
        "experiments/datasets/sized.yaml",
        "planbook-dataset: 1\nparams: {size: 50}\nsql: CREATE TABLE sized AS SELECT generate_series(1, {{ size }}) AS n\n",
    );
    let first = project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    assert!(first.err.contains("CREATE TABLE sized AS SELECT generate_series(1, 400) AS n"), "{}", first.err);
    let second = project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    assert!(!second.err.contains("CREATE TABLE sized"), "all of them come from the cache: {}", second.err);
    assert_eq!(project.json(&format!("{PLACE}/manifest.json"))["built"]["params"][0][1], 50);
}

#[test]
fn what_the_budget_cut_is_said() {
    let project = project(
        r#"steps:
  - sweep:
      id: slow
      over: {n: [0, 3]}
      query: SELECT pg_sleep({{ n }} / 100.0)
      reps: 20
      budget: 100ms
"#,
    );
    let said = project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    let cut = "the time allowed for fewer repetitions than asked: n=3 (5 of 20)";
    assert!(said.out.contains(cut), "{}", said.out);
    let report = project.read(&format!("{PLACE}/report.md"));
    assert!(report.contains("n=3 (5 of 20)"), "{report}");
    assert_eq!(rows(&project, "slow.csv")[1]["samples"], "5");
}

#[test]
fn an_arm_does_not_cross_itself() {
    let project = project(
        r#"steps:
  - sweep:
      id: same
      over: {n: [5, 50]}
      query: SELECT sum(v) FROM t WHERE b < {{ n }}
      arms: {one: {}, other: {}}
      crossing: {of: [one, other]}
  - check: same.blocks_crossing.count == 0
  - check: same.crossing.count == 0
"#,
    );
    let said = project.planbook(&["run", "swept", "--server", "local"]).exits(0);
    let hidden = said.out.contains("by time: no crossing can be told from noise: from n = 5 to n = 50");
    assert!(hidden || said.out.contains("by time: no crossing:"), "{}", said.out);
    assert!(
        said.out.contains("by blocks: no crossing can be told")
            || said.out.contains("by blocks: no crossing"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("regret"), "both have the plan that the planner chose: {}", said.out);
}

#[test]
fn a_sweep_that_is_killed_leaves_what_it_had() {
    let project = project(
        r#"steps:
  - sweep:
      id: slow
      over: {n: [1, 20]}
      query: SELECT pg_sleep({{ n }} / 100.0)
      reps: 200
      arms: {a: {}, b: {settings: {enable_seqscan: off}}}
      crossing: {of: [a, b], metric: cost}
  - check:
      - slow.crossing.count >= 0
      - slow.a.at(n=1).rows == 1
  - text: "Crossings: {{ slow.crossing.count }}."
"#,
    );
    let mut run = project.spawn(&["run", "swept", "--server", "local"]);
    let partial = format!("{PLACE}.partial");
    wait_until("the second point is timed", || {
        project.exists(&format!("{partial}/samples.csv"))
            && project.read(&format!("{partial}/samples.csv")).contains("n=20")
    });
    kill(Pid::from_raw(i32::try_from(run.id()).unwrap()), Signal::SIGKILL).unwrap();
    run.wait().unwrap();
    project.planbook(&["render", &partial]).exits(0);
    let report = project.read(&format!("{partial}/report.md"));
    assert!(report.contains("the sweep did not come to its end"), "{report}");
    assert!(report.contains("Crossings: not"), "{report}");
    let verdicts = project.json(&format!("{partial}/verdicts.json"));
    let claims: Vec<&str> = verdicts["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|verdict| verdict["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(claims, ["not_run", "pass"], "{verdicts}");
    project.planbook(&["server", "prune"]).exits(0);
}
