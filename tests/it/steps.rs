//! Clones, transactions that are rolled back, sessions, and the steps `time`, `storage` and `compare`.

use serde_json::Value;

use crate::project::Project;
use crate::support::other_version;

/// A table of a hundred pages or so that nobody has vacuumed.
const TABLE: &str = r#"planbook: 1
title: Steps
dataset:
  sql:
    - CREATE TABLE t (id int PRIMARY KEY, v int, w double precision, note text) WITH (autovacuum_enabled = off)
    - INSERT INTO t SELECT g, g % 100, g / 3.0, repeat('x', 50) FROM generate_series(1, 10000) AS g
settings: {max_parallel_workers_per_gather: 0, jit: off}
steps:
"#;

fn project(steps: &str) -> Project {
    Project::with("steps", &format!("{TABLE}{steps}"))
}

fn run(project: &Project, code: i32) -> crate::project::Said {
    project.planbook(&["run", "steps", "--server", "local"]).exits(code)
}

fn values(project: &Project) -> Value {
    project.json("results/steps/local-15/values.json")
}

fn events(project: &Project, kind: &str) -> Vec<Value> {
    let lines = project.read("results/steps/local-15/events.jsonl");
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.filter(|event| event["event"] == kind).collect()
}

const CLONES: &str = r#"
  - measure:
      id: states
      query: SELECT id FROM t WHERE v = 7
      settings: {enable_bitmapscan: off, enable_seqscan: off}
      reps: 4
      turns: 2
      arms:
        before:
          setup: {sql: CREATE INDEX t_v ON t (v) INCLUDE (id)}
          expect: {plan: Index Only Scan using t_v on t, heap_fetches: 100}
        after:
          setup:
            - sql: CREATE INDEX t_v ON t (v) INCLUDE (id)
            - vacuum: t
          expect: {plan: Index Only Scan using t_v on t, heap_fetches: 0}
        own:
          settings: {enable_seqscan: on}
          expect: {plan: Seq Scan on t}
      expect: {rows: 100}
  - compare: {of: states}
  - let:
      left: {sql: SELECT count(*) FROM pg_database WHERE datname LIKE 'planbook_clone%'}
      indexes: {sql: "SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass"}
  - check:
      - left == 0
      - indexes == 1
  - measure:
      id: untouched
      like: states
      arms:
        fresh: {expect: {plan: Seq Scan on t}}
      fresh: arm
      settings: {enable_seqscan: on}
"#;

#[test]
fn arms_with_a_setup_have_clones_and_leave_the_database_alone() {
    let project = project(CLONES);
    let said = run(&project, 0);
    assert!(said.out.contains("0 failed") && said.out.contains("0 not run"), "{}", said.out);
    let captures = events(&project, "capture");
    let cloned = |arm: &str| {
        captures.iter().find(|event| event["arm"] == arm).expect("a capture")["own_clone"] == true
    };
    assert!(cloned("before") && cloned("after") && !cloned("own") && cloned("fresh"));
    let vacuums = events(&project, "vacuum");
    assert!(!vacuums.is_empty() && vacuums.iter().all(|event| event["arm"]["arm"] == "after"), "{vacuums:?}");
    let report = project.read("results/steps/local-15/report.md");
    assert!(report.contains("Before, in its own clone of the database:"), "{report}");
    // Turns are interleaved over the clones: no arm has all its samples in a row.
    let samples = project.read("results/steps/local-15/samples.csv");
    let arms: Vec<&str> =
        samples.lines().skip(1).take(12).map(|line| line.split(',').nth(1).unwrap()).collect();
    let switches = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(switches > 2, "{arms:?}");
}

const WITHIN: &str = r#"
  - sql: CREATE INDEX t_v ON t (v)
  - measure:
      id: toggles
      query: SELECT count(*) FROM t WHERE v = 7
      settings: {enable_seqscan: off}
      reps: 4
      turns: 2
      arms:
        with: {expect: {any: [Bitmap Index Scan on t_v, Index Only Scan using t_v on t]}}
        without: {within: DROP INDEX t_v, expect: {plan: Seq Scan on t, never: Bitmap Index Scan on t_v}}
  - let:
      there: {sql: "SELECT count(*) FROM pg_class WHERE relname = 't_v'"}
  - check:
      - there == 1
"#;

#[test]
fn an_index_is_hidden_for_one_arm_alone() {
    let project = project(WITHIN);
    run(&project, 0);
    let captures = events(&project, "capture");
    assert_eq!(captures.len(), 2);
    assert!(captures.iter().all(|event| event["rolled_back"] == true), "one transaction, all transactions");
    let report = project.read("results/steps/local-15/report.md");
    assert!(report.contains("Before, in the same transaction: `DROP INDEX t_v`"), "{report}");

    let failing = WITHIN.replace("within: DROP INDEX t_v", "within: DROP INDEX t_pkey");
    let project = self::project(&failing);
    let said = run(&project, 1);
    let line = format!("{TABLE}{failing}").lines().position(|line| line.contains("t_pkey")).unwrap() + 1;
    assert!(said.out.contains("t_pkey") && said.out.contains(&format!("steps.yaml:{line}")), "{}", said.out);
    assert!(said.out.contains("2BP01"), "{}", said.out);
}

#[test]
fn an_index_is_hidden_on_a_server_without_auto_explain() {
    let Some(bindir) = other_version(16) else { return };
    let project = project(WITHIN);
    let server = format!("local:{}", bindir.display());
    project.planbook(&["run", "steps", "--server", &server]).exits(0);
    let values = project.json("results/steps/local-16/values.json");
    assert!(values["toggles.without.blocks"].as_i64() > values["toggles.with.blocks"].as_i64(), "{values:#}");
}

const WRITERS: &str = r#"
  - sql: |
      CREATE SEQUENCE s;
      CREATE FUNCTION bump() RETURNS int LANGUAGE sql AS 'UPDATE t SET v = v + 1 WHERE id = 1 RETURNING v'
  - let: {before: {sql: SELECT v FROM t WHERE id = 1}}
"#;

fn what_a_measure_of(query: &str, code: i32) -> (Project, crate::project::Said) {
    let project =
        project(&format!("{WRITERS}  - measure: {{id: m, query: \"{query}\", reps: 2, turns: 2}}\n"));
    let said = run(&project, code);
    (project, said)
}

#[test]
fn a_query_that_changes_data_unseen_is_refused() {
    for query in ["SELECT bump()", "SELECT id FROM t WHERE id = nextval('s')"] {
        let (project, said) = what_a_measure_of(query, 1);
        assert!(
            said.out.contains("this changes data") && said.out.contains("1 failed"),
            "{query}: {}",
            said.out
        );
        assert_eq!(events(&project, "timed"), Vec::<Value>::new(), "{query} was timed");
    }
    for query in ["SELECT id FROM t WHERE id = 1 FOR UPDATE", "SELECT currval('s') FROM t WHERE false"] {
        let (project, _) = what_a_measure_of(query, 0);
        assert_eq!(events(&project, "timed").len(), 1, "{query}");
    }
}

#[test]
fn settings_that_would_reach_what_comes_later_are_refused() {
    for step in [
        "measure: {id: m, query: \"SELECT count(*), set_config('enable_seqscan', 'off', false) FROM t\"}",
        "sql: SELECT set_config('work_mem', '64kB', false)",
        "sql: DO $$ BEGIN PERFORM set_config('enable_seqscan', 'off', false); END $$",
        "sql: DO $$ BEGIN ALTER ROLE postgres SET work_mem = '64kB'; END $$",
        "sql: DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END $$",
    ] {
        let project = project(&format!("  - {step}\n  - measure: {{id: later, query: SELECT * FROM t}}\n"));
        let said = run(&project, 1);
        assert!(said.out.contains("for whatever comes later"), "{step}: {}", said.out);
        assert_eq!(events(&project, "timed"), Vec::<Value>::new(), "{step}");
    }
    // A name of the user's own, as policies ask for, and what ends with its transaction.
    let harmless = "
  - sql: SELECT set_config('app.tenant', '7', false)
  - measure: {id: m, query: \"SELECT count(*), set_config('work_mem', '64kB', true) FROM t\", reps: 2, turns: 2}
";
    run(&project(harmless), 0);
}

#[test]
fn a_relation_that_is_not_there_is_named_by_a_statement_that_a_reader_understands() {
    for step in ["storage: {id: s, of: nowhere}", "time: {id: d, sql: DELETE FROM t, of: nowhere, reps: 2}"] {
        let said = run(&project(&format!("  - {step}\n")), 1);
        let lines: Vec<&str> = said.out.lines().map(str::trim).collect();
        assert!(said.out.contains("relation \"nowhere\" does not exist"), "{step}: {}", said.out);
        assert!(lines.contains(&"SELECT 'nowhere'::regclass::oid"), "{step}: {}", said.out);
    }
}

#[test]
fn what_waits_for_a_session_of_the_notebook_fails() {
    let locked =
        "  - session: {name: locker, begin: read committed, sql: LOCK TABLE t IN ACCESS EXCLUSIVE MODE}\n";
    for step in ["sql: UPDATE t SET v = 1", "measure: {id: m, query: SELECT * FROM t}", "analyze: t"] {
        let project = project(&format!("{locked}  - {step}\n"));
        let said = run(&project, 1);
        assert!(said.out.contains("55P03") && said.out.contains("`session` step"), "{step}: {}", said.out);
    }
}

/// Why a VACUUM fell short, as the recording tells it.
fn cause(project: &Project) -> String {
    let vacuums = events(project, "vacuum");
    vacuums.last().expect("a vacuum")["cause"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn an_open_snapshot_is_named_as_the_cause() {
    let steps = r#"
  - session: {name: lunch, begin: repeatable read, sql: SELECT 1}
  - sql: UPDATE t SET v = v + 1
  - vacuum: {table: t, expect: incomplete}
  - session: {name: lunch, end: commit}
  - vacuum: t
"#;
    let project = project(steps);
    run(&project, 0);
    let first = events(&project, "vacuum")[0]["cause"].as_str().unwrap_or("none").to_owned();
    assert!(first.contains("an old snapshot is held by the session `lunch`"), "{first}");
    assert_eq!(cause(&project), "none");

    let project =
        self::project(&steps.replace(", expect: incomplete}", "}").replace("- vacuum: t\n", "- text: x\n"));
    let said = run(&project, 1);
    assert!(said.out.contains("the session `lunch`") && said.out.contains("1 failed"), "{}", said.out);
}

#[test]
fn bypassed_index_cleanup_is_named_as_the_cause() {
    let project = project(
        "
  - vacuum: t
  - sql: DELETE FROM t WHERE id = 5000
  - vacuum: {table: t, expect: incomplete}
  - vacuum: {table: t, options: {INDEX_CLEANUP: on}}
",
    );
    run(&project, 0);
    let second = events(&project, "vacuum")[1]["cause"].as_str().unwrap_or("none").to_owned();
    assert!(second.starts_with("index cleanup was bypassed: 1 page"), "{second}");
    assert_eq!(cause(&project), "none");
}

#[test]
fn a_lock_is_named_as_the_cause() {
    let locked = "
  - session: {name: locker, begin: read committed, sql: LOCK TABLE t IN SHARE MODE}
  - vacuum: {table: t, options: {SKIP_LOCKED: on}, expect: incomplete}
";
    let project = project(locked);
    run(&project, 0);
    assert!(cause(&project).contains("held by the session `locker` (ShareLock)"), "{}", cause(&project));

    let waiting = "settings: {max_parallel_workers_per_gather: 0, lock_timeout: 200ms}";
    let notebook = format!("{TABLE}{}", locked.replace("options: {SKIP_LOCKED: on}, ", ""));
    let project = Project::with(
        "steps",
        &notebook.replace("settings: {max_parallel_workers_per_gather: 0, jit: off}", waiting),
    );
    let said = run(&project, 1);
    assert!(said.out.contains("55P03") && said.out.contains("session `locker`"), "{}", said.out);
}

const TIMED: &str = r#"
  - storage: {id: sizes, of: [t, t_pkey]}
  - storage: {id: alone, of: t}
  - time:
      id: delete
      sql: DELETE FROM t WHERE id <= 1000
      arms:
        plain: {}
        covering: {setup: {sql: CREATE INDEX t_v ON t (v) INCLUDE (id)}}
      warm: SELECT count(*) FROM t
      of: t
      reps: 2
  - time:
      id: build
      sql: CREATE INDEX t_w ON t (w)
      of: t
      reps: 2
  - let:
      still: {sql: SELECT count(*) FROM t}
  - check:
      - still == 10000
      - delete.plain.rows == 1000 and delete.covering.rows == 1000
      - delete.plain.wal_bytes > 1000 * 20
      - delete.plain.wal_fpi > 0
      - delete.covering.index_bytes > delete.plain.index_bytes
      - delete.plain.growth_bytes == 0
      - build.growth_bytes > 0
      - build.median > 0
      - sizes.t.total_bytes == sizes.t.heap_bytes + sizes.t.toast_bytes + sizes.t.index_bytes
      - sizes.t.index_bytes == sizes.t_pkey.total_bytes
  - table: {id: changes, of: [delete, build, sizes], columns: [median, rows, wal_bytes, total_bytes]}
  - text: "The index weighs {{ sizes.t_pkey.total_bytes | bytes }}."
"#;

#[test]
fn statements_are_timed_on_clones_with_their_log_and_sizes() {
    let project = project(TIMED);
    let said = run(&project, 0);
    assert!(said.out.contains("delete.covering  DELETE"), "{}", said.out);
    let executed = events(&project, "executed");
    assert_eq!(executed.len(), 6);
    assert!(executed.iter().filter(|event| event["measure"] == "delete").all(|event| event["rows"] == 1000));
    assert!(executed[0]["plan"].as_str().expect("a plan").starts_with("Delete on t"));
    let samples = project.read("results/steps/local-15/samples.csv");
    assert_eq!(samples.lines().filter(|line| line.starts_with("delete,plain,,")).count(), 2);
    let values = values(&project);
    assert_eq!(values["delete.plain.rows"], 1000);
    let report = project.read("results/steps/local-15/report.md");
    for part in ["CREATE INDEX t_w ON t (w)", "| t_pkey |", "| … t_pkey |", "The index weighs 240 kB."] {
        assert!(report.contains(part), "no {part:?} in\n{report}");
    }
    assert_eq!(
        report.matches("… t_pkey").count(),
        1,
        "an index with a row of its own has no other\n{report}"
    );
    let table = project.read("results/steps/local-15/changes.csv");
    assert_eq!(table.lines().count(), 1 + 2 + 1 + 2, "{table}");
}

#[test]
fn rows_are_compared_and_nothing_against_nothing_is_no_pass() {
    let steps = r#"
  - compare:
      queries:
        - SELECT id, v FROM t WHERE v = 7 ORDER BY id
        - SELECT id, v FROM t WHERE v = 7 ORDER BY id DESC
  - compare:
      queries: ["SELECT sum(w) FROM t", "SELECT sum(w) FROM (SELECT w FROM t ORDER BY w DESC) AS s"]
      tolerance: 1e-9
  - compare: {queries: ["SELECT 1 WHERE false", "SELECT 2 WHERE false"], empty: on}
"#;
    let project = project(steps);
    let said = run(&project, 0);
    assert!(said.out.contains("3 held"), "{}", said.out);
    let report = project.read("results/steps/local-15/report.md");
    assert!(report.contains("100 rows each"), "{report}");

    let project = self::project(
        &steps.replace(", empty: on", "").replace("v = 7 ORDER BY id DESC", "v = 7 AND id > 7 ORDER BY id"),
    );
    let said = run(&project, 1);
    assert!(said.out.contains("none of them returned a row"), "{}", said.out);
    assert!(said.out.contains("query 1 has the row (7, 7), which query 2 has not"), "{}", said.out);
    assert!(said.out.contains("2 failed"), "{}", said.out);
}
