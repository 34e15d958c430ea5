//! `planbook pin`, as its user meets it: what it writes, what a run makes of that, and what it says when it cannot.

use serde_json::Value;

use crate::project::{Project, Said};

/// ANALYZE samples 3,000 of the rows, so that no two builds find the same.
const DATASET: &str = "planbook-dataset: 1
params: {rows: 40000}
sql:
  - CREATE TABLE t (id int PRIMARY KEY, v int) WITH (autovacuum_enabled = off)
  - ALTER TABLE t ALTER v SET STATISTICS 10
  - INSERT INTO t SELECT g, (sqrt(hashint4(g)::bigint & 1048575))::int FROM generate_series(1, {{ rows }}) AS g
";

const NOTEBOOK: &str = "planbook: 1
title: A scan
params: {rows: 40000}
dataset: {file: datasets/numbers.yaml, with: {rows: \"{{ rows }}\"}}
steps:
  - measure: {id: scan, reps: 5, turns: 1, query: SELECT * FROM t WHERE v < 333}
";

const PIN: &str = "experiments/datasets/numbers.stats.json";

fn project() -> Project {
    let project = Project::with("scan", NOTEBOOK);
    project.write("experiments/datasets/numbers.yaml", DATASET);
    project
}

fn pinned(project: &Project) {
    project.write("experiments/datasets/numbers.yaml", &format!("{DATASET}statistics: pinned\n"));
}

fn pin(project: &Project, more: &[&str]) -> Said {
    project.planbook(&[&["pin", "numbers", "--server", "local"], more].concat())
}

/// Runs the notebook on a build of its own: the estimated rows, and what is known of the build.
fn run(project: &Project) -> (f64, Value) {
    project.planbook(&["run", "scan", "--server", "local", "--no-cache"]).exits(0);
    let values = project.json("results/scan/local-15/values.json");
    let built = project.json("results/scan/local-15/manifest.json")["built"].clone();
    assert_eq!(built["reused"], false);
    (values["scan.plan_rows"].as_f64().expect("an estimate"), built)
}

#[test]
fn what_it_writes_is_what_every_later_run_plans_from() {
    let project = project();
    let said = pin(&project, &[]).exits(0);
    assert_eq!(said.out, "", "it has no data to print");
    assert!(
        said.err.contains(&format!("pinned the statistics of 2 tables and indexes in {PIN}")),
        "{}",
        said.err
    );
    let hint = "hint: add `statistics: pinned` to experiments/datasets/numbers.yaml to use them";
    assert!(said.err.contains(hint), "{}", said.err);
    let file = project.json(PIN);
    assert_eq!((&file["planbook-statistics"], &file["dataset"]), (&Value::from(1), &Value::from("numbers")));
    assert_eq!(file["pins"][0]["params"], serde_json::json!([["rows", "40000"]]));

    // Not asked for, it changes nothing: this build has a sample of its own.
    let (sampled, _) = run(&project);
    pinned(&project);
    let (first, built) = run(&project);
    let (second, again) = run(&project);
    assert_eq!((&built["pinned"], first), (&Value::from(true), second));
    assert_eq!(built["fingerprint"], again["fingerprint"]);
    assert_ne!(sampled, first);

    // Another set of parameters has a pin of its own, in the same file.
    let said = pin(&project, &["--set", "rows=20000"]).exits(0);
    assert!(!said.err.contains("hint:"), "they are in use already: {}", said.err);
    let both = project.json(PIN);
    assert_eq!(both["pins"][0]["params"], serde_json::json!([["rows", "20000"]]));
    assert_eq!(both["pins"][1], file["pins"][0], "the first pin is as it was");
    assert_eq!(project.servers(), Vec::<Value>::new());
}

#[test]
fn a_pin_that_no_longer_fits_says_how_to_take_it_anew() {
    let project = project();
    pinned(&project);
    let again = "planbook pin experiments/datasets/numbers.yaml --set rows=40000";
    let said = project.planbook(&["run", "scan", "--server", "local"]).exits(2);
    assert!(said.err.contains("there is no file") && said.err.contains(again), "{}", said.err);

    pin(&project, &[]).exits(0);
    let wider = DATASET.replace("v int)", "v bigint)");
    project.write("experiments/datasets/numbers.yaml", &format!("{wider}statistics: pinned\n"));
    let said = project.planbook(&["run", "scan", "--server", "local"]).exits(1);
    for part in [
        &format!("the pinned statistics in {PIN} do not fit"),
        "public.t has",
        &format!("take them anew with `{again}`"),
        "experiments/datasets/numbers.yaml:1",
    ] {
        assert!(said.out.contains(part), "no {part:?} in\n{}", said.out);
    }
    let said = project.planbook(&["run", "scan", "--server", "local", "--set", "rows=30000"]).exits(1);
    assert!(said.out.contains("it holds no pin for rows=30000"), "{}", said.out);
    assert!(said.out.contains("--set rows=30000`"), "{}", said.out);

    // The command that it names puts it right.
    let words: Vec<&str> = again.split(' ').skip(1).chain(["--server", "local"]).collect();
    project.planbook(&words).exits(0);
    run(&project);
}

#[test]
fn what_cannot_be_pinned_is_said_with_an_exit_code_of_its_own() {
    let project = project();
    let said = project.planbook(&["pin", "nonsense", "--server", "local"]).exits(2);
    assert!(said.err.contains("there is no dataset nonsense"), "{}", said.err);
    assert!(said.err.contains("experiments/datasets"), "{}", said.err);
    let said = pin(&project, &["--set", "colour=red"]).exits(2);
    assert!(said.err.contains("colour"), "{}", said.err);
    let said = project.planbook(&["pin", "numbers", "--server", "local:/nowhere"]).exits(3);
    assert!(said.err.contains("/nowhere"), "{}", said.err);
    project.write("experiments/datasets/numbers.yaml", &DATASET.replace("v int)", "v nonsense)"));
    let said = pin(&project, &[]).exits(2);
    for part in ["experiments/datasets/numbers.yaml, line 4", "nonsense", "correct the dataset"] {
        assert!(said.err.contains(part), "no {part:?} in\n{}", said.err);
    }
    assert!(!project.exists(PIN));
    assert_eq!(project.servers(), Vec::<Value>::new());
}
