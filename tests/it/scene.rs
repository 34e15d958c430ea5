//! A scene: a part of a test that runs in a process of its own, since the environment belongs to the whole process.
//!
//! The process is this very test binary, called for one of its ignored tests.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use planbook::server::{Needs, ServerError};

/// A state and a data directory of the test's own. A local server's account must be able to enter them.
pub struct Scene {
    root: tempfile::TempDir,
    module: &'static str,
    environment: Vec<(String, String)>,
}

impl Scene {
    /// A scene of the ignored tests of `module`.
    pub fn new(module: &'static str) -> Self {
        let root = tempfile::Builder::new().prefix("pbt").tempdir_in("/tmp").unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["data", "state"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root, module, environment: Vec::new() }
    }

    /// Sets a variable for its processes.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// A process that plays the ignored test `scene_NAME`.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("{}::scene_{name}", self.module), "--ignored", "--nocapture"]);
        command.env("PLANBOOK_STATE_DIR", self.root.path().join("state"));
        command.env("PLANBOOK_DATA_DIR", self.data());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Plays a scene to its good end; what it printed.
    pub fn play(&self, name: &str) -> String {
        finished(name, &self.command(name).output().unwrap())
    }

    /// Plays a scene until it says [`ready`]; it then holds what it has.
    pub fn hold(&self, name: &str) -> Held {
        let child = self.command(name).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut held = Held { child, said: String::new() };
        let mut line = String::new();
        while !line.starts_with(READY) {
            held.said.push_str(&line);
            line.clear();
            let read = held.output().read_line(&mut line).unwrap();
            assert!(read > 0, "{name} ended early: {}", held.said);
        }
        held
    }

    /// What local servers have left in the data directory.
    pub fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.data()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// A scene that waits.
pub struct Held {
    child: Child,
    /// What it printed until then.
    pub said: String,
}

impl Held {
    /// Unbuffered, so that nothing is lost between two readers.
    fn output(&mut self) -> BufReader<&mut ChildStdout> {
        BufReader::with_capacity(1, self.child.stdout.as_mut().unwrap())
    }

    pub fn kill_hard(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it go on to its good end.
    pub fn release(mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output().read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }
}

const READY: &str = "scene ready";

/// Called by a scene: says that it holds what it has, and waits until it is let go.
pub fn ready() {
    say(READY);
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Called by a scene: a line for the test that plays it. Straight to the file descriptor: the harness holds back what
/// `println!` prints.
pub fn say(line: &str) {
    std::io::stdout().write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// Called by a scene: an error as a user sees it.
pub fn complain(error: &ServerError) {
    say(&format!("{error}\nnext: {}\nexit {}", error.next(), error.exit_code()));
}

/// Small, so that many servers fit on one machine at a time.
pub fn small() -> Needs {
    Needs { settings: [("shared_buffers".to_owned(), "16MB".to_owned())].into(), ..Needs::default() }
}

fn finished(name: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
