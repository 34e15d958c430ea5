//! Runs that do not end well: killed, interrupted, or without their server.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use planbook::recording::{Recording, Status};

use crate::project::{Project, said, wait_until};

/// Long enough to be caught in the middle.
const SLOW: &str = r#"planbook: 1
title: Slow
dataset:
  sql: [CREATE TABLE t AS SELECT 1 AS id]
steps:
  - measure: {id: quick, query: SELECT * FROM t, reps: 5, turns: 5}
  - measure: {id: slow, query: SELECT pg_sleep(0.05), reps: 2000, budget: 600s}
"#;

const PARTIAL: &str = "results/slow/local-15.partial";

fn in_the_middle(project: &Project) -> bool {
    let samples = project.path().join(PARTIAL).join("samples.csv");
    std::fs::read_to_string(samples)
        .is_ok_and(|text| text.lines().filter(|line| line.starts_with("slow")).count() > 3)
}

fn pid(child: &std::process::Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id"))
}

#[test]
fn a_kill_leaves_a_readable_partial_and_prune_ends_what_is_left() {
    let project = Project::with("slow", SLOW);
    let mut run = project.spawn(&["run", "slow", "--server", "local"]);
    wait_until("samples are written", || in_the_middle(&project));
    kill(pid(&run), Signal::SIGKILL).expect("kill");
    run.wait().expect("wait");

    assert!(!project.exists("results/slow/local-15"), "no result looks whole");
    let recording = Recording::open(&project.path().join(PARTIAL)).expect("readable");
    assert_eq!(recording.manifest.status, Status::Running);
    assert_eq!(recording.captures.len(), 2);
    assert!(recording.samples.len() == 2);
    project.planbook(&["render", PARTIAL]).exits(0);
    assert!(project.read(&format!("{PARTIAL}/report.md")).contains("cut off"));

    // A stranger's process that looks like nothing of ours must survive the pruning.
    let mut stranger = Command::new("sleep").arg("600").spawn().expect("sleep");
    let left = project.servers();
    assert_eq!(left.len(), 1, "{left:?}");
    let next = project
        .spawn(&["run", "slow", "--server", "local", "--set", "x=1"])
        .wait_with_output()
        .expect("wait");
    assert_eq!(said(next).code, 2, "an unknown parameter is refused as ever");
    project.planbook(&["server", "prune"]).exits(0);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
    assert!(stranger.try_wait().expect("alive").is_none(), "the stranger lives");
    stranger.kill().expect("kill");
    stranger.wait().expect("wait");
}

#[test]
fn the_next_run_is_not_disturbed_by_a_killed_one() {
    let project = Project::with("slow", SLOW);
    let mut run = project.spawn(&["run", "slow", "--server", "local"]);
    wait_until("samples are written", || in_the_middle(&project));
    kill(pid(&run), Signal::SIGKILL).expect("kill");
    run.wait().expect("wait");
    project.write("experiments/slow.yaml", &SLOW.replace("reps: 2000", "reps: 6"));
    project.planbook(&["run", "slow", "--server", "local"]).exits(0);
    assert!(project.exists("results/slow/local-15/report.md"));
    assert!(project.exists(&format!("{PARTIAL}.1/samples.csv")), "the cut run's evidence is kept aside");
    project.planbook(&["server", "prune"]).exits(0);
}

#[test]
fn signals_end_the_run_and_leave_no_server() {
    // Who starts a run under nohup wants it to outlive a hangup: it is ignored then, and so it is if the tests run under it.
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let project = Project::with("slow", SLOW);
        let run = project.spawn(&["run", "slow", "--server", "local"]);
        wait_until("samples are written", || in_the_middle(&project));
        kill(pid(&run), signal).expect("signal");
        let said = said(run.wait_with_output().expect("wait")).exits(130);
        assert!(said.err.contains("local-15.partial"), "{}", said.err);
        assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
        let recording = Recording::open(&project.path().join(PARTIAL)).expect("readable");
        assert_eq!(recording.manifest.status, Status::Interrupted);
    }
}

/// Whether this process, and so what it starts, was started with that signal ignored.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    mask & (1 << (signal as i32 - 1)) != 0
}

#[test]
fn a_server_that_is_told_to_shut_down_is_an_error_of_the_environment() {
    let notebook = r#"planbook: 1
title: Cut off
steps:
  - sql: SELECT pg_terminate_backend(pg_backend_pid())
  - sql: SELECT 1
"#;
    let project = Project::with("cut", notebook);
    let said = project.planbook(&["run", "cut", "--server", "local"]).exits(3);
    assert!(said.err.contains("57P01") || said.err.contains("terminating connection"), "{}", said.err);
    assert!(said.err.contains("cut/local-15.partial"), "{}", said.err);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

#[test]
fn what_finished_before_is_printed_for_machines_too() {
    let fine = "planbook: 1\ntitle: Fine\nsteps:\n  - check: [1 < 2]\n";
    let cut = "planbook: 1\ntitle: Cut\nsteps:\n  - sql: SELECT pg_terminate_backend(pg_backend_pid())\n";
    let project = Project::with("fine", fine);
    project.write("experiments/cut.yaml", cut);
    project.write("experiments/other.yaml", &format!("{fine}server: {{fresh: true}}\n"));
    let run = |names: &[&str]| {
        let said = project
            .planbook(&[&["run"], names, &["--server", "local", "--format", "json"]].concat())
            .exits(3);
        assert!(said.err.contains("cut/local-15.partial"), "{}", said.err);
        let outcomes: Vec<serde_json::Value> = serde_json::from_str(&said.out).expect("JSON");
        outcomes.iter().map(|one| one["notebook"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    // On the server that broke, and on another one before it.
    assert_eq!(run(&["other", "fine", "cut"]), ["other", "fine"]);
    assert_eq!(run(&["cut", "fine"]), Vec::<String>::new());
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_server_that_dies_shows_the_end_of_its_log() {
    let project = Project::with("slow", SLOW);
    let run = project.spawn(&["run", "slow", "--server", "local"]);
    wait_until("samples are written", || in_the_middle(&project));
    let postmaster = postmaster_of(&project);
    kill(postmaster, Signal::SIGQUIT).expect("quit");
    let said = said(run.wait_with_output().expect("wait")).exits(3);
    assert!(said.err.contains("immediate shutdown") || said.err.contains("quit"), "{}", said.err);
    assert_eq!(project.servers(), Vec::<serde_json::Value>::new());
}

/// The postmaster whose data lies in the project's private folder.
fn postmaster_of(project: &Project) -> Pid {
    let lock = crate::project::files(&project.path().join("data"))
        .into_iter()
        .find(|file| file.file_name().is_some_and(|name| name == "postmaster.pid"));
    let text = match lock {
        Some(lock) => std::fs::read_to_string(lock).expect("postmaster.pid"),
        None => panic!("no postmaster.pid below {}", project.path().display()),
    };
    Pid::from_raw(text.lines().next().and_then(|line| line.trim().parse().ok()).expect("a process id"))
}

#[test]
fn two_runs_of_one_recording_do_not_mix() {
    let project = Project::with("slow", SLOW);
    let mut first = project.spawn(&["run", "slow", "--server", "local"]);
    wait_until("samples are written", || in_the_middle(&project));
    let second = project.planbook(&["run", "slow", "--server", "local"]).exits(3);
    assert!(second.err.contains("another run is writing"), "{}", second.err);
    kill(pid(&first), Signal::SIGINT).expect("signal");
    first.wait().expect("wait");
}

#[test]
fn what_is_no_recording_is_never_replaced() {
    let project = Project::with("slow", SLOW);
    project.write("results/slow/local-15/notes.txt", "mine");
    let said = project.planbook(&["run", "slow", "--server", "local"]).exits(3);
    assert!(said.err.contains("is no recording"), "{}", said.err);
    assert_eq!(project.read("results/slow/local-15/notes.txt"), "mine");
    assert!(!project.exists(PARTIAL));
}

#[test]
fn two_notebooks_of_one_name_are_not_run_into_one_recording() {
    let project = Project::with("slow", SLOW);
    project.write("elsewhere/slow.yaml", SLOW);
    let said = project.planbook(&["run", "slow", "elsewhere/slow.yaml", "--server", "local"]).exits(2);
    assert!(said.err.contains("one recording"), "{}", said.err);
}

#[cfg(target_os = "linux")]
#[test]
fn data_that_does_not_arrive_is_an_error() {
    let project = Project::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let run = project.command(&["schema"]).stdout(full).output().expect("planbook starts");
    let said = said(run).exits(3);
    assert!(said.err.contains("standard output"), "{}", said.err);
}
