//! `sweep` steps: the points in order, then what EXPLAIN alone says over their range, then more points in search of the
//! crossing.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::notebook::{Arm, Crossing, Point, Scalar, Step, Sweep, SweepPoint};
use crate::recording::{ArmKey, Event, PointEvent, ProbeEvent, SweepEvent};
use crate::stats::{self, CrossingSearch, Winner};
use crate::template::Context;

use super::Runner;
use super::clones::Place;
use super::error::StepError;
use super::measure::{Ready, Turns, key_of, pace_of};

/// No search asks for more points than this: arms that cross again and again would have no end.
const MOST_ADDED: usize = 24;

/// What is done at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Plans, then times, of all arms.
    Full,
    /// Plans, then times, of the two arms of the crossing.
    Times,
    /// The plans of the two arms of the crossing alone.
    Plans,
}

/// What was found at a point, of each arm by its id.
#[derive(Default)]
struct Found {
    turns: BTreeMap<String, Turns>,
    blocks: BTreeMap<String, f64>,
}

/// A sweep under way.
struct Course<'a> {
    sweep: &'a Sweep,
    /// The executions that the captures found to take so long, in milliseconds, by arm: the slowest so far.
    captured_ms: BTreeMap<Option<String>, f64>,
    /// Points that were begun.
    begun: usize,
    /// Points that there will be at most.
    of: usize,
    seed: u64,
}

impl Course<'_> {
    /// The arms that are measured at a point.
    fn arms(&self, depth: Depth) -> impl Iterator<Item = &Arm> {
        self.sweep.measure.arms.iter().filter(move |arm| takes_part(self.sweep, arm, depth))
    }

    /// The longest that so many points can take, in milliseconds.
    fn at_most_ms(&self, points: usize, depth: Depth) -> f64 {
        let pace = pace_of(&self.sweep.measure, self.seed);
        let arm = |arm: &Arm| pace.at_most(self.captured_ms.get(&arm.id).copied()).as_secs_f64() * 1e3;
        self.arms(depth).map(arm).sum::<f64>() * points as f64
    }

    /// How long they take if nothing is slower than it was so far.
    fn about_ms(&self, points: usize, depth: Depth) -> Option<f64> {
        let pace = pace_of(&self.sweep.measure, self.seed);
        let known =
            self.arms(depth).map(|arm| Some(pace.about(*self.captured_ms.get(&arm.id)?).as_secs_f64() * 1e3));
        known.sum::<Option<f64>>().map(|ms| ms * points as f64)
    }
}

/// Whether an arm is needed at a point: one that was added in search of the crossing is for the two that cross.
fn takes_part(sweep: &Sweep, arm: &Arm, depth: Depth) -> bool {
    match (depth, &sweep.crossing) {
        (Depth::Times | Depth::Plans, Some(crossing)) => {
            arm.id.as_ref().is_some_and(|id| crossing.of.contains(id))
        }
        _ => true,
    }
}

impl Runner<'_> {
    pub(super) fn sweep(&mut self, step: &Step, sweep: &Sweep) -> Result<(), StepError> {
        self.place_points(step, sweep)?;
        let outside = self.context.clone();
        let swept = self.course(step, sweep, &outside);
        self.context = outside;
        swept
    }

    /// Every point has a place on the axis, by what is known now, before any is measured.
    fn place_points(&self, step: &Step, sweep: &Sweep) -> Result<(), StepError> {
        let Some(x) = &sweep.x else { return Ok(()) };
        for SweepPoint { point, .. } in &sweep.points {
            x.at(self.context.clone(), point)
                .map_err(|error| StepError::failed(self.blank(step, &x.expr, error.message)))?;
        }
        Ok(())
    }

    fn course(&mut self, step: &Step, sweep: &Sweep, outside: &Context) -> Result<(), StepError> {
        let mut searches = sweep.crossing.as_ref().map(|crossing| Searches::new(sweep, crossing));
        let [most_added, most_captured] = searches.as_ref().map_or([0; 2], Searches::most);
        let points = sweep.points.len();
        let seed = self.job.seed;
        let mut course = Course { sweep, captured_ms: BTreeMap::new(), begun: 0, of: points, seed };
        self.emit(Event::Sweep(SweepEvent {
            step: step.number,
            measure: sweep.measure.id.clone(),
            points,
            arms: sweep.measure.arms.len(),
            most_added,
            most_captured,
            at_most_ms: course.at_most_ms(points, Depth::Full),
            added_at_most_ms: course.at_most_ms(most_added, Depth::Times),
        }))?;
        for listed in &sweep.points {
            let left = points - course.begun;
            let found = self.point(step, &mut course, &listed.point, Depth::Full, left)?;
            if let Some(searches) = &mut searches {
                searches.tell(&listed.point, &found, seed);
            }
        }
        let Some(mut searches) = searches else { return Ok(()) };
        self.context = outside.clone();
        self.estimates(step, sweep)?;
        let mut room = [most_added, most_captured];
        while let Some((x, depth)) = searches.next(room) {
            let left = if depth == Depth::Times { searches.time.steps_left().min(room[0]) } else { 0 };
            room[usize::from(depth == Depth::Plans)] -= 1;
            course.of = course.begun + 1;
            let point = searches.point(x);
            let found = self.point(step, &mut course, &point, depth, left)?;
            searches.tell(&point, &found, seed);
        }
        Ok(())
    }

    /// Measures the arms at one point, in the database that it has to itself where it has one. `left` is how many points
    /// are timed from here on, this one included.
    fn point(
        &mut self,
        step: &Step,
        course: &mut Course<'_>,
        point: &Point,
        depth: Depth,
        left: usize,
    ) -> Result<Found, StepError> {
        self.job.interrupt.check()?;
        let sweep = course.sweep;
        for (name, value) in point.values() {
            self.context.set(name, value.clone());
        }
        course.begun += 1;
        self.emit(Event::Point(PointEvent {
            step: step.number,
            measure: sweep.measure.id.clone(),
            point: point.clone(),
            added: sweep.listed(point).is_none(),
            number: course.begun,
            of: course.of,
            at_most_ms: course.at_most_ms(left, depth),
            about_ms: course.about_ms(left, depth),
        }))?;
        if !sweep.has_own_databases() {
            return self.arms(step, course, point, depth);
        }
        let found = self.enter_point(step, sweep, point).and_then(|()| self.arms(step, course, point, depth));
        let left = self.leave_point(step);
        found.and_then(|found| left.map(|()| found))
    }

    fn arms(
        &mut self,
        step: &Step,
        course: &mut Course<'_>,
        point: &Point,
        depth: Depth,
    ) -> Result<Found, StepError> {
        let sweep = course.sweep;
        let arms = sweep.arms_at(point).iter().filter(|arm| takes_part(sweep, arm, depth));
        let arms: Vec<(&Arm, ArmKey)> =
            arms.map(|arm| (arm, key_of(&sweep.measure, arm).at(point))).collect();
        self.undisturbed(step)?;
        let found =
            self.stage(step, &arms).and_then(|places| self.measured(step, course, &arms, &places, depth));
        let dropped = self.drop_clones(step);
        let found = found.and_then(|found| dropped.map(|()| found))?;
        self.untouched(step)?;
        Ok(found)
    }

    fn measured(
        &mut self,
        step: &Step,
        course: &mut Course<'_>,
        arms: &[(&Arm, ArmKey)],
        places: &[Place],
        depth: Depth,
    ) -> Result<Found, StepError> {
        let measure = &course.sweep.measure;
        let ready = self.capture_all(step, measure, arms, places)?;
        let mut found = Found::default();
        for Ready { prepared, execution_ms, blocks, .. } in &ready {
            let slowest = course.captured_ms.entry(prepared.arm.id.clone()).or_insert(0.0);
            *slowest = slowest.max(*execution_ms);
            let id = prepared.arm.id.clone().unwrap_or_default();
            found.blocks.extend(blocks.map(|blocks| (id, blocks)));
        }
        if depth != Depth::Plans {
            let turns = self.time_all(step, measure, &ready)?;
            let ids = arms.iter().map(|(arm, _)| arm.id.clone().unwrap_or_default());
            found.turns = ids.zip(turns).collect();
            for arm in &ready {
                self.probe(step, course.sweep, arm)?;
            }
        }
        Ok(found)
    }

    /// Takes the metrics from SQL of one arm, under its condition.
    fn probe(&mut self, step: &Step, sweep: &Sweep, ready: &Ready<'_>) -> Result<(), StepError> {
        for (name, template) in &sweep.probes {
            let key = &ready.prepared.key;
            let sql = self.render(step, template).map_err(|error| error.for_arm(key))?;
            let session = self.at(ready.prepared.place);
            let asked = ready.prepared.condition.hold(session, |session| session.scalar(&sql));
            let asked = asked.map_err(|error| self.arm_failure(step, key, Some((template, &sql)), error))?;
            let value = match &asked {
                None => None,
                Some(value) => match value.number() {
                    Some(number) => Some(number),
                    None => {
                        let message = format!("the probe `{name}` returned `{value}`, which is no number");
                        return Err(StepError::failed(self.blank(step, template, message)).for_arm(key));
                    }
                },
            };
            let (key, name) = (key.clone(), name.clone());
            self.emit(Event::Probe(ProbeEvent { step: step.number, key, name, sql, value }))?;
        }
        Ok(())
    }

    /// Makes the database that the point has to itself, and prepares it.
    fn enter_point(&mut self, step: &Step, sweep: &Sweep, point: &Point) -> Result<(), StepError> {
        let key = ArmKey::new(&sweep.measure.id, None).at(point);
        let started = std::time::Instant::now();
        let dataset = sweep.listed(point).and_then(|listed| listed.dataset.as_ref());
        self.database = match dataset {
            Some(dataset) => {
                // While it is built, the main session stays where it is: its database is in use.
                let name = self.database_name();
                self.dataset_of_point(step, dataset, &key, &name)?;
                name
            }
            None => {
                self.move_main(step, self.job.server.database())?;
                self.make_clone(step, self.job.database)?
            }
        };
        self.move_main(step, &self.database.clone())?;
        let duration_ms = started.elapsed().as_secs_f64() * 1e3;
        self.emit(Event::Clone { step: step.number, key: key.clone(), duration_ms })?;
        self.set_up(step, &sweep.setup, &key, Place::Main).map_err(|error| error.for_arm(&key))?;
        // What the setup left dirty would be written while the arms are timed.
        self.main.session.execute("CHECKPOINT").map_err(|error| self.failure(step, None, error))?;
        Ok(())
    }

    /// Goes back to the run's own database, and drops the point's.
    fn leave_point(&mut self, step: &Step) -> Result<(), StepError> {
        let own = self.job.database;
        let name = std::mem::replace(&mut self.database, own.to_owned());
        self.move_main(step, own)?;
        if name == own { Ok(()) } else { self.drop_clone(step, &name) }
    }
}

/// The search for the crossing: by the metric asked for, and by blocks, which need no timing.
struct Searches<'a> {
    crossing: &'a Crossing,
    parameter: &'a str,
    whole: bool,
    time: CrossingSearch,
    blocks: CrossingSearch,
}

impl<'a> Searches<'a> {
    /// A search that knows where the points will be, and of none yet who wins.
    fn new(sweep: &'a Sweep, crossing: &'a Crossing) -> Self {
        let axis = sweep.axes.first();
        let whole = axis.is_some_and(crate::notebook::Axis::is_whole);
        let mut search = CrossingSearch::new(whole);
        for at in sweep.points.iter().filter_map(|listed| listed.point.position()) {
            search.tell(at, Winner::Neither);
        }
        let parameter = axis.map_or("", |axis| axis.name.as_str());
        Self { crossing, parameter, whole, time: search.clone(), blocks: search.exact() }
    }

    /// How many points are added at most that are timed, and how many whose plans alone are captured.
    fn most(&self) -> [usize; 2] {
        let [time, blocks] = [&self.time, &self.blocks].map(|search| search.most_steps().min(MOST_ADDED));
        match self.crossing.metric {
            Metric::Median => [time, blocks],
            Metric::Blocks => [0, blocks],
            _ => [0; 2],
        }
    }

    fn tell(&mut self, point: &Point, found: &Found, seed: u64) {
        let Some(at) = point.position() else { return };
        let [one, other] = &self.crossing.of;
        if let (Some(one), Some(other)) = (found.turns.get(one), found.turns.get(other)) {
            self.time.tell(at, stats::faster(one, other, seed));
        }
        if let (Some(one), Some(other)) = (found.blocks.get(one), found.blocks.get(other)) {
            self.blocks.tell(at, stats::smaller(*one, *other));
        }
    }

    /// Where to measure next, and what, as long as there is room for it.
    fn next(&self, [timed, captured]: [usize; 2]) -> Option<(f64, Depth)> {
        let by_time = self.time.next().filter(|_| timed > 0).map(|x| (x, Depth::Times));
        by_time.or_else(|| self.blocks.next().filter(|_| captured > 0).map(|x| (x, Depth::Plans)))
    }

    fn point(&self, at: f64) -> Point {
        let value = if self.whole { Scalar::Integer(at as i64) } else { Scalar::Float(at) };
        Point::new(vec![(self.parameter.to_owned(), value)])
    }
}
