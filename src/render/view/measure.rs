//! A measure: its query, a table of its arms, and the plan of each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::notebook::{Measure, Step};
use crate::recording::ArmKey;

use super::super::arms::{arm_name, was_not_run};
use super::super::cells::{HeadView, metric_cell};
use super::super::gathered::gathered;
use super::super::judged::VerdictView;
use super::super::tree::TreeView;
use super::super::{Subject, about, acts};
use super::StatementView;

/// A query under one or more arms.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "measure")]
pub(in crate::render) struct MeasureView {
    /// Its name in expressions and files.
    pub id: String,
    /// What a reader calls it, where the notebook says.
    pub label: Option<String>,
    /// Whether the run ended before it.
    pub not_run: bool,
    /// One query, where all arms share it.
    pub query: Option<String>,
    /// Where they do not: each query, after the names of the arms that have it.
    pub queries: Vec<(Vec<String>, String)>,
    /// The heads of the table's columns.
    pub header: Vec<HeadView>,
    /// The table's rows, one per arm; the first cell is the arm's name, the second the node that was chosen.
    pub rows: Vec<Vec<String>>,
    /// The arms whose plan was captured.
    pub arms: Vec<ArmView>,
    /// What was expected of it, and what came out.
    pub verdicts: Vec<VerdictView>,
}

/// One arm of a measure: its conditions and its plan.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "arm")]
pub(in crate::render) struct ArmView {
    /// What a reader calls it.
    pub name: String,
    /// The node that the planner chose.
    pub node: String,
    /// The query as it was executed.
    pub query: String,
    /// Settings of this arm: name and value.
    pub settings: Vec<(String, String)>,
    /// What prepared its own clone of the database.
    pub prepared: Vec<StatementView>,
    /// What was executed before it in the transaction that was rolled back.
    pub within: Vec<String>,
    /// The file of the plan's text, relative to the report.
    pub file: String,
    /// EXPLAIN's text, untouched.
    pub plan: String,
    /// Whether the text is of another execution than the tree.
    pub apart: bool,
    /// The same plan as a tree.
    pub tree: TreeView,
    /// What is special about this capture or its timing.
    pub notes: Vec<String>,
}

pub(super) fn measure_view(
    subject: Subject<'_>,
    step: &Step,
    measure: &Measure,
    verdicts: Vec<VerdictView>,
) -> MeasureView {
    let columns = columns_worth_showing(subject, measure);
    let mut header = vec![HeadView::words("arm"), HeadView::plan()];
    header.extend(columns.iter().map(|metric| HeadView::metric(*metric)));
    let found = measure.arms.iter().filter_map(|arm| {
        let result = subject.analysis.arm(&ArmKey::new(&measure.id, arm.id.as_deref()))?;
        Some((arm_name(measure, arm), result))
    });
    let found: Vec<(String, &ArmResult)> = found.collect();
    let deeds = acts::deeds(subject, &found.iter().map(|(_, result)| *result).collect::<Vec<_>>());
    let mut rows = Vec::new();
    let mut arms = Vec::new();
    for ((name, result), deed) in found.into_iter().zip(deeds) {
        let mut row = vec![name.clone(), deed];
        row.extend(columns.iter().map(|metric| metric_cell(result, *metric)));
        rows.push(row);
        arms.extend(arm_view(subject, &result.key, result, name));
    }
    let queries = gathered(arms.iter().map(|arm: &ArmView| (arm.query.clone(), arm.name.clone())));
    let mut queries: Vec<_> = queries.into_iter().map(|(query, names)| (names, query)).collect();
    let shared = if queries.len() == 1 { queries.pop() } else { None };
    MeasureView {
        id: measure.id.clone(),
        label: measure.label.clone(),
        not_run: was_not_run(subject, step.number),
        query: shared.map(|(_, query)| query),
        queries,
        header,
        rows,
        arms,
        verdicts,
    }
}

/// Always these, and what else the plans of this measure report and is not zero everywhere.
fn columns_worth_showing(subject: Subject<'_>, measure: &Measure) -> Vec<Metric> {
    const ALWAYS: [Metric; 3] = [Metric::Median, Metric::Blocks, Metric::Rows];
    const SOMETIMES: [Metric; 6] = [
        Metric::HeapFetches,
        Metric::RowsRemoved,
        Metric::LossyBlocks,
        Metric::Spilled,
        Metric::WorkersLaunched,
        Metric::IndexSearches,
    ];
    let of_measure = || subject.analysis.arms.iter().filter(|arm| arm.key.measure == measure.id);
    let told = |metric: &Metric| {
        let values: Vec<f64> = of_measure().filter_map(|arm| arm.metrics.get(metric).copied()).collect();
        // Zero heap fetches are the whole point of an index-only scan.
        values.iter().any(|value| *value != 0.0) || (*metric == Metric::HeapFetches && !values.is_empty())
    };
    ALWAYS.into_iter().chain(SOMETIMES.into_iter().filter(told)).collect()
}

fn arm_view(subject: Subject<'_>, key: &ArmKey, result: &ArmResult, name: String) -> Option<ArmView> {
    let captured = subject.recording.captures.get(key)?;
    let event = &captured.event;
    Some(ArmView {
        name,
        node: acts::deed(subject, result),
        query: event.query.trim().to_owned(),
        settings: event.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        prepared: acts::statements(subject, result.step, Some(key)),
        within: event.within.clone(),
        file: captured.file.clone(),
        plan: captured.text.trim_end().to_owned(),
        apart: captured.apart(),
        tree: TreeView::of(&captured.plan),
        notes: about::notes(event, result),
    })
}
