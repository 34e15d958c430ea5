//! What the report's templates see: plain data, every number already printed.
//!
//! This is the stable context of `templates/`; docs/templates.md describes it, and a test holds the two together.

mod failure;
mod measure;
mod plan;
mod table;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::notebook::{Binding, BindingValue, Claim, Step, StepKind};
use crate::number;
use crate::recording::Event;
use crate::template::Scalar;
use crate::verdict::{Outcome, Verdict};

use super::acts::{self, CompareView, StatementView, StorageView, TimeView};
use super::arms::was_not_run;
use super::cells::HeadView;
use super::figures::{self, PlotView};
use super::judged::{Counts, VerdictView, verdict_view};
use super::outline::{ContentView, Outline};
use super::sweep::{self, SweepView};
use super::written::{Written, written};
use super::{PlotError, Subject, about};

pub(super) use failure::{FailureView, pointed};
pub(super) use measure::MeasureView;
pub(super) use plan::PlanView;

/// The whole report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "report")]
pub(super) struct View {
    /// The notebook's name.
    pub notebook: String,
    /// The notebook's title.
    pub title: String,
    /// Its summary, a line of markdown.
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
    /// Whether plans were captured by executions under EXPLAIN.
    pub captured: bool,
    /// The words of its tables: each head, and what it counts.
    pub words: Vec<(String, String)>,
    /// Server, machine and method: name and value.
    pub server: Vec<(String, String)>,
    /// Settings of the server that are not the defaults: name, value in force.
    pub settings: Vec<(String, String)>,
}

/// A step and its place on the page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "step")]
pub(super) struct Section {
    /// Where the step stands on the page, for links; none for prose, whose headings have their own.
    pub anchor: Option<String>,
    /// Its heading; none where it has none.
    pub heading: Option<String>,
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
    /// The query or the expression that gave it.
    pub from: String,
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
            counts: Counts::of(judgement),
            contents: outline.contents,
            captured: !subject.recording.captures.is_empty(),
            words: table::words(&steps),
            steps,
            server: about::server(subject),
            settings: about::settings(subject),
        })
    }
}

fn failed(failure: FailureView) -> Section {
    Section { anchor: None, heading: None, level: None, step: StepView::Failure(failure) }
}

/// A step with its heading, where its kind has one.
fn section(subject: Subject<'_>, step: &Step, outline: &mut Outline) -> Result<Section, PlotError> {
    // A label is words, an id is code.
    let or_id = |label: Option<&String>, id: &str| {
        Some(label.map_or_else(|| id.to_owned(), |label| heading_of(label)))
    };
    let (title, id) = match &step.kind {
        StepKind::Text(_) => {
            return Ok(Section {
                anchor: None,
                heading: None,
                level: None,
                step: step_view(subject, step, outline)?,
            });
        }
        StepKind::Measure(measure) => (or_id(measure.label.as_ref(), &measure.id), measure.id.as_str()),
        StepKind::Time(time) => (or_id(time.label.as_ref(), &time.id), time.id.as_str()),
        StepKind::Sweep(sweep) => {
            let measure = &sweep.measure;
            (or_id(measure.label.as_ref(), &measure.id), measure.id.as_str())
        }
        StepKind::Plan(plan) => (plan.title.as_deref().map(heading_of), "plan"),
        StepKind::Table(table) => (None, table.id.as_str()),
        StepKind::Plot(plot) => (None, plot.id.as_str()),
        StepKind::Storage(storage) => (None, storage.id.as_str()),
        other => (None, other.key()),
    };
    let heading = title.map(|title| outline.step(&title, id));
    let anchor = heading.as_ref().map(|heading| heading.anchor.clone()).unwrap_or_else(|| outline.anchor(id));
    Ok(Section {
        anchor: Some(anchor),
        level: heading.as_ref().map(|heading| heading.level),
        heading: heading.map(|heading| heading.title),
        step: step_view(subject, step, outline)?,
    })
}

/// A label as a heading: with a capital, but where it begins with a name out of code.
fn heading_of(label: &str) -> String {
    let first = label.split_whitespace().next().unwrap_or_default();
    let word = first.chars().all(|c| c.is_alphabetic() || "-,'".contains(c));
    if word { figures::capital(label) } else { label.to_owned() }
}

fn step_view(subject: Subject<'_>, step: &Step, outline: &mut Outline) -> Result<StepView, PlotError> {
    let verdicts = || -> Vec<VerdictView> {
        let of_step = subject.judgement.verdicts.iter().filter(|verdict| verdict.step == step.number);
        of_step.map(verdict_view).collect()
    };
    Ok(match &step.kind {
        StepKind::Text(text) => {
            let Written { markdown, html } = written(subject, text, outline);
            StepView::Text { markdown, html }
        }
        StepKind::Let(list) => StepView::Let { bindings: bindings(subject, step.number, list) },
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
        StepKind::Table(table) => table::table_view(subject, table),
        StepKind::Plan(plan) => StepView::Plan(Box::new(plan::plan_view(subject, plan))),
        StepKind::Plot(plot) => StepView::Plot(Box::new(figures::view(subject, plot, outline)?)),
    })
}

fn named_numbers(subject: Subject<'_>, claims: &[Claim]) -> Vec<NamedView> {
    let named = claims.iter().filter_map(|claim| {
        let name = claim.name.as_ref()?;
        let number = subject.judgement.named.get(name)?;
        Some(NamedView {
            name: name.clone(),
            value: number.shown(),
            interval: number.shown_interval().map(|ends| ends.join(" to ")),
            expression: claim.expr.text.trim().to_owned(),
        })
    });
    named.collect()
}

fn bindings(subject: Subject<'_>, number: usize, bindings: &[Binding]) -> Vec<BindingView> {
    subject
        .recording
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Let(bound) if bound.step == number => Some(BindingView {
                name: bound.name.clone(),
                value: bound_value(&bound.value),
                from: bound.sql.clone().or_else(|| computed(bindings, &bound.name)).unwrap_or_default(),
            }),
            _ => None,
        })
        .collect()
}

/// The expression that a name was computed by.
fn computed(bindings: &[Binding], name: &str) -> Option<String> {
    bindings.iter().find(|binding| binding.name == name).and_then(|binding| match &binding.value {
        BindingValue::Expr(expr) => Some(expr.text.trim().to_owned()),
        BindingValue::Sql(_) => None,
    })
}

/// A bound value as prose prints it, but for whole numbers: one may be an identifier, which nobody separates.
fn bound_value(value: &Scalar) -> String {
    match value {
        Scalar::Float(float) => number::significant(*float),
        other => other.to_string(),
    }
}
