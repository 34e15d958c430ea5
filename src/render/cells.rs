//! Tables: the heads of columns, and what stands below them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::number;

/// The head of a column.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "head")]
pub(super) struct HeadView {
    /// What stands below it.
    pub title: String,
    /// Whether numbers stand below it.
    pub number: bool,
}

impl HeadView {
    pub(super) fn words(title: &str) -> Self {
        Self { title: title.to_owned(), number: false }
    }

    pub(super) fn metric(metric: Metric) -> Self {
        Self { title: column_title(metric), number: true }
    }
}

fn column_title(metric: Metric) -> String {
    match metric {
        Metric::Median => "median [95%]".to_owned(),
        other => other.name().replace('_', " "),
    }
}

pub(super) fn metric_cell(result: &ArmResult, metric: Metric) -> String {
    match (metric, result.metrics.get(&metric)) {
        (_, None) => String::new(),
        (Metric::Median, Some(value)) => match result.median_interval {
            Some(interval) => number::milliseconds_within(*value, interval.lo, interval.hi),
            None => number::milliseconds(*value),
        },
        (_, Some(value)) => number::metric(metric, *value),
    }
}
