//! Reads the end of a server's log.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How much of a log is worth reading, in bytes and in lines.
const BYTES: u64 = 8192;
const LINES: usize = 12;
/// A statement or a Python list may be endless.
const WIDTH: usize = 400;

/// What a server ran out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Disk,
    Memory,
    Shm,
}

/// The end of a log file; empty when there is none.
pub(super) fn window(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
        let mut bytes = Vec::new();
        file.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// The last lines of a log, `private` (a directory of this machine) shown as `…`.
pub(super) fn last_lines(text: &str, private: Option<&Path>) -> String {
    let text = private.map_or_else(|| text.to_owned(), |dir| text.replace(&dir.display().to_string(), "…"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].iter();
    last.map(|line| line.chars().take(WIDTH).collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// What the log says of a process of the server's that a signal ended, which ends all sessions.
pub(super) fn crash(text: &str) -> Option<String> {
    let line = text.lines().rev().find(|line| line.contains(") was terminated by signal "))?;
    Some(line.split_once("LOG:").map_or(line, |(_, words)| words).trim().to_owned())
}

/// Whether the server found its data as a crash had left them.
pub(super) fn recovered(text: &str) -> bool {
    ["database system was interrupted", "was not properly shut down"].iter().any(|words| text.contains(words))
}

/// What the last lines say the server ran out of.
pub(super) fn out_of(tail: &str) -> Option<Resource> {
    let has = |words: &[&str]| tail.lines().any(|line| words.iter().any(|word| line.contains(word)));
    if has(&["could not resize shared memory segment"]) {
        Some(Resource::Shm)
    } else if has(&["shared memory: Cannot allocate memory"]) {
        Some(Resource::Memory)
    } else if has(&["No space left on device", "Check free disk space"]) {
        Some(Resource::Disk)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines_without_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let lines: String =
            (0..3000).map(|n| format!("line {n} in {}/data\n", dir.path().display())).collect();
        std::fs::write(&path, lines).unwrap();
        let tail = last_lines(&window(&path), Some(dir.path()));
        assert_eq!(tail.lines().count(), LINES);
        assert!(tail.ends_with("line 2999 in …/data"), "{tail}");
    }

    #[test]
    fn tells_a_full_disk_from_too_little_memory() {
        let disk = "initdb: error: could not write file \"x\": No space left on device";
        assert_eq!(out_of(disk), Some(Resource::Disk));
        let short = "FATAL:  could not extend file: wrote only 4096 of 8192 bytes\nHINT:  Check free disk space.\nAborted";
        assert_eq!(out_of(short), Some(Resource::Disk));
        let memory = "FATAL:  could not map anonymous shared memory: Cannot allocate memory\nHINT:  reduce";
        assert_eq!(out_of(memory), Some(Resource::Memory));
        assert_eq!(out_of("FATAL:  unrecognized configuration parameter \"x\""), None);
        assert_eq!(out_of(""), None);
    }

    #[test]
    fn a_recovery_is_told_from_a_start() {
        assert!(recovered("LOG:  database system was interrupted; last known up at 2026-01-01"));
        assert!(recovered(
            "LOG:  database system was not properly shut down; automatic recovery in progress"
        ));
        assert!(!recovered("LOG:  database system was shut down at 2026-01-01 00:00:00 UTC"));
    }

    #[test]
    fn a_killed_backend_is_found_behind_the_recovery() {
        let log = "LOG:  ready\n2026 [1] LOG:  server process (PID 57) was terminated by signal 9: Killed\nLOG:  ready";
        assert_eq!(crash(log).as_deref(), Some("server process (PID 57) was terminated by signal 9: Killed"));
        assert_eq!(crash("LOG:  ready"), None);
    }
}
