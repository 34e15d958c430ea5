//! CSVs: one row per arm, full precision, units in the headers, absent as empty.

use ::csv::WriterBuilder;

use crate::analysis::ArmResult;
use crate::metric::{Metric, Unit};
use crate::notebook::{Column, StepKind, Table};

use super::{RenderError, Subject, view};

/// `summary.csv`: every metric of every arm.
pub(super) fn summary(subject: Subject<'_>) -> Result<Vec<u8>, RenderError> {
    let mut header: Vec<String> = ["measure", "arm", "point", "node", "samples"].map(String::from).to_vec();
    header.extend(Metric::ALL.iter().map(|metric| column_name(*metric)));
    header.extend(["median_lo_ms", "median_hi_ms"].map(String::from));
    let rows = subject.analysis.arms.iter().map(summary_row);
    encode("summary.csv", &header, rows)
}

fn summary_row(arm: &ArmResult) -> Vec<String> {
    let mut row = vec![
        arm.key.measure.clone(),
        arm.key.arm.clone().unwrap_or_default(),
        String::new(),
        arm.node.clone().unwrap_or_default(),
        arm.samples.to_string(),
    ];
    row.extend(Metric::ALL.iter().map(|metric| cell(arm.metrics.get(metric).copied())));
    row.push(cell(arm.median_interval.map(|interval| interval.lo)));
    row.push(cell(arm.median_interval.map(|interval| interval.hi)));
    row
}

/// One CSV per `table` step, with the columns that it shows.
pub(super) fn tables(subject: Subject<'_>) -> Result<Vec<(String, Vec<u8>)>, RenderError> {
    let tables = subject.notebook.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Table(table) => Some(table),
        _ => None,
    });
    tables.map(|table| table_csv(subject, table)).collect()
}

fn table_csv(subject: Subject<'_>, table: &Table) -> Result<(String, Vec<u8>), RenderError> {
    let mut header = vec!["measure".to_owned(), "arm".to_owned()];
    header.extend(table.columns.iter().map(|column| match column {
        Column::Plan => "node".to_owned(),
        Column::Metric(metric) => column_name(*metric),
    }));
    let rows = view::table_rows(subject, table).into_iter().map(|arm| {
        let mut row = vec![arm.key.measure.clone(), arm.key.arm.clone().unwrap_or_default()];
        row.extend(table.columns.iter().map(|column| match column {
            Column::Plan => arm.node.clone().unwrap_or_default(),
            Column::Metric(metric) => cell(arm.metrics.get(metric).copied()),
        }));
        row
    });
    let name = format!("{}.csv", table.id);
    let bytes = encode(&name, &header, rows)?;
    Ok((name, bytes))
}

/// The metric's name with its unit where the name does not say it.
fn column_name(metric: Metric) -> String {
    match metric.unit() {
        Unit::Milliseconds => format!("{metric}_ms"),
        Unit::Kilobytes => format!("{metric}_kb"),
        Unit::Count | Unit::Blocks | Unit::Bytes | Unit::Cost | Unit::Ratio => metric.name().to_owned(),
    }
}

fn cell(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn encode(
    file: &str,
    header: &[String],
    mut rows: impl Iterator<Item = Vec<String>>,
) -> Result<Vec<u8>, RenderError> {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let mut write = || -> Result<(), ::csv::Error> {
        writer.write_record(header)?;
        rows.try_for_each(|row| writer.write_record(row.iter().map(|cell| harmless(cell))))
    };
    write().map_err(|error| failed(file, &error))?;
    writer.into_inner().map_err(|error| failed(file, &error))
}

/// A spreadsheet runs a cell that begins like a formula: such a text gets an apostrophe. Numbers stay as they are.
fn harmless(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if formula { format!("'{cell}") } else { cell.to_owned() }
}

fn failed(file: &str, error: &dyn std::fmt::Display) -> RenderError {
    RenderError::Encode { file: file.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_disarmed_and_numbers_are_not() {
        let rows = [vec!["=1+1".to_owned(), "-5.5".to_owned(), "a,\"b\"".to_owned()]];
        let bytes = encode("x.csv", &["a".into(), "b".into(), "c".into()], rows.into_iter()).expect("csv");
        assert_eq!(String::from_utf8(bytes).expect("utf-8"), "a,b,c\n'=1+1,-5.5,\"a,\"\"b\"\"\"\n");
    }
}
