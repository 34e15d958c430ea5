//! `measure` steps: capture the plan of every arm, then time them in turns, and look whether the plan stayed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::notebook::{Arm, Measure, Step};
use crate::plan::Shape;
use crate::recording::{ArmKey, CaptureEvent, Event, SampleEvent, TimedEvent};
use crate::session::{ArmRun, ExplainOptions, MAX_CAPTURES, Pace, Settled, time_arms};

use super::error::{RunError, StepError};
use super::{Runner, Settings, names};

/// An arm, ready to be timed.
struct Ready<'a> {
    arm: &'a Arm,
    key: ArmKey,
    query: String,
    settings: Settings,
    shape: Shape,
    /// Execution time of the capture in milliseconds, with EXPLAIN's own cost.
    execution_ms: f64,
}

impl Runner<'_> {
    pub(super) fn measure(&mut self, step: &Step, measure: &Measure) -> Result<(), StepError> {
        let mut ready = Vec::new();
        for arm in &measure.arms {
            self.job.interrupt.check()?;
            ready.push(self.capture(step, measure, arm)?);
        }
        let before = self.changed(step, &ready)?;
        let beat =
            |this: &mut Self| this.session.heartbeat().map_err(|error| this.failure(step, None, error));
        let before_ms = beat(self)?;
        let taken = self.time(step, measure, &ready)?;
        let after_ms = beat(self)?;
        self.emit(Event::Heartbeat { step: step.number, before_ms, after_ms })?;
        let after = self.changed(step, &ready)?;
        for (index, arm) in ready.iter().enumerate() {
            self.emit(Event::Timed(TimedEvent {
                step: step.number,
                key: arm.key.clone(),
                asked: measure.reps,
                taken: taken[index],
                changed_plan: before[index].clone().or_else(|| after[index].clone()),
            }))?;
        }
        Ok(())
    }

    fn capture<'a>(&mut self, step: &Step, measure: &Measure, arm: &'a Arm) -> Result<Ready<'a>, StepError> {
        let key = ArmKey { measure: measure.id.clone(), arm: arm.id.clone() };
        let query = self.render(step, &arm.query).map_err(|error| error.for_arm(&key))?;
        let settings = self.settings(step, arm)?;
        let sent = Some((&arm.query, query.as_str()));
        let failed = |this: &Self, error| this.arm_failure(step, &key, sent, error);
        self.use_settings(&settings).map_err(|error| failed(self, error))?;
        let known = names::look_up(&mut self.session, arm).map_err(|error| failed(self, error))?;
        let options = options(measure);
        let settled = self
            .session
            .capture_settled(&query, &options, MAX_CAPTURES)
            .map_err(|error| failed(self, error))?;
        let Settled { captures, agreed } = settled;
        let Some(last) = captures.last() else {
            return Err(StepError::failed(self.blank(step, &arm.query, "no plan was captured".to_owned())));
        };
        let ready = Ready {
            arm,
            query: query.clone(),
            settings: settings.clone(),
            shape: last.plan.shape(),
            execution_ms: last.plan.execution_time().unwrap_or(0.0),
            key: key.clone(),
        };
        self.emit(Event::Capture(Box::new(CaptureEvent {
            step: step.number,
            key,
            query,
            settings,
            way: last.executions.clone(),
            taken: captures.len(),
            agreed,
            missing: known.missing,
            families: known.families,
            captures: captures.iter().map(|capture| (capture.text.clone(), capture.json.clone())).collect(),
        })))?;
        Ok(ready)
    }

    /// Settings with their templates rendered.
    fn settings(&self, step: &Step, arm: &Arm) -> Result<Settings, StepError> {
        arm.settings.iter().map(|(name, template)| Ok((name.clone(), self.render(step, template)?))).collect()
    }

    /// For each arm the shape that the planner would choose now, where it is not the captured one.
    fn changed(&mut self, step: &Step, ready: &[Ready<'_>]) -> Result<Vec<Option<String>>, StepError> {
        let mut changed = Vec::new();
        for arm in ready {
            let sent = Some((&arm.arm.query, arm.query.as_str()));
            let shape = self.now(arm).map_err(|error| self.arm_failure(step, &arm.key, sent, error))?;
            changed.push((shape != arm.shape).then(|| shape.to_string()));
        }
        Ok(changed)
    }

    fn now(&mut self, arm: &Ready<'_>) -> Result<Shape, crate::session::SessionError> {
        self.use_settings(&arm.settings)?;
        Ok(self.session.explain(&arm.query)?.shape())
    }

    /// Times all arms in turns; how many samples each got.
    fn time(&mut self, step: &Step, measure: &Measure, ready: &[Ready<'_>]) -> Result<Vec<usize>, StepError> {
        self.use_settings(&Settings::new()).map_err(|error| self.failure(step, None, error))?;
        let settings: Vec<Vec<(String, String)>> =
            ready.iter().map(|arm| arm.settings.clone().into_iter().collect()).collect();
        let mut arms: Vec<ArmRun<'_>> = ready
            .iter()
            .zip(&settings)
            .map(|(arm, settings)| ArmRun::with_settings(0, &arm.query, Some(arm.execution_ms), settings))
            .collect();
        let pace = Pace {
            reps: measure.reps,
            turns: measure.turns,
            budget: measure.budget,
            min_reps: measure.min_reps,
            seed: self.job.seed,
        };
        let mut taken = vec![0; ready.len()];
        let mut fault = None;
        let stop = AtomicBool::new(false);
        let observer = &mut *self.observer;
        let interrupt = self.job.interrupt;
        let timed = time_arms(&mut [&mut self.session], &mut arms, &pace, &stop, &mut |sample| {
            taken[sample.arm] += 1;
            let event = Event::Sample(SampleEvent {
                key: ready[sample.arm].key.clone(),
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
            (Ok(_), None) => Ok(taken),
            (Err(error), None) => Err(self.failure(step, None, error)),
        }
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
