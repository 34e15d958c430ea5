//! Finds the server's binaries on this machine.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ServerError;
use super::account::Account;

/// Names the directory of the binaries; `none` hides those of the machine.
pub(super) const PG_BIN: &str = "PLANBOOK_PG_BIN";

/// A directory with `postgres` and `initdb` that run.
#[derive(Debug, Clone)]
pub(super) struct Binaries {
    pub dir: PathBuf,
    /// As `postgres --version` prints it, such as 15.18.
    pub version: String,
}

impl Binaries {
    /// The named ones; else those of `PLANBOOK_PG_BIN`; else of `pg_config`; else the newest of the usual places.
    pub fn find(named: Option<&Path>, account: Option<&Account>) -> Result<Self, ServerError> {
        if let Some(dir) = named {
            return Self::at(dir, "--server local:BINDIR", account);
        }
        let mut places = Vec::new();
        match env::var_os(PG_BIN) {
            Some(dir) if dir == "none" => return Err(ServerError::NoBinaries { looked: places }),
            Some(dir) if !dir.is_empty() => return Self::at(Path::new(&dir), PG_BIN, account),
            _ => {}
        }
        for dir in from_path() {
            if holds(&dir).is_ok() {
                return Self::at(&dir, "pg_config or PATH", account);
            }
            places.push(dir);
        }
        Self::newest(usual_places(), places, account)
    }

    fn newest(
        usual: Vec<PathBuf>,
        mut looked: Vec<PathBuf>,
        account: Option<&Account>,
    ) -> Result<Self, ServerError> {
        let mut first_problem = None;
        let mut found = Vec::new();
        for dir in usual.iter().filter(|dir| holds(dir).is_ok()) {
            match Self::at(dir, "the usual places", account) {
                Ok(binaries) => found.push(binaries),
                Err(problem) => first_problem = first_problem.or(Some(problem)),
            }
        }
        looked.extend(usual);
        let newest = found.into_iter().max_by_key(|one| version_order(&one.version));
        newest.ok_or_else(|| first_problem.unwrap_or(ServerError::NoBinaries { looked }))
    }

    /// Those of one directory; the prefix above `bin` is understood too.
    pub fn at(dir: &Path, origin: &'static str, account: Option<&Account>) -> Result<Self, ServerError> {
        let below = dir.join("bin");
        let dir = if holds(dir).is_err() && holds(&below).is_ok() { below } else { dir.to_owned() };
        let dir = std::path::absolute(&dir).unwrap_or(dir);
        holds(&dir).map_err(|missing| ServerError::WrongBindir { dir: dir.clone(), missing, origin })?;
        if let Some((account, barred)) = account.and_then(|one| Some((one, one.barred_at(&dir)?))) {
            return Err(ServerError::Permission {
                action: "enter",
                path: barred.to_owned(),
                account: Some(account.name.clone()),
            });
        }
        let version = version_of(&dir.join("postgres"), account)?;
        Ok(Self { dir, version })
    }
}

/// Whether the directory holds what a server needs; else the binary that is missing.
fn holds(dir: &Path) -> Result<(), &'static str> {
    ["postgres", "initdb"].into_iter().find(|name| !dir.join(name).is_file()).map_or(Ok(()), Err)
}

fn version_of(postgres: &Path, account: Option<&Account>) -> Result<String, ServerError> {
    let broken = |problem: String| ServerError::BrokenBinary { binary: postgres.to_owned(), problem };
    let mut command = Command::new(postgres);
    command.arg("--version").current_dir("/");
    if let Some(account) = account {
        account.apply(&mut command);
    }
    let output = command.output().map_err(|source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => ServerError::Permission {
            action: "run",
            path: postgres.to_owned(),
            account: account.map(|one| one.name.clone()),
        },
        _ => broken(source.to_string()),
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().skip_while(|word| *word != "(PostgreSQL)").nth(1);
    version.map(str::to_owned).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        broken(format!("{} {}", output.status, said.trim()).trim().to_owned())
    })
}

/// What the user's own environment points at.
fn from_path() -> Vec<PathBuf> {
    let asked = Command::new("pg_config").arg("--bindir").output().ok();
    let named = asked.filter(|output| output.status.success()).map(|output| {
        PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(output.stdout.trim_ascii()))
    });
    let path = env::var_os("PATH").unwrap_or_default();
    named.into_iter().chain(env::split_paths(&path).filter(|dir| holds(dir).is_ok())).collect()
}

/// Where packages put PostgreSQL, `*` standing for one folder of any name.
const USUAL: [&str; 8] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/usr/local/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/opt/local/lib/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];

fn usual_places() -> Vec<PathBuf> {
    let found: BTreeSet<PathBuf> = USUAL.iter().flat_map(|pattern| expand(pattern)).collect();
    found.into_iter().collect()
}

/// A pattern of [`USUAL`] as the directories that exist; the pattern itself when none does.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let after = after.trim_start_matches('/');
    let entries = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(after))
        .collect();
    if found.is_empty() { vec![pattern.into()] } else { found }
}

/// 9.6.24 < 15.18 < 18beta1: the numbers of a version in order.
fn version_order(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fake(dir: &Path, prints: &str) {
        std::fs::create_dir_all(dir).unwrap();
        for name in ["postgres", "initdb"] {
            let path = dir.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{prints}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn the_newest_of_the_usual_places_wins_by_number() {
        let root = tempfile::tempdir().unwrap();
        let dirs: Vec<PathBuf> = ["9.6.24", "15.18", "16.2"]
            .iter()
            .map(|version| {
                let dir = root.path().join(version).join("bin");
                fake(&dir, &format!("echo 'postgres (PostgreSQL) {version} (Debian)'"));
                dir
            })
            .collect();
        let found = Binaries::newest(dirs, vec![], None).unwrap();
        assert_eq!(found.version, "16.2");
    }

    #[test]
    fn a_wrong_directory_names_what_is_missing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("postgres"), "").unwrap();
        let error = Binaries::at(root.path(), "a test", None).unwrap_err();
        assert!(error.to_string().contains("holds no `initdb` (named by a test)"), "{error}");
    }

    #[test]
    fn a_prefix_stands_for_its_bin() {
        let root = tempfile::tempdir().unwrap();
        fake(&root.path().join("bin"), "echo 'postgres (PostgreSQL) 17.1'");
        assert_eq!(Binaries::at(root.path(), "a test", None).unwrap().dir, root.path().join("bin"));
    }

    #[test]
    fn a_binary_that_fails_says_how() {
        let root = tempfile::tempdir().unwrap();
        fake(root.path(), "echo libpq.so.5: not found >&2; exit 127");
        let error = Binaries::at(root.path(), "a test", None).unwrap_err().to_string();
        assert!(error.contains("libpq.so.5: not found") && error.contains("127"), "{error}");
    }

    #[test]
    fn none_at_all_lists_the_places() {
        let error = Binaries::newest(vec!["/nowhere/bin".into()], vec![], None).unwrap_err();
        assert!(error.to_string().contains("/nowhere/bin"), "{error}");
        assert_eq!(error.exit_code(), 3);
    }
}
