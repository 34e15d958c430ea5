//! `planbook run` on each kind of server: what it leaves, what it says, and that nothing stays behind.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::engine::{self, docker, knows};
use crate::project::{Project, Said, said, wait_until};

const QUICK: &str = "planbook: 1
title: Quick
server: {settings: {shared_buffers: 16MB}}
dataset:
  sql: CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 1000) AS g
steps:
  - measure:
      id: scan
      reps: 6
      turns: 3
      query: SELECT * FROM t WHERE id = 7
      expect: {plan: Seq Scan on t, rows: 1}
";

const SLOW: &str = "planbook: 1
title: Slow
server: {settings: {shared_buffers: 16MB}}
steps:
  - measure: {id: slow, query: SELECT pg_sleep(0.05), reps: 2000, budget: 600s}
";

fn project(name: &str, notebook: &str) -> Project {
    Project::with(name, notebook)
}

/// The program in a project, with this machine's image in the place of the official one, and no volume left behind.
fn with_image(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    if args.first() == Some(&"run") {
        command.arg("--no-cache");
    }
    command.env("PLANBOOK_PG16_IMAGE", &engine::image().reference);
    command
}

fn run(command: &mut Command) -> Said {
    said(command.output().unwrap())
}

/// The containers of this project's servers, with the volumes that belong to them.
fn containers(project: &Project) -> Vec<(String, String)> {
    let ids: Vec<String> =
        project.servers().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    let names = ids.iter().map(|id| format!("planbook-{id}")).filter(|name| knows(&["inspect", name]));
    let volume = |name: &str| docker(&["inspect", name, "--format", "{{range .Mounts}}{{.Name}}{{end}}"]);
    names.map(|name| (name.clone(), volume(&name))).collect()
}

fn assert_gone(project: &Project, containers: &[(String, String)]) {
    assert!(!containers.is_empty());
    for (name, volume) in containers {
        assert!(!knows(&["inspect", name]), "{name} is still there");
        assert!(!knows(&["volume", "inspect", volume]), "its volume {volume} is still there");
    }
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

fn sampled(project: &Project, place: &str) -> bool {
    std::fs::read_to_string(project.path().join(place).join("samples.csv"))
        .is_ok_and(|text| text.lines().count() > 3)
}

#[test]
fn a_run_in_a_container_records_what_it_ran_on() {
    if !engine::answers() {
        return;
    }
    let project = project("quick", QUICK);
    let said = run(&mut with_image(&project, &["run", "quick", "--server", "docker"])).exits(0);
    assert!(said.err.contains("docker · PostgreSQL 15."), "{}", said.err);
    let container = project.json("results/quick/docker-15/manifest.json")["server"]["container"].clone();
    let reference = &engine::image().reference;
    let digests = docker(&["image", "inspect", reference, "--format", "{{json .RepoDigests}}"]);
    let digest = container["image"]["digest"].as_str().unwrap();
    assert!(digests.contains(digest) && reference.ends_with(digest), "{digests} {container:#}");
    let report = project.read("results/quick/docker-15/report.md");
    let first = report.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(first.contains("in place of `postgres:16.14@sha256:17e67d7b"), "{first}");
    let short = &reference[..reference.find(":15@").unwrap() + 20];
    assert!(first.contains("Made with PostgreSQL 15.") && first.contains(short), "{first}");
    for whole in [
        &format!("| image | {reference} |"),
        "| instead of | postgres:16.14@sha256:",
        "| index digest | sha256:",
    ] {
        assert!(report.contains(whole), "no {whole:?} in\n{report}");
    }
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_failed_verdict_leaves_no_container() {
    if !engine::answers() {
        return;
    }
    let project = project("quick", &QUICK.replace("rows: 1}", "rows: 2}"));
    run(&mut with_image(&project, &["run", "quick", "--server", "docker:pg16"])).exits(1);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
    assert!(project.exists("results/quick/docker-15/report.md"));
}

#[test]
fn signals_leave_no_container_and_no_volume() {
    if !engine::answers() {
        return;
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let project = project("slow", SLOW);
        let child = with_image(&project, &["run", "slow", "--server", "docker"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_until("samples are written", || sampled(&project, "results/slow/docker-15.partial"));
        let there = containers(&project);
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        assert_gone(&project, &there);
    }
}

#[test]
fn a_container_that_is_killed_in_the_middle_of_a_measure_is_the_environment() {
    if !engine::answers() {
        return;
    }
    let project = project("slow", SLOW);
    let child = with_image(&project, &["run", "slow", "--server", "docker"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("samples are written", || sampled(&project, "results/slow/docker-15.partial"));
    let there = containers(&project);
    docker(&["kill", &there[0].0]);
    let said = said(child.wait_with_output().unwrap()).exits(3);
    assert!(said.err.contains("its container ended with code 137"), "{}", said.err);
    assert!(said.err.contains("ready to accept connections"), "the end of its log: {}", said.err);
    assert!(project.exists("results/slow/docker-15.partial/samples.csv"));
    assert_gone(&project, &there);
}

#[test]
fn an_unpinned_image_is_tried_only_when_asked_and_said_first() {
    if !engine::answers() {
        return;
    }
    let project = project("quick", QUICK);
    let tagged = engine::image().reference.split_once('@').unwrap().0;
    let mut refused = project.command(&["run", "quick", "--server", "docker", "--no-cache"]);
    let said = run(refused.env("PLANBOOK_PG16_IMAGE", tagged)).exits(2);
    assert!(said.err.contains("is not pinned") && said.err.contains("--allow-unpinned"), "{}", said.err);
    let mut allowed =
        project.command(&["run", "quick", "--server", "docker", "--allow-unpinned", "--no-cache"]);
    run(allowed.env("PLANBOOK_PG16_IMAGE", tagged)).exits(0);
    let report = project.read("results/quick/docker-15/report.md");
    let first = report.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(first.contains("which no digest pins"), "{first}");
}

#[test]
fn a_full_dev_shm_is_told_with_its_remedy() {
    if !engine::answers() {
        return;
    }
    let notebook = "planbook: 1
title: Parallel
settings: {max_parallel_workers_per_gather: 2, parallel_setup_cost: 0, parallel_tuple_cost: 0, min_parallel_table_scan_size: 0, work_mem: 64MB, enable_mergejoin: off, enable_nestloop: off}
dataset:
  sql: CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 400000) AS g
steps:
  - measure: {id: join, query: SELECT count(*) FROM t a JOIN t b USING (id)}
";
    let project = project("parallel", notebook);
    project.write("planbook.yaml", "server: {use: docker, compose: ci/pg.yaml, service: db}\n");
    let image = &engine::image().reference;
    let command = "[postgres, -c, autovacuum=off, -c, synchronize_seqscans=off]";
    project.write(
        "ci/pg.yaml",
        &format!("services:\n  db: {{image: '{image}', shm_size: 8m, command: {command}}}\n"),
    );
    let said = run(&mut project.command(&["run", "parallel", "--no-cache"])).exits(3);
    assert!(said.err.contains("could not resize shared memory segment"), "{}", said.err);
    assert!(said.err.contains("raise `shm_size`"), "{}", said.err);
}

#[test]
fn notebooks_with_equal_needs_share_a_server() {
    let project = project("a", QUICK);
    project.write("experiments/b.yaml", &QUICK.replace("16MB", "24MB"));
    project.write("experiments/c.yaml", QUICK);
    let fresh = QUICK.replace("server: {", "server: {fresh: true, ");
    let fresh = format!("{fresh}  - sql: CREATE ROLE somebody\n  - sql: ALTER SYSTEM SET work_mem = '5MB'\n");
    project.write("experiments/d.yaml", &fresh);
    project.write("experiments/e.yaml", &fresh);
    let said = project.planbook(&["run", "--all", "--server", "local", "--format", "json"]).exits(0);
    assert_eq!(said.err.matches("server   local").count(), 4, "{}", said.err);
    let outcomes: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(outcomes.as_array().unwrap().len(), 5);
    for (name, size) in [("a", "16MB"), ("b", "24MB"), ("c", "16MB")] {
        let manifest = project.json(&format!("results/{name}/local-15/manifest.json"));
        assert_eq!(manifest["server"]["settings_in_force"]["shared_buffers"], size);
        assert_eq!(manifest["server"]["settings_asked"]["shared_buffers"], size);
    }
    let said = project.planbook(&["run", "d", "--server", "url:postgres://nobody@192.0.2.1/x"]).exits(2);
    assert!(said.err.contains("wants a server of its own"), "{}", said.err);
}

#[test]
fn psql_opens_on_the_server_that_runs() {
    let project = project("slow", SLOW);
    let none = project.planbook(&["server", "psql"]).exits(3);
    assert!(none.err.contains("no server of Planbook's runs"), "{}", none.err);
    let mut child = project.command(&["run", "slow", "--server", "local"]);
    let mut child =
        child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_until("samples are written", || sampled(&project, "results/slow/local-15.partial"));
    let id = project.servers()[0]["id"].as_str().unwrap().to_owned();
    let query = ["server", "psql", &id[..6], "--", "-d", "postgres", "-Atc", "SELECT 6 * 7"];
    assert_eq!(project.planbook(&query).exits(0).out, "42\n");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    child.wait().unwrap();
}

#[test]
fn planbook_yaml_says_where_and_on_what() {
    let project = Project::new();
    project.write("planbook.yaml", "server: {use: local}\nexperiments: notes\nresults: out\n");
    project.write("notes/quick.yaml", QUICK);
    project.planbook(&["run", "quick"]).exits(0);
    assert!(project.exists("out/quick/local-15/report.md"));
    project.write("planbook.yaml", "server: {use: local}\nexperimnets: notes\n");
    let said = project.planbook(&["list"]).exits(2);
    assert!(said.err.contains("planbook.yaml") && said.err.contains("experimnets"), "{}", said.err);
}

#[test]
fn somebody_elses_server_is_left_as_it_was_even_after_a_kill() {
    if !engine::answers() {
        return;
    }
    let name = format!("theirs-{}", std::process::id());
    let _theirs = engine::Removed("container", name.clone());
    let image = &engine::image().reference;
    docker(&[
        "run",
        "-d",
        "--name",
        &name,
        "-p",
        "127.0.0.1::5432",
        "-e",
        "POSTGRES_PASSWORD=hunter2",
        image,
    ]);
    let address = docker(&["port", &name, "5432/tcp"]);
    let url = format!("postgres://postgres:hunter2@{}/postgres", address.lines().next().unwrap());
    let databases =
        || docker(&["exec", &name, "psql", "-U", "postgres", "-Atc", "SELECT datname FROM pg_database"]);
    let ready = [
        "exec",
        &name,
        "psql",
        "-h",
        "127.0.0.1",
        "-c",
        "SELECT 1",
        &url.replace(address.lines().next().unwrap(), "127.0.0.1"),
    ];
    wait_until("their server answers", || knows(&ready));

    let project = project("quick", QUICK);
    project.write("experiments/slow.yaml", SLOW);
    let with_url = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("PLANBOOK_URL", &url);
        command
    };
    let said = run(&mut with_url(&["run", "quick", "--server", "url"])).exits(0);
    assert!(said.err.contains("shared_buffers is 128MB and not 16MB"), "{}", said.err);
    assert!(!databases().contains("planbook"), "{}", databases());

    let mut child =
        with_url(&["run", "slow", "--server", "url"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_until("samples are written", || sampled(&project, "results/slow/url-15.partial"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(databases().contains("planbook_slow"), "{}", databases());
    let said = run(&mut with_url(&["run", "quick", "--server", "url"])).exits(0);
    assert!(said.err.contains("dropped what killed runs left on this server: planbook_slow"), "{}", said.err);
    assert!(!databases().contains("planbook"), "{}", databases());
    for file in crate::project::files(&project.path().join("results")) {
        assert!(!std::fs::read_to_string(&file).unwrap().contains("hunter2"), "{}", file.display());
    }
}

#[test]
fn docker_compose_starts_the_same_thing_as_it_stands() {
    if !engine::answers() {
        return;
    }
    if !Command::new("docker-compose").arg("version").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI must have docker-compose");
        eprintln!("skipped: no docker-compose");
        return;
    }
    let compose = |args: &[&str]| {
        let mut command = Command::new("docker-compose");
        let name = format!("planbooktest{}", std::process::id());
        command.args(["-f", concat!(env!("CARGO_MANIFEST_DIR"), "/compose.yaml"), "-p", &name]).args(args);
        command.env_remove("PLANBOOK_PASSWORD").env("PLANBOOK_PG16_IMAGE", &engine::image().reference);
        command.env("PLANBOOK_PG16_PORT", "0");
        command
    };
    let refused = run(&mut compose(&["up", "-d", "pg16"]));
    assert!(refused.code != 0 && refused.err.contains("set PLANBOOK_PASSWORD"), "{}", refused.err);
    let up = run(compose(&["up", "-d", "pg16"]).env("PLANBOOK_PASSWORD", "hunter2"));
    let down = || run(compose(&["down", "-v"]).env("PLANBOOK_PASSWORD", "hunter2"));
    let outcome = std::panic::catch_unwind(|| {
        let up = up.exits(0);
        let id = run(compose(&["ps", "-q", "pg16"]).env("PLANBOOK_PASSWORD", "hunter2")).exits(0).out;
        let id = id.trim();
        let health = || docker(&["inspect", id, "--format", "{{.State.Health.Status}}"]);
        wait_until("the health check passes", || health() == "healthy");
        let address = docker(&["port", id, "5432/tcp"]);
        assert!(address.starts_with("127.0.0.1:"), "{address} {}", up.err);
        let project = project("quick", QUICK);
        let url = format!("url:postgres://postgres:hunter2@{address}/postgres");
        project.planbook(&["run", "quick", "--server", &url]).exits(0);
        let settings = &project.json("results/quick/url-15/manifest.json")["server"]["settings_in_force"];
        assert_eq!((&settings["autovacuum"], &settings["max_wal_size"]), (&"off".into(), &"4GB".into()));
    });
    down().exits(0);
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}
