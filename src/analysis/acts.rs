//! The numbers of `time` and `storage` steps.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::recording::{ArmKey, Event, ExecutedEvent, Recording, Sizes};
use crate::stats;

use super::{ArmResult, arm_result};

/// Reads one number of an execution.
type Pick = fn(&ExecutedEvent) -> Option<u64>;

/// The numbers of an execution that are counted, sizes those after it.
const COUNTED: &[(Metric, Pick)] = &[
    (Metric::Rows, |executed| executed.rows),
    (Metric::WalRecords, |executed| executed.wal.records),
    (Metric::WalFpi, |executed| executed.wal.fpi),
    (Metric::WalBytes, |executed| Some(executed.wal.bytes)),
    (Metric::TotalBytes, |executed| Some(executed.sizes?[1].total)),
    (Metric::HeapBytes, |executed| executed.sizes?[1].heap),
    (Metric::ToastBytes, |executed| executed.sizes?[1].toast),
    (Metric::IndexBytes, |executed| executed.sizes?[1].indexes),
];

/// An arm of a `time` step: times from its samples; rows, WAL and sizes as medians over its executions.
pub(super) fn executed(recording: &Recording, key: ArmKey, step: usize, asked: usize) -> ArmResult {
    let executions: Vec<&ExecutedEvent> = recording
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Executed(executed) if executed.key == key => Some(&**executed),
            _ => None,
        })
        .collect();
    let mut result = arm_result(recording, key, step, asked);
    result.measured = !executions.is_empty();
    for (metric, pick) in COUNTED {
        // Absent in one is absent: a median over the others would be of something else.
        let values: Option<Vec<f64>> =
            executions.iter().map(|executed| pick(executed).map(|value| value as f64)).collect();
        let values = values.filter(|values| !values.is_empty());
        result.metrics.extend(values.map(|values| (*metric, median(values))));
    }
    let growth: Vec<f64> = executions
        .iter()
        .filter_map(|executed| executed.sizes.map(|[before, after]| after.total as f64 - before.total as f64))
        .collect();
    if !growth.is_empty() {
        result.metrics.insert(Metric::GrowthBytes, median(growth));
    }
    result
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    stats::median(&values)
}

/// A relation of a `storage` step.
pub(super) fn stored(recording: &Recording, key: ArmKey, step: usize) -> ArmResult {
    let sizes = recording.events.iter().find_map(|event| match event {
        Event::Storage(stored) if stored.step == step && Some(&stored.relation) == key.arm.as_ref() => {
            Some(stored.sizes)
        }
        _ => None,
    });
    ArmResult {
        key,
        step,
        measured: sizes.is_some(),
        node: None,
        metrics: sizes.map(metrics).unwrap_or_default(),
        median_interval: None,
        samples: 0,
        asked: 0,
        changed_plan: None,
        probes: BTreeMap::new(),
    }
}

fn metrics(sizes: Sizes) -> BTreeMap<Metric, f64> {
    [
        (Metric::TotalBytes, Some(sizes.total)),
        (Metric::HeapBytes, sizes.heap),
        (Metric::ToastBytes, sizes.toast),
        (Metric::IndexBytes, sizes.indexes),
    ]
    .into_iter()
    .filter_map(|(metric, bytes)| Some((metric, bytes? as f64)))
    .collect()
}
