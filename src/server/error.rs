//! What can keep a server from running, each with what to do next.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;

/// Why there is no server, or no longer one.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ServerError {
    /// `--server` was given something else than a server.
    #[error("`{given}` is not a server")]
    #[diagnostic(help("--server takes auto, local or local:BINDIR"))]
    UnknownSpec {
        /// What was given.
        given: String,
    },
    /// compose.yaml cannot be read, or asks for what Planbook cannot honour.
    #[error("compose.yaml: {problem}")]
    #[diagnostic(help("correct that line of compose.yaml"))]
    Compose {
        /// What is wrong, with the place where it is known.
        problem: String,
    },
    /// No PostgreSQL server binaries on this machine.
    #[error("no PostgreSQL server binaries were found; looked in {}", list(looked))]
    #[diagnostic(help(
        "install PostgreSQL's server (Debian: apt-get install postgresql), or name the directory that holds \
         `postgres` and `initdb`: --server local:BINDIR, or PLANBOOK_PG_BIN=BINDIR"
    ))]
    NoBinaries {
        /// The directories that were tried.
        looked: Vec<PathBuf>,
    },
    /// A directory was named, and holds no server.
    #[error("{} holds no `{missing}` (named by {origin})", dir.display())]
    #[diagnostic(help(
        "name the directory that holds `postgres` and `initdb`, such as /usr/lib/postgresql/16/bin"
    ))]
    WrongBindir {
        /// The directory.
        dir: PathBuf,
        /// The binary that is not there.
        missing: &'static str,
        /// Where the name came from.
        origin: &'static str,
    },
    /// A binary is there and does not run.
    #[error("{} does not run: {problem}", binary.display())]
    #[diagnostic(help(
        "run it by hand with --version to see why; another PostgreSQL can be named with --server local:BINDIR"
    ))]
    BrokenBinary {
        /// The binary.
        binary: PathBuf,
        /// What happened instead.
        problem: String,
    },
    /// Running as root, and there is nobody to drop to.
    #[error("PostgreSQL refuses to run as root, and this machine has no account `postgres` or `nobody`")]
    #[diagnostic(help("run planbook as another user"))]
    NoAccount,
    /// A file or directory that cannot be read, written or entered.
    #[error("no permission to {action} {}{}", path.display(), as_whom(account.as_deref()))]
    #[diagnostic(help("{}", permission_hint(path, account.as_deref())))]
    Permission {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The account that tried it, where it is not the user's own.
        account: Option<String>,
    },
    /// No directory for the server's data.
    #[error("no directory for the server's data; tried {}", list(tried))]
    #[diagnostic(help("name one that can be written to: PLANBOOK_DATA_DIR=DIR"))]
    NoDataDirectory {
        /// The directories that were tried.
        tried: Vec<PathBuf>,
    },
    /// No directory for the server's socket.
    #[error("no directory for the server's socket; tried {}", list(tried))]
    #[diagnostic(help("name one that can be written to: PLANBOOK_SOCKET_DIR=/tmp"))]
    NoSocketDirectory {
        /// The directories that were tried.
        tried: Vec<PathBuf>,
    },
    /// A socket's path would not fit into the kernel's address structure.
    #[error("the socket's path would have {bytes} bytes, of 107 allowed: {}", path.display())]
    #[diagnostic(help("name a directory with a shorter path: PLANBOOK_SOCKET_DIR=/tmp"))]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        bytes: usize,
    },
    /// The disk is full.
    #[error("no space left on the disk of {} while {action}{}", path.display(), tail(log))]
    #[diagnostic(help(
        "free some space (`planbook server prune` removes what killed runs left), or name a directory on another \
         disk: PLANBOOK_DATA_DIR=DIR"
    ))]
    NoSpace {
        /// What was being done.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The end of the server's log.
        log: String,
    },
    /// The operating system refused the memory that was asked for.
    #[error("the server could not get its memory (shared_buffers={shared_buffers}){}", tail(log))]
    #[diagnostic(help(
        "ask for less in the notebook, `server: {{settings: {{shared_buffers: 128MB}}}}`, or use a larger machine"
    ))]
    NoMemory {
        /// The size asked for.
        shared_buffers: String,
        /// The end of the server's log.
        log: String,
    },
    /// `initdb` failed.
    #[error("initdb failed ({status}){}", tail(log))]
    #[diagnostic(help(
        "the lines above are initdb's own; another PostgreSQL can be named with --server local:BINDIR"
    ))]
    Initdb {
        /// How it ended.
        status: String,
        /// The end of what it printed.
        log: String,
    },
    /// The server ended before it could be used.
    #[error("the server died while starting ({status}){}", tail(log))]
    #[diagnostic(help(
        "the lines above are the server's own; a setting that it refuses stands under `server: settings`"
    ))]
    DiedAtStart {
        /// How it ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// The server ended while it was in use.
    #[error("the server died ({status}){}", tail(log))]
    #[diagnostic(help(
        "the lines above are the server's own; was it killed, or out of memory or disk? run again once that is mended"
    ))]
    Died {
        /// How it ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// The server runs and does not answer.
    #[error("the server did not answer within {seconds} s: {problem}{}", tail(log))]
    #[diagnostic(help("the lines above are the server's own; on a slow or busy machine, try again"))]
    NotReady {
        /// How long it was given.
        seconds: u64,
        /// What the last attempt met.
        problem: String,
        /// The end of its log.
        log: String,
    },
    /// The server answers, and a question of Planbook's own failed.
    #[error("the server could not be asked what it is: {problem}")]
    #[diagnostic(help("run again; if it stays, the server is one that Planbook does not know"))]
    Question {
        /// The server's words.
        problem: String,
    },
    /// Planbook's own files about its servers.
    #[error("cannot {action} {}", path.display())]
    #[diagnostic(help("see that the directory can be written to, or name another: PLANBOOK_STATE_DIR=DIR"))]
    State {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Anything else that the operating system refused.
    #[error("cannot {action} {}", path.display())]
    #[diagnostic(help("see that the path exists and can be used"))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A process does not end.
    #[error("process {pid} of the server does not end")]
    #[diagnostic(help("end it by hand: kill -9 {pid}; then `planbook server prune`"))]
    DoesNotEnd {
        /// Its number.
        pid: u32,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    #[diagnostic(help("nothing is left running; run again when ready"))]
    Interrupted,
}

impl ServerError {
    /// The program's exit code: 3 for the environment, 2 for the command line or compose.yaml, 130 when interrupted.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownSpec { .. } | Self::Compose { .. } => 2,
            Self::Interrupted => 130,
            _ => 3,
        }
    }

    /// What to do next, as one sentence fragment.
    #[must_use]
    pub fn next(&self) -> String {
        self.help().map(|help| help.to_string()).unwrap_or_default()
    }

    /// Sorts an error of the operating system into the kinds that have an answer of their own.
    pub(super) fn from_io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Permission { action, path, account: None },
            io::ErrorKind::StorageFull => Self::NoSpace { action, path, log: String::new() },
            _ => Self::Io { action, path, source },
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "nothing (PLANBOOK_PG_BIN=none)".to_owned();
    }
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn as_whom(account: Option<&str>) -> String {
    account.map(|name| format!(" as the account `{name}`")).unwrap_or_default()
}

fn permission_hint(path: &Path, account: Option<&str>) -> String {
    match account {
        Some(name) => format!(
            "planbook runs as root and the server as `{name}`: put it where that account may enter every directory of \
             {}, or run planbook as another user",
            path.display()
        ),
        None => "use a directory of your own, or ask for the right".to_owned(),
    }
}

/// The end of a log, set off from the sentence before it.
fn tail(log: &str) -> String {
    if log.trim().is_empty() {
        return String::new();
    }
    let lines = log.lines().map(|line| format!("\n  | {line}")).collect::<String>();
    format!("; the end of its log:{lines}")
}
