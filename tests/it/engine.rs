//! The Docker engine of this machine, with an image made here and pushed to a registry of the test's own, so that
//! digest, pull and pin are real.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// A registry on the loopback. It ends, and forgets its images, when this process does: its stdin is ours.
struct Registry {
    port: u16,
    _process: Child,
}

/// An image of this machine's PostgreSQL.
pub struct TestImage {
    /// With the digest that pins it.
    pub reference: String,
    /// The id for this platform.
    pub id: String,
}

/// Whether there is an engine; says that the test is skipped where there is none, and fails in CI.
pub fn answers() -> bool {
    let works = Command::new("docker").arg("version").output().is_ok_and(|output| output.status.success());
    assert!(works || std::env::var_os("CI").is_none(), "CI must have a Docker engine");
    if !works {
        eprintln!("skipped: no Docker engine answers");
    }
    works
}

/// What docker prints.
pub fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().unwrap();
    assert!(output.status.success(), "docker {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Whether docker knows what the arguments ask for.
pub fn knows(arguments: &[&str]) -> bool {
    Command::new("docker").args(arguments).output().unwrap().status.success()
}

/// The image of Debian's PostgreSQL 15.
pub fn image() -> &'static TestImage {
    static IMAGE: OnceLock<TestImage> = OnceLock::new();
    IMAGE.get_or_init(|| make("15", "15"))
}

/// The port of the registry.
pub fn registry_port() -> u16 {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(serve).port
}

/// Makes an image from a major version of Debian's or an unpacked wheel, and pushes it.
pub fn make(source: &str, tag: &str) -> TestImage {
    let name = format!("localhost:{}/postgres:{tag}", registry_port());
    let built = Command::new(script("build")).args([source, &name]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    docker(&["push", "--quiet", &name]);
    let repository = name.rsplit_once(':').unwrap().0;
    let digests = docker(&["image", "inspect", &name, "--format", "{{join .RepoDigests \"\\n\"}}"]);
    let digest = digests.lines().find_map(|line| line.strip_prefix(repository)).unwrap();
    let id = docker(&["image", "inspect", &name, "--format", "{{.Id}}"]);
    TestImage { reference: format!("{name}{digest}"), id }
}

/// Something of the engine's, `container` or `volume`, that is removed at the end of a test, whether or not it held.
pub struct Removed(pub &'static str, pub String);

impl Drop for Removed {
    fn drop(&mut self) {
        let options: &[&str] = if self.0 == "container" { &["-f", "-v"] } else { &["-f"] };
        let _ = Command::new("docker").args([self.0, "rm"]).args(options).arg(&self.1).output();
    }
}

/// Tests that prune see the leftovers of all others: one at a time.
pub fn pruning() -> MutexGuard<'static, ()> {
    static PRUNING: Mutex<()> = Mutex::new(());
    PRUNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn serve() -> Registry {
    let mut process =
        Command::new(script("registry")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().parse().expect("the registry prints its port");
    Registry { port, _process: process }
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images").join(name)
}
