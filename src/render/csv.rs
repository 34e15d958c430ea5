//! CSVs from data frames: full precision, units in the headers, absent as empty, the same bytes every time.

use ::csv::WriterBuilder;
use polars::prelude::{AnyValue, DataFrame, PolarsError};

use crate::analysis::{ArmResult, frame};
use crate::notebook::{Column, StepKind, Table};
use crate::verdict::NamedNumber;

use super::{RenderError, Subject, arms, named};

/// `summary.csv` with every metric of every arm, one CSV per `table` step with the columns that it shows, and one per
/// sweep.
pub(super) fn files(subject: Subject<'_>) -> Result<Vec<(String, Vec<u8>)>, RenderError> {
    let summary = frame::summary(&subject.analysis.arms).map_err(failed("summary.csv"))?;
    let mut files = vec![("summary.csv".to_owned(), encode("summary.csv", &summary)?)];
    for step in &subject.notebook.steps {
        if let StepKind::Table(table) = &step.kind {
            let name = format!("{}.csv", table.id);
            let rows = table_frame(subject, table, &summary).map_err(failed(&name))?;
            files.push((name.clone(), encode(&name, &rows)?));
        }
    }
    for sweep in &subject.analysis.sweeps {
        let name = format!("{}.csv", sweep.id);
        let rows = frame::sweep(sweep, &subject.analysis.arms).map_err(failed(&name))?;
        files.push((name.clone(), encode(&name, &rows)?));
    }
    Ok(files)
}

fn table_frame(subject: Subject<'_>, table: &Table, summary: &DataFrame) -> Result<DataFrame, PolarsError> {
    let mut frame = summary.clone();
    let mut columns = Vec::new();
    for column in &table.columns {
        match column {
            Column::Plan => columns.push("node".to_owned()),
            Column::Metric(metric) => columns.push(frame::column_name(*metric)),
            Column::Number(name) => columns.extend(number_columns(subject, name, &mut frame)?),
        }
    }
    frame::extract(&frame, &arms::arms_of(subject, &table.of), &columns)
}

/// Adds a named number to a frame of all arms, with the ends of its interval where it has one; the columns' names.
fn number_columns(
    subject: Subject<'_>,
    name: &str,
    frame: &mut DataFrame,
) -> Result<Vec<String>, PolarsError> {
    let mut columns =
        vec![(name.to_owned(), (|number| Some(number.value)) as fn(&NamedNumber) -> Option<f64>)];
    if subject.judgement.named.get(name).is_some_and(|number| number.interval.is_some()) {
        columns.push((format!("{name}_lo"), |number| number.interval.map(|within| within.lo)));
        columns.push((format!("{name}_hi"), |number| number.interval.map(|within| within.hi)));
    }
    let mut names = Vec::new();
    for (column, read) in columns {
        let values = |arm: &ArmResult| named::of(subject, name, &arm.key).and_then(read);
        frame.with_column(frame::numbers(&column, &subject.analysis.arms, values))?;
        names.push(column);
    }
    Ok(names)
}

/// A frame as CSV.
pub(super) fn encode(file: &str, frame: &DataFrame) -> Result<Vec<u8>, RenderError> {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str())).map_err(failed(file))?;
    for row in 0..frame.height() {
        let cells = frame.columns().iter().map(|column| column.get(row).map(cell));
        let cells = cells.collect::<Result<Vec<_>, _>>().map_err(failed(file))?;
        writer.write_record(&cells).map_err(failed(file))?;
    }
    writer.into_inner().map_err(failed(file))
}

/// Numbers in their shortest form that reads back the same; words so that no spreadsheet runs them.
fn cell(value: AnyValue<'_>) -> String {
    match value {
        AnyValue::Null => String::new(),
        AnyValue::Float64(number) => number.to_string(),
        AnyValue::String(text) => harmless(text),
        AnyValue::StringOwned(text) => harmless(&text),
        other => other.to_string(),
    }
}

/// A spreadsheet runs a cell that begins like a formula: such a text gets an apostrophe. Numbers stay as they are.
fn harmless(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if formula { format!("'{cell}") } else { cell.to_owned() }
}

fn failed<E: std::fmt::Display>(file: &str) -> impl Fn(E) -> RenderError {
    let file = file.to_owned();
    move |error| RenderError::Encode { file: file.clone(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataFrame};

    use super::*;

    #[test]
    fn formulas_are_disarmed_numbers_are_whole_and_absent_is_empty() {
        let words = Column::new("a".into(), vec![Some("=1+1"), None, Some("x,\"y\""), Some("-5.5")]);
        let numbers = Column::new("b_ms".into(), vec![Some(0.1), Some(41667.0), None, Some(-1.0 / 3.0)]);
        let counts = Column::new("n".into(), vec![1_u64, 2, 3, 4]);
        let frame = DataFrame::new(4, vec![words, numbers, counts]).expect("frame");
        let bytes = encode("x.csv", &frame).expect("csv");
        assert_eq!(
            String::from_utf8(bytes).expect("utf-8"),
            "a,b_ms,n\n'=1+1,0.1,1\n,41667,2\n\"x,\"\"y\"\"\",,3\n-5.5,-0.3333333333333333,4\n"
        );
    }
}
