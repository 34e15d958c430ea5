//! What the report's templates see: plain data, every number already printed.
//!
//! This is the stable context of `templates/`; docs/templates.md describes it, and a test holds the two together.

mod failure;
mod measure;
mod outline;
mod plan;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::notebook::{self, Arm, Claim, Column, Measure, Step, StepKind, Table};
use crate::number;
use crate::recording::{ArmKey, Event, StepOutcome};
use crate::verdict::{Outcome, Verdict};

use super::acts::{self, CompareView, StatementView, StorageView, TimeView};
use super::figures::{self, PlotView};
use super::sweep::{self, SweepView};
use super::text::{self, Written};
use super::{PlotError, Subject, about, named};

pub(super) use failure::{FailureView, pointed};
pub(super) use measure::MeasureView;
pub(super) use outline::{ContentView, Outline};
pub(super) use plan::PlanView;

/// The whole report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "report")]
pub(super) struct View {
    /// The notebook's name.
    pub notebook: String,
    /// The notebook's title.
    pub title: String,
    /// Its summary.
    pub summary: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// What it ran on and when, in a few words each.
    pub origin: Vec<String>,
    /// What a reader must know before anything else, in markdown: a cut run, a profile, changed parameters.
    pub notices: Vec<String>,
    /// Failed, then not run, then inconclusive verdicts.
    pub troubles: Vec<VerdictView>,
    /// How many verdicts of each kind.
    pub counts: Counts,
    /// The headings, for a table of contents.
    pub contents: Vec<ContentView>,
    /// The steps in order.
    pub steps: Vec<Section>,
    /// Server, machine and method: name and value.
    pub server: Vec<(String, String)>,
    /// Settings of the server that are not the defaults: name, value in force.
    pub settings: Vec<(String, String)>,
}

/// How many verdicts of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "counts")]
pub struct Counts {
    /// They hold.
    pub pass: usize,
    /// They do not.
    pub fail: usize,
    /// The samples allow both.
    pub inconclusive: usize,
    /// They could not be judged.
    pub not_run: usize,
}

/// One verdict, ready to print.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "verdict")]
pub(super) struct VerdictView {
    /// One character that says how it ended without colour.
    pub mark: &'static str,
    /// `pass`, `fail`, `inconclusive` or `not_run`.
    #[schemars(with = "String")]
    pub outcome: Outcome,
    /// The measure, arm or step that it is about.
    pub subject: String,
    /// As the notebook writes it.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// The line of the notebook.
    pub line: usize,
    /// The file that shows it, relative to the report.
    pub evidence: Option<String>,
    /// The node that came closest to a pattern.
    pub nearest: Option<String>,
    /// The plan's node lines, where a pattern did not hold.
    pub tree: Option<String>,
    /// What to look at next.
    pub next: Option<String>,
    /// The anchor of its step, where that has one.
    pub anchor: Option<String>,
}

/// A step and its place on the page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "step")]
pub(super) struct Section {
    /// Where the step stands on the page, for links; none for prose, whose headings have their own.
    pub anchor: Option<String>,
    /// The level of its heading; none where it has no heading.
    pub level: Option<usize>,
    /// What the step shows.
    #[serde(flatten)]
    pub step: StepView,
}

/// What a step shows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum StepView {
    /// Prose.
    Text {
        /// As the notebook writes it, with its numbers; HTML in it is text.
        markdown: String,
        /// The same for an HTML page: nothing in it can act.
        html: String,
    },
    /// Names and values.
    Let {
        /// The names, in order.
        bindings: Vec<BindingView>,
    },
    /// Statements that ran, of `sql`, `analyze`, `vacuum` and `session` steps.
    Statements {
        /// The named session that executed them, where it was not the notebook's own.
        session: Option<String>,
        /// The statements, in order.
        statements: Vec<StatementView>,
        /// What was expected, and what came out.
        verdicts: Vec<VerdictView>,
        /// Whether the run ended before it.
        not_run: bool,
    },
    /// A measure with its arms.
    Measure(Box<MeasureView>),
    /// A sweep with its points.
    Sweep(Box<SweepView>),
    /// Claims and named numbers.
    Check {
        /// The claims.
        verdicts: Vec<VerdictView>,
        /// The numbers.
        named: Vec<NamedView>,
    },
    /// A table of measures.
    Table {
        /// What stands above it.
        title: Option<String>,
        /// The CSV's name without its ending.
        id: String,
        /// The heads of the columns.
        header: Vec<HeadView>,
        /// The rows; the first cell is the name.
        rows: Vec<Vec<String>>,
    },
    /// A plan, or two side by side.
    Plan(Box<PlanView>),
    /// A figure.
    Plot(Box<PlotView>),
    /// A statement that was timed.
    Time(Box<TimeView>),
    /// Sizes of relations.
    Storage(StorageView),
    /// Queries whose rows were compared.
    Compare(CompareView),
    /// A step that failed.
    Failure(FailureView),
}

/// A name that was bound while the notebook ran.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "binding")]
pub(super) struct BindingView {
    /// The name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The query that gave it, or nothing.
    pub from: String,
}

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

/// A number that a `check` names.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "named")]
pub(super) struct NamedView {
    /// The name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its 95% interval, where it depends on timings.
    pub interval: Option<String>,
    /// How it is computed.
    pub expression: String,
}

impl View {
    pub(super) fn of(subject: Subject<'_>) -> Result<Self, PlotError> {
        let judgement = subject.judgement;
        let mut outline = Outline::new();
        let mut anchors = BTreeMap::new();
        let mut steps: Vec<Section> = failure::failure(subject, 0).map(failed).into_iter().collect();
        for step in &subject.notebook.steps {
            let section = section(subject, step, &mut outline)?;
            anchors.extend(section.anchor.clone().map(|anchor| (step.number, anchor)));
            steps.push(section);
            steps.extend(failure::failure(subject, step.number).map(failed));
        }
        let mut troubles: Vec<&Verdict> =
            judgement.verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Pass).collect();
        troubles.sort_by_key(|verdict| verdict.outcome);
        let troubles = troubles.into_iter().map(|verdict| VerdictView {
            anchor: anchors.get(&verdict.step).cloned(),
            ..verdict_view(verdict)
        });
        Ok(Self {
            notebook: subject.notebook.name.clone(),
            title: subject.notebook.title.clone(),
            summary: subject.notebook.summary.clone(),
            tags: subject.notebook.tags.clone(),
            origin: about::origin(subject),
            notices: about::notices(subject),
            troubles: troubles.collect(),
            counts: Counts {
                pass: judgement.count(Outcome::Pass),
                fail: judgement.count(Outcome::Fail),
                inconclusive: judgement.count(Outcome::Inconclusive),
                not_run: judgement.count(Outcome::NotRun),
            },
            contents: outline.contents,
            steps,
            server: about::server(subject),
            settings: about::settings(subject),
        })
    }
}

fn failed(failure: FailureView) -> Section {
    Section { anchor: None, level: None, step: StepView::Failure(failure) }
}

/// A step with its heading, where its kind has one.
fn section(subject: Subject<'_>, step: &Step, outline: &mut Outline) -> Result<Section, PlotError> {
    let (title, id) = match &step.kind {
        StepKind::Text(_) => {
            return Ok(Section { anchor: None, level: None, step: step_view(subject, step, outline)? });
        }
        StepKind::Measure(measure) => (measure.label.as_ref().or(Some(&measure.id)), measure.id.as_str()),
        StepKind::Time(time) => (time.label.as_ref().or(Some(&time.id)), time.id.as_str()),
        StepKind::Sweep(sweep) => {
            let measure = &sweep.measure;
            (measure.label.as_ref().or(Some(&measure.id)), measure.id.as_str())
        }
        StepKind::Plan(plan) => (plan.title.as_ref(), "plan"),
        StepKind::Table(table) => (None, table.id.as_str()),
        StepKind::Plot(plot) => (None, plot.id.as_str()),
        StepKind::Storage(storage) => (None, storage.id.as_str()),
        other => (None, other.key()),
    };
    let heading = title.map(|title| outline.step(title, id));
    let anchor = heading.as_ref().map(|heading| heading.anchor.clone()).unwrap_or_else(|| outline.anchor(id));
    Ok(Section {
        anchor: Some(anchor),
        level: heading.map(|heading| heading.level),
        step: step_view(subject, step, outline)?,
    })
}

fn step_view(subject: Subject<'_>, step: &Step, outline: &mut Outline) -> Result<StepView, PlotError> {
    let verdicts = || -> Vec<VerdictView> {
        let of_step = subject.judgement.verdicts.iter().filter(|verdict| verdict.step == step.number);
        of_step.map(verdict_view).collect()
    };
    Ok(match &step.kind {
        StepKind::Text(text) => {
            let Written { markdown, html } = text::written(subject, text, outline);
            StepView::Text { markdown, html }
        }
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
            StepView::Measure(Box::new(measure::measure_view(subject, step, measure, verdicts())))
        }
        StepKind::Sweep(sweep) => StepView::Sweep(Box::new(sweep::view(subject, step, sweep))),
        StepKind::Check(claims) => {
            StepView::Check { named: named_numbers(subject, claims), verdicts: verdicts() }
        }
        StepKind::Table(table) => table_view(subject, table),
        StepKind::Plan(plan) => StepView::Plan(Box::new(plan::plan_view(subject, plan))),
        StepKind::Plot(plot) => StepView::Plot(Box::new(figures::view(subject, plot, outline)?)),
    })
}

fn named_numbers(subject: Subject<'_>, claims: &[Claim]) -> Vec<NamedView> {
    let named = claims.iter().filter_map(|claim| {
        let name = claim.name.as_ref()?;
        let number = subject.judgement.named.get(name)?;
        let interval = number.interval;
        Some(NamedView {
            name: name.clone(),
            value: number::significant(number.value),
            interval: interval
                .map(|i| format!("{} to {}", number::significant(i.lo), number::significant(i.hi))),
            expression: claim.expr.text.trim().to_owned(),
        })
    });
    named.collect()
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
        anchor: None,
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

/// What a reader calls an arm: its label, else its id, else the measure's.
pub(super) fn arm_name(measure: &Measure, arm: &Arm) -> String {
    let measure_name = measure.label.as_ref().unwrap_or(&measure.id);
    match (&arm.label, &arm.id) {
        (Some(label), _) => label.clone(),
        (None, Some(id)) => id.clone(),
        (None, None) => measure_name.clone(),
    }
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

/// The arms that a table or a plot shows, in its order, by their place in the analysis.
pub(super) fn arms_of(subject: Subject<'_>, of: &[notebook::Subject]) -> Vec<usize> {
    let arms = || subject.analysis.arms.iter().enumerate();
    let shows = |of: &notebook::Subject, key: &ArmKey| {
        key.measure == of.measure && (of.arm.is_none() || of.arm == key.arm)
    };
    of.iter()
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
    let rows = arms_of(subject, &table.of).into_iter().map(|index| {
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
    let name = |(label, arm): (String, String)| match key.arm {
        Some(_) => format!("{label}: {arm}"),
        None => arm,
    };
    names_of(subject, key).map_or_else(|| key.to_string(), name)
}

/// What a reader calls the measure of that key, and its arm.
pub(super) fn names_of(subject: Subject<'_>, key: &ArmKey) -> Option<(String, String)> {
    subject.notebook.steps.iter().find_map(|step| {
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
        Some((label.clone(), arm))
    })
}
