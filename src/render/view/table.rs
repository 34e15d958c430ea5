//! Tables of measures, and what the heads of all tables count.

use crate::analysis::ArmResult;
use crate::notebook::{Column, Table};
use crate::number;

use super::super::arms::{arms_of, names_beside};
use super::super::cells::{HeadView, metric_cell};
use super::super::{Subject, acts, named};
use super::{Section, StepView};

pub(super) fn table_view(subject: Subject<'_>, table: &Table) -> StepView {
    let mut header = vec![HeadView::words("")];
    header.extend(table.columns.iter().map(|column| match column {
        Column::Plan => HeadView::plan(),
        Column::Metric(metric) => HeadView::metric(*metric),
        Column::Number(name) => HeadView::numbers(name.clone()),
    }));
    let shown: Vec<&ArmResult> =
        arms_of(subject, &table.of).into_iter().map(|index| &subject.analysis.arms[index]).collect();
    let names = names_beside(subject, &shown.iter().map(|arm| &arm.key).collect::<Vec<_>>());
    let deeds = acts::deeds(subject, &shown);
    let rows = shown.into_iter().zip(names).zip(deeds).map(|((result, name), deed)| {
        let mut row = vec![name];
        row.extend(table.columns.iter().map(|column| match column {
            Column::Plan => deed.clone(),
            Column::Number(name) => named::cell(subject, name, &result.key),
            Column::Metric(_) if !result.measured => number::NOT_MEASURED.to_owned(),
            Column::Metric(metric) => metric_cell(result, *metric),
        }));
        row
    });
    let (header, rows) = told(header, rows.collect());
    StepView::Table { title: table.title.clone(), id: table.id.clone(), header, rows }
}

/// Without the columns that have nothing to tell in any row, such as what only a later PostgreSQL counts.
fn told(header: Vec<HeadView>, rows: Vec<Vec<String>>) -> (Vec<HeadView>, Vec<Vec<String>>) {
    let kept: Vec<bool> =
        (0..header.len()).map(|at| rows.is_empty() || rows.iter().any(|row| !row[at].is_empty())).collect();
    let rows = rows.into_iter().map(|row| keep(row, &kept)).collect();
    (keep(header, &kept), rows)
}

fn keep<T>(all: Vec<T>, kept: &[bool]) -> Vec<T> {
    all.into_iter().zip(kept).filter_map(|(one, kept)| kept.then_some(one)).collect()
}

/// What the heads of the tables count, each once, in the order of the page.
pub(super) fn words(steps: &[Section]) -> Vec<(String, String)> {
    let mut words: Vec<(String, String)> = Vec::new();
    let heads = steps.iter().flat_map(|section| match &section.step {
        StepView::Measure(measure) => &measure.header[..],
        StepView::Sweep(sweep) => &sweep.header[..],
        StepView::Time(time) => &time.header[..],
        StepView::Storage(storage) => &storage.header[..],
        StepView::Table { header, .. } => &header[..],
        _ => &[],
    });
    for head in heads {
        if let Some(about) = &head.about
            && !words.iter().any(|(known, _)| *known == head.title)
        {
            words.push((head.title.clone(), about.clone()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_says_nothing_is_left_out() {
        let header = || ["", "blocks", "searches"].map(HeadView::words).to_vec();
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let (heads, rows) = told(header(), vec![row(["a", "1", ""]), row(["b", "2", ""])]);
        assert_eq!(
            (heads.len(), rows),
            (2, vec![vec!["a".to_owned(), "1".into()], vec!["b".into(), "2".into()]])
        );
        let (heads, _) = told(header(), vec![row(["a", "1", ""]), row(["b", "", "3"])]);
        assert_eq!(heads.len(), 3);
        assert_eq!(told(header(), vec![]).0.len(), 3);
    }
}
