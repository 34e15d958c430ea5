//! The processes of a server: which they are, and how they end.
//!
//! They are told by the server's own directory, whose name nothing else bears: a process number alone may by now
//! belong to a stranger.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ServerError;

/// How long a server may take to end by each signal before the next one.
const STEPS: [(Signal, Duration); 3] = [
    (Signal::SIGINT, Duration::from_secs(3)),
    (Signal::SIGQUIT, Duration::from_secs(5)),
    (Signal::SIGKILL, Duration::from_secs(5)),
];

/// How often a waiting loop looks again.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Sends a signal; a process that is gone is no error.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// Ends a postmaster: fast, then immediate, then by force. `ended` is asked after each signal until it says yes.
pub(super) fn end(pid: u32, mut ended: impl FnMut() -> bool) -> Result<(), ServerError> {
    for (step, patience) in STEPS {
        signal(pid, step);
        let until = Instant::now() + patience;
        loop {
            if ended() {
                return Ok(());
            }
            if Instant::now() >= until {
                break;
            }
            sleep(TICK);
        }
    }
    Err(ServerError::DoesNotEnd { pid })
}

/// Ends every process that works in `dir`, the postmaster (the lowest number) first.
pub(super) fn end_all_in(dir: &Path) -> Result<usize, ServerError> {
    let first = working_in(dir);
    if let Some(&postmaster) = first.first() {
        let left = || working_in(dir);
        let polite = end(postmaster, || left().is_empty());
        for pid in left() {
            signal(pid, Signal::SIGKILL);
        }
        if polite.is_err() && !wait_until(Duration::from_secs(5), || left().is_empty()) {
            return polite.map(|()| 0);
        }
    }
    Ok(first.len())
}

/// Waits for a condition; whether it came true in time.
fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        if done() {
            return true;
        }
        sleep(TICK);
    }
    done()
}

/// The processes whose working directory or command line names `dir`, by number.
pub(super) fn working_in(dir: &Path) -> Vec<u32> {
    let mut found = if Path::new("/proc/self").exists() { from_proc(dir) } else { from_ps(dir) };
    let own = std::process::id();
    found.retain(|pid| *pid != own);
    found.sort_unstable();
    found
}

fn from_proc(dir: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let proc = entry.path();
            // A container's root may not be allowed to see another account's working directory; the command line it may.
            let cwd = std::fs::read_link(proc.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
            (cwd || names(&std::fs::read(proc.join("cmdline")).ok()?, dir)).then_some(pid)
        })
        .collect()
}

/// Whether one argument of a server's command line, `-D` DIR, is in `dir`.
fn names(command_line: &[u8], dir: &Path) -> bool {
    let words: Vec<&[u8]> = command_line.split(|byte| *byte == 0).collect();
    words.windows(2).any(|pair| {
        pair[0] == b"-D"
            && Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(pair[1]))
                .starts_with(dir)
    })
}

fn from_ps(dir: &Path) -> Vec<u32> {
    let Ok(output) = Command::new("ps").args(["-axww", "-o", "pid=,command="]).output() else {
        return Vec::new();
    };
    let argument = format!("-D {}/", dir.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| line.contains(&argument));
    lines.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}
