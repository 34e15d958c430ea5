//! The local server: started, described, watched, ended, and found again after a kill.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use planbook::server::{self, ServerError, Spec};
use planbook::session::{Endpoint, Scalar, Session};

use crate::scene::{self, Scene, small};

fn local() -> Spec {
    Spec::Local { bindir: None }
}

fn quiet(_: &str) {}

fn connect(endpoint: &Endpoint) -> Session {
    Session::connect(endpoint, "postgres").unwrap()
}

/// The processes whose working directory lies under `dir`.
fn processes_in(dir: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            fs::read_link(entry.path().join("cwd")).ok()?.starts_with(dir).then_some(pid)
        })
        .collect()
}

#[test]
fn a_server_starts_answers_and_leaves_nothing() {
    let scene = Scene::new("server_local");
    scene.play("whole_life");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
    assert_eq!(processes_in(scene.root()), Vec::<u32>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_whole_life() {
    let mut needs = small();
    needs.settings.insert("work_mem".into(), "7MB".into());
    let mut server = server::start(&local(), &needs, &mut quiet).unwrap();
    server.check_alive().unwrap();
    let mut client = connect(server.endpoint());
    let show = |session: &mut Session, name: &str| match session.scalar(&format!("SHOW {name}")).unwrap() {
        Some(Scalar::Text(value)) => value,
        other => panic!("{name} is {other:?}"),
    };
    for (name, value) in [
        ("autovacuum", "off"),
        ("synchronize_seqscans", "off"),
        ("track_io_timing", "on"),
        ("max_connections", "20"),
        ("shared_buffers", "16MB"),
        ("max_wal_size", "4GB"),
        ("timezone", "UTC"),
        ("fsync", "on"),
        ("work_mem", "7MB"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
    ] {
        assert_eq!(show(&mut client, name), value, "{name}");
    }
    let identity = server.identity().clone();
    assert_eq!(identity.version_num.to_string(), show(&mut client, "server_version_num"));
    assert_eq!(identity.version, show(&mut client, "server_version"));
    assert_eq!(server.major(), identity.version_num / 10_000);
    assert_eq!(identity.settings_asked["work_mem"], "7MB");
    assert_eq!(identity.settings_in_force["work_mem"], "7MB");
    assert!(!identity.settings_in_force.contains_key("data_directory"));
    assert_eq!((identity.block_size, identity.encoding.as_str()), (8192, "UTF8"));
    let text = serde_json::to_string(&identity).unwrap();
    assert!(!text.contains("/tmp") && !text.contains("planbook-"), "a path of the machine: {text}");
    assert_eq!(serde_json::from_str::<server::Identity>(&text).unwrap(), identity);
    let entries = server::list().unwrap();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].owner_lives && entries[0].runs, "{entries:?}");
    assert_eq!(server::prune().unwrap().removed, [], "a running planbook's server is not to be pruned");
    drop(client);
    server.check_alive().unwrap();
    server.stop().unwrap();
    assert_eq!(server::list().unwrap(), []);
}

#[test]
#[ignore = "a scene: holds a server until it is killed"]
fn scene_hold() {
    let _server = server::start(&local(), &small(), &mut quiet).unwrap();
    scene::ready();
}

#[test]
fn prune_ends_what_a_kill_left_and_nothing_else() {
    let scene = Scene::new("server_local");
    let living = scene.hold("hold");
    let kept: Vec<PathBuf> = scene.left();
    scene.hold("hold").kill_hard();
    let both = scene.left();
    assert_eq!(both.len(), 2);
    let dead = both.iter().find(|dir| !kept.contains(dir)).unwrap();
    assert!(!processes_in(dead).is_empty(), "the postmaster survives the death of its parent");
    // A stranger's directory of a name like ours, and a stranger's process in it.
    let stranger = scene.data().join("planbook-stranger");
    fs::create_dir(&stranger).unwrap();
    let mut sleeper = Command::new("sleep").arg("60").current_dir(&stranger).spawn().unwrap();
    scene.play("prune_one");
    assert!(!dead.exists());
    assert_eq!(processes_in(dead), Vec::<u32>::new());
    assert!(kept[0].exists() && !processes_in(&kept[0]).is_empty());
    assert!(stranger.exists() && sleeper.try_wait().unwrap().is_none());
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    living.kill_hard();
    scene.play("prune_one");
    assert_eq!(scene.left(), [stranger]);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_prune_one() {
    let before = server::list().unwrap();
    let dead: Vec<_> = before.into_iter().filter(|entry| !entry.owner_lives).collect();
    assert_eq!(dead.len(), 1, "{dead:?}");
    let pruned = server::prune().unwrap();
    assert!(pruned.problems.is_empty(), "{:?}", pruned.problems);
    assert_eq!(pruned.removed, dead);
    assert!(server::list().unwrap().iter().all(|entry| entry.owner_lives));
}

#[test]
fn a_server_that_is_killed_shows_the_end_of_its_log() {
    let scene = Scene::new("server_local");
    scene.play("killed");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_killed() {
    let mut server = server::start(&local(), &small(), &mut quiet).unwrap();
    let data: PathBuf = std::env::var_os("PLANBOOK_DATA_DIR").unwrap().into();
    let file = fs::read_dir(&data).unwrap().next().unwrap().unwrap().path().join("data/postmaster.pid");
    let pid = fs::read_to_string(file).unwrap().lines().next().unwrap().to_owned();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let until = Instant::now() + Duration::from_secs(10);
    let error = loop {
        match server.check_alive() {
            Err(error) => break error,
            Ok(()) => assert!(Instant::now() < until, "the death was not seen"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(matches!(error, ServerError::Died { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 3);
    let text = error.to_string();
    assert!(text.contains("SIGKILL") && text.contains("ready to accept connections"), "{text}");
    assert!(!text.contains(&data.display().to_string()), "{text}");
}

#[test]
fn a_setting_that_the_server_refuses_is_shown_in_its_own_words() {
    let scene = Scene::new("server_local");
    scene.play("bad_setting");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_bad_setting() {
    let mut needs = small();
    needs.settings.insert("no_such_setting".into(), "1".into());
    let error = server::start(&local(), &needs, &mut quiet).unwrap_err();
    assert!(matches!(error, ServerError::DiedAtStart { .. }), "{error:?}");
    assert!(
        error.to_string().contains("unrecognized configuration parameter \"no_such_setting\""),
        "{error}"
    );
    assert!(error.next().contains("settings"), "{}", error.next());
}

#[test]
fn memory_that_the_machine_has_not_is_said() {
    let scene = Scene::new("server_local");
    scene.play("too_much_memory");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_too_much_memory() {
    let mut needs = small();
    needs.settings.insert("shared_buffers".into(), "7TB".into());
    let mut said = Vec::new();
    let error = server::start(&local(), &needs, &mut |line| said.push(line.to_owned())).unwrap_err();
    assert!(matches!(error, ServerError::NoMemory { .. }), "{error:?}");
    assert!(
        error.to_string().contains("Cannot allocate memory") && error.next().contains("shared_buffers"),
        "{error}"
    );
    assert!(said.iter().any(|line| line.contains("shared_buffers takes")), "{said:?}");
}

#[test]
fn a_start_that_is_interrupted_leaves_nothing() {
    let scene = Scene::new("server_local");
    scene.play("interrupted");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
    assert_eq!(processes_in(scene.root()), Vec::<u32>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_interrupted() {
    let needs = small();
    let stop = needs.stop.clone();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let began = Instant::now();
    let error = server::start(&local(), &needs, &mut quiet).unwrap_err();
    waker.join().unwrap();
    assert!(matches!(error, ServerError::Interrupted), "{error:?}");
    assert_eq!(error.exit_code(), 130);
    assert!(began.elapsed() < Duration::from_secs(15));
}

/// What `start` says with this variable.
fn complaint(scene: &Scene, variable: &str, value: &str) -> String {
    let output = scene.command("complain").env(variable, value).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(scene.left(), Vec::<PathBuf>::new(), "{text}");
    text
}

#[test]
#[ignore = "a scene of the tests below"]
fn scene_complain() {
    scene::complain(&server::start(&local(), &small(), &mut quiet).unwrap_err());
}

#[test]
fn each_thing_that_is_missing_has_its_own_words() {
    let scene = Scene::new("server_local");
    let long = scene.root().join("d".repeat(100));
    fs::create_dir(&long).unwrap();
    let long = long.display().to_string();
    for (variable, value, expected) in [
        ("PLANBOOK_PG_BIN", "none", "no PostgreSQL server binaries were found"),
        ("PLANBOOK_PG_BIN", "/usr/share", "/usr/share holds no `postgres`"),
        ("PLANBOOK_DATA_DIR", "/no/such/directory", "cannot use /no/such/directory"),
        ("PLANBOOK_DATA_DIR", "/proc", "/proc"),
        ("PLANBOOK_SOCKET_DIR", "/no/such/directory", "cannot use /no/such/directory"),
        ("PLANBOOK_SOCKET_DIR", &long, "of 107 allowed"),
        ("PLANBOOK_STATE_DIR", "/proc/1/no", "cannot create /proc/1/no/servers"),
    ] {
        let text = complaint(&scene, variable, value);
        assert!(text.contains(expected), "{variable}={value}: {text}");
        assert!(text.contains("next: ") && text.contains("exit 3"), "{variable}={value}: {text}");
    }
}

#[test]
fn initdb_without_disk_or_with_another_trouble_says_so() {
    let scene = Scene::new("server_local");
    let bin = scene.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let write = |name: &str, body: &str| {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("postgres", "echo 'postgres (PostgreSQL) 99.1'");
    let at = bin.display().to_string();
    write("initdb", "echo 'initdb: error: could not write file \"x\": No space left on device' >&2; exit 1");
    let text = complaint(&scene, "PLANBOOK_PG_BIN", &at);
    assert!(text.contains("no space left on the disk") && text.contains("PLANBOOK_DATA_DIR"), "{text}");
    write("initdb", "echo 'initdb: error: a test' >&2; exit 1");
    let text = complaint(&scene, "PLANBOOK_PG_BIN", &at);
    assert!(
        text.contains("initdb failed (exit status: 1)") && text.contains("| initdb: error: a test"),
        "{text}"
    );
    write("initdb", "exit 0");
    let text = complaint(&scene, "PLANBOOK_PG_BIN", &at);
    assert!(text.contains("the server died while starting (exit status: 0)"), "{text}");
}

#[test]
fn a_place_that_the_servers_account_cannot_enter_is_named() {
    if !nix::unistd::Uid::effective().is_root() {
        return; // Only root drops to another account.
    }
    let scene = Scene::new("server_local");
    let closed = scene.root().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let text = complaint(&scene, "PLANBOOK_DATA_DIR", &closed.display().to_string());
    assert!(text.contains("no permission to enter") && text.contains("as the account `"), "{text}");
}
