//! Ctrl-C and SIGTERM: the run is asked to end, and cleans up behind itself.

use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::run::Interrupt;

use super::{CommandError, talk};

/// How often a request to end is repeated: a query that began just after the first is reached by the next.
const REPEAT: Duration = Duration::from_millis(200);

/// Listens for signals from now on. The second one ends the program at once.
pub(super) fn listen() -> Result<Interrupt, CommandError> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| {
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
