//! What several test files need: servers of the versions that the tests know.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use planbook::server::{self, Needs, Server, Spec};
use planbook::session::Session;

/// A server with small buffers, so that many fit on one machine.
pub fn start(bindir: Option<PathBuf>) -> Server {
    let settings = BTreeMap::from([("shared_buffers".to_owned(), "32MB".to_owned())]);
    let needs = Needs { settings, ..Needs::default() };
    let spec = Spec::Local { bindir };
    server::start(&spec, &needs, &mut |_| {}).unwrap()
}

/// The programs of another major version, from `PLANBOOK_TEST_PG<major>`. Where that is not set the test is
/// skipped, and says so; in CI it must be set.
pub fn other_version(major: u32) -> Option<PathBuf> {
    let variable = format!("PLANBOOK_TEST_PG{major}");
    if let Some(prefix) = std::env::var_os(&variable) {
        return Some(PathBuf::from(prefix).join("bin"));
    }
    assert!(std::env::var_os("CI").is_none(), "{variable} is not set");
    // Past the test harness, which keeps to itself what a passing test prints.
    let _ = writeln!(std::io::stderr(), "skipped: {variable} names no PostgreSQL {major}");
    None
}

pub fn connect(server: &Server) -> Session {
    Session::connect(server.endpoint(), "postgres").unwrap()
}
