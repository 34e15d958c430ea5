//! A throwaway cluster from PostgreSQL binaries on this machine: made, run and removed by Planbook.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::about::About;
use super::account::Account;
use super::binaries::Binaries;
use super::compose::{Compose, DEFAULT_SERVICE};
use super::keep::Keep;
use super::log;
use super::places::{PORT, Places};
use super::process::{self, TICK};
use super::registry::{Claim, Note, Registry};
use super::{Kind, Needs, ServerError, machine, probe};
use crate::session::{Endpoint, Host, Session, Tls};

/// The role that owns the cluster.
const OWNER: &str = "postgres";

/// How long initdb may take: about two seconds on a quiet machine.
const INITDB_PATIENCE: Duration = Duration::from_secs(180);

/// How long the server may take to answer: about 0.2 s on a quiet machine.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How long a server that stays may take to write everything down.
const STOP_PATIENCE: Duration = Duration::from_secs(60);

/// A running cluster. Dropping it ends the server and removes every trace.
#[derive(Debug)]
pub(super) struct Local {
    pub endpoint: Endpoint,
    pub binaries: Binaries,
    /// The server flags asked for, save those of Planbook's own.
    pub asked: BTreeMap<String, String>,
    account: Option<Account>,
    places: Places,
    claim: Option<Claim>,
    child: Option<Child>,
    /// Where the cluster stays for the next run, where it shall.
    keep: Option<Keep>,
}

impl Local {
    /// Makes a cluster, starts it, and waits until it answers.
    pub fn start(
        kind: Kind,
        bindir: Option<&Path>,
        needs: &Needs,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Self, ServerError> {
        let account = Account::to_drop_to()?;
        let binaries = Binaries::find(bindir, account.as_ref())?;
        let asked = settings(needs)?;
        warn_of_memory(&asked, talk);
        let registry = Registry::open()?;
        let keep = keep(&binaries, &asked, account.as_ref(), needs, talk);
        let mut claim = registry.claim(Note::new(kind, &binaries.version))?;
        let beside = keep.as_ref().map(|keep| keep.root.as_path());
        let places = match Places::make(&mut claim, account.as_ref(), beside) {
            Ok(places) => places,
            Err(problem) => {
                remove_directories(&claim.note.directories)?;
                claim.settle()?;
                return Err(problem);
            }
        };
        let endpoint = Endpoint {
            host: Host::Socket(places.socket.clone()),
            port: PORT,
            user: OWNER.into(),
            password: None,
            tls: Tls::default(),
        };
        let noted = claim.amend(|note| {
            note.socket = Some(places.socket.clone());
            note.bindir = Some(binaries.dir.clone());
        });
        let claim = Some(claim);
        // From here on, whatever fails, Drop ends and removes what there is.
        let mut local = Self { endpoint, binaries, asked, account, places, claim, child: None, keep };
        noted?;
        if !local.take(talk)? {
            local.initdb(needs)?;
        }
        local.launch()?;
        local.wait_until_ready(needs)?;
        Ok(local)
    }

    /// The note of its directories.
    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The end of the server's log, without this machine's paths.
    pub fn log_tail(&self) -> String {
        log::last_lines(&log::window(&self.places.log), Some(&self.places.run))
    }

    /// Whether the server still runs; if not, why.
    pub fn check_alive(&mut self) -> Result<(), ServerError> {
        if let Some(status) = self.ended()? {
            return Err(self.explain(describe(status), false));
        }
        // A killed process leaves a postmaster that starts all over, without our sessions.
        match log::crash(&log::window(&self.places.log)) {
            Some(status) => Err(self.explain(status, false)),
            None => Ok(()),
        }
    }

    /// Ends the server and removes its directories, save what stays for the next run.
    pub fn stop(mut self, about: &About) -> Result<(), ServerError> {
        // Without it the next run builds anew: that is all that is lost.
        if let Some(keep) = self.keep.take()
            && self.check_alive().is_ok()
            && self.shut_down()?
        {
            let _ = keep.put(&self.places.data, about, &self.binaries, self.account.as_ref());
        }
        self.clear()
    }

    /// Finds the cluster that an earlier run left.
    fn take(&self, talk: &mut dyn FnMut(&str)) -> Result<bool, ServerError> {
        let Some(keep) = &self.keep else { return Ok(false) };
        keep.take(&self.places.data, &self.binaries, self.account.as_ref(), talk)
    }

    /// Lets the server write everything down and end; whether it did in time.
    fn shut_down(&mut self) -> Result<bool, ServerError> {
        if let Ok(mut session) = Session::connect(&self.endpoint, "postgres") {
            // The shutdown writes one in any case, and is short after this.
            let _ = session.execute("CHECKPOINT");
        }
        let Some(pid) = self.child.as_ref().map(Child::id) else { return Ok(false) };
        process::signal(pid, Signal::SIGINT);
        let until = Instant::now() + STOP_PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.ended()? {
                return Ok(status.success());
            }
            sleep(TICK);
        }
        Ok(false)
    }

    fn initdb(&self, needs: &Needs) -> Result<(), ServerError> {
        // The C library of some systems has no C.UTF-8; initdb then says so at once and leaves nothing.
        let mut status = self.initdb_with("C.UTF-8", needs)?;
        if !status.success() && self.log_tail().contains("invalid locale name") {
            status = self.initdb_with("C", needs)?;
        }
        if status.success() {
            // The log is the server's from here on.
            let emptied = File::create(&self.places.log).map(drop);
            return emptied.map_err(|source| ServerError::from_io("empty", &self.places.log, source));
        }
        let log = self.log_tail();
        Err(match log::out_of(&log) {
            Some(log::Resource::Disk) => ServerError::NoSpace {
                action: "making the cluster",
                place: self.places.run.display().to_string(),
                log,
            },
            _ => ServerError::Initdb { status: describe(status), log },
        })
    }

    fn initdb_with(&self, locale: &str, needs: &Needs) -> Result<ExitStatus, ServerError> {
        let mut command = self.command("initdb")?;
        // Only this server's account can enter the socket's directory, so `trust` trusts nobody else. A cluster that
        // is thrown away needs no fsync while it is made.
        command.arg("-D").arg(&self.places.data);
        command.args(["--username", OWNER, "--auth=trust", "--no-sync", "--encoding=UTF8"]);
        command.arg(format!("--locale={locale}"));
        let mut child = spawn(&mut command, &self.binaries.dir.join("initdb"))?;
        let until = Instant::now() + INITDB_PATIENCE;
        loop {
            if let Some(status) = wait(&mut child)? {
                return Ok(status);
            }
            if needs.interrupted() || Instant::now() > until {
                // Ends initdb's own child with it.
                process::end_all_in(&self.places.run)?;
                wait(&mut child)?;
                let timed_out = ServerError::Initdb {
                    status: format!("no end after {} s", INITDB_PATIENCE.as_secs()),
                    log: self.log_tail(),
                };
                return Err(if needs.interrupted() { ServerError::Interrupted } else { timed_out });
            }
            sleep(TICK);
        }
    }

    fn launch(&mut self) -> Result<(), ServerError> {
        let mut command = self.command("postgres")?;
        command.arg("-D").arg(&self.places.data);
        command.arg("-k").arg(&self.places.socket);
        command.args(["-c", "listen_addresses="]).arg("-c").arg(format!("port={PORT}"));
        for (name, value) in &self.asked {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        self.child = Some(spawn(&mut command, &self.binaries.dir.join("postgres"))?);
        Ok(())
    }

    fn wait_until_ready(&mut self, needs: &Needs) -> Result<(), ServerError> {
        let until = Instant::now() + START_PATIENCE;
        loop {
            if let Some(status) = self.ended()? {
                return Err(self.explain(describe(status), true));
            }
            let problem = match probe::postmaster(&self.endpoint) {
                Ok(_) => return Ok(()),
                Err(error) => error.to_string(),
            };
            if needs.interrupted() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > until {
                return Err(ServerError::NotReady {
                    seconds: START_PATIENCE.as_secs(),
                    problem,
                    log: self.log_tail(),
                });
            }
            sleep(TICK);
        }
    }

    /// A command of the server's, as the server's account, away from the terminal and from the user's own settings.
    fn command(&self, name: &str) -> Result<Command, ServerError> {
        let log = OpenOptions::new().append(true).open(&self.places.log);
        let log = log.map_err(|source| ServerError::from_io("write to", &self.places.log, source))?;
        let again: File =
            log.try_clone().map_err(|source| ServerError::from_io("write to", &self.places.log, source))?;
        let mut command = Command::new(self.binaries.dir.join(name));
        // In a group of its own, so that the terminal's Ctrl-C reaches Planbook alone, which then ends the server.
        command.process_group(0).current_dir(&self.places.run).stdin(Stdio::null()).stdout(log).stderr(again);
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("PG") {
                command.env_remove(variable);
            }
        }
        command.env("LC_ALL", "C").env("TZ", "UTC");
        if let Some(account) = &self.account {
            account.apply(&mut command);
        }
        Ok(command)
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, ServerError> {
        self.child.as_mut().map_or(Ok(None), wait)
    }

    fn explain(&self, status: String, starting: bool) -> ServerError {
        let log = self.log_tail();
        match log::out_of(&log) {
            Some(log::Resource::Memory) => ServerError::NoMemory { log },
            Some(log::Resource::Shm) => ServerError::NoShm { log },
            Some(log::Resource::Disk) => ServerError::NoSpace {
                action: "running the server",
                place: self.places.run.display().to_string(),
                log,
            },
            None if starting => ServerError::DiedAtStart { status, log },
            None => ServerError::Died { status, log },
        }
    }

    fn clear(&mut self) -> Result<(), ServerError> {
        if let Some(mut child) = self.child.take() {
            let pid = child.id();
            process::end(pid, || !matches!(child.try_wait(), Ok(None)))?;
        }
        let Some(claim) = self.claim.take() else { return Ok(()) };
        // The postmaster's children end with it, save where it was killed.
        process::end_all_in(&self.places.run)?;
        remove_directories(&claim.note.directories)?;
        claim.settle()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // What cannot be removed stays noted, for `server prune` to find and to complain about.
        let _ = self.clear();
    }
}

/// Where the cluster stays, if it shall and there is a place.
fn keep(
    binaries: &Binaries,
    asked: &BTreeMap<String, String>,
    account: Option<&Account>,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Option<Keep> {
    if !needs.cache {
        return None;
    }
    Keep::of(binaries, asked, account)
        .map_err(|error| talk(&format!("datasets are not cached: {error}")))
        .ok()
}

/// The flags of compose.yaml with the notebook's over them.
pub(super) fn settings(needs: &Needs) -> Result<BTreeMap<String, String>, ServerError> {
    let file = needs.compose.as_deref().map_or_else(Compose::shipped, Compose::open)?;
    let name = needs.service.as_deref().unwrap_or(DEFAULT_SERVICE);
    let mut settings = super::merge(&file.flags(name)?, needs)?;
    // On a socket alone.
    settings.remove("listen_addresses");
    Ok(settings)
}

/// Says so when the shared memory alone would take more than half of what the machine has free.
fn warn_of_memory(settings: &BTreeMap<String, String>, talk: &mut dyn FnMut(&str)) {
    let asked = settings.get("shared_buffers").and_then(|size| machine::bytes_of_setting(size));
    if let (Some(asked), Some(free)) = (asked, machine::available_memory())
        && asked > free / 2
    {
        let share = 100 * asked / free.max(1);
        talk(&format!("shared_buffers takes {share}% of the memory that is free here; reads may be slow"));
    }
}

fn spawn(command: &mut Command, binary: &Path) -> Result<Child, ServerError> {
    command.spawn().map_err(|source| ServerError::from_io("run", binary, source))
}

fn wait(child: &mut Child) -> Result<Option<ExitStatus>, ServerError> {
    child.try_wait().map_err(|source| ServerError::from_io("wait for", Path::new("the server"), source))
}

/// `exit status: 1` or `signal: 9 (SIGKILL)`.
fn describe(status: ExitStatus) -> String {
    status.to_string()
}

/// Removes directories of a server; those that are gone are no error. Only names that Planbook gives are touched.
pub(super) fn remove_directories(dirs: &[PathBuf]) -> Result<(), ServerError> {
    for dir in dirs {
        let ours = dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("planbook-"));
        if !ours || std::fs::symlink_metadata(dir).is_ok_and(|meta| !meta.is_dir()) {
            continue;
        }
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ServerError::from_io("remove", dir, error));
            }
            _ => {}
        }
    }
    Ok(())
}
