//! `compare` steps: queries are executed once each, and their rows held against the first one's.

use crate::notebook::{Arm, Compare, Sides, Step, StepKind, Subject, Template};
use crate::recording::{ArmKey, ComparedEvent, Event};
use crate::session::Answer;

use super::Runner;
use super::clones::Place;
use super::error::StepError;
use super::measure::key_of;
use super::rows::{self, Rules};

/// What one side returned: its name, the query as sent, the rows.
type Side = (String, String, Answer);

impl Runner<'_> {
    pub(super) fn compare(&mut self, step: &Step, compare: &Compare) -> Result<(), StepError> {
        let sides = match &compare.sides {
            Sides::Queries(queries) => self.answers(step, queries)?,
            Sides::Arms(subjects) => {
                let notebook = self.job.notebook;
                let arms: Vec<(&Arm, ArmKey)> =
                    subjects.iter().flat_map(|subject| arms_of(&notebook.steps, subject)).collect();
                let answers =
                    self.stage(step, &arms).and_then(|places| self.answers_of(step, &arms, &places));
                let dropped = self.drop_clones(step);
                answers.and_then(|answers| dropped.map(|()| answers))?
            }
        };
        let rules = Rules { tolerance: compare.tolerance, ordered: compare.ordered };
        let (mut difference, mut off_by) = (None, None::<f64>);
        if let Some(((first_name, _, first), others)) = sides.split_first() {
            for (name, _, other) in others {
                match rows::compare((first_name, first), (name, other), rules) {
                    Ok(off) => off_by = [off_by, off].into_iter().flatten().reduce(f64::max),
                    Err(found) => difference = difference.or(Some(found)),
                }
            }
        }
        self.emit(Event::Compared(ComparedEvent {
            step: step.number,
            sides: sides.iter().map(|(name, _, answer)| (name.clone(), answer.rows.len())).collect(),
            queries: sides.into_iter().map(|(_, query, _)| query).collect(),
            difference,
            off_by,
        }))?;
        Ok(())
    }

    fn answers(&mut self, step: &Step, queries: &[Template]) -> Result<Vec<Side>, StepError> {
        let mut sides = Vec::new();
        for (index, template) in queries.iter().enumerate() {
            self.job.interrupt.check()?;
            let query = self.render(step, template)?;
            let answer = self.main.session.answer(&query);
            let answer = answer.map_err(|error| self.failure(step, Some((template, &query)), error))?;
            sides.push((format!("query {}", index + 1), query, answer));
        }
        Ok(sides)
    }

    fn answers_of(
        &mut self,
        step: &Step,
        arms: &[(&Arm, ArmKey)],
        places: &[Place],
    ) -> Result<Vec<Side>, StepError> {
        self.main.use_settings(&super::Settings::new()).map_err(|error| self.failure(step, None, error))?;
        let mut sides = Vec::new();
        for ((arm, key), place) in arms.iter().zip(places) {
            self.job.interrupt.check()?;
            let prepared = self.prepare(step, arm, key.clone(), *place, arm.within.is_some())?;
            let answer = self.under(step, &prepared, |session| session.answer(&prepared.query))?;
            sides.push((key.to_string(), prepared.query, answer));
        }
        Ok(sides)
    }
}

fn arms_of<'n>(steps: &'n [Step], subject: &Subject) -> Vec<(&'n Arm, ArmKey)> {
    let measures = steps.iter().filter_map(|step| match &step.kind {
        StepKind::Measure(measure) if measure.id == subject.measure => Some(measure),
        _ => None,
    });
    let arms = measures.flat_map(|measure| measure.arms.iter().map(move |arm| (arm, key_of(measure, arm))));
    arms.filter(|(arm, _)| subject.arm.is_none() || subject.arm == arm.id).collect()
}
