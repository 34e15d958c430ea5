//! The manifest: what was run, on what, and how it ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::notebook::Scalar;
use crate::server::Identity;

use super::BuiltEvent;

/// The format of a recording. Raised when an older program could not read a newer recording.
pub const FORMAT: u32 = 1;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Still running, or killed.
    Running,
    /// Every step was done.
    Complete,
    /// A step failed and the rest was not run.
    Failed,
    /// The server, the disk or another part of the environment gave way.
    Broken,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

/// SHA-256 of what went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// What runs: dataset, settings, queries. A change makes the recording stale.
    pub runs: String,
    /// What is shown: text, labels, tables. A change only needs `planbook render`.
    pub shown: String,
}

/// `manifest.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the recording.
    pub format: u32,
    /// The version of Planbook that made it.
    pub planbook: String,
    /// The notebook's name.
    pub notebook: String,
    /// The name of the dataset, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// What was built, or found as an earlier run left it; absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<BuiltEvent>,
    /// The profile asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What `--set` changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<(String, String)>,
    /// The one step that `--only` ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Parameters in force.
    pub params: BTreeMap<String, Scalar>,
    /// SHA-256 of the inputs.
    pub inputs: Inputs,
    /// The server, read back from itself.
    pub server: Identity,
    /// The seed of the order of turns and of the bootstrap.
    pub seed: u64,
    /// When the first step began, UTC.
    pub started: String,
    /// Wall time of the steps in seconds; absent until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it ended.
    pub status: Status,
    /// SHA-256 of every file of evidence, by its path in the recording; none until the end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}
