//! `planbook run` from end to end, on a server of its own.

use std::fs;

use crate::project::{Project, files};

/// Three states of one small table, each with its expectation, a claim and prose.
const SMALL: &str = r#"planbook: 1
title: A small table
params: {rows: 20000, wanted: 50}
profiles:
  tiny: {rows: 10000}
dataset:
  sql:
    - CREATE TABLE t (id int, v int) WITH (autovacuum_enabled = off)
    - INSERT INTO t SELECT g, g % 200 FROM generate_series(1, {{ rows }}) AS g
  verify:
    - SELECT count(*) = {{ rows }} FROM t
settings: {max_parallel_workers_per_gather: 0, jit: off}
steps:
  - let:
      top: {sql: SELECT max(id) FROM t}
      half: {expr: top // 2}
  - measure:
      id: scan
      reps: 6
      turns: 5
      query: SELECT * FROM t WHERE id = {{ half }}
      expect:
        plan: Seq Scan on t
        never: Index Scan on t
        rows: 1
  - sql: |
      CREATE INDEX t_id ON t (id);
      CREATE INDEX t_v ON t (v) INCLUDE (id);
  - vacuum: t
  - measure:
      id: lookup
      like: scan
      expect:
        plan: Index Scan using t_id on t
        rows: 1
        blocks: < 10
  - measure:
      id: both
      reps: 6
      turns: 5
      query: SELECT id FROM t WHERE v = 7
      settings: {enable_seqscan: off}
      arms:
        covering:
          settings: {enable_bitmapscan: off}
          expect: {plan: Index Only Scan using t_v on t, heap_fetches: 0}
        bitmap:
          settings: {enable_indexonlyscan: off, enable_indexscan: off}
          expect: {plan: Bitmap Heap Scan on t}
  - check:
      - lookup.blocks < scan.blocks
      - both.covering.rows == both.bitmap.rows
      - saving: scan.blocks / lookup.blocks
  - table: {id: states, of: [scan, lookup, both], columns: [plan, median, blocks, rows, saving]}
  - text: |
      The scan touched {{ scan.blocks }} blocks for row {{ half }}, the index {{ lookup.blocks }}.
"#;

/// The line, from 1, that holds a text.
fn line_of(notebook: &str, text: &str) -> usize {
    notebook.lines().position(|line| line.contains(text)).expect("a line") + 1
}

#[test]
fn a_notebook_leaves_evidence_and_a_report_that_agree() {
    let project = Project::with("small", SMALL);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(0);
    assert!(said.out.contains("0 failed"), "{}", said.out);
    let place = "results/small/local-15";

    let manifest = project.json(&format!("{place}/manifest.json"));
    assert_eq!(manifest["status"], "complete");
    assert_eq!(manifest["server"]["kind"], "local");
    assert_eq!(manifest["params"]["rows"], 20000);

    let values = project.json(&format!("{place}/values.json"));
    assert_eq!(values["half"], 10000);
    let blocks = values["scan.blocks"].as_i64().expect("blocks");
    assert!(values["lookup.blocks"].as_i64().expect("blocks") < 10);
    assert_eq!(values["both.covering.plan"], "Index Only Scan using t_v on t");
    assert_eq!(values["both.covering.heap_fetches"], 0);

    let report = project.read(&format!("{place}/report.md"));
    assert!(report.contains(&format!("The scan touched {blocks} blocks for row 10,000")), "{report}");
    assert!(report.contains("Seq Scan on t"), "{report}");

    let summary = project.read(&format!("{place}/summary.csv"));
    let mut reader = csv::Reader::from_reader(summary.as_bytes());
    let header = reader.headers().expect("header").clone();
    let column =
        |name: &str| header.iter().position(|h| h == name).unwrap_or_else(|| panic!("no {name}: {header:?}"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("row")).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0][column("blocks")], blocks.to_string());
    assert_eq!(rows[0][column("heap_fetches")], *"", "absent is empty");
    assert_eq!(rows[2][column("heap_fetches")], *"0");
    assert_eq!(rows[2][column("arm")], *"covering");

    // A named number stands in the rows of what it is made of.
    let states = project.read(&format!("{place}/states.csv"));
    let saving = blocks as f64 / values["lookup.blocks"].as_f64().expect("blocks");
    let last: Vec<&str> =
        states.lines().map(|line| line.rsplit(',').next().expect("a last column")).collect();
    assert_eq!(last, ["saving", &saving.to_string(), &saving.to_string(), "", ""]);

    let samples = project.read(&format!("{place}/samples.csv"));
    assert_eq!(samples.lines().count(), 1 + 4 * 6);
    let text = project.read(&format!("{place}/plans/both.bitmap.txt"));
    assert!(text.contains("Bitmap Heap Scan on t") && text.contains("Buffers: shared"), "{text}");
    assert!(project.exists(&format!("{place}/plans/both.bitmap.json")));
    assert!(project.exists(&format!("{place}/plans/attempts/scan.1.txt")), "the captures before are kept");
    assert!(project.exists(&format!("{place}/states.csv")));
    assert!(!project.exists("results/small/local-15.partial"));
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new(), "no server is left");
}

#[test]
fn nothing_that_is_left_names_a_path_of_this_machine() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local"]).exits(0);
    let forbidden = [
        project.path().display().to_string(),
        env!("CARGO_MANIFEST_DIR").to_owned(),
        std::env::temp_dir().display().to_string(),
        "/var/lib/postgresql".to_owned(),
        "/usr/lib/postgresql".to_owned(),
    ];
    for file in files(&project.path().join("results")) {
        let text = fs::read_to_string(&file).expect("text");
        for path in &forbidden {
            assert!(!text.contains(path.as_str()), "{} names {path}", file.display());
        }
    }
}

#[test]
fn rendering_again_gives_the_same_bytes_without_a_server() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local"]).exits(0);
    let place = project.path().join("results/small/local-15");
    let before: Vec<_> =
        files(&place).into_iter().map(|file| (file.clone(), fs::read(&file).expect("read"))).collect();
    for derived in ["report.md", "summary.csv", "verdicts.json", "values.json", "states.csv"] {
        fs::remove_file(place.join(derived)).expect("remove");
    }
    let said = project.command(&["render"]).env("PLANBOOK_PG_BIN", "none").output().expect("planbook");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let after: Vec<_> =
        files(&place).into_iter().map(|file| (file.clone(), fs::read(&file).expect("read"))).collect();
    assert_eq!(before.len(), after.len());
    for (one, other) in before.iter().zip(&after) {
        assert!(one == other, "{} differs", one.0.display());
    }
}

#[test]
fn present_prose_is_used_while_the_notebook_still_runs_the_same() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local"]).exits(0);
    let report = || project.read("results/small/local-15/report.md");
    project.write("experiments/small.yaml", &SMALL.replace("The scan touched", "Reading it all touched"));
    project.planbook(&["render"]).exits(0);
    assert!(report().contains("Reading it all touched"), "{}", report());
    // Another query is another experiment: its prose does not belong to this evidence.
    let other =
        SMALL.replace("The scan touched", "Something else touched").replace("WHERE v = 7", "WHERE v = 8");
    project.write("experiments/small.yaml", &other);
    project.planbook(&["render"]).exits(0);
    assert!(report().contains("The scan touched"), "{}", report());
}

#[test]
fn a_profile_never_replaces_the_full_recording() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local", "--profile", "tiny"]).exits(0);
    assert_eq!(project.json("results/small/local-15~tiny/manifest.json")["params"]["rows"], 10000);
    let report = project.read("results/small/local-15~tiny/report.md");
    assert!(report.contains("Profile `tiny`"), "{report}");
    project
        .planbook(&["run", "small", "--server", "local", "--set", "rows=5000", "--only", "lookup"])
        .exits(1);
    let verdicts = project.json("results/small/local-15~rows=5000,only-lookup/verdicts.json");
    assert!(
        verdicts["not_run"].as_i64().expect("count") > 0,
        "what was left out is not a pass: {verdicts:#}"
    );
    assert!(!project.exists("results/small/local-15"));
}

#[test]
fn a_false_expectation_names_everything_and_keeps_every_file() {
    let notebook = SMALL.replace("plan: Index Scan using t_id on t", "plan: Index Scan using t_v on t");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    for part in [
        "✗ lookup: plan: Index Scan using t_v on t",
        "nearest node: Index Scan using t_id on t",
        "results/small/local-15/plans/lookup.txt",
        &format!("experiments/small.yaml:{}", line_of(&notebook, "Index Scan using t_v")),
        "1 failed",
    ] {
        assert!(said.out.contains(part), "no {part:?} in\n{}", said.out);
    }
    for file in ["manifest.json", "events.jsonl", "plans/lookup.txt", "plans/both.bitmap.json", "report.md"] {
        assert!(project.exists(&format!("results/small/local-15/{file}")), "{file}");
    }
    let report = project.read("results/small/local-15/report.md");
    let trouble = report.find("must show").expect("the failure");
    assert!(trouble < report.find("###").expect("a measure"), "what failed comes first:\n{report}");
}

#[test]
fn a_name_that_does_not_exist_is_not_a_pass() {
    let notebook = SMALL.replace("never: Index Scan on t\n", "never: Index Scan on tt\n");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    assert!(said.out.contains("no table or index is named tt"), "{}", said.out);
    assert!(said.out.contains("1 not run"), "{}", said.out);
    let notebook = SMALL.replace("Index Scan using t_id on t", "Index Scan using t_ids on t");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    for part in [
        "no table or index is named t_ids",
        "lookup: plan: Index Scan using t_ids on t",
        &format!("experiments/small.yaml:{}", line_of(&notebook, "using t_ids")),
        "next: did you mean `t_id`?",
    ] {
        assert!(said.out.contains(part), "no {part:?} in\n{}", said.out);
    }
    assert!(project.read("results/small/local-15/report.md").contains("did you mean"));
}

#[test]
fn what_the_server_does_not_know_comes_with_the_nearest_name() {
    for (right, wrong, next) in [
        ("enable_seqscan: off", "enable_seqscam: off", "next: did you mean `enable_seqscan`?"),
        ("FROM t WHERE v = 7", "FROM tt WHERE v = 7", "next: did you mean `t`?"),
        ("WHERE v = 7", "WHERE bogus = 7", "next: the tables in it have the columns id, v"),
    ] {
        let project = Project::with("small", &SMALL.replace(right, wrong));
        let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
        assert!(said.out.contains(next), "no {next:?} in\n{}", said.out);
    }
}

#[test]
fn a_metric_that_no_node_reports_is_explained() {
    let notebook = SMALL
        .replace("        blocks: < 10\n", "        heap_fetches: 0\n        index_searches: 1\n")
        .replace("      - lookup.blocks < scan.blocks\n", "      - scan.lossy_blocks == 0\n");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    for part in [
        "no node of the plan reports heap_fetches; it comes from Index Only Scan",
        "PostgreSQL 15 reports no index_searches",
        "scan.lossy_blocks has no value: no node of the plan reports lossy_blocks; it comes from Bitmap Heap Scan",
        "next: what a plan does not report is not 0",
    ] {
        assert!(said.out.contains(part), "no {part:?} in\n{}", said.out);
    }
}

#[test]
fn sql_that_fails_is_a_verdict_and_the_rest_is_not_run() {
    let notebook =
        SMALL.replace("CREATE INDEX t_v ON t (v) INCLUDE (id);", "CREATE INDEX t_v ON t\n        (bogus);");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    for part in [
        "column \"bogus\" does not exist",
        "SQLSTATE 42703",
        &format!("experiments/small.yaml:{}", line_of(&notebook, "CREATE INDEX t_v")),
        "CREATE INDEX t_v ON t",
        "not run: its step was not run",
    ] {
        assert!(said.out.contains(part), "no {part:?} in\n{}", said.out);
    }
    let place = "results/small/local-15";
    assert_eq!(project.json(&format!("{place}/manifest.json"))["status"], "failed");
    assert!(project.exists(&format!("{place}/plans/scan.txt")), "evidence is kept");
    let report = project.read(&format!("{place}/report.md"));
    assert!(report.contains("*Not run.*") && report.contains("not measured"), "{report}");
}

#[test]
fn the_caret_stands_where_the_server_pointed() {
    let notebook = SMALL.replace("SELECT id FROM t WHERE v = 7", "SELECT id FROM t WHERE w = 7");
    let project = Project::with("small", &notebook);
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(1);
    let lines: Vec<&str> = said.out.lines().collect();
    let at =
        lines.iter().position(|line| line.trim() == "SELECT id FROM t WHERE w = 7").expect("the statement");
    assert_eq!(lines[at].find("w = 7"), lines[at + 1].find('^'), "{}", said.out);
}

#[test]
fn a_malformed_notebook_starts_no_server() {
    let project = Project::with("small", &SMALL.replace("steps:", "stepps:"));
    let said = project.planbook(&["run", "small", "--server", "local"]).exits(2);
    assert!(said.err.contains("stepps") && said.err.contains("steps"), "{}", said.err);
    assert!(!project.exists("results"), "nothing was begun");
    assert!(!project.state().exists() || files(&project.state()).is_empty(), "no server was noted");
}

#[test]
fn unknown_names_are_usage_errors_with_the_nearest() {
    let project = Project::with("small", SMALL);
    let said = project.planbook(&["run", "smal"]).exits(2);
    assert!(said.err.contains("did you mean `small`"), "{}", said.err);
    let said = project.planbook(&["run"]).exits(2);
    assert!(
        said.out.contains("A small table") && said.err.contains("planbook run NAME"),
        "{}{}",
        said.out,
        said.err
    );
    let said = project.planbook(&["run", "small", "--only", "nope"]).exits(2);
    assert!(said.err.contains("scan, lookup, both"), "{}", said.err);
    let said = project.planbook(&["run", "small", "--server", "cloud"]).exits(2);
    assert!(said.err.contains("local"), "{}", said.err);
}

#[test]
fn json_output_is_json_alone() {
    let project = Project::with("small", SMALL);
    let said = project.planbook(&["run", "small", "--server", "local", "--format", "json"]).exits(0);
    let outcome: serde_json::Value = serde_json::from_str(&said.out).expect("stdout is JSON");
    assert_eq!(outcome[0]["holds"], true);
    assert!(outcome[0]["verdicts"].as_array().expect("verdicts").len() >= 8);
}

#[test]
fn timing_claims_rest_on_the_samples() {
    let notebook = r#"planbook: 1
title: Sleeping takes time
steps:
  - measure:
      id: nap
      reps: 10
      turns: 5
      query: SELECT pg_sleep(0.002)
      arms:
        short: {}
        long: {query: SELECT pg_sleep(0.02)}
  - check:
      - nap.long.median > nap.short.median
      - nap.long.median < 2 * nap.short.median
      - ratio: nap.long.median / nap.short.median
  - table: {id: naps, of: nap, columns: [ratio, rows]}
"#;
    let project = Project::with("nap", notebook);
    let said = project.planbook(&["run", "nap", "--server", "local"]).exits(1);
    assert!(said.out.contains("1 held · 1 failed"), "{}", said.out);
    let values = project.json("results/nap/local-15/values.json");
    let number = |name: &str| values[name].as_f64().unwrap_or_else(|| panic!("{name}: {values:#}"));
    assert!(number("ratio.lo") <= number("ratio") && number("ratio") <= number("ratio.hi"));
    assert!(number("ratio.lo") > 2.0, "{values:#}");
    let naps = project.read("results/nap/local-15/naps.csv");
    let row = ["ratio", "ratio.lo", "ratio.hi"].map(|name| number(name).to_string()).join(",");
    assert_eq!(
        naps.lines().collect::<Vec<_>>(),
        [
            "measure,arm,point,ratio,ratio_lo,ratio_hi,rows",
            &format!("nap,short,,{row},1"),
            &format!("nap,long,,{row},1")
        ]
    );
    let report = project.read("results/nap/local-15/report.md");
    assert!(report.lines().any(|line| line.starts_with("| short | ") && line.contains(" to ")), "{report}");
}

#[test]
fn an_interval_that_nobody_knows_decides_nothing() {
    let notebook = r#"planbook: 1
title: Too few turns
steps:
  - measure:
      id: nap
      reps: 3
      turns: 3
      query: SELECT pg_sleep(0.001)
      arms: {short: {}, long: {query: SELECT pg_sleep(0.01)}}
  - check:
      - ratio: nap.long.median / nap.short.median
      - same: nap.long.rows / nap.short.rows
      - ratio.lo > 1.5
      - ratio.hi < 0.1
      - same.lo == 1 and same.hi == 1
      - twice: 2 * ratio.lo
  - text: "Between {{ ratio.lo }} and {{ ratio.hi }}."
"#;
    let project = Project::with("nap", notebook);
    let said = project.planbook(&["run", "nap", "--server", "local"]).exits(0);
    assert!(said.out.contains("1 held · 0 failed · 3 inconclusive"), "{}", said.out);
    let unknown = "ratio.lo has no value: it takes 5 turns to decide";
    assert!(said.out.contains(unknown), "{}", said.out);
    let report = project.read("results/nap/local-15/report.md");
    assert!(report.contains("Between not measured and not measured."), "{report}");
    assert!(report.contains("same.lo = 1"), "{report}");
}

#[test]
fn a_kept_server_is_there_until_it_is_pruned() {
    let notebook = "planbook: 1\ntitle: One\nsteps:\n  - sql: CREATE TABLE kept (id int)\n";
    let project = Project::with("one", notebook);
    let said = project.planbook(&["run", "one", "--server", "local", "--keep"]).exits(0);
    let database = said
        .err
        .lines()
        .find_map(|line| line.trim().strip_prefix("kept     the database "))
        .expect("its name");
    assert_eq!(project.servers().len(), 1);
    let psql = project
        .planbook(&["server", "psql", "--", "-d", database, "-Atc", "SELECT count(*) FROM kept"])
        .exits(0);
    assert_eq!(psql.out.trim(), "0");
    project.planbook(&["server", "prune"]).exits(0);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

#[test]
fn failures_name_their_own_lines() {
    let in_dataset = "planbook: 1\ntitle: x\ndataset:\n  sql: |\n    CREATE TABLE t (id int);\n    INSERT INTO t\n    \
                      SELECT nonsense;\nsteps:\n  - sql: SELECT 1\n";
    let in_settings = "planbook: 1\ntitle: x\nsettings:\n  jit: off\n  work_memory: 4MB\nsteps:\n  - text: First.\n  \
                       - sql: SELECT 1\n";
    for (notebook, line) in [(in_dataset, "SELECT nonsense"), (in_settings, "work_memory")] {
        let project = Project::with("lines", notebook);
        let said = project.planbook(&["run", "lines", "--server", "local"]).exits(1);
        assert!(said.out.contains(&format!("lines.yaml:{}", line_of(notebook, line))), "{}", said.out);
    }
}

#[test]
fn a_claim_about_a_number_that_has_no_value_is_not_run() {
    let notebook = r#"planbook: 1
title: No value
steps:
  - measure: {id: empty, query: SELECT 1 WHERE false, reps: 1, turns: 1}
  - sql: DO $$ BEGIN FOR i IN 1..100 LOOP RAISE NOTICE 'said %', i; END LOOP; END $$
  - check:
      - ratio: 1 / empty.rows
      - ratio > 1
"#;
    let project = Project::with("novalue", notebook);
    let said = project.planbook(&["run", "novalue", "--server", "local"]).exits(1);
    assert!(said.out.contains("1 failed · 0 inconclusive · 1 not run"), "{}", said.out);
    let report = project.read("results/novalue/local-15/report.md");
    assert!(report.contains("said 5 · and 95 more, in events.jsonl"), "{report}");
    assert!(project.read("results/novalue/local-15/events.jsonl").contains("said 100"));
}

#[test]
fn the_first_run_is_the_text_where_the_json_is_of_another() {
    let Some(bindir) = crate::support::other_version(16) else { return };
    let project = Project::new();
    let notebook = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/dead-items.yaml");
    let server = format!("local:{}", bindir.display());
    // The JSON of the first capture comes from a second execution, which found the dead entries already cleared.
    let said = project.planbook(&["run", notebook, "--profile", "quick", "--server", &server]).exits(0);
    assert!(said.out.contains("0 failed"), "{}", said.out);
    let values = project.json("results/dead-items/local-16~quick/values.json");
    let number = |name: &str| values[name].as_f64().unwrap_or_else(|| panic!("{name}: {values:#}"));
    assert!(number("settled.first_blocks") > number("settled.blocks"), "{values:#}");
}
