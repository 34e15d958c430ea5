//! compose.yaml, the one source of the server's flags.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ServerError;

/// The file that ships with the program.
const SHIPPED: &str = include_str!("../../compose.yaml");

/// The service that a run uses unless told otherwise.
const DEFAULT_SERVICE: &str = "pg16";

#[derive(Deserialize)]
struct File {
    services: BTreeMap<String, Service>,
}

#[derive(Deserialize)]
struct Service {
    command: Vec<String>,
}

/// The server flags of the shipped compose.yaml, by setting.
pub(super) fn shipped_flags() -> Result<BTreeMap<String, String>, ServerError> {
    let file: File =
        serde_yaml::from_str(SHIPPED).map_err(|error| ServerError::Compose { problem: error.to_string() })?;
    let service = file.services.get(DEFAULT_SERVICE).ok_or_else(|| ServerError::Compose {
        problem: format!("there is no service `{DEFAULT_SERVICE}`"),
    })?;
    flags(&service.command)
}

/// `postgres -c name=value …` as settings.
fn flags(command: &[String]) -> Result<BTreeMap<String, String>, ServerError> {
    let refuse = |word: &str| ServerError::Compose {
        problem: format!("`command` must read postgres -c name=value …, not `{word}`"),
    };
    let mut words = command.iter();
    match words.next().map(String::as_str) {
        Some("postgres") => {}
        other => return Err(refuse(other.unwrap_or(""))),
    }
    let mut settings = BTreeMap::new();
    while let Some(word) = words.next() {
        let pair = match word.as_str() {
            "-c" => words.next().map(String::as_str).unwrap_or_default(),
            _ => word.strip_prefix("--").unwrap_or_default(),
        };
        let (name, value) = pair.split_once('=').ok_or_else(|| refuse(word))?;
        settings.insert(name.replace('-', "_"), value.to_owned());
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_flags_are_those_of_the_design() {
        let flags = shipped_flags().unwrap();
        let expected = [
            ("autovacuum", "off"),
            ("listen_addresses", "*"),
            ("log_timezone", "UTC"),
            ("max_connections", "20"),
            ("max_wal_size", "4GB"),
            ("shared_buffers", "1GB"),
            ("synchronize_seqscans", "off"),
            ("timezone", "UTC"),
            ("track_io_timing", "on"),
        ];
        let seen: Vec<(&str, &str)> = flags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_command_that_is_no_list_of_flags_is_refused() {
        for words in [&["sh", "-c", "postgres"][..], &["postgres", "-c"], &["postgres", "-D", "/x"], &[]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(flags(&words).is_err(), "{words:?}");
        }
        let long: Vec<String> = ["postgres", "--work-mem=4MB"].map(str::to_owned).to_vec();
        assert_eq!(flags(&long).unwrap()["work_mem"], "4MB");
    }
}
