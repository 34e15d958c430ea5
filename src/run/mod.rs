//! Runs a notebook, step by step, and tells observers what happened. Knows nothing of reports.

mod conditions;
mod dataset;
mod error;
mod interrupt;
mod measure;
mod names;
mod statements;
mod vacuum;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::notebook::{Binding, BindingValue, Notebook, Step, StepKind, Template};
use crate::recording::{ArmKey, Event, Failure, LetEvent, Observer, StepOutcome};
use crate::server::Server;
use crate::session::{Session, SessionError};
use crate::template::{self, Context, TemplateError};

pub use error::RunError;
pub use interrupt::Interrupt;

use error::StepError;

/// What to run and where.
#[derive(Debug)]
pub struct Job<'a> {
    /// The notebook.
    pub notebook: &'a Notebook,
    /// The server.
    pub server: &'a Server,
    /// The name of this run's own database, which does not exist yet. Whoever calls drops it afterwards.
    pub database: &'a str,
    /// Seed of the order of turns.
    pub seed: u64,
    /// Measure this one alone; the steps that prepare are run all the same.
    pub only: Option<&'a str>,
    /// Set when the user wants it to end.
    pub interrupt: &'a Interrupt,
}

/// How the steps of a run ended, where the environment held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every step was done.
    Complete,
    /// A step failed; those after it were not run.
    Failed,
}

/// Runs every step of the notebook.
///
/// # Errors
/// When the environment gives way (server, disk) or the user interrupts. A step that fails by itself is no error
/// of the run: it is an event, and the steps after it are not run.
pub fn run(job: &Job<'_>, observer: &mut dyn Observer) -> Result<Ended, RunError> {
    let mut runner = Runner::connect(job, observer)?;
    let steps = &job.notebook.steps;
    let mut ended = Ended::Complete;
    if job.notebook.dataset.is_none() {
        runner.empty_database()?;
        ended = runner.first_conditions()?;
    } else if !runner.step(0, &Work::Dataset)? {
        ended = Ended::Failed;
    }
    for step in steps {
        if ended == Ended::Failed || runner.is_left_out(step) {
            runner.emit(Event::Step { step: step.number, outcome: StepOutcome::NotRun, duration_ms: 0.0 })?;
        } else if !runner.step(step.number, &Work::Step(step))? {
            ended = Ended::Failed;
        }
    }
    Ok(ended)
}

/// One unit of work that has a number.
enum Work<'a> {
    Dataset,
    Step(&'a Step),
}

/// Settings by name.
type Settings = BTreeMap<String, String>;

/// The state of one run.
struct Runner<'a> {
    job: &'a Job<'a>,
    /// To the run's own database; to the maintenance database until that is there.
    session: Session,
    observer: &'a mut dyn Observer,
    /// Parameters, then lets as they are bound.
    context: Context,
    /// Settings in force now, as far as a run changed them.
    in_use: Settings,
    /// What was already said of somebody else's server.
    told: BTreeSet<String>,
}

impl<'a> Runner<'a> {
    fn connect(job: &'a Job<'a>, observer: &'a mut dyn Observer) -> Result<Self, RunError> {
        let session = Session::connect(job.server.endpoint(), job.server.database())?;
        job.interrupt.watch(session.canceller());
        let context = Context::new().with(&job.notebook.params);
        Ok(Self { job, session, observer, context, in_use: Settings::new(), told: BTreeSet::new() })
    }

    /// Makes exactly these settings the session's, over what the server gives it.
    fn use_settings(&mut self, settings: &Settings) -> Result<(), SessionError> {
        let gone: Vec<&String> = self.in_use.keys().filter(|name| !settings.contains_key(*name)).collect();
        self.session.reset(&gone)?;
        let wanted: Vec<(String, String)> = settings.clone().into_iter().collect();
        self.in_use.clone_from(settings);
        self.session.set(&wanted)?;
        Ok(())
    }

    /// Puts the notebook's own settings in force. A measure leaves others behind.
    fn use_base(&mut self, step: &Step) -> Result<(), StepError> {
        let mut base = Settings::new();
        for (name, template) in &self.job.notebook.settings {
            base.insert(name.clone(), self.render(step, template)?);
        }
        if base == self.in_use {
            return Ok(());
        }
        self.use_settings(&base).map_err(|error| self.failure(step, None, error))
    }

    fn emit(&mut self, event: Event) -> Result<(), RunError> {
        Ok(self.observer.observe(&event)?)
    }

    fn is_left_out(&self, step: &Step) -> bool {
        match (&step.kind, self.job.only) {
            (StepKind::Measure(measure), Some(only)) => measure.id != only,
            _ => false,
        }
    }

    /// Does one unit of work; false when it failed by itself.
    fn step(&mut self, number: usize, work: &Work<'_>) -> Result<bool, RunError> {
        self.job.interrupt.check()?;
        let started = Instant::now();
        let (kind, label) = match work {
            Work::Dataset => {
                ("dataset", self.job.notebook.dataset.as_ref().map_or_else(String::new, |d| d.name.clone()))
            }
            Work::Step(step) => (step.kind.key(), step_label(&step.kind)),
        };
        self.emit(Event::StepStarted { step: number, kind: kind.to_owned(), label })?;
        let result = match work {
            Work::Dataset => self.dataset(),
            Work::Step(step) => self.work(step),
        };
        let duration_ms = started.elapsed().as_secs_f64() * 1e3;
        // A query that was cancelled for it did not fail by itself.
        self.job.interrupt.check()?;
        let outcome = match result {
            Ok(()) => StepOutcome::Done,
            Err(StepError::Run(error)) => return Err(error),
            Err(StepError::Failed(failure)) => {
                self.emit(Event::Failure(*failure))?;
                StepOutcome::Failed
            }
            Err(StepError::Environment(failure, source)) => {
                self.emit(Event::Failure(*failure))?;
                return Err(RunError::Session(source));
            }
        };
        self.emit(Event::Step { step: number, outcome, duration_ms })?;
        Ok(outcome == StepOutcome::Done)
    }

    fn work(&mut self, step: &Step) -> Result<(), StepError> {
        // A step that does nothing on the server can fail at nothing there.
        if step.acts() {
            self.use_base(step)?;
        }
        if matches!(step.kind, StepKind::Measure(_) | StepKind::Vacuum(_)) {
            self.undisturbed(step)?;
        }
        match &step.kind {
            // Shown and judged from the recording; nothing happens on the server.
            StepKind::Text(_) | StepKind::Check(_) | StepKind::Table(_) => Ok(()),
            StepKind::Let(bindings) => bindings.iter().try_for_each(|binding| self.bind(step, binding)),
            StepKind::Sql(template) => self.sql(step, template),
            StepKind::Analyze(tables) => self.analyze(step, tables),
            StepKind::Vacuum(vacuum) => self.vacuum(step, vacuum),
            StepKind::Measure(measure) => self.measure(step, measure).and_then(|()| self.untouched(step)),
        }
    }

    fn bind(&mut self, step: &Step, binding: &Binding) -> Result<(), StepError> {
        let (value, sql) = match &binding.value {
            BindingValue::Expr(expr) => {
                let value = template::evaluate(&expr.text, &self.context)
                    .map_err(|error| self.template_failure(step, expr, &error))?;
                (value, None)
            }
            BindingValue::Sql(template) => {
                let sql = self.render(step, template)?;
                let value = self
                    .session
                    .scalar(&sql)
                    .map_err(|error| self.failure(step, Some((template, &sql)), error))?;
                let value = value.ok_or_else(|| {
                    StepError::failed(self.blank(
                        step,
                        template,
                        format!("`{}` is NULL: its query found nothing", binding.name),
                    ))
                })?;
                (value, Some(sql))
            }
        };
        self.context.set(&binding.name, value.clone());
        self.emit(Event::Let(LetEvent { step: step.number, name: binding.name.clone(), value, sql }))?;
        Ok(())
    }

    fn render(&self, step: &Step, template: &Template) -> Result<String, StepError> {
        template::render_sql(&template.text, &self.context)
            .map_err(|error| self.template_failure(step, template, &error))
    }

    fn template_failure(&self, step: &Step, template: &Template, error: &TemplateError) -> StepError {
        let mut failure = self.blank(step, template, error.to_string());
        failure.line = template.at.line + error.line.saturating_sub(1);
        StepError::failed(failure)
    }

    /// A failure at a template, with no statement.
    fn blank(&self, step: &Step, template: &Template, message: String) -> Failure {
        Failure::new(step.number, message, &self.job.notebook.source.name, template.at.line)
    }

    /// A failure of the step as a whole.
    fn failure_at(&self, step: &Step, message: String) -> Failure {
        Failure::new(step.number, message, &self.job.notebook.source.name, step.at.line)
    }

    /// A failure of the server, at the statement that it refused.
    fn failure(&self, step: &Step, sent: Option<(&Template, &str)>, error: SessionError) -> StepError {
        let file = &self.job.notebook.source.name;
        let line = sent.map_or(step.at.line, |(template, _)| template.at.line);
        error::of_session(
            step.number,
            file,
            line,
            sent.map(|(template, sql)| (template.text.as_str(), sql)),
            error,
        )
    }

    fn arm_failure(
        &self,
        step: &Step,
        key: &ArmKey,
        sent: Option<(&Template, &str)>,
        error: SessionError,
    ) -> StepError {
        self.failure(step, sent, error).for_arm(key)
    }
}

fn step_label(kind: &StepKind) -> String {
    match kind {
        StepKind::Measure(measure) => measure.id.clone(),
        StepKind::Vacuum(vacuum) => vacuum.tables.join(", "),
        StepKind::Analyze(tables) => tables.join(", "),
        StepKind::Table(table) => table.id.clone(),
        _ => String::new(),
    }
}
