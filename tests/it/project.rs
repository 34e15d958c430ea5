//! What several tests need: a private project, and the program in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A project in a private folder, with a private state, so that tests see nothing of one another.
pub struct Project {
    home: TempDir,
}

/// What a command said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    pub fn new() -> Self {
        let home = tempfile::Builder::new().prefix("pb").tempdir().expect("a private folder");
        // The account that the server runs as must be able to enter it.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("open the folder");
        for folder in ["experiments", "data"] {
            fs::create_dir(home.path().join(folder)).expect("create folder");
        }
        Self { home }
    }

    /// A project with one notebook.
    pub fn with(name: &str, notebook: &str) -> Self {
        let project = Self::new();
        project.write(&format!("experiments/{name}.yaml"), notebook);
        project
    }

    pub fn path(&self) -> &Path {
        self.home.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("create folder");
        fs::write(path, text).expect("write");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("planbook"));
        command.args(args).current_dir(self.path());
        command.env("PLANBOOK_STATE_DIR", self.state()).env("PLANBOOK_DATA_DIR", self.path().join("data"));
        command.env_remove("PLANBOOK_SERVER").env_remove("PLANBOOK_PG_BIN").env("NO_COLOR", "1");
        command
    }

    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    pub fn planbook(&self, args: &[&str]) -> Said {
        said(self.command(args).stdin(Stdio::null()).output().expect("planbook starts"))
    }

    /// Starts the program and leaves it running.
    pub fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("planbook starts")
    }

    /// What `server ls` knows of.
    pub fn servers(&self) -> Vec<serde_json::Value> {
        let said = self.planbook(&["server", "ls", "--format", "json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        serde_json::from_str(&said.out).expect("JSON")
    }
}

pub fn said(output: Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("utf-8"),
        err: String::from_utf8(output.stderr).expect("utf-8"),
    }
}

impl Said {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

/// Waits until something is so, at most a minute.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < Duration::from_secs(60), "still not so after a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("read folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
