//! The integration tests, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod plan_fixtures;
mod plan_same;
mod server_local;
mod session;
mod support;
