//! Tables: the heads of columns, and what stands below them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::number;

/// The head of a column.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "head")]
pub(super) struct HeadView {
    /// What stands below it.
    pub title: String,
    /// Whether numbers stand below it.
    pub number: bool,
    /// What it counts, where it is a metric.
    pub about: Option<String>,
}

impl HeadView {
    pub(super) fn words(title: &str) -> Self {
        Self { title: title.to_owned(), number: false, about: None }
    }

    /// The head of what [`super::acts::deeds`] says of arms.
    pub(super) fn plan() -> Self {
        let about = "the node that the planner chose to read or join rows with; where arms differ above it, the nodes there are named first";
        Self { about: Some(about.to_owned()), ..Self::words("plan") }
    }

    /// The head of numbers that no metric names.
    pub(super) fn numbers(title: String) -> Self {
        Self { title, number: true, about: None }
    }

    pub(super) fn metric(metric: Metric) -> Self {
        Self { title: column_title(metric), number: true, about: Some(metric.doc().to_owned()) }
    }
}

fn column_title(metric: Metric) -> String {
    match metric {
        Metric::Median => "median [95%]".to_owned(),
        Metric::WalFpi => "WAL page images".to_owned(),
        Metric::TempRead => "temp blocks read".to_owned(),
        Metric::TempWritten => "temp blocks written".to_owned(),
        other => other.name().replace('_', " ").replace("wal ", "WAL "),
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
