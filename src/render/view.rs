//! What the report's templates see: plain data, every number already printed.
//!
//! This is the stable context of `templates/`; docs/templates.md describes it.

use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::notebook::{self, Arm, Column, Measure, Step, StepKind, Table};
use crate::number;
use crate::recording::{ArmKey, Event, Failure, StepOutcome};
use crate::verdict::{Outcome, Verdict};

use super::acts::{self, CompareView, StatementView, StorageView, TimeView};
use super::sweep::{self, SweepView};
use super::{Subject, about, named};

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct View {
    /// The notebook's title.
    pub title: String,
    /// Its summary.
    pub summary: Option<String>,
    /// What a reader must know before anything else: a cut run, a profile, changed parameters.
    pub notices: Vec<String>,
    /// Failed, then not run, then inconclusive verdicts.
    pub troubles: Vec<VerdictView>,
    /// How many verdicts of each kind.
    pub counts: Counts,
    /// The steps in order.
    pub steps: Vec<StepView>,
    /// Server, machine and method: name and value.
    pub server: Vec<(String, String)>,
    /// Settings of the server that are not the defaults: name, value in force.
    pub settings: Vec<(String, String)>,
}

/// How many verdicts of each kind.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    pub pass: usize,
    pub fail: usize,
    pub inconclusive: usize,
    pub not_run: usize,
}

/// One verdict, ready to print.
#[derive(Debug, Serialize)]
pub(super) struct VerdictView {
    pub mark: &'static str,
    pub outcome: Outcome,
    pub subject: String,
    pub expected: String,
    pub seen: String,
    pub line: usize,
    pub evidence: Option<String>,
    pub nearest: Option<String>,
    pub tree: Option<String>,
    pub next: Option<String>,
}

/// One step.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum StepView {
    /// Prose.
    Text { markdown: String },
    /// Names and values.
    Let { bindings: Vec<BindingView> },
    /// Statements that ran, of `sql`, `analyze`, `vacuum` and `session` steps.
    Statements {
        /// The named session that executed them, where it was not the notebook's own.
        session: Option<String>,
        statements: Vec<StatementView>,
        verdicts: Vec<VerdictView>,
        not_run: bool,
    },
    /// A measure with its arms.
    Measure(Box<MeasureView>),
    /// A sweep with its points.
    Sweep(Box<SweepView>),
    /// Claims and named numbers.
    Check { verdicts: Vec<VerdictView>, named: Vec<NamedView> },
    /// A table of measures.
    Table { title: Option<String>, id: String, header: Vec<HeadView>, rows: Vec<Vec<String>> },
    /// A statement that was timed.
    Time(Box<TimeView>),
    /// Sizes of relations.
    Storage(StorageView),
    /// Queries whose rows were compared.
    Compare(CompareView),
    /// A step that failed.
    Failure(FailureView),
}

#[derive(Debug, Serialize)]
pub(super) struct BindingView {
    pub name: String,
    pub value: String,
    pub from: String,
}

/// The head of a column.
#[derive(Debug, Serialize)]
pub(super) struct HeadView {
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

#[derive(Debug, Serialize)]
pub(super) struct MeasureView {
    pub id: String,
    pub label: Option<String>,
    pub not_run: bool,
    /// One query, where all arms share it.
    pub query: Option<String>,
    pub header: Vec<HeadView>,
    pub rows: Vec<Vec<String>>,
    pub arms: Vec<ArmView>,
    pub verdicts: Vec<VerdictView>,
}

#[derive(Debug, Serialize)]
pub(super) struct ArmView {
    pub name: String,
    pub node: String,
    pub query: String,
    pub settings: Vec<(String, String)>,
    /// What prepared its own clone of the database.
    pub prepared: Vec<StatementView>,
    /// What was executed before it in the transaction that was rolled back.
    pub within: Vec<String>,
    pub file: String,
    pub plan: String,
    /// What is special about this capture or its timing.
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct NamedView {
    pub name: String,
    pub value: String,
    pub interval: Option<String>,
    pub expression: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FailureView {
    pub message: String,
    pub sqlstate: Option<String>,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// The statement with a caret under the place where the server pointed.
    pub statement: Option<String>,
    pub place: String,
}

impl View {
    pub(super) fn of(subject: Subject<'_>) -> Self {
        let judgement = subject.judgement;
        let mut troubles: Vec<&Verdict> =
            judgement.verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Pass).collect();
        troubles.sort_by_key(|verdict| verdict.outcome);
        let mut steps: Vec<StepView> = failure(subject, 0).into_iter().map(StepView::Failure).collect();
        for step in &subject.notebook.steps {
            steps.push(step_view(subject, step));
            steps.extend(failure(subject, step.number).map(StepView::Failure));
        }
        Self {
            title: subject.notebook.title.clone(),
            summary: subject.notebook.summary.clone(),
            notices: about::notices(subject),
            troubles: troubles.into_iter().map(verdict_view).collect(),
            counts: Counts {
                pass: judgement.count(Outcome::Pass),
                fail: judgement.count(Outcome::Fail),
                inconclusive: judgement.count(Outcome::Inconclusive),
                not_run: judgement.count(Outcome::NotRun),
            },
            steps,
            server: about::server(subject),
            settings: about::settings(subject),
        }
    }
}

fn step_view(subject: Subject<'_>, step: &Step) -> StepView {
    let verdicts = || -> Vec<VerdictView> {
        subject
            .judgement
            .verdicts
            .iter()
            .filter(|verdict| verdict.step == step.number)
            .map(verdict_view)
            .collect()
    };
    match &step.kind {
        StepKind::Text(text) => StepView::Text { markdown: super::text::markdown(subject, text) },
        StepKind::Let(_) => StepView::Let { bindings: bindings(subject, step.number) },
        StepKind::Sql(_) | StepKind::Analyze(_) | StepKind::Vacuum(_) | StepKind::Session(_) => {
            StepView::Statements {
                session: match &step.kind {
                    StepKind::Session(session) => Some(session.name.clone()),
                    _ => None,
                },
                statements: acts::statements(subject, step.number, None),
                verdicts: verdicts(),
                not_run: was_not_run(subject, step.number),
            }
        }
        StepKind::Time(time) => StepView::Time(Box::new(acts::time(subject, step, time, verdicts()))),
        StepKind::Storage(storage) => StepView::Storage(acts::storage(subject, step, storage)),
        StepKind::Compare(_) => StepView::Compare(acts::compare(subject, step.number, verdicts())),
        StepKind::Measure(measure) => {
            StepView::Measure(Box::new(measure_view(subject, step, measure, verdicts())))
        }
        StepKind::Sweep(sweep) => StepView::Sweep(Box::new(sweep::view(subject, step, sweep))),
        StepKind::Check(claims) => {
            let named = claims.iter().filter_map(|claim| {
                let name = claim.name.as_ref()?;
                let number = subject.judgement.named.get(name)?;
                Some(NamedView {
                    name: name.clone(),
                    value: number::significant(number.value),
                    interval: number
                        .interval
                        .map(|i| format!("{} to {}", number::significant(i.lo), number::significant(i.hi))),
                    expression: claim.expr.text.trim().to_owned(),
                })
            });
            StepView::Check { named: named.collect(), verdicts: verdicts() }
        }
        StepKind::Table(table) => table_view(subject, table),
    }
}

pub(super) fn was_not_run(subject: Subject<'_>, number: usize) -> bool {
    !subject.recording.events.iter().any(
        |event| matches!(event, Event::Step { step, outcome, .. } if *step == number && *outcome != StepOutcome::NotRun),
    )
}

pub(super) fn verdict_view(verdict: &Verdict) -> VerdictView {
    VerdictView {
        mark: mark(verdict.outcome),
        outcome: verdict.outcome,
        subject: verdict.subject.clone(),
        expected: verdict.expected.clone(),
        seen: verdict.seen.clone(),
        line: verdict.line,
        evidence: verdict.evidence.clone(),
        nearest: verdict.nearest.clone(),
        tree: verdict.tree.clone(),
        next: verdict.next.clone(),
    }
}

/// One character that says how a verdict ended without colour.
pub(super) fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "✓",
        Outcome::Fail => "✗",
        Outcome::Inconclusive => "?",
        Outcome::NotRun => "–",
    }
}

fn bindings(subject: Subject<'_>, number: usize) -> Vec<BindingView> {
    subject
        .recording
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Let(bound) if bound.step == number => Some(BindingView {
                name: bound.name.clone(),
                value: bound.value.to_string(),
                from: bound.sql.clone().unwrap_or_default(),
            }),
            _ => None,
        })
        .collect()
}

fn failure(subject: Subject<'_>, number: usize) -> Option<FailureView> {
    let failure = subject.recording.events.iter().find_map(|event| match event {
        Event::Failure(failure) if failure.step == number => Some(failure),
        _ => None,
    })?;
    Some(FailureView {
        message: failure.message.clone(),
        sqlstate: failure.sqlstate.clone(),
        detail: failure.detail.clone(),
        hint: failure.hint.clone(),
        statement: pointed(failure),
        place: format!("{}:{}", failure.file, failure.line),
    })
}

/// The statement with a caret line under the character where the server pointed.
pub(super) fn pointed(failure: &Failure) -> Option<String> {
    let statement = failure.statement.as_ref()?;
    let Some(position) = failure.position else { return Some(statement.clone()) };
    let mut before = 0;
    let mut out = String::new();
    for line in statement.split('\n') {
        out.push_str(line);
        out.push('\n');
        let length = line.chars().count() + 1;
        if (before + 1..=before + length).contains(&position) {
            // Tabs before the caret stay tabs, so that it stands under its character.
            let lead: String = line
                .chars()
                .take(position - before - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            out.push_str(&lead);
            out.push_str("^\n");
        }
        before += length;
    }
    Some(out.trim_end_matches('\n').to_owned())
}

/// What a reader calls an arm: its label, else its id, else the measure's.
pub(super) fn arm_name(measure: &Measure, arm: &Arm) -> String {
    let measure_name = measure.label.as_ref().unwrap_or(&measure.id);
    match (&arm.label, &arm.id) {
        (Some(label), _) => label.clone(),
        (None, Some(id)) => id.clone(),
        (None, None) => measure_name.clone(),
    }
}

fn measure_view(
    subject: Subject<'_>,
    step: &Step,
    measure: &Measure,
    verdicts: Vec<VerdictView>,
) -> MeasureView {
    let columns = columns_worth_showing(subject, measure);
    let mut header = vec![HeadView::words("arm"), HeadView::words("node")];
    header.extend(columns.iter().map(|metric| HeadView::metric(*metric)));
    let mut rows = Vec::new();
    let mut arms = Vec::new();
    for arm in &measure.arms {
        let key = ArmKey::new(&measure.id, arm.id.as_deref());
        let Some(result) = subject.analysis.arm(&key) else { continue };
        let name = arm_name(measure, arm);
        let mut row = vec![name.clone(), acts::deed(subject, result)];
        row.extend(columns.iter().map(|metric| metric_cell(result, *metric)));
        rows.push(row);
        arms.extend(arm_view(subject, &key, result, name));
    }
    let first = arms.first().map(|arm: &ArmView| arm.query.clone());
    let shared = first.filter(|query| arms.iter().all(|arm| arm.query == *query));
    MeasureView {
        id: measure.id.clone(),
        label: measure.label.clone(),
        not_run: was_not_run(subject, step.number),
        query: shared,
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

pub(super) fn column_title(metric: Metric) -> String {
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
        notes: about::notes(event, result),
    })
}

/// The arms that a table shows, in its order, by their place in the analysis.
pub(super) fn table_rows(subject: Subject<'_>, table: &Table) -> Vec<usize> {
    let arms = || subject.analysis.arms.iter().enumerate();
    let shows = |of: &notebook::Subject, key: &ArmKey| {
        key.measure == of.measure && (of.arm.is_none() || of.arm == key.arm)
    };
    table
        .of
        .iter()
        .flat_map(|of| arms().filter(move |(_, arm)| shows(of, &arm.key)).map(|(index, _)| index))
        .collect()
}

fn table_view(subject: Subject<'_>, table: &Table) -> StepView {
    let mut header = vec![HeadView::words("")];
    header.extend(table.columns.iter().map(|column| match column {
        Column::Plan => HeadView::words("plan"),
        Column::Metric(metric) => HeadView::metric(*metric),
        Column::Number(name) => HeadView { title: name.clone(), number: true },
    }));
    let rows = table_rows(subject, table).into_iter().map(|index| {
        let result = &subject.analysis.arms[index];
        let mut row = vec![name_of(subject, &result.key)];
        row.extend(table.columns.iter().map(|column| match column {
            Column::Plan => acts::deed(subject, result),
            Column::Number(name) => named::cell(subject, name, &result.key),
            Column::Metric(_) if !result.measured => number::NOT_MEASURED.to_owned(),
            Column::Metric(metric) => metric_cell(result, *metric),
        }));
        row
    });
    StepView::Table { title: table.title.clone(), id: table.id.clone(), header, rows: rows.collect() }
}

/// What a reader calls the arm of that key.
pub(super) fn name_of(subject: Subject<'_>, key: &ArmKey) -> String {
    let named = subject.notebook.steps.iter().find_map(|step| {
        let (label, arm) = match &step.kind {
            StepKind::Measure(measure) if measure.id == key.measure => {
                let arm = measure.arms.iter().find(|arm| arm.id == key.arm)?;
                (measure.label.as_ref().unwrap_or(&measure.id), arm_name(measure, arm))
            }
            StepKind::Sweep(sweep) if sweep.measure.id == key.measure => {
                let arm = sweep.measure.arms.iter().find(|arm| arm.id == key.arm)?;
                let arm = arm_name(&sweep.measure, arm);
                let point = key.point.as_ref().map(|point| format!("{arm}, {point}")).unwrap_or(arm);
                (sweep.measure.label.as_ref().unwrap_or(&sweep.measure.id), point)
            }
            StepKind::Time(time) if time.id == key.measure => {
                let arm = time.arms.iter().find(|arm| arm.id == key.arm)?;
                (time.label.as_ref().unwrap_or(&time.id), acts::time_name(time, arm))
            }
            StepKind::Storage(storage) if storage.id == key.measure => {
                (storage.title.as_ref().unwrap_or(&storage.id), key.arm.clone()?)
            }
            _ => return None,
        };
        Some(if key.arm.is_some() { format!("{label}: {arm}") } else { arm })
    });
    named.unwrap_or_else(|| key.to_string())
}
