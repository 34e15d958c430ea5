//! What must not go unnoticed while a notebook runs: snapshots, roles with settings of their own, autovacuum, a full
//! disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use planbook::session::{Endpoint, Host, Session, Tls};

use crate::engine;
use crate::project::{Project, files, said, wait_until};

/// A notebook whose dataset takes long enough for somebody to interfere.
const NOTEBOOK: &str = "planbook: 1
title: Disturbed
SERVERdataset:
  sql:
    - CREATE TABLE t (id int, v int)
    - SELECT pg_sleep(4)
    - INSERT INTO t SELECT g, g % 200 FROM generate_series(1, 20000) AS g
steps:
  - sql: UPDATE t SET v = v + 1
  - sql: SELECT pg_sleep(SECONDS / 4.0)
  - sql: SELECT pg_sleep(SECONDS)
  - measure:
      id: scan
      reps: 5
      turns: 1
      query: SELECT * FROM t WHERE id = 500
";

fn project(server: &str, seconds: u32) -> Project {
    let notebook = NOTEBOOK.replace("SERVER", server).replace("SECONDS", &seconds.to_string());
    Project::with("disturbed", &notebook)
}

/// A session on the server that the project's run has started.
fn intrude(project: &Project) -> Session {
    let mut socket: Option<PathBuf> = None;
    wait_until("the server has a socket", || {
        let found = files(&project.path().join("data"));
        socket = found.into_iter().find(|path| path.file_name().is_some_and(|name| name == ".s.PGSQL.5432"));
        socket.is_some()
    });
    let directory = socket.as_deref().and_then(Path::parent).expect("a folder").to_owned();
    let endpoint = Endpoint {
        host: Host::Socket(directory),
        port: 5432,
        user: "postgres".into(),
        password: None,
        tls: Tls::default(),
    };
    let mut session = None;
    wait_until("the server answers", || {
        session = Session::connect(&endpoint, "postgres").ok();
        session.is_some()
    });
    session.expect("a session")
}

const RUN: [&str; 4] = ["run", "disturbed", "--server", "local"];

#[test]
fn a_transaction_in_another_database_is_noticed_and_named() {
    let project = project("", 0);
    let run = project.spawn(&RUN);
    let mut session = intrude(&project);
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").expect("begin");
    session.execute("SELECT count(*) FROM pg_class").expect("a snapshot");
    let said = said(run.wait_with_output().expect("wait")).exits(1);
    let says = format!(
        "process {} (postgres, planbook {}, idle in transaction) holds a snapshot in postgres",
        session.backend_pid(),
        std::process::id()
    );
    assert!(said.out.contains(&says), "{}\n{}", said.out, said.err);
}

#[test]
fn a_setting_of_the_role_is_noticed_and_named() {
    let project = project("", 0);
    let run = project.spawn(&RUN);
    intrude(&project).execute("ALTER ROLE postgres SET random_page_cost = 1.1").expect("alter");
    let said = said(run.wait_with_output().expect("wait")).exits(1);
    assert!(said.out.contains("random_page_cost is 1.1, set for this user"), "{}\n{}", said.out, said.err);
}

#[test]
fn autovacuum_that_works_on_a_table_is_noticed_and_named() {
    let server = "server: {settings: {autovacuum: on, autovacuum_naptime: 1s}}\n";
    let project = project(server, 8);
    let said = project.planbook(&RUN).exits(1);
    assert!(said.err.contains("autovacuum is on, as the notebook asks"), "{}", said.err);
    assert!(said.out.contains("autovacuum has worked on t ("), "{}\n{}", said.out, said.err);
}

/// A worker takes minutes for the table, and is at it when the last statement of the dataset ends.
const SLOW_WORKER: &str = "planbook: 1
title: Disturbed
server:
  settings:
    autovacuum: on
    autovacuum_naptime: 1s
    autovacuum_vacuum_cost_delay: 100ms
    autovacuum_vacuum_cost_limit: 1
dataset:
  sql:
    - |
      CREATE FUNCTION autovacuum_comes(seconds int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
        FOR look IN 1..10 * seconds LOOP
          PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
          IF EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE relid = 't'::regclass) THEN RETURN true; END IF;
        END LOOP;
        RETURN false;
      END $$
    - CREATE TABLE t (id int, v int)
    - INSERT INTO t SELECT g, g % 200 FROM generate_series(1, 20000) AS g
    - DELETE FROM t WHERE id % 3 = 0
    - SELECT pg_stat_force_next_flush()
    - SELECT 1 / autovacuum_comes(60)::int
  verify:
    - SELECT NOT autovacuum_comes(3)
steps:
  - measure: {id: scan, reps: 5, turns: 1, query: SELECT * FROM t WHERE id = 500}
";

#[test]
fn autovacuum_has_left_the_dataset_before_it_is_copied() {
    let project = Project::with("disturbed", SLOW_WORKER);
    let said = project.planbook(&RUN).exits(0);
    assert!(said.err.contains("autovacuum is on, as the notebook asks"), "{}", said.err);
    let again = project.planbook(&RUN).exits(0);
    assert!(again.err.contains("from the cache"), "{}", again.err);
}

#[test]
fn autovacuum_and_synchronised_scans_that_nobody_asked_for_are_refused() {
    let project = project("", 0);
    project.write("planbook.yaml", "server: {compose: ci/pg.yaml, service: db}\n");
    let service = |flags: &str| {
        format!("services:\n  db: {{image: 'postgres:15@sha256:{}', command: [{flags}]}}\n", "0".repeat(64))
    };
    for (flags, says) in [
        ("postgres, -c, synchronize_seqscans=off", "autovacuum is on: it would change things"),
        ("postgres, -c, autovacuum=off", "synchronize_seqscans is on: it would change things"),
    ] {
        project.write("ci/pg.yaml", &service(flags));
        let said = project.planbook(&RUN).exits(1);
        assert!(said.out.contains(says) && said.out.contains("not run"), "{}\n{}", said.out, said.err);
        let measured = project.read("results/disturbed/local-15/samples.csv");
        assert_eq!(measured.lines().count(), 1, "nothing was measured under it");
    }
}

/// A dataset that fills a disk of 150 MB, and after it one that fits.
fn too_large() -> [String; 2] {
    let notebook = NOTEBOOK
        .replace("SERVER", "server: {settings: {max_wal_size: 64MB, min_wal_size: 32MB}}\n")
        .replace("SECONDS", "0")
        .replace("pg_sleep(4)", "1");
    [notebook.replace("20000", "5000000"), notebook]
}

#[test]
fn a_disk_that_fills_during_the_build_is_said_and_leaves_no_cache() {
    let project = project("", 0);
    let full = project.path().join("full");
    std::fs::create_dir(&full).expect("create");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=150m", "tmpfs"]).arg(&full).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        // Not everywhere may one mount a disk; the engine's test below needs no leave for it, and CI must have an engine.
        eprintln!("skipped: no small disk can be mounted here");
        assert!(engine::answers() || std::env::var_os("CI").is_none(), "nothing here can make a small disk");
        return;
    }
    let run = || {
        let output = project.command(&RUN).env("PLANBOOK_DATA_DIR", &full).output();
        said(output.expect("planbook starts"))
    };
    let [large, small] = too_large();
    project.write("experiments/disturbed.yaml", &large);
    let first = run();
    // A dataset that fits finds no trace of the other one.
    project.write("experiments/disturbed.yaml", &small);
    let second = run();
    Command::new("umount").arg(&full).status().expect("umount");
    let first = first.exits(3);
    // Where the table meets the end of the disk first the server says so; where its log does, the server ends.
    let told = [
        ["No space left on device (53100)", "make room on the disk"],
        ["no space left on the disk of", "free some space"],
    ];
    assert!(told.iter().any(|parts| parts.iter().all(|part| first.err.contains(part))), "{}", first.err);
    second.exits(0);
    assert_eq!(project.json("results/disturbed/local-15/manifest.json")["built"]["reused"], false);
}

/// The same on a volume of the engine's that is as small: its engine mounts it, so this works where the test may not.
#[test]
fn a_volume_that_fills_during_the_build_is_said_too() {
    if !engine::answers() {
        return;
    }
    let project = project("", 0);
    let name = format!("small-{}", std::process::id());
    let volume = engine::Removed("volume", format!("planbook-{name}"));
    let small = ["--opt", "type=tmpfs", "--opt", "device=tmpfs", "--opt", "o=size=150m"];
    engine::docker(&[&["volume", "create"], &small[..], &[&volume.1]].concat());
    project.write("planbook.yaml", "server: {use: docker, compose: ci/pg.yaml, service: db}\n");
    let compose = format!(
        "services:
  db:
    image: '{}'
    command: [postgres, -c, autovacuum=off, -c, synchronize_seqscans=off]
    volumes: ['{name}:/var/lib/postgresql/data']
volumes: {{{name}: {{}}}}
",
        engine::image().reference
    );
    project.write("ci/pg.yaml", &compose);
    let [large, small] = too_large();
    project.write("experiments/disturbed.yaml", &large);
    let first = project.planbook(&["run", "disturbed"]).exits(3);
    assert!(first.err.to_lowercase().contains("no space left on"), "{}", first.err);
    assert!(first.err.contains("space") && first.err.contains("what was recorded"), "{}", first.err);
    project.write("experiments/disturbed.yaml", &small);
    project.planbook(&["run", "disturbed"]).exits(0);
    assert_eq!(project.json("results/disturbed/docker-15/manifest.json")["built"]["reused"], false);
}
