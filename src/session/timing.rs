//! Timed executions, and the turns in which the arms of a measure take them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::query::milliseconds;
use super::{Session, SessionError};
use crate::stats::schedule;

/// The most untimed executions at the start of a turn.
const UNTIMED: usize = 3;

/// Milliseconds that the untimed executions of a turn may take.
const UNTIMED_MS: f64 = 50.0;

impl Session {
    /// Runs a statement once, takes in its result and gives the milliseconds from sending it to the server's
    /// being ready again. No EXPLAIN, no instrumentation, and rows are stepped over unread.
    ///
    /// # Errors
    /// What the server reports; [`SessionError::Statements`] where more than one statement ran;
    /// [`SessionError::Instrumented`] where `auto_explain` cannot be turned off.
    pub fn time(&mut self, sql: &str) -> Result<f64, SessionError> {
        self.keep_quiet()?;
        self.wire.encode(|out| frontend::query(sql, out))?;
        let mut commands = 0;
        let mut failure = None;
        let started = Instant::now();
        self.wire.flush()?;
        loop {
            let message = match self.wire.next_but_rows() {
                Ok(message) => message,
                Err(lost) => return Err(failure.unwrap_or(lost)),
            };
            match message {
                Message::ReadyForQuery(body) => {
                    let elapsed = milliseconds(started);
                    self.status = body.status();
                    return match (failure, commands) {
                        (Some(error), _) => Err(error),
                        (None, 1) => Ok(elapsed),
                        (None, count) => Err(SessionError::Statements { count }),
                    };
                }
                Message::CommandComplete(_) => commands += 1,
                other => self.set_aside(other, sql, &mut failure)?,
            }
        }
    }
}

/// What a step of an arm does to its session.
type Switch<'a> = Box<dyn FnMut(&mut Session) -> Result<(), SessionError> + 'a>;

/// One arm of a measure, as the timing needs it.
pub struct ArmRun<'a> {
    /// Which of the sessions it runs in.
    pub session: usize,
    /// The statement.
    pub sql: &'a str,
    /// Milliseconds that its captured execution took.
    pub captured_ms: Option<f64>,
    /// Makes the session this arm's, before each of its turns.
    pub enter: Switch<'a>,
    /// Undoes `enter`, after each turn, a failed one included.
    pub leave: Switch<'a>,
}

impl<'a> ArmRun<'a> {
    /// An arm that differs by settings alone: set before each turn, reset after it.
    #[must_use]
    pub fn with_settings(
        session: usize,
        sql: &'a str,
        captured_ms: Option<f64>,
        settings: &'a [(String, String)],
    ) -> Self {
        Self {
            session,
            sql,
            captured_ms,
            enter: Box::new(move |session| session.set(settings).map(|_| ())),
            leave: Box::new(move |session| {
                let names: Vec<&str> = settings.iter().map(|(name, _)| name.as_str()).collect();
                session.reset(&names)
            }),
        }
    }
}

/// How much to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Timed executions of each arm.
    pub reps: usize,
    /// The turns that they are spread over.
    pub turns: usize,
    /// Time that each arm's timed executions may take together.
    pub budget: Duration,
    /// Timed executions below which the budget does not cut, and turns in which each arm has at least one.
    pub min_reps: usize,
    /// Draws the order of the arms in each round.
    pub seed: u64,
}

/// One timed execution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Which arm, from 0.
    pub arm: usize,
    /// Which turn of that arm, from 0; turns of one number were taken in one round.
    pub turn: usize,
    /// Which execution of that turn, from 0.
    pub rep: usize,
    /// Its latency in milliseconds.
    pub latency_ms: f64,
}

/// What the budget cut of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Which arm, from 0.
    pub arm: usize,
    /// The executions asked for.
    pub asked: usize,
    /// Those taken.
    pub taken: usize,
}

/// What came of timing the arms of a measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// The rounds that were planned; each arm had a turn in each, unless the budget ended it before.
    pub turns: usize,
    /// What the budget cut, arm by arm.
    pub cuts: Vec<Cut>,
}

/// Times the arms of a measure in turns: in each round every arm once, in seeded random order; in each turn
/// the switch to the arm, untimed executions (three, or as many as fit 50 ms), then its timed ones. Every
/// sample is reported as it is taken.
///
/// The budget is shared out beforehand by the captured times. All arms then get equally many turns, so that
/// they can be compared round by round; an arm that is slower than it was when captured stops when its
/// budget is used up.
///
/// # Errors
/// The first error of any execution or switch, after the arm was left; [`SessionError::Interrupted`] once
/// `stop` is set.
pub fn time_arms(
    sessions: &mut [&mut Session],
    arms: &mut [ArmRun<'_>],
    pace: &Pace,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Sample),
) -> Result<Timed, SessionError> {
    let affordable: Vec<usize> = arms.iter().map(|arm| pace.affordable(arm.captured_ms)).collect();
    let turns = affordable.iter().copied().min().unwrap_or(0).min(pace.turns.max(1));
    let mut taken = vec![Taken::default(); arms.len()];
    for (turn, round) in schedule(arms.len(), turns, pace.seed).into_iter().enumerate() {
        for index in round {
            let reps = share(affordable[index], turns, turn);
            let room = pace.room(&taken[index], turn);
            if room.is_spent() {
                continue;
            }
            let arm = &mut arms[index];
            let session = &mut *sessions[arm.session];
            (arm.enter)(session)?;
            let mut take = |rep, latency_ms| report(Sample { arm: index, turn, rep, latency_ms });
            let result = take_turn(session, arm, reps, room, stop, &mut take);
            let left = (arm.leave)(session);
            let turn = result?;
            left?;
            taken[index].reps += turn.reps;
            taken[index].ms += turn.ms;
        }
    }
    let cuts = taken.iter().enumerate().filter(|(_, taken)| taken.reps < pace.reps);
    let cuts = cuts.map(|(arm, taken)| Cut { arm, asked: pace.reps, taken: taken.reps }).collect();
    Ok(Timed { turns, cuts })
}

/// The timed executions that an arm has had.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    reps: usize,
    ms: f64,
}

/// What the budget still allows an arm.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Executions that it gets in any case.
    sure: usize,
    /// Milliseconds for the others.
    ms: f64,
}

impl Room {
    fn is_spent(self) -> bool {
        self.sure == 0 && self.ms <= 0.0
    }
}

impl Pace {
    /// How many executions fit the budget, by the captured time of one.
    fn affordable(&self, captured_ms: Option<f64>) -> usize {
        let fitting = match captured_ms {
            Some(ms) if ms > 0.0 => (self.budget.as_secs_f64() * 1e3 / ms) as usize,
            _ => self.reps,
        };
        fitting.max(self.min_reps).min(self.reps)
    }

    /// How long one arm takes at most by the captured time of one execution: its timed executions within
    /// the budget (or `min_reps` of them, where those are longer), and the untimed ones.
    #[must_use]
    pub fn at_most(&self, captured_ms: Option<f64>) -> Duration {
        let sure = captured_ms.unwrap_or(0.0) * self.min_reps.min(self.reps) as f64;
        let untimed = UNTIMED_MS * self.turns.min(self.reps) as f64;
        let timed = self.budget.as_secs_f64() * 1e3;
        Duration::from_secs_f64((timed.max(sure) + untimed) / 1e3)
    }

    /// How long one arm takes if every execution is as long as the captured one.
    #[must_use]
    pub fn about(&self, captured_ms: f64) -> Duration {
        let timed = captured_ms * self.affordable(Some(captured_ms)) as f64;
        let untimed = (captured_ms * UNTIMED as f64).min(UNTIMED_MS) * self.turns.min(self.reps) as f64;
        Duration::from_secs_f64((timed + untimed) / 1e3)
    }

    /// One execution is sure in each of the first `min_reps` turns: as many in fewer turns would decide nothing.
    fn room(&self, taken: &Taken, turn: usize) -> Room {
        Room {
            sure: self.min_reps.saturating_sub(taken.reps).max(usize::from(turn < self.min_reps)),
            ms: self.budget.as_secs_f64() * 1e3 - taken.ms,
        }
    }
}

/// How many of `reps` executions fall to one of `turns` turns: equally many, the earlier turns one more.
fn share(reps: usize, turns: usize, turn: usize) -> usize {
    reps / turns + usize::from(turn < reps % turns)
}

fn take_turn(
    session: &mut Session,
    arm: &ArmRun<'_>,
    reps: usize,
    room: Room,
    stop: &AtomicBool,
    take: &mut dyn FnMut(usize, f64),
) -> Result<Taken, SessionError> {
    warm_up(session, arm, stop)?;
    let mut taken = Taken::default();
    for rep in 0..reps {
        if rep >= room.sure && taken.ms >= room.ms {
            break;
        }
        go_on(stop)?;
        let latency_ms = session.time(arm.sql)?;
        take(rep, latency_ms);
        taken.reps += 1;
        taken.ms += latency_ms;
    }
    Ok(taken)
}

/// Untimed executions: right after another arm's, a query of 0.04 ms took ten times as long.
fn warm_up(session: &mut Session, arm: &ArmRun<'_>, stop: &AtomicBool) -> Result<(), SessionError> {
    let started = Instant::now();
    let mut expected = arm.captured_ms.unwrap_or(0.0);
    for _ in 0..UNTIMED {
        if milliseconds(started) + expected > UNTIMED_MS {
            break;
        }
        go_on(stop)?;
        expected = session.time(arm.sql)?;
    }
    Ok(())
}

fn go_on(stop: &AtomicBool) -> Result<(), SessionError> {
    if stop.load(Ordering::Relaxed) { Err(SessionError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { reps: 20, turns: 10, budget: Duration::from_secs(10), min_reps: 5, seed: 1 };

    #[test]
    fn the_budget_is_shared_out_by_the_captured_time() {
        assert_eq!(PACE.affordable(Some(0.04)), 20);
        assert_eq!(PACE.affordable(Some(1_000.0)), 10);
        assert_eq!(PACE.affordable(Some(60_000.0)), 5);
        assert_eq!(PACE.affordable(None), 20);
        assert_eq!(Pace { reps: 3, ..PACE }.affordable(Some(60_000.0)), 3);
    }

    #[test]
    fn the_longest_time_counts_what_the_budget_cannot_cut() {
        assert_eq!(PACE.at_most(Some(100.0)), Duration::from_millis(10_500));
        assert_eq!(PACE.at_most(Some(60_000.0)), Duration::from_millis(300_500));
    }

    #[test]
    fn what_is_likely_is_no_more_than_what_is_possible() {
        assert_eq!(PACE.about(1.0), Duration::from_millis(50));
        for ms in [0.01, 1.0, 100.0, 3_000.0, 60_000.0] {
            assert!(PACE.about(ms) <= PACE.at_most(Some(ms)), "{ms}");
        }
    }

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for (reps, turns) in [(20, 10), (7, 5), (5, 5), (23, 10)] {
            let shares: Vec<usize> = (0..turns).map(|turn| share(reps, turns, turn)).collect();
            assert_eq!(shares.iter().sum::<usize>(), reps);
            assert!(shares[0] - shares[turns - 1] <= 1, "{shares:?}");
        }
    }
}
