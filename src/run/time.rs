//! `time` steps: a statement that changes something, each sample on a clone that is thrown away after it.

use crate::notebook::{Arm, Step, TimeStep};
use crate::recording::{ArmKey, Event, ExecutedEvent, SampleEvent, Sizes, TimedEvent, WalWritten};
use crate::session::{Session, SessionError};
use crate::{sql, stats};

use super::clones::Place;
use super::error::StepError;
use super::stage::Stage;
use super::storage::sizes_of;
use super::{Runner, Settings};

/// One arm, ready to be executed.
struct Timed<'a> {
    arm: &'a Arm,
    key: ArmKey,
    sql: String,
    settings: Settings,
    warm: Option<String>,
    /// The database with the arm's setup, from which every sample's is cloned.
    template: String,
}

impl Runner<'_> {
    pub(super) fn time(&mut self, step: &Step, time: &TimeStep) -> Result<(), StepError> {
        let key = |arm: &Arm| ArmKey::new(&time.id, arm.id.as_deref());
        let arms: Vec<(&Arm, ArmKey)> = time.arms.iter().map(|arm| (arm, key(arm))).collect();
        let timed = self.stage(step, &arms).and_then(|places| self.time_at(step, time, &arms, &places));
        let dropped = self.drop_clones(step);
        timed.and(dropped)
    }

    fn time_at(
        &mut self,
        step: &Step,
        time: &TimeStep,
        arms: &[(&Arm, ArmKey)],
        places: &[Place],
    ) -> Result<(), StepError> {
        // A database can only be cloned while nobody is in it.
        self.clones.clear();
        let mut timed = Vec::new();
        for ((arm, key), place) in arms.iter().zip(places) {
            let template = match place {
                Place::Main => self.job.database.to_owned(),
                Place::Clone(clone) => self.databases[*clone].clone(),
            };
            let warm = time.warm.as_ref().map(|warm| self.render(step, warm)).transpose()?;
            let sql = self.render(step, &arm.query).map_err(|error| error.for_arm(key))?;
            let settings = self.settings(step, arm).map_err(|error| error.for_arm(key))?;
            timed.push(Timed { arm, key: key.clone(), sql, settings, warm, template });
        }
        let before_ms = self.main.session.heartbeat().map_err(|error| self.failure(step, None, error))?;
        for (turn, round) in stats::schedule(timed.len(), time.reps, self.job.seed).into_iter().enumerate() {
            for index in round {
                self.sample(step, time, &timed[index], turn + 1)?;
            }
        }
        let after_ms = self.main.session.heartbeat().map_err(|error| self.failure(step, None, error))?;
        self.emit(Event::Heartbeat { step: step.number, before_ms, after_ms })?;
        for Timed { key, .. } in timed {
            let (asked, taken) = (time.reps, time.reps);
            self.emit(Event::Timed(TimedEvent { step: step.number, key, asked, taken, changed_plan: None }))?;
        }
        Ok(())
    }

    /// One sample: a clone, the statement in it, and what it left.
    fn sample(
        &mut self,
        step: &Step,
        time: &TimeStep,
        timed: &Timed<'_>,
        rep: usize,
    ) -> Result<(), StepError> {
        let name = self.clone_as(step, &timed.template)?;
        let mut stage = Stage::new(self.connect_to(step, &name)?);
        let executed = stage
            .use_settings(&timed.settings)
            .and_then(|()| execute(&mut stage.session, timed, &time.of))
            .map_err(|error| {
                let sent = Some((&timed.arm.query, timed.sql.as_str()));
                self.arm_failure(step, &timed.key, sent, error)
            })?;
        drop(stage);
        self.drop_last_clone(step)?;
        let Executed { tag, rows, latency_ms, wal, sizes, plan } = executed;
        self.emit(Event::Executed(Box::new(ExecutedEvent {
            step: step.number,
            key: timed.key.clone(),
            rep,
            sql: timed.sql.clone(),
            settings: timed.settings.clone(),
            tag,
            rows,
            latency_ms,
            wal,
            sizes,
            plan,
        })))?;
        let (key, of) = (timed.key.clone(), time.reps);
        Ok(self.emit(Event::Sample(SampleEvent { key, turn: rep, rep: 1, latency_ms, of }))?)
    }
}

/// What came of one execution.
struct Executed {
    tag: String,
    rows: Option<u64>,
    latency_ms: f64,
    wal: WalWritten,
    sizes: Option<[Sizes; 2]>,
    plan: Option<String>,
}

fn execute(session: &mut Session, timed: &Timed<'_>, of: &[String]) -> Result<Executed, SessionError> {
    // Also proves that nothing instruments what follows.
    session.time(timed.warm.as_deref().unwrap_or("SELECT 1"))?;
    let plan = plan(session, &timed.sql)?;
    let before = sizes_of(session, of)?;
    // What is dirty now is not this statement's to write, and its first touch of every page is a full-page image.
    session.execute("CHECKPOINT")?;
    let wal_before = Wal::read(session)?;
    let execution = session.execute(&timed.sql)?;
    let wal = Wal::read(session)?.since(wal_before);
    let after = sizes_of(session, of)?;
    Ok(Executed {
        tag: execution.tag,
        rows: execution.rows,
        latency_ms: execution.duration_ms,
        wal,
        sizes: (!of.is_empty()).then_some([before, after]),
        plan,
    })
}

/// The plan of a statement that has one.
fn plan(session: &mut Session, statement: &str) -> Result<Option<String>, SessionError> {
    const PLANNED: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "MERGE", "WITH"];
    let keywords = sql::leading_keywords(statement);
    if !keywords.first().is_some_and(|first| PLANNED.contains(&first.as_str())) {
        return Ok(None);
    }
    let rows = session.query_rows(&format!("EXPLAIN (COSTS OFF) {statement}"))?;
    Ok(Some(rows.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n")))
}

/// The write-ahead log's counters, of the whole server: nothing else runs there meanwhile.
#[derive(Debug, Clone, Copy)]
struct Wal {
    /// Records, full-page images, bytes.
    counted: Option<[u64; 3]>,
    /// Where the log ends.
    end: u64,
}

impl Wal {
    fn read(session: &mut Session) -> Result<Self, SessionError> {
        // Counters of this session reach the view at once from 15 on; before, some time later or never.
        let counted = if session.server_version_num() >= 150_000 {
            session.query_rows("SELECT pg_stat_force_next_flush()")?;
            numbers(session, "SELECT wal_records, wal_fpi, wal_bytes FROM pg_stat_wal")?
        } else {
            None
        };
        let end = numbers(session, "SELECT pg_current_wal_insert_lsn() - '0/0'")?.map_or(0, |[end]| end);
        Ok(Self { counted, end })
    }

    fn since(self, before: Self) -> WalWritten {
        let counted = self.counted.zip(before.counted);
        let of = |at: usize| counted.map(|(now, then)| now[at].saturating_sub(then[at]));
        WalWritten {
            records: of(0),
            fpi: of(1),
            bytes: of(2).unwrap_or_else(|| self.end.saturating_sub(before.end)),
        }
    }
}

/// A row of whole numbers; nothing where one of them is none.
fn numbers<const N: usize>(session: &mut Session, query: &str) -> Result<Option<[u64; N]>, SessionError> {
    let row = session.query_rows(query)?.into_iter().next().unwrap_or_default();
    let read = row.into_iter().map(|cell| cell?.parse().ok()).collect::<Option<Vec<u64>>>();
    Ok(read.and_then(|read| read.try_into().ok()))
}
