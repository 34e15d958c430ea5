//! The names of EXPLAIN's properties in PostgreSQL 13 to 18, interned.

use std::borrow::Cow;
use std::sync::LazyLock;

/// The ten counters of a node's buffers, in the order of EXPLAIN's JSON.
pub const BUFFER_COUNTERS: [&str; 10] = [
    "Shared Hit Blocks",
    "Shared Read Blocks",
    "Shared Dirtied Blocks",
    "Shared Written Blocks",
    "Local Hit Blocks",
    "Local Read Blocks",
    "Local Dirtied Blocks",
    "Local Written Blocks",
    "Temp Read Blocks",
    "Temp Written Blocks",
];

/// Times that buffers took: 13 to 16 name them without `Shared`, 17 and later with it.
pub const IO_TIMES: [&str; 8] = [
    "I/O Read Time",
    "I/O Write Time",
    "Shared I/O Read Time",
    "Shared I/O Write Time",
    "Local I/O Read Time",
    "Local I/O Write Time",
    "Temp I/O Read Time",
    "Temp I/O Write Time",
];

/// The counters of the write-ahead log.
pub const WAL_COUNTERS: [&str; 4] = ["WAL Records", "WAL FPI", "WAL Bytes", "WAL Buffers Full"];

/// Properties that the title of a node tells in text, and those that text has no words for.
pub const IN_TITLE: [&str; 28] = [
    "Node Type",
    "Strategy",
    "Partial Mode",
    "Operation",
    "Parent Relationship",
    "Subplan Name",
    "Custom Plan Provider",
    "Parallel Aware",
    "Async Capable",
    "Scan Direction",
    "Index Name",
    "Relation Name",
    "Schema",
    "Alias",
    "Function Name",
    "Table Function Name",
    "CTE Name",
    "Tuplestore Name",
    "Join Type",
    "Command",
    "Startup Cost",
    "Total Cost",
    "Plan Rows",
    "Plan Width",
    "Actual Startup Time",
    "Actual Total Time",
    "Actual Rows",
    "Actual Loops",
];

/// Everything else that a node, a worker or the top of a plan can say.
const OTHERS: &[&str] = &[
    "Disabled",
    "Output",
    "Inner Unique",
    "Index Cond",
    "Order By",
    "Filter",
    "Recheck Cond",
    "TID Cond",
    "Join Filter",
    "Merge Cond",
    "Hash Cond",
    "One-Time Filter",
    "Run Condition",
    "Window",
    "Rows Removed by Index Recheck",
    "Rows Removed by Filter",
    "Rows Removed by Join Filter",
    "Rows Removed by Conflict Filter",
    "Heap Fetches",
    "Index Searches",
    "Exact Heap Blocks",
    "Lossy Heap Blocks",
    "Sampling Method",
    "Sampling Parameters",
    "Repeatable Seed",
    "Workers Planned",
    "Workers Launched",
    "Single Copy",
    "Params Evaluated",
    "Function Call",
    "Table Function Call",
    "Storage",
    "Maximum Storage",
    "Foreign File",
    "Foreign File Size",
    "Foreign Program",
    "Relations",
    "Remote SQL",
    "Batch Size",
    "Group Key",
    "Grouping Sets",
    "Hash Keys",
    "Group Keys",
    "Hash Key",
    "Sort Key",
    "Presorted Key",
    "Sort Method",
    "Sort Space Used",
    "Sort Space Type",
    "Full-sort Groups",
    "Pre-sorted Groups",
    "Group Count",
    "Sort Methods Used",
    "Sort Space Memory",
    "Sort Space Disk",
    "Average Sort Space Used",
    "Peak Sort Space Used",
    "Planned Partitions",
    "HashAgg Batches",
    "Peak Memory Usage",
    "Disk Usage",
    "Hash Buckets",
    "Original Hash Buckets",
    "Hash Batches",
    "Original Hash Batches",
    "Cache Key",
    "Cache Mode",
    "Cache Hits",
    "Cache Misses",
    "Cache Evictions",
    "Cache Overflows",
    "Subplans Removed",
    "Target Tables",
    "Conflict Resolution",
    "Conflict Arbiter Indexes",
    "Conflict Filter",
    "Tuples Inserted",
    "Tuples Updated",
    "Tuples Deleted",
    "Tuples Skipped",
    "Conflicting Tuples",
    "Workers",
    "Worker Number",
    "JIT",
    "Functions",
    "Options",
    "Timing",
    "Plans",
    "Plan",
    "Query Text",
    "Query Parameters",
    "Query Identifier",
    "Settings",
    "Planning",
    "Planning Time",
    "Memory Used",
    "Memory Allocated",
    "Triggers",
    "Trigger Name",
    "Constraint Name",
    "Relation",
    "Time",
    "Calls",
    "Serialization",
    "Output Volume",
    "Format",
    "Execution Time",
];

const SLOTS: usize = 1024;

/// An open-addressing table: the names are few and fixed, and a general hash would cost more than reading them.
static TABLE: LazyLock<[Option<&'static str>; SLOTS]> = LazyLock::new(|| {
    let mut table = [None; SLOTS];
    for name in known() {
        let mut at = slot(name);
        while table[at].is_some() {
            at = (at + 1) % SLOTS;
        }
        table[at] = Some(name);
    }
    table
});

fn slot(name: &str) -> usize {
    let bytes = name.as_bytes();
    let pick = |at: usize| usize::from(bytes.get(at).copied().unwrap_or(0));
    let sum = bytes.len() * 131
        + pick(0) * 7
        + pick(bytes.len() / 2) * 37
        + pick(bytes.len().saturating_sub(4)) * 17;
    (sum + pick(7) * 59) % SLOTS
}

/// The static twin of a known name; an owned copy of any other.
pub(super) fn intern(name: &str) -> Cow<'static, str> {
    let mut at = slot(name);
    while let Some(known) = TABLE[at] {
        if known == name {
            return Cow::Borrowed(known);
        }
        at = (at + 1) % SLOTS;
    }
    Cow::Owned(name.to_owned())
}

/// Whether some PostgreSQL prints the name.
pub(super) fn is_known(name: &str) -> bool {
    matches!(intern(name), Cow::Borrowed(_))
}

/// Every name that PostgreSQL 13 to 18 prints.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    BUFFER_COUNTERS
        .into_iter()
        .chain(IO_TIMES)
        .chain(WAL_COUNTERS)
        .chain(IN_TITLE)
        .chain(OTHERS.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_interned_and_no_other() {
        for name in known() {
            assert!(matches!(intern(name), Cow::Borrowed(found) if found == name), "{name}");
        }
        assert!(matches!(intern("Blorp Factor"), Cow::Owned(_)));
        assert!(matches!(intern(""), Cow::Owned(_)));
    }
}
