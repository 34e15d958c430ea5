//! Ctrl-C, SIGTERM and a terminal that is closed: the run is asked to end, and cleans up behind itself.

use std::fs;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::run::Interrupt;

use super::{CommandError, talk};

/// How often a request to end is repeated: a query that began just after the first is reached by the next.
const REPEAT: Duration = Duration::from_millis(200);

/// Listens for signals from now on. The second one ends the program at once.
pub(super) fn listen() -> Result<Interrupt, CommandError> {
    let mut wanted = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted).map_err(|error| {
        CommandError::environment(
            format!("cannot listen for signals: {error}"),
            "this system is not supported",
        )
    })?;
    let interrupt = Interrupt::default();
    let asked = interrupt.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            if asked.is_requested() {
                talk::say("stopped at once; `planbook server prune` removes what is left of the server");
                std::process::exit(130);
            }
            talk::say("stopping: the server is ended first (once more to stop at once)");
            asked.request();
            let repeated = asked.clone();
            thread::spawn(move || {
                loop {
                    thread::sleep(REPEAT);
                    repeated.request();
                }
            });
        }
    });
    Ok(interrupt)
}

/// Whether whoever started the program wants it to ignore a signal, as `nohup` does. Where the system does not tell,
/// it is not ignored.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
