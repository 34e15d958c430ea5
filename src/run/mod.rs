//! Runs a notebook, step by step, and tells observers what happened. Knows nothing of reports.

mod advice;
mod arm_condition;
mod clones;
mod compare;
mod conditions;
mod dataset;
mod error;
mod estimates;
mod interrupt;
mod measure;
mod names;
mod rows;
mod sessions;
mod stage;
mod statements;
mod storage;
mod sweep;
mod time;
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

use clones::Place;
use error::StepError;
use stage::Stage;

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
    /// The session in the run's own database; in the maintenance database until that is there.
    main: Stage,
    /// The sessions in the databases of arms, while their step goes on.
    clones: Vec<Stage>,
    /// The database of the main session: the run's own, save at a point of a sweep that has one to itself.
    database: String,
    /// The databases that this step made, in the order in which they were made: those of arms first.
    databases: Vec<String>,
    /// How many databases were named so far.
    named: usize,
    /// The sessions that `session` steps opened, by name.
    others: BTreeMap<String, Session>,
    observer: &'a mut dyn Observer,
    /// Parameters, then lets as they are bound.
    context: Context,
    /// What was already said of somebody else's server.
    told: BTreeSet<String>,
}

impl<'a> Runner<'a> {
    fn connect(job: &'a Job<'a>, observer: &'a mut dyn Observer) -> Result<Self, RunError> {
        let session = stage::connect(job.server.endpoint(), job.server.database())?;
        job.interrupt.watch(session.canceller());
        let context = Context::new().with(&job.notebook.params);
        Ok(Self {
            job,
            main: Stage::new(session),
            clones: Vec::new(),
            database: job.database.to_owned(),
            databases: Vec::new(),
            named: 0,
            others: BTreeMap::new(),
            observer,
            context,
            told: BTreeSet::new(),
        })
    }

    /// The notebook's own settings.
    fn base(&self, step: &Step) -> Result<Settings, StepError> {
        let settings = self.job.notebook.settings.iter();
        settings.map(|(name, template)| Ok((name.clone(), self.render(step, template)?))).collect()
    }

    /// Puts the notebook's own settings in force. A measure leaves others behind.
    fn use_base(&mut self, step: &Step) -> Result<(), StepError> {
        let base = self.base(step)?;
        self.main.use_settings(&base).map_err(|error| {
            let line = refused(&self.job.notebook.settings, &error).map_or(step.at.line, |at| at.line);
            error::of_session(step.number, &self.job.notebook.source.name, line, None, error)
        })
    }

    fn emit(&mut self, event: Event) -> Result<(), RunError> {
        Ok(self.observer.observe(&event)?)
    }

    fn is_left_out(&self, step: &Step) -> bool {
        match (&step.kind, self.job.only) {
            (StepKind::Measure(measure), Some(only)) => measure.id != only,
            (StepKind::Time(time), Some(only)) => time.id != only,
            (StepKind::Sweep(sweep), Some(only)) => sweep.measure.id != only,
            (StepKind::Compare(_), Some(_)) => true,
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
            Err(StepError::Failed(mut failure)) => {
                self.advise(&mut failure);
                self.emit(Event::Failure(failure))?;
                StepOutcome::Failed
            }
            Err(StepError::Environment(failure, source)) => {
                self.emit(Event::Failure(failure))?;
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
        if matches!(
            step.kind,
            StepKind::Measure(_) | StepKind::Vacuum(_) | StepKind::Time(_) | StepKind::Sweep(_)
        ) {
            self.undisturbed(step)?;
        }
        match &step.kind {
            // Shown and judged from the recording; nothing happens on the server.
            StepKind::Text(_)
            | StepKind::Check(_)
            | StepKind::Table(_)
            | StepKind::Plan(_)
            | StepKind::Plot(_) => Ok(()),
            StepKind::Let(bindings) => bindings.iter().try_for_each(|binding| self.bind(step, binding)),
            StepKind::Sql(template) => self.sql(step, template, Place::Main, None),
            StepKind::Analyze(tables) => self.analyze(step, tables, Place::Main, None),
            StepKind::Vacuum(vacuum) => self.vacuum(step, vacuum, Place::Main, None),
            StepKind::Measure(measure) => self.measure(step, measure).and_then(|()| self.untouched(step)),
            StepKind::Sweep(sweep) => self.sweep(step, sweep),
            StepKind::Session(session) => self.session(step, session),
            StepKind::Time(time) => self.time(step, time),
            StepKind::Storage(storage) => self.storage(step, storage),
            StepKind::Compare(compare) => self.compare(step, compare),
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
                    .main
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

/// Where the setting stands that the server did not take.
fn refused(settings: &crate::notebook::Settings, error: &SessionError) -> Option<crate::notebook::Place> {
    let is_refused = |name: &str| match error {
        SessionError::Setting { name: refused, .. } => refused.eq_ignore_ascii_case(name),
        SessionError::Sql(error) => error.message.contains(&format!("\"{name}\"")),
        _ => false,
    };
    settings.iter().find(|(name, _)| is_refused(name)).map(|(_, template)| template.at)
}

fn step_label(kind: &StepKind) -> String {
    match kind {
        StepKind::Measure(measure) => measure.id.clone(),
        StepKind::Sweep(sweep) => sweep.measure.id.clone(),
        StepKind::Vacuum(vacuum) => vacuum.tables.join(", "),
        StepKind::Analyze(tables) => tables.join(", "),
        StepKind::Table(table) => table.id.clone(),
        StepKind::Plot(plot) => plot.id.clone(),
        StepKind::Time(time) => time.id.clone(),
        StepKind::Storage(storage) => storage.id.clone(),
        StepKind::Session(session) => session.name.clone(),
        _ => String::new(),
    }
}
