//! What is told of a cluster or a volume that stays between runs.

use serde::{Deserialize, Serialize};

use super::Kind;

/// What is told of something that stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    /// What kind of server it serves.
    pub kind: Kind,
    version: String,
    used: String,
    /// The datasets that it holds, each with its parameters.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Where it cannot be counted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl About {
    /// Of a server that a run uses now.
    pub fn new(kind: Kind, version: &str) -> Self {
        let used = jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string();
        Self { kind, version: version.to_owned(), used, datasets: Vec::new(), bytes: None }
    }
}

/// Something that stays between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Names its directory or its volume.
    pub id: String,
    /// What kind of server it serves.
    pub kind: Kind,
    /// The server's version; empty where that is not known.
    pub version: String,
    /// When a run used it last, UTC; empty where that is not known.
    pub used: String,
    /// The datasets that it holds, each with its parameters.
    pub datasets: Vec<String>,
    /// Its size in bytes, where that is known.
    pub bytes: Option<u64>,
}

impl Kept {
    /// With what is told of it, where anything is.
    pub(super) fn new(id: String, kind: Kind, about: Option<About>) -> Self {
        let About { version, used, datasets, bytes, .. } = about.unwrap_or(About {
            kind,
            version: String::new(),
            used: String::new(),
            datasets: Vec::new(),
            bytes: None,
        });
        Self { id, kind, version, used, datasets, bytes }
    }
}
