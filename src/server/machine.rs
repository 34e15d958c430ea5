//! The machine that a server runs on, as far as it explains a measurement.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system, such as `linux`.
    pub os: String,
    /// The processor's architecture, such as `x86_64`.
    pub arch: String,
    /// The processor's name, where the system tells.
    pub cpu: Option<String>,
    /// How many cores this process may use.
    pub cores: u32,
    /// All of its memory, in bytes, where the system tells.
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// The machine that this process runs on.
    #[must_use]
    pub fn here() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpu: cpu(),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            memory_bytes: meminfo("MemTotal").or_else(|| sysctl("hw.memsize")?.parse().ok()),
        }
    }
}

/// The memory that could be had now without swapping, in bytes.
pub(super) fn available_memory() -> Option<u64> {
    meminfo("MemAvailable")
}

/// A memory setting of the server's (`1GB`, `128MB`; a bare number counts blocks of 8 kB), in bytes.
pub(super) fn bytes_of_setting(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit: u64 = match text[digits.len()..].trim() {
        "" => 8 << 10,
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(unit)
}

fn cpu() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    named.map(|(_, name)| name.trim().to_owned()).or_else(|| sysctl("machdep.cpu.brand_string"))
}

fn meminfo(key: &str) -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// How macOS and the BSDs tell; absent elsewhere.
fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_servers_sizes() {
        assert_eq!(bytes_of_setting("1GB"), Some(1 << 30));
        assert_eq!(bytes_of_setting("128 MB"), Some(128 << 20));
        assert_eq!(bytes_of_setting("16384"), Some(128 << 20));
        assert_eq!(bytes_of_setting("lots"), None);
    }
}
