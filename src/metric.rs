//! The catalogue of metrics: every number that can be asked of a measure, under one name everywhere.

/// Where to look for the name of a metric that is like none.
pub const WHICH: &str = "the metrics, such as median, blocks and rows, are those of docs/notebook.md";

/// How a metric behaves from one run to the next, and so what a claim may say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// A counter of the captured execution: exact.
    Counter,
    /// A clock reading of the one captured execution: no claim can rest on it.
    SingleTime,
    /// A statistic over the timed samples, in milliseconds.
    Timing,
    /// The size of a relation's files, of `storage` and `time` steps: exact.
    Size,
}

/// The unit that a metric is printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A plain count (rows, fetches, searches, workers).
    Count,
    /// Blocks of the server's block size (8 kB unless built otherwise).
    Blocks,
    /// Kilobytes (1024 bytes).
    Kilobytes,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
    /// The planner's cost units.
    Cost,
    /// A ratio of two like quantities.
    Ratio,
}

mod compute;
mod reported;

pub use compute::of_plan;

macro_rules! metrics {
    ($($variant:ident $name:literal $nature:ident $unit:ident $doc:literal;)*) => {
        /// One number of a measure, by the name that notebooks, CSV headers and JSON use.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric { $(#[doc = $doc] $variant,)* }

        impl Metric {
            /// Every metric, in the order of the catalogue.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];

            /// The name used everywhere.
            #[must_use]
            pub fn name(self) -> &'static str { match self { $(Metric::$variant => $name,)* } }

            /// What a claim may say about it.
            #[must_use]
            pub fn nature(self) -> Nature { match self { $(Metric::$variant => Nature::$nature,)* } }

            /// Its unit.
            #[must_use]
            pub fn unit(self) -> Unit { match self { $(Metric::$variant => Unit::$unit,)* } }

            /// One line of explanation.
            #[must_use]
            pub fn doc(self) -> &'static str { match self { $(Metric::$variant => $doc,)* } }
        }
    };
}

metrics! {
    Rows "rows" Counter Count "rows that the root returned, over all its loops; of a timed statement, those that it returned or changed";
    PlanRows "plan_rows" Counter Count "rows that the planner expected of the root";
    Cost "cost" Counter Cost "the planner's total cost of the root";
    StartupCost "startup_cost" Counter Cost "the planner's cost before the root's first row";
    Blocks "blocks" Counter Blocks "shared and local blocks touched, hit or read; does not depend on the cache";
    Hit "hit" Counter Blocks "blocks found in PostgreSQL's own buffers";
    Read "read" Counter Blocks "blocks asked of the operating system, whose cache may have had them";
    Dirtied "dirtied" Counter Blocks "blocks that were clean and became dirty";
    Written "written" Counter Blocks "blocks that this execution had to write out";
    TempRead "temp_read" Counter Blocks "blocks of temporary files read";
    TempWritten "temp_written" Counter Blocks "blocks of temporary files written";
    FirstBlocks "first_blocks" Counter Blocks "blocks of the first of the captures, which ran before all others";
    FirstHeapFetches "first_heap_fetches" Counter Count "heap fetches of the first of the captures";
    HeapFetches "heap_fetches" Counter Count "visits of index-only scans to the heap, for entries of pages not known to be visible to all";
    IndexSearches "index_searches" Counter Count "descents into indexes (PostgreSQL 18 and later)";
    ExactBlocks "exact_blocks" Counter Blocks "heap blocks of bitmap scans whose rows were known exactly";
    LossyBlocks "lossy_blocks" Counter Blocks "heap blocks of bitmap scans that had to be rechecked whole";
    RowsRemoved "rows_removed" Counter Count "rows read and thrown away by filters, join filters and rechecks, over all loops";
    QError "q_error" Counter Ratio "the worst misestimate of rows in the tree, as a factor: the larger of estimate and fact over the smaller";
    WorkersPlanned "workers_planned" Counter Count "parallel workers that the planner asked for";
    WorkersLaunched "workers_launched" Counter Count "parallel workers that came";
    SortSpace "sort_space" Counter Kilobytes "memory or disk that sorts used";
    HashBatches "hash_batches" Counter Count "batches of the hash with the most; more than one went to disk";
    Spilled "spilled" Counter Kilobytes "kilobytes of disk that sorts, hashes and aggregates held; all that was written is temp_written";
    WalRecords "wal_records" Counter Count "write-ahead log records";
    WalBytes "wal_bytes" Counter Bytes "bytes of write-ahead log";
    WalFpi "wal_fpi" Counter Count "full-page images in the write-ahead log";
    PlanningBlocks "planning_blocks" Counter Blocks "blocks touched while planning";
    Planning "planning" SingleTime Milliseconds "planning time of the captured execution alone";
    Execution "execution" SingleTime Milliseconds "execution time of the captured execution alone, with EXPLAIN's own cost";
    Median "median" Timing Milliseconds "median latency of the samples, as the client saw it";
    Min "min" Timing Milliseconds "the fastest sample";
    Max "max" Timing Milliseconds "the slowest sample";
    Mean "mean" Timing Milliseconds "mean of the samples";
    Stddev "stddev" Timing Milliseconds "standard deviation of the samples (n - 1)";
    Mad "mad" Timing Milliseconds "median absolute deviation from the median, unscaled";
    P95 "p95" Timing Milliseconds "95th percentile, from 20 samples on";
    P99 "p99" Timing Milliseconds "99th percentile, from 100 samples on";
    TotalBytes "total_bytes" Size Bytes "size on disk of a relation with its TOAST table and its indexes";
    HeapBytes "heap_bytes" Size Bytes "size of the table's own file, with its free space and visibility maps; after it, where a statement was timed";
    ToastBytes "toast_bytes" Size Bytes "size of its TOAST table, with that one's index";
    IndexBytes "index_bytes" Size Bytes "size of all its indexes, or of the index itself; after it, where a statement was timed";
    GrowthBytes "growth_bytes" Size Bytes "total size after a timed statement less that before it";
}

impl Metric {
    /// The metric of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|metric| metric.name() == name)
    }
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
