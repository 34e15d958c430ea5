//! The integration tests, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod browser;
mod chromium;
mod dataset;
mod dataset_break;
mod dataset_cache;
mod dataset_pin;
mod docs;
mod engine;
mod hostile;
mod hostile_report;
mod layers;
mod malformed;
mod pin;
mod plan_explain;
mod plan_fixtures;
mod plan_live;
mod plan_paste;
mod plan_robust;
mod plan_same;
mod plots;
mod project;
mod report;
mod run;
mod run_broken;
mod run_render;
mod run_servers;
mod scene;
mod server_docker;
mod server_embedded;
mod server_local;
mod server_url;
mod session;
mod session_login;
mod session_timing;
mod shipped;
mod steps;
mod support;
mod sweep;
