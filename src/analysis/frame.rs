//! The numbers of a recording as data frames: one row per arm, units in the names of the columns, absent as null.

use polars::prelude::{Column, DataFrame, IdxSize, PolarsResult};

use crate::metric::{Metric, Unit};

use super::ArmResult;

/// What names a row: the first columns of every frame.
const KEYS: [&str; 3] = ["measure", "arm", "point"];

/// The name of a metric's column, with the unit where the metric's name does not say it.
#[must_use]
pub fn column_name(metric: Metric) -> String {
    match metric.unit() {
        Unit::Milliseconds => format!("{metric}_ms"),
        Unit::Kilobytes => format!("{metric}_kb"),
        Unit::Count | Unit::Blocks | Unit::Bytes | Unit::Cost | Unit::Ratio => metric.name().to_owned(),
    }
}

/// Every metric of the arms given: names, the chosen node, the number of samples, the metrics in the order of the
/// catalogue, and the 95% interval of the median.
///
/// # Errors
/// Never for arms of a recording: only if polars finds columns of different lengths or two of one name.
pub fn summary(arms: &[ArmResult]) -> PolarsResult<DataFrame> {
    let mut columns = keys(arms);
    columns.push(words("node", arms, |arm| arm.node.clone()));
    columns
        .push(Column::new("samples".into(), arms.iter().map(|arm| arm.samples as u64).collect::<Vec<_>>()));
    columns.extend(
        Metric::ALL
            .iter()
            .map(|metric| numbers(&column_name(*metric), arms, |arm| arm.metrics.get(metric).copied())),
    );
    columns.push(numbers("median_lo_ms", arms, |arm| arm.median_interval.map(|interval| interval.lo)));
    columns.push(numbers("median_hi_ms", arms, |arm| arm.median_interval.map(|interval| interval.hi)));
    DataFrame::new(arms.len(), columns)
}

/// Rows of a frame in the order given, and of their columns the keys and those named.
///
/// # Errors
/// If a row or a column is not there.
pub fn extract(frame: &DataFrame, rows: &[usize], columns: &[String]) -> PolarsResult<DataFrame> {
    let rows: Vec<IdxSize> = rows.iter().filter_map(|row| IdxSize::try_from(*row).ok()).collect();
    let names = KEYS.into_iter().map(str::to_owned).chain(columns.iter().cloned());
    let taken = names.map(|name| frame.column(&name)?.take_slice(&rows)).collect::<PolarsResult<Vec<_>>>()?;
    DataFrame::new(rows.len(), taken)
}

fn keys(arms: &[ArmResult]) -> Vec<Column> {
    let [measure, arm, point] = KEYS;
    vec![
        words(measure, arms, |result| Some(result.key.measure.clone())),
        words(arm, arms, |result| result.key.arm.clone()),
        words(point, arms, |result| result.key.point.as_ref().map(ToString::to_string)),
    ]
}

fn words(name: &str, arms: &[ArmResult], of: impl Fn(&ArmResult) -> Option<String>) -> Column {
    Column::new(name.into(), arms.iter().map(of).collect::<Vec<_>>())
}

/// One number of each arm.
pub fn numbers(name: &str, arms: &[ArmResult], of: impl Fn(&ArmResult) -> Option<f64>) -> Column {
    Column::new(name.into(), arms.iter().map(of).collect::<Vec<_>>())
}
