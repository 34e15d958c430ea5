//! Which plans report a metric, and why one has no value for another.

use super::Metric;

/// The PostgreSQL that first counted descents into indexes.
const COUNTS_SEARCHES: u32 = 18;

impl Metric {
    /// The nodes that report it, where not every plan does.
    fn reported_by(self) -> Option<&'static str> {
        Some(match self {
            Self::HeapFetches | Self::FirstHeapFetches => "Index Only Scan",
            Self::IndexSearches => "Index Scan, Index Only Scan and Bitmap Index Scan",
            Self::ExactBlocks | Self::LossyBlocks => "Bitmap Heap Scan",
            Self::RowsRemoved => "a node with a filter, a join filter or a recheck",
            Self::WorkersPlanned | Self::WorkersLaunched => "Gather and Gather Merge",
            Self::SortSpace => "Sort and Incremental Sort",
            Self::HashBatches => "Hash and a hashed Aggregate",
            Self::Spilled => "Sort, Hash Join and a hashed Aggregate",
            _ => return None,
        })
    }

    /// Why a plan of that major version of PostgreSQL has no value of it, as far as that is known.
    #[must_use]
    pub fn absence(self, major: u32) -> Option<String> {
        let nodes = self.reported_by()?;
        if self == Self::IndexSearches && major < COUNTS_SEARCHES {
            return Some(format!(
                "PostgreSQL {major} reports no {self}; {nodes} do from PostgreSQL {COUNTS_SEARCHES} on"
            ));
        }
        Some(format!("no node of the plan reports {self}; it comes from {nodes}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_a_plan_lacks_is_explained() {
        let why = |metric: Metric, major| metric.absence(major).unwrap_or_default();
        assert_eq!(
            why(Metric::HeapFetches, 15),
            "no node of the plan reports heap_fetches; it comes from Index Only Scan"
        );
        assert!(why(Metric::IndexSearches, 17).starts_with("PostgreSQL 17 reports no index_searches"));
        assert!(why(Metric::IndexSearches, 18).starts_with("no node of the plan"));
        assert_eq!(Metric::Blocks.absence(18), None);
    }
}
