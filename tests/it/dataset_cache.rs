//! Datasets between runs of the program: found again, distrusted where something is wrong, and never in the way of
//! another run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::engine;
use crate::project::{Project, Said, said, wait_until};

const DATASET: &str = "planbook-dataset: 1
params: {rows: 20000}
sql:
  - CREATE TABLE t (id int, v int) WITH (autovacuum_enabled = off)
  - INSERT INTO t SELECT g, g % 200 FROM generate_series(1, {{ rows }}) AS g
verify:
  - SELECT count(*) = {{ rows }} FROM t
";

const NOTEBOOK: &str = "planbook: 1
title: A scan
dataset: {file: datasets/numbers.yaml}
steps:
  - measure:
      id: scan
      reps: 5
      turns: 1
      query: SELECT * FROM t WHERE id = 500
      expect: {plan: Seq Scan on t, rows: 1}
";

fn project() -> Project {
    let project = Project::with("scan", NOTEBOOK);
    project.write("experiments/datasets/numbers.yaml", DATASET);
    project
}

const RUN: [&str; 4] = ["run", "scan", "--server", "local"];

fn built(project: &Project) -> serde_json::Value {
    project.json("results/scan/local-15/manifest.json")["built"].clone()
}

/// What the cache holds, as the program tells it.
fn cached(project: &Project) -> Vec<serde_json::Value> {
    let said = cache(project, &["cache", "ls", "--format", "json"]);
    serde_json::from_str(&said.out).expect("JSON")
}

/// Without an engine: its volumes are other tests'.
fn cache(project: &Project, args: &[&str]) -> Said {
    let mut command = project.command(args);
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    said(command.output().expect("planbook starts")).exits(0)
}

/// The data of the one cluster that stays.
fn data(project: &Project) -> PathBuf {
    let id = cached(project)[0]["id"].as_str().expect("an id").to_owned();
    project.path().join("data/planbook-clusters").join(id).join("data")
}

#[test]
fn the_second_run_finds_what_the_first_one_built() {
    let project = project();
    project.planbook(&RUN).exits(0);
    let first = built(&project);
    assert_eq!(first["reused"], false);
    let said = project.planbook(&RUN).exits(0);
    assert!(said.err.contains("from the cache"), "{}", said.err);
    let second = built(&project);
    assert_eq!(second["reused"], true);
    for key in ["definition", "cache_key", "built", "fingerprint", "tables"] {
        assert_eq!(first[key], second[key], "{key}");
    }
    let report = project.read("results/scan/local-15/report.md");
    assert!(report.contains("public.t 20,000 rows"), "{report}");
    let entries = cached(&project);
    assert_eq!((entries.len(), entries[0]["version"].as_str().map(|v| &v[..3])), (1, Some("15.")));
    assert!(entries[0]["bytes"].as_u64() > Some(10_000_000), "{entries:?}");
    assert_eq!(entries[0]["datasets"], serde_json::json!(["numbers (rows=20000)"]));
    let line = cache(&project, &["cache", "ls"]).out;
    assert!(line.contains(" MB  numbers (rows=20000)  used 20"), "{line}");

    cache(&project, &["cache", "prune"]);
    assert!(cached(&project).is_empty());
    project.planbook(&["run", "scan", "--server", "local", "--no-cache"]).exits(0);
    assert_eq!(built(&project)["reused"], false);
    assert!(cached(&project).is_empty(), "--no-cache leaves nothing");
}

#[test]
fn an_edited_dataset_is_built_anew() {
    let project = project();
    project.planbook(&RUN).exits(0);
    let before = built(&project);
    project.write("experiments/datasets/numbers.yaml", &DATASET.replace("g % 200", "g % 100"));
    let said = project.planbook(&RUN).exits(0);
    assert!(said.err.contains("the definition of numbers has changed"), "{}", said.err);
    let after = built(&project);
    assert_eq!(after["reused"], false);
    assert_ne!(before["definition"], after["definition"]);
    assert_ne!(before["tables"], after["tables"]);
}

#[test]
fn a_cluster_that_is_half_written_or_was_not_shut_down_is_not_used() {
    let project = project();
    project.planbook(&RUN).exits(0);
    // Its state in pg_control: in production.
    let control = data(&project).join("global/pg_control");
    let mut bytes = fs::read(&control).expect("read");
    bytes[16] = 6;
    fs::write(&control, bytes).expect("write");
    let said = project.planbook(&RUN).exits(0);
    assert!(said.err.contains("pg_controldata calls its state `in production`"), "{}", said.err);
    assert_eq!(built(&project)["reused"], false);

    fs::remove_file(data(&project).join("global/pg_control")).expect("remove");
    let said = project.planbook(&RUN).exits(0);
    assert!(said.err.contains("the cached cluster is not used, since pg_controldata says"), "{}", said.err);
    assert_eq!(built(&project)["reused"], false);
    project.planbook(&RUN).exits(0);
    assert_eq!(built(&project)["reused"], true);
}

#[test]
fn two_runs_at_once_share_a_cache_without_harm() {
    let project = project();
    project.write("experiments/again.yaml", NOTEBOOK);
    let runs: Vec<_> = ["scan", "again"]
        .map(|name| project.spawn(&["run", name, "--server", "local"]))
        .into_iter()
        .collect();
    for run in runs {
        said(run.wait_with_output().expect("wait")).exits(0);
    }
    assert_eq!(cached(&project).len(), 1);
    project.planbook(&RUN).exits(0);
    assert_eq!(built(&project)["reused"], true);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_build_that_was_killed_is_nowhere_found_again() {
    let project = project();
    let slow = format!("{DATASET}  - SELECT pg_sleep(60) IS NOT NULL\n");
    project.write("experiments/datasets/numbers.yaml", &slow);
    let mut run = project.spawn(&RUN);
    let events = "results/scan/local-15.partial/events.jsonl";
    wait_until("the build is at its end", || {
        project.exists(events) && project.read(events).contains("CHECKPOINT")
    });
    kill(Pid::from_raw(i32::try_from(run.id()).expect("a pid")), Signal::SIGKILL).expect("kill");
    run.wait().expect("wait");
    assert!(cached(&project).is_empty());
    project.write("experiments/datasets/numbers.yaml", DATASET);
    project.planbook(&RUN).exits(0);
    assert_eq!(built(&project)["reused"], false);
    project.planbook(&["server", "prune"]).exits(0);
    assert_eq!(cached(&project).len(), 1, "prune leaves the cache alone");
}

#[test]
fn an_embedded_server_finds_its_dataset_again() {
    let project = project();
    let run = || {
        let mut command = project.command(&["run", "scan", "--server", "embedded:18"]);
        command.env("PLANBOOK_CACHE_DIR", project.path().join("cache"));
        said(command.output().expect("planbook starts")).exits(0)
    };
    let built = || project.json("results/scan/embedded-18/manifest.json")["built"].clone();
    let first = run();
    assert!(first.err.contains("bringing PostgreSQL 18 by "), "{}", first.err);
    let record = built();
    assert_eq!(record["reused"], false);
    let second = run();
    assert!(second.err.contains("from the cache") && !second.err.contains("bringing"), "{}", second.err);
    assert_eq!((&built()["reused"], &built()["fingerprint"]), (&true.into(), &record["fingerprint"]));
    let entries = cached(&project);
    assert_eq!((entries.len(), &entries[0]["kind"]), (1, &"embedded".into()));
    assert_eq!(entries[0]["datasets"], serde_json::json!(["numbers (rows=20000)"]));
}

#[test]
fn a_container_finds_its_dataset_again_unless_it_was_killed() {
    if !engine::answers() {
        return;
    }
    let project = project();
    // A flag of this test's own makes its volume its own.
    let own = format!(
        "server: {{settings: {{deadlock_timeout: {}ms, shared_buffers: 32MB}}}}\nsteps:",
        1000 + std::process::id()
    );
    project.write("experiments/scan.yaml", &NOTEBOOK.replace("steps:", &own));
    let command = |args: &[&str]| -> Command {
        let mut command = project.command(args);
        command.env("PLANBOOK_PG16_IMAGE", &engine::image().reference);
        command
    };
    let run = || said(command(&["run", "scan", "--server", "docker"]).output().expect("run")).exits(0);
    let reused =
        || project.json("results/scan/docker-15/manifest.json")["built"]["reused"].as_bool().expect("known");
    let before = volumes();
    run();
    let own_volume: Vec<String> = volumes().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(!reused());
    run();
    assert!(reused());
    // `cache ls` tells of the volume what it tells of a directory.
    let listed = || -> serde_json::Value {
        let said = said(command(&["cache", "ls", "--format", "json"]).output().expect("ls")).exits(0);
        let entries: Vec<serde_json::Value> = serde_json::from_str(&said.out).expect("JSON");
        entries.into_iter().find(|entry| entry["id"] == own_volume[0]).expect("the volume")
    };
    let entry = listed();
    assert_eq!(
        (&entry["kind"], &entry["datasets"]),
        (&"docker".into(), &serde_json::json!(["numbers (rows=20000)"]))
    );
    assert!(entry["version"].as_str().is_some_and(|version| version.starts_with("15.")), "{entry}");
    assert!(entry["bytes"].as_u64() > Some(10_000_000), "{entry}");
    // A long one, killed in the middle: its server dies without a word.
    let long = NOTEBOOK
        .replace("steps:", &own)
        .replace("reps: 5", "reps: 200000")
        .replace("turns: 1", "turns: 1\n      budget: 60s");
    project.write("experiments/scan.yaml", &long);
    let mut killed = command(&["run", "scan", "--server", "docker"]).spawn().expect("run");
    let samples = "results/scan/docker-15.partial/samples.csv";
    wait_until("samples are written", || {
        project.exists(samples) && project.read(samples).lines().count() > 3
    });
    killed.kill().expect("kill");
    killed.wait().expect("wait");
    project.write("experiments/scan.yaml", &NOTEBOOK.replace("steps:", &own));
    let said = run();
    assert!(said.err.contains("not shut down cleanly and is not trusted"), "{}", said.err);
    assert!(!reused());
    assert_eq!(listed()["datasets"], serde_json::json!(["numbers (rows=20000)"]));
    for name in own_volume {
        engine::docker(&["volume", "rm", &name]);
    }
}

/// The volumes of datasets.
fn volumes() -> Vec<String> {
    let names = engine::docker(&["volume", "ls", "-q", "--filter", "label=planbook.volume"]);
    names.lines().filter(|name| name.starts_with("planbook-data-")).map(str::to_owned).collect()
}
