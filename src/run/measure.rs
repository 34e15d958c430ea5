//! `measure` steps: capture the plan of every arm, then time them in turns, and look whether the plan stayed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::notebook::{Arm, Measure, Step};
use crate::plan::Shape;
use crate::recording::{ArmKey, CaptureEvent, Event, SampleEvent, TimedEvent};
use crate::session::{ArmRun, ExplainOptions, MAX_CAPTURES, Pace, Session, SessionError, Settled, time_arms};

use super::arm_condition::Condition;
use super::clones::Place;
use super::error::{self, RunError, StepError};
use super::stage::{Lasting, settings_changed};
use super::{Runner, Settings, names, refused};

/// An arm with its condition, before anything is measured.
pub(super) struct Prepared<'a> {
    pub(super) arm: &'a Arm,
    pub(super) key: ArmKey,
    pub(super) query: String,
    pub(super) settings: Settings,
    pub(super) condition: Condition,
    pub(super) place: Place,
}

/// An arm, ready to be timed.
pub(super) struct Ready<'a> {
    pub(super) prepared: Prepared<'a>,
    shape: Shape,
    /// Execution time of the capture in milliseconds, with EXPLAIN's own cost.
    pub(super) execution_ms: f64,
    /// The blocks that the captured execution touched.
    pub(super) blocks: Option<f64>,
}

/// The timed executions of an arm: its latencies in milliseconds, by turns.
pub(super) type Turns = Vec<Vec<f64>>;

impl Runner<'_> {
    pub(super) fn measure(&mut self, step: &Step, measure: &Measure) -> Result<(), StepError> {
        let arms: Vec<(&Arm, ArmKey)> = measure.arms.iter().map(|arm| (arm, key_of(measure, arm))).collect();
        let measured = self.stage(step, &arms).and_then(|places| {
            let ready = self.capture_all(step, measure, &arms, &places)?;
            self.time_all(step, measure, &ready)
        });
        let dropped = self.drop_clones(step);
        measured.and(dropped)
    }

    /// Captures the plan of every arm at its place.
    pub(super) fn capture_all<'a>(
        &mut self,
        step: &Step,
        measure: &Measure,
        arms: &[(&'a Arm, ArmKey)],
        places: &[Place],
    ) -> Result<Vec<Ready<'a>>, StepError> {
        self.main.use_settings(&Settings::new()).map_err(|error| self.failure(step, None, error))?;
        // If one arm uses a transaction, all do: its cost must not tell them apart.
        let transaction = arms.iter().any(|(arm, _)| arm.within.is_some());
        let mut ready = Vec::new();
        for ((arm, key), place) in arms.iter().zip(places) {
            self.job.interrupt.check()?;
            let prepared = self.prepare(step, arm, key.clone(), *place, transaction)?;
            ready.push(self.capture(step, measure, prepared)?);
        }
        Ok(ready)
    }

    /// Times the captured arms in turns, between two looks at their plans.
    pub(super) fn time_all(
        &mut self,
        step: &Step,
        measure: &Measure,
        ready: &[Ready<'_>],
    ) -> Result<Vec<Turns>, StepError> {
        let before = self.changed(step, ready)?;
        let beat =
            |this: &mut Self| this.main.session.heartbeat().map_err(|error| this.failure(step, None, error));
        let before_ms = beat(self)?;
        let taken = self.time_turns(step, measure, ready)?;
        let after_ms = beat(self)?;
        self.emit(Event::Heartbeat { step: step.number, before_ms, after_ms })?;
        let after = self.changed(step, ready)?;
        for (index, arm) in ready.iter().enumerate() {
            self.emit(Event::Timed(TimedEvent {
                step: step.number,
                key: arm.prepared.key.clone(),
                asked: measure.reps,
                taken: taken[index].iter().map(Vec::len).sum(),
                changed_plan: before[index].clone().or_else(|| after[index].clone()),
            }))?;
        }
        Ok(taken)
    }

    /// Renders what an arm is made of, and makes its session ready to hold its condition.
    pub(super) fn prepare<'a>(
        &mut self,
        step: &Step,
        arm: &'a Arm,
        key: ArmKey,
        place: Place,
        transaction: bool,
    ) -> Result<Prepared<'a>, StepError> {
        let of_arm = |error: StepError| error.for_arm(&key);
        let query = self.render(step, &arm.query).map_err(of_arm)?;
        let settings = self.settings(step, arm).map_err(of_arm)?;
        let within = match &arm.within {
            Some(template) => self.statements(step, template).map_err(of_arm)?.1,
            None => Vec::new(),
        };
        if let Place::Clone(clone) = place {
            let empty = self.clones[clone].use_settings(&Settings::new());
            empty.map_err(|error| self.arm_failure(step, &key, None, error))?;
        }
        if transaction {
            // Both change the session for good, which a transaction that is rolled back would undo unseen.
            let session = self.at(place);
            let quiet = session.has_auto_explain().and_then(|_| session.time("SELECT 1"));
            quiet.map_err(|error| self.arm_failure(step, &key, None, error))?;
        }
        let condition = Condition::new(transaction, within, &settings);
        Ok(Prepared { arm, key, query, settings, condition, place })
    }

    /// Does something in an arm's session under its condition.
    pub(super) fn under<T>(
        &mut self,
        step: &Step,
        prepared: &Prepared<'_>,
        act: impl FnOnce(&mut Session) -> Result<T, SessionError>,
    ) -> Result<T, StepError> {
        let done = prepared.condition.hold(self.at(prepared.place), act);
        done.map_err(|error| self.of_prepared(step, prepared, error))
    }

    /// A failure at the template that the statement came from.
    fn of_prepared(&self, step: &Step, prepared: &Prepared<'_>, error: SessionError) -> StepError {
        if let Some(at) = refused(&prepared.arm.settings, &error) {
            let file = &self.job.notebook.source.name;
            return error::of_session(step.number, file, at.line, None, error).for_arm(&prepared.key);
        }
        let within = prepared.condition.within.join(";\n");
        let sent = match (&error, &prepared.arm.within) {
            (SessionError::Sql(sql), Some(template))
                if prepared.condition.within.contains(&sql.statement) =>
            {
                Some((template, within.as_str()))
            }
            _ => Some((&prepared.arm.query, prepared.query.as_str())),
        };
        self.arm_failure(step, &prepared.key, sent, error)
    }

    fn capture<'a>(
        &mut self,
        step: &Step,
        measure: &Measure,
        prepared: Prepared<'a>,
    ) -> Result<Ready<'a>, StepError> {
        // Before anything is hidden: an index that `within` drops does exist.
        let known = names::look_up(self.at(prepared.place), prepared.arm)
            .map_err(|error| self.arm_failure(step, &prepared.key, None, error))?;
        let options = options(measure);
        let (settled, changed) = self.under(step, &prepared, |session| {
            let mut lasting = Lasting::of(session)?;
            let settled = session.capture_settled(&prepared.query, &options, MAX_CAPTURES)?;
            Ok((settled, lasting.changed(session)?))
        })?;
        let Settled { captures, agreed, wrote } = settled;
        let fail = |message: &str| {
            let failure = self.blank(step, &prepared.arm.query, message.to_owned());
            Err(StepError::failed(failure).for_arm(&prepared.key))
        };
        if !changed.is_empty() {
            return fail(&settings_changed(&changed));
        }
        if wrote {
            return fail(
                "this changes data (by a function or a sequence in it), and a query here is executed many times: \
                 write it in a `sql` step, or in a `time` step, where every execution has a clone of its own",
            );
        }
        let Some(last) = captures.last() else { return fail("no plan was captured") };
        let (shape, way) = (last.plan.shape(), last.executions.clone());
        let execution_ms = last.plan.execution_time().unwrap_or(0.0);
        let blocks = last.plan.root.blocks();
        self.emit(Event::Capture(Box::new(CaptureEvent {
            step: step.number,
            key: prepared.key.clone(),
            query: prepared.query.clone(),
            settings: prepared.settings.clone(),
            within: prepared.condition.within.clone(),
            rolled_back: prepared.condition.transaction,
            own_clone: prepared.place != Place::Main,
            way,
            taken: captures.len(),
            agreed,
            missing: known.missing,
            advice: known.advice,
            families: known.families,
            captures: captures.into_iter().map(|capture| (capture.text, capture.json)).collect(),
        })))?;
        Ok(Ready { prepared, shape, execution_ms, blocks })
    }

    /// Settings with their templates rendered.
    pub(super) fn settings(&self, step: &Step, arm: &Arm) -> Result<Settings, StepError> {
        arm.settings.iter().map(|(name, template)| Ok((name.clone(), self.render(step, template)?))).collect()
    }

    /// For each arm the shape that the planner would choose now, where it is not the captured one.
    fn changed(&mut self, step: &Step, ready: &[Ready<'_>]) -> Result<Vec<Option<String>>, StepError> {
        let mut changed = Vec::new();
        for Ready { prepared, shape, .. } in ready {
            let plan = self.under(step, prepared, |session| session.explain(&prepared.query))?;
            let now = plan.shape();
            changed.push((now != *shape).then(|| now.to_string()));
        }
        Ok(changed)
    }

    /// Times all arms in turns; what each took.
    fn time_turns(
        &mut self,
        step: &Step,
        measure: &Measure,
        ready: &[Ready<'_>],
    ) -> Result<Vec<Turns>, StepError> {
        let mut arms: Vec<ArmRun<'_>> = ready.iter().map(arm_run).collect();
        let pace = pace_of(measure, self.job.seed);
        let mut taken = vec![0; ready.len()];
        let mut turns: Vec<Turns> = vec![vec![Vec::new(); measure.turns]; ready.len()];
        let mut fault = None;
        let stop = AtomicBool::new(false);
        let observer = &mut *self.observer;
        let interrupt = self.job.interrupt;
        let mut sessions = vec![&mut self.main.session];
        sessions.extend(self.clones.iter_mut().map(|clone| &mut clone.session));
        let timed = time_arms(&mut sessions, &mut arms, &pace, &stop, &mut |sample| {
            taken[sample.arm] += 1;
            turns[sample.arm][sample.turn].push(sample.latency_ms);
            let event = Event::Sample(SampleEvent {
                key: ready[sample.arm].prepared.key.clone(),
                turn: sample.turn + 1,
                rep: taken[sample.arm],
                latency_ms: sample.latency_ms,
                of: measure.reps,
            });
            fault = observer.observe(&event).map_err(RunError::from).and_then(|()| interrupt.check()).err();
            stop.store(fault.is_some(), Ordering::Relaxed);
        });
        match (timed, fault) {
            (_, Some(fault)) => Err(StepError::Run(fault)),
            (Ok(_), None) => {
                // The budget can end an arm before one of its turns.
                turns.iter_mut().for_each(|turns| turns.retain(|turn| !turn.is_empty()));
                Ok(turns)
            }
            (Err(error), None) => Err(self.failure(step, None, error)),
        }
    }
}

/// The key of a measure's arm.
pub(super) fn key_of(measure: &Measure, arm: &Arm) -> ArmKey {
    ArmKey::new(&measure.id, arm.id.as_deref())
}

/// How much of a measure is timed.
pub(super) fn pace_of(measure: &Measure, seed: u64) -> Pace {
    let Measure { reps, turns, budget, min_reps, .. } = *measure;
    Pace { reps, turns, budget, min_reps, seed }
}

fn arm_run<'a>(ready: &'a Ready<'_>) -> ArmRun<'a> {
    let Prepared { condition, query, place, .. } = &ready.prepared;
    ArmRun {
        session: place.index(),
        sql: query,
        captured_ms: Some(ready.execution_ms),
        enter: Box::new(|session| condition.enter(session)),
        leave: Box::new(|session| condition.leave(session)),
    }
}

fn options(measure: &Measure) -> ExplainOptions {
    ExplainOptions {
        timing: measure.explain.timing,
        verbose: measure.explain.verbose,
        wal: measure.explain.wal,
        ..ExplainOptions::default()
    }
}
