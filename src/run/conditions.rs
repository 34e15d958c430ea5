//! The conditions that every measure relies on: nothing works on the tables by itself, settings are those of the
//! server, and nobody holds a snapshot. On a server of Planbook's own a breach fails the step; on someone else's it is
//! said, once, and recorded.

use std::thread::sleep;
use std::time::Duration;

use crate::notebook::{Place, Step, StepKind};
use crate::recording::{Event, Failure};
use crate::server::Kind;
use crate::session::{self, SessionError};
use crate::sql;

use super::error::{self, StepError};
use super::{Ended, RunError, Runner};

/// Settings that let something happen by itself, where they are on.
const QUIET: &str = "SELECT format('%s is %s', name, setting) FROM pg_settings \
    WHERE name IN ('autovacuum', 'synchronize_seqscans') AND setting <> 'off' ORDER BY name";

/// Settings that come with the role or the database, and not with the server.
const OVERRIDDEN: &str = "SELECT format('%s is %s, set for this %s', name, current_setting(name), source) \
    FROM pg_settings WHERE source IN ('database', 'user', 'database user') ORDER BY name";

/// What autovacuum has done to the tables of this database.
const TOUCHED: &str = "SELECT format('%s (autovacuum %s, autoanalyze %s times)', relid::regclass, autovacuum_count, \
    autoanalyze_count) FROM pg_stat_user_tables WHERE autovacuum_count + autoanalyze_count > 0 ORDER BY 1";

/// How often a snapshot is looked at again before it counts as held: a query of a moment has one too.
const LOOKS: usize = 5;
const BETWEEN: Duration = Duration::from_millis(100);

impl Runner<'_> {
    /// The conditions at the start, where there is no dataset whose step could fail.
    pub(super) fn first_conditions(&mut self) -> Result<Ended, RunError> {
        match self.conditions() {
            Ok(()) => Ok(Ended::Complete),
            Err(StepError::Run(error)) => Err(error),
            Err(StepError::Environment(failure, source)) => {
                self.emit(Event::Failure(failure))?;
                Err(RunError::Session(source))
            }
            Err(StepError::Failed(failure)) => {
                self.emit(Event::Failure(failure))?;
                Ok(Ended::Failed)
            }
        }
    }

    /// The conditions that hold for the whole run.
    pub(super) fn conditions(&mut self) -> Result<(), StepError> {
        let start = Start { step: 0, at: Place::default() };
        for what in self.lines(start, QUIET)? {
            let name = what.split(' ').next().unwrap_or_default();
            // A notebook may want it so; then it is known.
            if !self.job.notebook.server.settings.contains_key(name) {
                self.breach(start, format!("{what}: it would change things between two measurements"))?;
            } else {
                self.note(start, format!("{what}, as the notebook asks"))?;
            }
        }
        for what in self.lines(start, OVERRIDDEN)? {
            self.breach(
                start,
                format!("{what}, and not as the server has it (`planbook cache prune` makes a new one)"),
            )?;
        }
        Ok(())
    }

    /// Before and after a step that depends on it: autovacuum has not been here.
    pub(super) fn untouched(&mut self, step: &Step) -> Result<(), StepError> {
        let start = Start { step: step.number, at: step.at };
        let touched = self.lines(start, TOUCHED)?;
        if touched.is_empty() {
            return Ok(());
        }
        Err(self.failed(start, format!("autovacuum has worked on {} meanwhile", touched.join(", "))))
    }

    /// Before a step that depends on it: nobody else has a snapshot, and autovacuum has not been here.
    pub(super) fn undisturbed(&mut self, step: &Step) -> Result<(), StepError> {
        self.untouched(step)?;
        let start = Start { step: step.number, at: step.at };
        // A VACUUM that cannot do its work says so itself, and may be meant to.
        if matches!(step.kind, StepKind::Vacuum(_)) {
            return Ok(());
        }
        let mut holders = Vec::new();
        for look in 0..LOOKS {
            holders = self.lines(start, &holders_query())?;
            if holders.is_empty() {
                return Ok(());
            }
            if look + 1 < LOOKS {
                sleep(BETWEEN);
            }
        }
        let what = format!("{}: plans, and what VACUUM can do, depend on it", holders.join(", "));
        self.breach(start, what)
    }

    fn lines(&mut self, start: Start, query: &str) -> Result<Vec<String>, StepError> {
        let rows = self.main.session.query_rows(query).map_err(|error| self.refused(start, error))?;
        Ok(rows.into_iter().flatten().flatten().collect())
    }

    fn refused(&self, start: Start, error: SessionError) -> StepError {
        error::of_session(start.step, &self.job.notebook.source.name, start.at.line.max(1), None, error)
    }

    fn failed(&self, start: Start, what: String) -> StepError {
        let file = &self.job.notebook.source.name;
        StepError::failed(Failure::new(start.step, what, file, start.at.line.max(1)))
    }

    fn breach(&mut self, start: Start, what: String) -> Result<(), StepError> {
        if self.job.server.kind() != Kind::Url {
            return Err(self.failed(start, what));
        }
        self.note(start, what)
    }

    fn note(&mut self, start: Start, text: String) -> Result<(), StepError> {
        if self.told.insert(text.clone()) {
            self.emit(Event::Note { step: start.step, text })?;
        }
        Ok(())
    }
}

/// Where a breach is shown.
#[derive(Clone, Copy)]
struct Start {
    step: usize,
    at: Place,
}

/// Who holds a snapshot, in any database, save the sessions of this planbook: those are held on purpose.
fn holders_query() -> String {
    format!(
        "SELECT format('process %s (%s) holds a snapshot in %s', pid, \
         concat_ws(', ', usename, nullif(application_name, ''), state), coalesce(datname, 'no database')) \
         FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND application_name <> {0} \
         AND backend_type = 'client backend' \
         UNION ALL SELECT format('the prepared transaction %s holds a snapshot in %s', gid, database) \
         FROM pg_prepared_xacts \
         UNION ALL SELECT format('the replication slot %s holds a snapshot', slot_name) FROM pg_replication_slots \
         WHERE coalesce(xmin, catalog_xmin) IS NOT NULL ORDER BY 1",
        sql::quote_literal(&session::application_name())
    )
}
