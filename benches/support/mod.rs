//! What the benchmarks share: psql on a server of ours, and a home for a run.

use std::error::Error;
use std::fs;
use std::process::{Command, Output};

use planbook::server::Server;
use planbook::session::Host;
use tempfile::TempDir;

/// Whatever goes wrong ends the benchmark.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs a script in psql, quietly; an error of any statement is an error.
pub fn psql(server: &Server, database: &str, script: &str) -> Result<Output> {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), script)?;
    let endpoint = server.endpoint();
    let Host::Socket(socket) = &endpoint.host else { return Err("the server has no socket".into()) };
    let psql = server.program("psql").ok_or("the server came without psql")?;
    let output = Command::new(psql)
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", &endpoint.user])
        .args(["-p", &endpoint.port.to_string(), "-d", database, "-h"])
        .arg(socket)
        .arg("-f")
        .arg(file.path())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(output)
}

/// An empty folder for cache, state and results, which the account that the server runs as can enter.
pub fn home() -> Result<TempDir> {
    let home = tempfile::Builder::new().prefix("pb").tempdir()?;
    fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::create_dir(home.path().join("data"))?;
    Ok(home)
}
