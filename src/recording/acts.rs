//! What the steps `time`, `storage` and `compare` leave in a recording.

use serde::{Deserialize, Serialize};

use super::ArmKey;

/// One timed execution of a statement that changes something, on a clone of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutedEvent {
    /// The step.
    pub step: usize,
    /// The arm.
    #[serde(flatten)]
    pub key: ArmKey,
    /// Counted from 1 within the arm.
    pub rep: usize,
    /// The statement as sent.
    pub sql: String,
    /// Settings asked for, all in force.
    pub settings: std::collections::BTreeMap<String, String>,
    /// The command tag, e.g. `UPDATE 1000`.
    pub tag: String,
    /// The rows that the tag counts, where it counts any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Latency in milliseconds; also in `samples.csv`.
    pub latency_ms: f64,
    /// What it wrote to the write-ahead log.
    pub wal: WalWritten,
    /// The relations named by `of` together, before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<[Sizes; 2]>,
    /// The plan that EXPLAIN (COSTS OFF) gave just before, where the statement has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// An amount of write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalWritten {
    /// Records; absent where the server does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Full-page images; absent where the server does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpi: Option<u64>,
    /// Bytes.
    pub bytes: u64,
}

/// The size of a relation on disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// The relation with everything that belongs to it.
    pub total: u64,
    /// The table's own file, with its free space and visibility maps; absent for an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<u64>,
    /// Its TOAST table with that one's index; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toast: Option<u64>,
    /// All its indexes, or the index itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexes: Option<u64>,
}

/// The sizes of one relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageEvent {
    /// The step.
    pub step: usize,
    /// The relation, as the notebook names it.
    pub relation: String,
    /// Its sizes; those of a partitioned table are the sums over its partitions.
    pub sizes: Sizes,
    /// Each of its indexes with its size in bytes, by name.
    pub each_index: Vec<(String, u64)>,
}

/// The result of comparing queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedEvent {
    /// The step.
    pub step: usize,
    /// What was compared: a name and the number of rows that came, in order.
    pub sides: Vec<(String, usize)>,
    /// The queries as sent, in the same order.
    pub queries: Vec<String>,
    /// How one of them differs from the first; absent where all are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// The largest relative difference between floating-point values that were taken as the same, where some differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_by: Option<f64>,
}
