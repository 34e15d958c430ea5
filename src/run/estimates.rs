//! What EXPLAIN alone says over the range of a sweep: the plan that the free planner chooses, and what it reckons the two
//! arms of the crossing to cost.

use std::time::Instant;

use crate::metric::Metric;
use crate::notebook::{Arm, Axis, Scalar, Settings as Templates, Step, Sweep, Template};
use crate::plan::Plan;
use crate::recording::{ArmKey, EstimateRow, EstimatesEvent, Event};

use super::arm_condition::Condition;
use super::error::StepError;
use super::measure::key_of;
use super::{Runner, Settings};

/// Values of the parameter that are explained at most, before those that close in on a change.
const MOST: usize = 1_000;
/// EXPLAINs that are timed to find out how many can be afforded.
const TRIALS: usize = 5;
/// An EXPLAIN that takes less than this many seconds can be had a thousand times.
const SWIFT: f64 = 0.02;
/// Rounds of closing in: more than enough for integers.
const ROUNDS: usize = 64;

/// A condition, with the statements and settings that it was made of.
type InForce = (Condition, Vec<String>, Settings);

/// One of those whose estimates are taken.
struct Explained<'a> {
    key: ArmKey,
    query: &'a Template,
    settings: &'a Templates,
    within: Option<&'a Template>,
}

impl<'a> Explained<'a> {
    fn of(sweep: &Sweep, arm: &'a Arm) -> Self {
        Self {
            key: key_of(&sweep.measure, arm),
            query: &arm.query,
            settings: &arm.settings,
            within: arm.within.as_ref(),
        }
    }
}

impl Runner<'_> {
    /// Explains the free planner's choice and the two arms over the range, where all of them share one database.
    pub(super) fn estimates(&mut self, step: &Step, sweep: &Sweep) -> Result<(), StepError> {
        let (Some(crossing), [axis]) = (&sweep.crossing, sweep.axes.as_slice()) else { return Ok(()) };
        if sweep.has_own_databases() || sweep.measure.arms.iter().any(|arm| arm.fresh) {
            return Ok(());
        }
        let free = sweep.free_arm();
        let Some(first) = free.or_else(|| sweep.measure.arms.first()) else { return Ok(()) };
        let planner = match free {
            Some(arm) => Explained::of(sweep, arm),
            None => Explained {
                key: ArmKey::new(&sweep.measure.id, None),
                query: &first.query,
                settings: &sweep.settings,
                within: None,
            },
        };
        let mut explained = vec![planner];
        let forced = crossing
            .of
            .iter()
            .filter_map(|id| sweep.arm(id))
            .filter(|arm| free.is_none_or(|free| free.id != arm.id));
        explained.extend(forced.map(|arm| Explained::of(sweep, arm)));
        self.emit(Event::Sending {
            step: step.number,
            sql: format!("EXPLAIN of {} over the range of {}", sweep.measure.id, axis.name),
        })?;
        self.main.use_settings(&Settings::new()).map_err(|error| self.failure(step, None, error))?;
        let (mut plans, mut rows) = (Vec::new(), Vec::new());
        let mut range = self.range(step, sweep, axis, &explained[0])?;
        for _ in 0..ROUNDS {
            for one in &explained {
                rows.extend(self.explain_over(step, axis, one, &range, &mut plans)?);
            }
            range = if axis.is_whole() { unsettled(&rows, &crossing.of) } else { Vec::new() };
            if range.is_empty() {
                break;
            }
        }
        rows.sort_by(|one, other| one.at.total_cmp(&other.at));
        let free = free.and_then(|arm| arm.id.clone());
        let (measure, parameter) = (sweep.measure.id.clone(), axis.name.clone());
        Ok(self.emit(Event::Estimates(EstimatesEvent {
            step: step.number,
            measure,
            parameter,
            free,
            plans,
            rows,
        }))?)
    }

    /// The values to explain: every integer, a thousand at most; where planning is slow, as many as the budget of an arm allows.
    fn range(
        &mut self,
        step: &Step,
        sweep: &Sweep,
        axis: &Axis,
        first: &Explained<'_>,
    ) -> Result<Vec<f64>, StepError> {
        let listed: Vec<f64> = axis.values.iter().filter_map(Scalar::number).collect();
        let trials: Vec<f64> = listed.iter().copied().cycle().take(TRIALS).collect();
        let mut fastest = f64::INFINITY;
        let mut in_force = None;
        let mut tried = Ok(());
        // The first plan of a session takes longer than those after it.
        for at in trials {
            let started = Instant::now();
            tried = self.explain_at(step, axis, first, at, &mut in_force).map(drop);
            fastest = fastest.min(started.elapsed().as_secs_f64());
            if tried.is_err() {
                break;
            }
        }
        self.release(step, first, in_force, tried)?;
        let most = match fastest < SWIFT {
            true => MOST,
            false => ((sweep.measure.budget.as_secs_f64() / fastest) as usize).clamp(2, MOST),
        };
        Ok(spread(&listed, axis.is_whole(), most))
    }

    /// EXPLAIN at each value, under the condition of one arm.
    fn explain_over(
        &mut self,
        step: &Step,
        axis: &Axis,
        one: &Explained<'_>,
        range: &[f64],
        plans: &mut Vec<String>,
    ) -> Result<Vec<EstimateRow>, StepError> {
        let mut in_force = None;
        let mut rows = Vec::new();
        let mut explained = Ok(());
        for at in range {
            let row = self.explain_at(step, axis, one, *at, &mut in_force);
            match row {
                Ok(plan) => rows.push(estimate(one, *at, &plan, plans)),
                Err(error) => {
                    explained = Err(error);
                    break;
                }
            }
        }
        self.release(step, one, in_force, explained).map(|()| rows)
    }

    /// Takes away the condition that is in force, whatever came of what was done under it.
    fn release(
        &mut self,
        step: &Step,
        one: &Explained<'_>,
        in_force: Option<InForce>,
        done: Result<(), StepError>,
    ) -> Result<(), StepError> {
        let Some((condition, ..)) = in_force else { return done };
        let left = condition.leave(&mut self.main.session);
        done.and(left.map_err(|error| self.arm_failure(step, &one.key, None, error)))
    }

    fn explain_at(
        &mut self,
        step: &Step,
        axis: &Axis,
        one: &Explained<'_>,
        at: f64,
        in_force: &mut Option<InForce>,
    ) -> Result<Plan, StepError> {
        self.job.interrupt.check()?;
        let value = if axis.is_whole() { Scalar::Integer(at as i64) } else { Scalar::Float(at) };
        self.context.set(&axis.name, value);
        let query = self.render(step, one.query)?;
        let within = match one.within {
            Some(template) => self.statements(step, template)?.1,
            None => Vec::new(),
        };
        let settings = one.settings.iter();
        let settings: Settings = settings
            .map(|(name, template)| Ok((name.clone(), self.render(step, template)?)))
            .collect::<Result<_, StepError>>()?;
        let refused = |this: &Self, error| this.arm_failure(step, &one.key, Some((one.query, &query)), error);
        // Settings may be templates over the parameter too; mostly they are not, and stay as they are.
        if in_force.as_ref().is_none_or(|(_, other, others)| *other != within || *others != settings) {
            if let Some((condition, ..)) = in_force.take() {
                condition.leave(&mut self.main.session).map_err(|error| refused(self, error))?;
            }
            let condition = Condition::new(!within.is_empty(), within.clone(), &settings);
            condition.enter(&mut self.main.session).map_err(|error| refused(self, error))?;
            *in_force = Some((condition, within, settings));
        }
        self.main.session.explain(&query).map_err(|error| refused(self, error))
    }
}

fn estimate(one: &Explained<'_>, at: f64, plan: &Plan, plans: &mut Vec<String>) -> EstimateRow {
    let shape = plan.shape().to_string();
    let known = plans.iter().position(|other| *other == shape);
    let number = known.unwrap_or_else(|| {
        plans.push(shape);
        plans.len() - 1
    });
    EstimateRow {
        at,
        arm: one.key.arm.clone(),
        plan: number + 1,
        cost: plan.root.measure(Metric::Cost.name()),
        rows: plan.root.measure(Metric::PlanRows.name()),
    }
}

/// Values from the smallest of those listed to the largest, these among them: every integer where there are few enough,
/// else `most`, evenly spaced by their ratio where all are above 0, by their difference where not.
fn spread(listed: &[f64], whole: bool, most: usize) -> Vec<f64> {
    let lo = listed.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = listed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut values = listed.to_vec();
    if whole && hi - lo < most as f64 {
        values.extend((0..=(hi - lo) as usize).map(|step| lo + step as f64));
    } else {
        values.extend((0..most).map(|step| {
            let share = step as f64 / (most - 1) as f64;
            let value = if lo > 0.0 { lo * (hi / lo).powf(share) } else { lo + (hi - lo) * share };
            if whole { value.round() } else { value }
        }));
    }
    values.retain(|value| (lo..=hi).contains(value));
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// The integers in the middle between two values where the free choice, or the cheaper of the two arms, is not the same.
fn unsettled(rows: &[EstimateRow], of: &[String; 2]) -> Vec<f64> {
    let free = rows.first().and_then(|row| row.arm.clone());
    let pick = |arm: Option<&String>| {
        let mut picked: Vec<&EstimateRow> = rows.iter().filter(|row| row.arm.as_ref() == arm).collect();
        picked.sort_by(|one, other| one.at.total_cmp(&other.at));
        picked
    };
    let middle = |lo: f64, hi: f64| (hi - lo > 1.0).then(|| f64::midpoint(lo, hi).floor());
    let chosen = pick(free.as_ref());
    let flips = chosen.windows(2).filter(|pair| pair[0].plan != pair[1].plan);
    let mut middles: Vec<f64> = flips.filter_map(|pair| middle(pair[0].at, pair[1].at)).collect();
    let [one, other] = of.each_ref().map(|arm| pick(Some(arm)));
    let cheaper: Vec<(f64, bool)> =
        one.iter().zip(&other).map(|(one, other)| (one.at, one.cost < other.cost)).collect();
    let crossings = cheaper.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    middles.extend(crossings.filter_map(|pair| middle(pair[0].0, pair[1].0)));
    middles.sort_by(f64::total_cmp);
    middles.dedup();
    middles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_holds_what_is_listed_and_no_more_than_asked() {
        assert_eq!(spread(&[3.0, 1.0, 5.0], true, 1_000), [1.0, 2.0, 3.0, 4.0, 5.0]);
        let wide = spread(&[1.0, 777.0, 1_000_000.0], true, 100);
        assert!(wide.len() <= 103 && wide.contains(&777.0) && wide.iter().all(|value| value.fract() == 0.0));
        let floats = spread(&[0.0, 0.5], false, 11);
        assert_eq!((floats.len(), floats[1]), (11, 0.05));
    }

    #[test]
    fn a_change_is_closed_in_on() {
        let row = |at: f64, arm: &str, plan, cost| EstimateRow {
            at,
            arm: Some(arm.to_owned()),
            plan,
            cost: Some(cost),
            rows: None,
        };
        let of = ["a".to_owned(), "b".to_owned()];
        let mut rows = Vec::new();
        for at in [1.0, 11.0, 21.0, 22.0] {
            rows.push(row(at, "free", if at < 15.0 { 1 } else { 2 }, 1.0));
            rows.push(row(at, "a", 1, at));
            rows.push(row(at, "b", 2, 7.5));
        }
        assert_eq!(unsettled(&rows, &of), [6.0, 16.0]);
        assert_eq!(unsettled(&rows[6..], &of), Vec::<f64>::new());
    }
}
