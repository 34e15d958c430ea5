//! Numbers of one node under the names that notebooks use for a whole plan.

use super::Node;

type Reading = fn(&Node) -> Option<f64>;

/// PostgreSQL's block size in kilobytes, unless built otherwise.
const BLOCK_KB: f64 = 8.0;

/// Every name, and how it is read. Blocks include the node's children, as the server counts them.
const MEASURES: &[(&str, Reading)] = &[
    ("rows", Node::rows),
    ("plan_rows", Node::plan_rows),
    ("loops", Node::loops),
    ("cost", Node::total_cost),
    ("startup_cost", Node::startup_cost),
    ("blocks", Node::blocks),
    ("hit", |node| node.sum(&["Shared Hit Blocks", "Local Hit Blocks"])),
    ("read", |node| node.sum(&["Shared Read Blocks", "Local Read Blocks"])),
    ("dirtied", |node| node.sum(&["Shared Dirtied Blocks", "Local Dirtied Blocks"])),
    ("written", |node| node.sum(&["Shared Written Blocks", "Local Written Blocks"])),
    ("temp_read", |node| node.number("Temp Read Blocks")),
    ("temp_written", |node| node.number("Temp Written Blocks")),
    ("heap_fetches", |node| node.number("Heap Fetches")),
    ("index_searches", |node| node.number("Index Searches")),
    ("exact_blocks", |node| node.number("Exact Heap Blocks")),
    ("lossy_blocks", |node| node.number("Lossy Heap Blocks")),
    ("rows_removed", Node::rows_removed),
    ("workers_planned", |node| node.number("Workers Planned")),
    ("workers_launched", |node| node.number("Workers Launched")),
    ("sort_space", Node::sort_space),
    ("hash_batches", Node::hash_batches),
    ("spilled", |node| node.spilled_kilobytes(BLOCK_KB)),
    ("wal_records", |node| node.number("WAL Records")),
    ("wal_bytes", |node| node.number("WAL Bytes")),
    ("wal_fpi", |node| node.number("WAL FPI")),
];

/// Whether a node can be asked for `name`.
pub(super) fn is_measure(name: &str) -> bool {
    MEASURES.iter().any(|(known, _)| *known == name)
}

/// Every name that a node can be asked for.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MEASURES.iter().map(|(name, _)| *name)
}

impl Node {
    /// A number of this node by the name that a notebook uses (`rows`, `blocks`, `heap_fetches`, …); absent
    /// where the server did not report it.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<f64> {
        let (_, read) = MEASURES.iter().find(|(known, _)| *known == name)?;
        read(self)
    }
}
