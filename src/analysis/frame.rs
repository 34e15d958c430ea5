//! The numbers of a recording as data frames: one row per arm, units in the names of the columns, absent as null.

use polars::prelude::{Column, DataFrame, IdxSize, PolarsResult};

use crate::metric::{Metric, Unit};
use crate::notebook::XFormat;

use super::{ArmResult, PointResult, SweepResult};

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

/// A sweep, one row per point and arm: the parameters, the place on the axis, whether the point was added in search of
/// the crossing, the planner's free choice there, which of the two crossing arms is surely the faster; then the arm with
/// its node, time, blocks, rows, estimate, cost and probes, and the planner's regret beside its own arm.
///
/// # Errors
/// Never for a sweep of a recording: only if polars finds columns of different lengths or two of one name.
pub fn sweep(sweep: &SweepResult, arms: &[ArmResult]) -> PolarsResult<DataFrame> {
    let rows: Vec<(&PointResult, &ArmResult)> = sweep
        .points
        .iter()
        .flat_map(|point| {
            let of_point = arms.iter().filter(|arm| point.arms.contains(&arm.key));
            of_point.filter(|arm| arm.measured || !point.refined).map(move |arm| (point, arm))
        })
        .collect();
    let mut columns: Vec<Column> = sweep.axes.iter().map(|axis| parameter(axis, &rows)).collect();
    if let Some(name) = axis_name(sweep) {
        columns.push(swept_numbers(&name, &rows, |point, _| point.x));
    }
    columns
        .push(Column::new("added".into(), rows.iter().map(|(point, _)| point.refined).collect::<Vec<_>>()));
    let choice = |point: &PointResult| {
        let of_free = point.arms.iter().find(|key| sweep.free.is_some() && key.arm == sweep.free)?;
        arms.iter().find(|arm| arm.key == *of_free)?.node.clone()
    };
    columns.push(swept_words("planner_choice", &rows, |point, _| choice(point)));
    columns.push(swept_words("faster", &rows, |point, _| sweep.faster(point)));
    columns.push(swept_words("arm", &rows, |_, arm| arm.key.arm.clone()));
    columns.push(swept_words("node", &rows, |_, arm| arm.node.clone()));
    let metric = |metric: Metric| {
        swept_numbers(&column_name(metric), &rows, |_, arm| arm.metrics.get(&metric).copied())
    };
    columns.push(metric(Metric::Median));
    columns
        .push(swept_numbers("median_lo_ms", &rows, |_, arm| arm.median_interval.map(|interval| interval.lo)));
    columns
        .push(swept_numbers("median_hi_ms", &rows, |_, arm| arm.median_interval.map(|interval| interval.hi)));
    columns.push(Column::new(
        "samples".into(),
        rows.iter().map(|(_, arm)| arm.samples as u64).collect::<Vec<_>>(),
    ));
    columns
        .push(Column::new("asked".into(), rows.iter().map(|(_, arm)| arm.asked as u64).collect::<Vec<_>>()));
    columns.extend([Metric::Blocks, Metric::Rows, Metric::PlanRows, Metric::Cost].map(metric));
    let probes: std::collections::BTreeSet<&String> =
        rows.iter().flat_map(|(_, arm)| arm.probes.keys()).collect();
    for name in probes {
        columns.push(swept_numbers(name, &rows, |_, arm| arm.probes.get(name).copied()));
    }
    let regret = |point: &PointResult, arm: &ArmResult| {
        point.regret.clone().filter(|_| sweep.free.is_some() && arm.key.arm == sweep.free)
    };
    columns.push(swept_numbers("regret_ms", &rows, |point, arm| Some(regret(point, arm)?.ms)));
    columns.push(swept_numbers("regret_ratio", &rows, |point, arm| Some(regret(point, arm)?.ratio)));
    DataFrame::new(rows.len(), columns)
}

/// The column of the axis, where it is not the parameter itself: its label as a name, with the unit.
fn axis_name(sweep: &SweepResult) -> Option<String> {
    if sweep.axes.first() == Some(&sweep.label) {
        return None;
    }
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = sweep.label.chars().map(word).collect();
    let unit = match sweep.format {
        XFormat::Number | XFormat::Percent => "",
        XFormat::Bytes => "_bytes",
        XFormat::Milliseconds => "_ms",
    };
    let name = format!("{name}{unit}");
    Some(if sweep.axes.contains(&name) { format!("x_{name}") } else { name })
}

fn parameter(axis: &str, rows: &[(&PointResult, &ArmResult)]) -> Column {
    let numbers: Option<Vec<f64>> = rows.iter().map(|(point, _)| point.point.number(axis)).collect();
    match numbers {
        Some(numbers) => Column::new(axis.into(), numbers),
        None => swept_words(axis, rows, |point, _| point.point.value(axis).map(ToString::to_string)),
    }
}

fn swept_words(
    name: &str,
    rows: &[(&PointResult, &ArmResult)],
    of: impl Fn(&PointResult, &ArmResult) -> Option<String>,
) -> Column {
    Column::new(name.into(), rows.iter().map(|(point, arm)| of(point, arm)).collect::<Vec<_>>())
}

fn swept_numbers(
    name: &str,
    rows: &[(&PointResult, &ArmResult)],
    of: impl Fn(&PointResult, &ArmResult) -> Option<f64>,
) -> Column {
    Column::new(name.into(), rows.iter().map(|(point, arm)| of(point, arm)).collect::<Vec<_>>())
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
