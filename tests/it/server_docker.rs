//! Containers on the real engine: pulled by digest, made as asked, watched, removed, and found again after a kill.

use std::process::Command;
use std::time::{Duration, Instant};

use planbook::server::{self, Kind, Needs, Pin, ServerError, Spec};
use planbook::session::{Endpoint, Scalar, Session};

use crate::engine::{self, docker, knows};
use crate::scene::{self, Scene, small};

const DOCKER: Spec = Spec::Docker { service: None };

fn quiet(_: &str) {}

fn scene() -> Scene {
    Scene::new("server_docker").with("PLANBOOK_PG16_IMAGE", &engine::image().reference)
}

fn connect(endpoint: &Endpoint) -> Session {
    Session::connect(endpoint, "postgres").unwrap()
}

/// Called by a scene: the container of the one server of its state directory.
fn own_container() -> String {
    let entries = server::list().unwrap();
    let own: Vec<_> = entries.iter().filter(|entry| entry.owner == Some(std::process::id())).collect();
    assert_eq!(own.len(), 1, "{entries:?}");
    format!("planbook-{}", own[0].id)
}

/// Called by a scene: tells the test the container and its anonymous volume.
fn tell_container() {
    let name = own_container();
    let volumes = docker(&["inspect", &name, "--format", "{{range .Mounts}}{{.Name}}{{end}}"]);
    scene::say(&format!("container {name} {volumes}"));
}

/// Read by a test: what [`tell_container`] told.
fn told(said: &str) -> (String, String) {
    let line = said.lines().find_map(|line| line.strip_prefix("container ")).unwrap();
    let (name, volume) = line.split_once(' ').unwrap();
    (name.to_owned(), volume.to_owned())
}

fn assert_gone(said: &str) {
    let (name, volume) = told(said);
    assert!(!knows(&["inspect", &name]), "{name} is still there");
    assert!(!knows(&["volume", "inspect", &volume]), "the volume {volume} is still there");
}

#[test]
fn a_pinned_image_is_pulled_run_described_and_removed() {
    if !engine::answers() {
        return;
    }
    // So that it has to be pulled; other tests may bring it back meanwhile, and find it pulled too.
    let _ = Command::new("docker").args(["image", "rm", &engine::image().reference]).output();
    let said = scene().play("whole_life");
    assert_gone(&said);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_whole_life() {
    let mut needs = small();
    needs.settings.insert("work_mem".into(), "7MB".into());
    let mut server = server::start(&DOCKER, &needs, &mut scene::say).unwrap();
    server.check_alive().unwrap();
    assert_eq!((server.kind(), server.major()), (Kind::Docker, 15));
    tell_container();
    let identity = server.identity();
    let container = identity.container.clone().unwrap();
    let asked = std::env::var("PLANBOOK_PG16_IMAGE").unwrap();
    assert_eq!(container.image.reference, asked);
    assert_eq!(container.image.pin, Pin::Digest);
    let digest = container.image.digest.clone().unwrap();
    assert!(asked.ends_with(&format!("@{digest}")));
    let inspected = docker(&[
        "image",
        "inspect",
        &asked,
        "--format",
        "{{.RepoDigests}} {{.Id}} {{.Os}}/{{.Architecture}}",
    ]);
    assert!(inspected.contains(&digest) && inspected.contains(&container.image.id), "{inspected}");
    assert!(inspected.ends_with(&container.image.platform), "{inspected}");
    assert_eq!(container.limits.memory_bytes, Some(4 << 30));
    assert_eq!(container.limits.shm_bytes, Some(1 << 30));
    assert!(!container.engine.version.is_empty());
    assert_eq!(identity.settings_in_force["work_mem"], "7MB");
    assert_eq!(identity.settings_in_force["autovacuum"], "off");
    assert_eq!((identity.encoding.as_str(), identity.collate.as_str()), ("UTF8", "C.UTF-8"));
    let text = serde_json::to_string(identity).unwrap();
    let password = server.endpoint().password.clone().unwrap();
    assert!(!text.contains(password.reveal()) && password.reveal().len() == 48);
    assert!(!format!("{server:?}").contains(password.reveal()), "Debug shows the password");
    let shm = docker(&["exec", &own_container(), "df", "-k", "/dev/shm"]);
    assert!(shm.contains("1048576"), "{shm}");
    let ports = docker(&["inspect", &own_container(), "--format", "{{json .NetworkSettings.Ports}}"]);
    assert!(ports.contains("127.0.0.1") && !ports.contains("0.0.0.0\""), "{ports}");
    assert_eq!(server::prune().unwrap().removed, [], "a running planbook's server is not to be pruned");
    connect(server.endpoint()).execute("SELECT 1").unwrap();
    server.stop().unwrap();
}

/// What `start` says with these variables.
fn complaint(environment: &[(&str, &str)]) -> String {
    let mut scene = scene();
    for (name, value) in environment {
        scene = scene.with(name, value);
    }
    scene.play("complain")
}

#[test]
#[ignore = "a scene of the tests below"]
fn scene_complain() {
    scene::complain(&server::start(&DOCKER, &small(), &mut quiet).unwrap_err());
    assert_eq!(server::list().unwrap(), []);
}

#[test]
fn an_image_that_cannot_be_had_is_said_in_the_registrys_words() {
    if !engine::answers() {
        return;
    }
    let port = engine::registry_port();
    let wrong = format!("localhost:{port}/postgres:15@sha256:{}", "0".repeat(64));
    let unknown = format!("localhost:{port}/nobody:1@sha256:{}", "0".repeat(64));
    let down = format!("localhost:1/postgres:15@sha256:{}", "0".repeat(64));
    let unpinned = format!("localhost:{port}/postgres:15");
    for (image, expected, exit) in [
        (wrong.as_str(), "not here and could not be pulled: manifest", "exit 3"),
        (&unknown, "not here and could not be pulled: manifest", "exit 3"),
        (&down, "connection refused", "exit 3"),
        (&unpinned, "is not pinned", "exit 2"),
        ("postgres@sha256:12", "`sha256:12` is not a digest", "exit 2"),
    ] {
        let text = complaint(&[("PLANBOOK_PG16_IMAGE", image)]);
        assert!(text.contains(expected) && text.contains(exit) && text.contains("next: "), "{image}: {text}");
    }
}

#[test]
fn an_engine_that_is_absent_or_remote_is_said() {
    if !engine::answers() {
        return;
    }
    for (host, expected) in [
        ("unix:///no/such.sock", "no Docker engine answers: /no/such.sock"),
        (
            "tcp://192.0.2.1:2375",
            "tcp://192.0.2.1:2375 (named by DOCKER_HOST) is not an engine of this machine",
        ),
    ] {
        let text = complaint(&[("DOCKER_HOST", host)]);
        assert!(text.contains(expected) && text.contains("exit 3"), "{text}");
    }
}

#[test]
fn an_unpinned_image_and_a_loaded_one_are_marked() {
    if !engine::answers() {
        return;
    }
    let image = engine::image();
    let tagged = image.reference.split_once('@').unwrap().0;
    Scene::new("server_docker").with("PLANBOOK_PG16_IMAGE", tagged).play("unpinned");
    // The official image is not here; an image with the listed id stands in for it.
    let official = format!("postgres:16.14@sha256:{}", "1".repeat(64));
    let scene = Scene::new("server_docker").with("PLANBOOK_PG16_IMAGE", &official);
    scene.with("PLANBOOK_PG16_IMAGE_ID", &image.id).play("loaded");
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_unpinned() {
    let needs = Needs { allow_unpinned: true, ..small() };
    let server = server::start(&DOCKER, &needs, &mut quiet).unwrap();
    assert_eq!(server.identity().container.as_ref().unwrap().image.pin, Pin::None);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_loaded() {
    let server = server::start(&DOCKER, &small(), &mut quiet).unwrap();
    let image = &server.identity().container.as_ref().unwrap().image;
    assert_eq!(image.pin, Pin::Id);
    assert_eq!(image.id, std::env::var("PLANBOOK_PG16_IMAGE_ID").unwrap());
}

#[test]
fn a_container_that_is_killed_or_removed_is_noticed() {
    if !engine::answers() {
        return;
    }
    let said = scene().play("killed");
    assert_gone(&said);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_killed() {
    let mut server = server::start(&DOCKER, &small(), &mut quiet).unwrap();
    tell_container();
    docker(&["kill", &own_container()]);
    let error = server.check_alive().unwrap_err();
    assert!(matches!(error, ServerError::Died { .. }), "{error:?}");
    assert!(
        error.to_string().contains("code 137") && error.to_string().contains("ready to accept"),
        "{error}"
    );
    docker(&["rm", "-f", "-v", &own_container()]);
    assert!(server.check_alive().unwrap_err().to_string().contains("somebody removed it"));
    server.stop().unwrap();
}

#[test]
fn a_server_that_refuses_its_settings_shows_its_log() {
    if !engine::answers() {
        return;
    }
    scene().play("bad_setting");
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_bad_setting() {
    let mut needs = small();
    needs.settings.insert("no_such_setting".into(), "1".into());
    let error = server::start(&DOCKER, &needs, &mut quiet).unwrap_err();
    assert!(matches!(error, ServerError::DiedAtStart { .. }), "{error:?}");
    assert!(
        error.to_string().contains("unrecognized configuration parameter \"no_such_setting\""),
        "{error}"
    );
    assert_eq!(server::list().unwrap(), []);
}

#[test]
fn a_backend_killed_for_its_memory_is_told_from_other_deaths() {
    if !engine::answers() {
        return;
    }
    let said = scene().play("out_of_memory");
    assert_gone(&said);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_out_of_memory() {
    let needs = Needs { memory: Some("96m".into()), ..small() };
    let mut server = server::start(&DOCKER, &needs, &mut quiet).unwrap();
    tell_container();
    assert_eq!(server.identity().container.as_ref().unwrap().limits.memory_bytes, Some(96 << 20));
    let greedy = "SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 400)";
    connect(server.endpoint()).execute(greedy).unwrap_err();
    let error = server.why_lost().unwrap();
    assert!(matches!(error, ServerError::OutOfMemory { .. }), "{error:?}");
    assert!(error.to_string().contains("may use 96 MB") && error.next().contains("memory: 8gb"), "{error}");
}

#[test]
fn the_temporary_server_of_the_entrypoint_is_not_taken_for_the_real_one() {
    if !engine::answers() {
        return;
    }
    let scene = scene();
    let file = scene.root().join("linger.yaml");
    let image = &engine::image().reference;
    let text =
        format!("services:\n  db:\n    image: {image}\n    environment: {{PLANBOOK_TEST_LINGER: 3}}\n");
    std::fs::write(&file, text).unwrap();
    scene.with("TEST_COMPOSE", &file.display().to_string()).play("lingering");
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_lingering() {
    let compose = std::env::var_os("TEST_COMPOSE").map(Into::into);
    let needs = Needs { compose, service: Some("db".into()), ..Needs::default() };
    let began = Instant::now();
    let server = server::start(&DOCKER, &needs, &mut quiet).unwrap();
    assert!(began.elapsed() > Duration::from_secs(3));
    connect(server.endpoint()).execute("SELECT pg_sleep(1)").unwrap();
}

#[test]
fn a_volume_outlives_its_password_and_serves_one_run_at_a_time() {
    if !engine::answers() {
        return;
    }
    let name = format!("test-{}", std::process::id());
    let _volume = engine::Removed("volume", format!("planbook-{name}"));
    let scene = scene().with("TEST_VOLUME", &name);
    scene.play("volume_first");
    let holder = scene.hold("volume_second");
    let waiter = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| scene.play("volume_second"));
        std::thread::sleep(Duration::from_secs(2));
        assert!(!waiter.is_finished());
        holder.release();
        waiter.join().unwrap()
    });
    assert!(waiter.contains("is in use by"), "{waiter}");
}

fn on_volume() -> Needs {
    Needs { volume: std::env::var("TEST_VOLUME").ok(), ..small() }
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_volume_first() {
    let server = server::start(&DOCKER, &on_volume(), &mut quiet).unwrap();
    connect(server.endpoint()).execute("CREATE TABLE kept AS SELECT 42 AS answer").unwrap();
    server.stop().unwrap();
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_volume_second() {
    let server = server::start(&DOCKER, &on_volume(), &mut scene::say).unwrap();
    let answer = connect(server.endpoint()).scalar("SELECT answer FROM kept").unwrap();
    assert_eq!(answer, Some(Scalar::Integer(42)));
    // The one that waits has an empty stdin, and goes on at once.
    scene::ready();
    server.stop().unwrap();
}

#[test]
fn prune_removes_what_a_kill_left_and_nothing_else() {
    if !engine::answers() {
        return;
    }
    let _alone = engine::pruning();
    let stranger = format!("stranger-{}", std::process::id());
    let _stranger = engine::Removed("container", stranger.clone());
    docker(&[
        "run",
        "-d",
        "--name",
        &stranger,
        "--tmpfs",
        "/var/lib/postgresql/data",
        "--entrypoint",
        "sleep",
        &engine::image().reference,
        "300",
    ]);
    let scene = scene();
    let living = scene.hold("hold");
    let dead = scene.hold("hold");
    let (dead_said, living_said) = (dead.said.clone(), living.said.clone());
    dead.kill_hard();
    assert!(knows(&["inspect", &told(&dead_said).0]), "a container outlives its planbook");
    scene.play("prune");
    assert_gone(&dead_said);
    assert!(knows(&["inspect", &told(&living_said).0]) && knows(&["inspect", &stranger]));
    // From another state directory, by the labels alone.
    living.kill_hard();
    crate::server_docker::scene().play("prune");
    assert_gone(&living_said);
    assert!(knows(&["inspect", &stranger]));
    scene.play("prune_nothing");
}

#[test]
#[ignore = "a scene: holds a server until it is killed"]
fn scene_hold() {
    let _server = server::start(&DOCKER, &small(), &mut quiet).unwrap();
    tell_container();
    scene::ready();
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_prune() {
    let pruned = server::prune().unwrap();
    assert!(pruned.problems.is_empty(), "{:?}", pruned.problems);
    assert_eq!(pruned.removed.len(), 1, "{:?}", pruned.removed);
    assert!(!pruned.removed[0].owner_lives);
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_prune_nothing() {
    // The note of the container that was pruned by its label.
    let pruned = server::prune().unwrap();
    assert!(pruned.problems.is_empty() && pruned.removed.len() == 1, "{pruned:?}");
    assert_eq!(server::list().unwrap(), []);
}

#[test]
fn a_start_that_is_interrupted_leaves_no_container() {
    if !engine::answers() {
        return;
    }
    scene().play("interrupted");
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_interrupted() {
    let needs = small();
    let stop = needs.stop.clone();
    let waker = std::thread::spawn(move || {
        while server::list().unwrap().iter().all(|entry| !entry.runs) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let name = own_container();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        name
    });
    let error = server::start(&DOCKER, &needs, &mut quiet).unwrap_err();
    assert!(matches!(error, ServerError::Interrupted), "{error:?}");
    assert!(!knows(&["inspect", &waker.join().unwrap()]));
    assert_eq!(server::list().unwrap(), []);
}

#[test]
fn auto_says_what_it_did_instead_and_why() {
    let scene = Scene::new("server_docker");
    let said = scene.with("DOCKER_HOST", "unix:///no/such.sock").play("auto");
    assert!(said.contains("server: local, since no Docker engine answers"), "{said}");
    if engine::answers() {
        let image = format!("localhost:{}/nobody:1@sha256:{}", engine::registry_port(), "0".repeat(64));
        let said = Scene::new("server_docker").with("PLANBOOK_PG16_IMAGE", &image).play("auto");
        assert!(said.contains("@sha256:000000000000… is not here and could not be pulled"), "{said}");
    }
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_auto() {
    let server = server::start(&Spec::Auto, &small(), &mut scene::say).unwrap();
    assert_eq!(server.kind(), Kind::Local);
}
