//! `vacuum` steps: VACUUM, then look at what it left in the visibility map, and why.

use crate::notebook::{Step, Vacuum};
use crate::recording::{ArmKey, Event, VacuumEvent};
use crate::session::SessionError;
use crate::sql;

use super::Runner;
use super::clones::Place;
use super::error::{LOCK_NOT_AVAILABLE, StepError};

impl Runner<'_> {
    pub(super) fn vacuum(
        &mut self,
        step: &Step,
        vacuum: &Vacuum,
        place: Place,
        arm: Option<&ArmKey>,
    ) -> Result<(), StepError> {
        for table in &vacuum.tables {
            self.job.interrupt.check()?;
            let event = self.vacuum_table(step, vacuum, table, place)?;
            self.emit(Event::Vacuum(VacuumEvent { arm: arm.cloned(), ..event }))?;
        }
        Ok(())
    }

    fn vacuum_table(
        &mut self,
        step: &Step,
        vacuum: &Vacuum,
        table: &str,
        place: Place,
    ) -> Result<VacuumEvent, StepError> {
        // VERBOSE changes nothing of what VACUUM does, and tells what it left undone.
        let mut options = vec!["VERBOSE".to_owned()];
        options.extend(vacuum.options.iter().map(|(name, value)| format!("{name} {value}")));
        let statement = format!("VACUUM ({}) {table}", options.join(", "));
        self.emit(Event::Sending { step: step.number, sql: statement.clone() })?;
        let execution = match self.at(place).execute(&statement) {
            Ok(execution) => execution,
            Err(error) => return Err(self.vacuum_failure(step, table, place, error)),
        };
        let (pages, all_visible) = self.pages(step, table, place)?;
        let account: Vec<String> = execution.notices.iter().map(ToString::to_string).collect();
        let cause = if pages == all_visible { None } else { self.cause(step, table, &account, place)? };
        Ok(VacuumEvent {
            step: step.number,
            arm: None,
            table: table.to_owned(),
            sql: statement,
            pages,
            all_visible,
            cause,
            account,
            duration_ms: execution.duration_ms,
        })
    }

    /// A VACUUM that got no lock names who holds it.
    fn vacuum_failure(&mut self, step: &Step, table: &str, place: Place, error: SessionError) -> StepError {
        let waited = matches!(&error, SessionError::Sql(sql) if sql.sqlstate == LOCK_NOT_AVAILABLE);
        let holders = if waited { self.lock_holders(table, place).unwrap_or_default() } else { Vec::new() };
        let error = match error {
            SessionError::Sql(mut sql) if !holders.is_empty() => {
                sql.detail = Some(format!("a lock on {table} is held by {}", holders.join(", ")));
                SessionError::Sql(sql)
            }
            other => other,
        };
        self.failure(step, None, error)
    }

    /// Pages of the table and those of them whose rows everyone can see, as VACUUM has just noted them.
    fn pages(&mut self, step: &Step, table: &str, place: Place) -> Result<(i64, i64), StepError> {
        let name = sql::quote_literal(table);
        let query = format!("SELECT relpages, relallvisible FROM pg_class WHERE oid = {name}::regclass");
        let rows = self.at(place).query_rows(&query).map_err(|error| self.failure(step, None, error))?;
        let number = |column: usize| {
            rows.first().and_then(|row| row.get(column)?.as_deref()?.parse().ok()).ok_or_else(|| {
                StepError::failed(self.failure_at(step, format!("pg_class says nothing of {table}")))
            })
        };
        Ok((number(0)?, number(1)?))
    }

    /// The known reasons for pages that stay out of the visibility map, as far as they apply.
    fn cause(
        &mut self,
        step: &Step,
        table: &str,
        account: &[String],
        place: Place,
    ) -> Result<Option<String>, StepError> {
        let mut causes = Vec::new();
        if skipped(account) {
            let holders = self.lock_holders(table, place).map_err(|error| self.failure(step, None, error))?;
            causes.push(match holders.is_empty() {
                true => "a lock kept VACUUM from the table".to_owned(),
                false => format!("a lock kept VACUUM from the table: it is held by {}", holders.join(", ")),
            });
        }
        let holders = self.snapshot_holders(place).map_err(|error| self.failure(step, None, error))?;
        if !holders.is_empty() {
            causes.push(format!("an old snapshot is held by {}", holders.join(", ")));
        }
        causes.extend(bypassed(account));
        causes.extend(pinned(account));
        Ok((!causes.is_empty()).then(|| causes.join("; ")))
    }

    /// Who keeps VACUUM from removing rows of the database: sessions in it, prepared transactions, replication slots. The
    /// `catalog_xmin` of a logical slot keeps rows of catalogs alone.
    fn snapshot_holders(&mut self, place: Place) -> Result<Vec<String>, SessionError> {
        const HOLDERS: &str = "SELECT pid, format('%s, %s', backend_type, coalesce(state, 'working')) \
            FROM pg_stat_activity WHERE coalesce(backend_xmin, backend_xid) IS NOT NULL \
            AND pid <> pg_backend_pid() AND coalesce(datname, current_database()) = current_database() \
            UNION ALL SELECT NULL, format('the prepared transaction %s', gid) FROM pg_prepared_xacts \
            WHERE database = current_database() \
            UNION ALL SELECT NULL, format('the replication slot %s', slot_name) FROM pg_replication_slots \
            WHERE xmin IS NOT NULL ORDER BY 1, 2";
        let rows = self.at(place).query_rows(HOLDERS)?;
        Ok(rows.into_iter().filter_map(|row| self.holder(row)).collect())
    }

    /// Who holds a lock on the table that VACUUM cannot be granted beside.
    fn lock_holders(&mut self, table: &str, place: Place) -> Result<Vec<String>, SessionError> {
        let query = format!(
            "SELECT DISTINCT pid, mode FROM pg_locks WHERE granted AND pid <> pg_backend_pid() \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND relation = {}::regclass AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') \
             ORDER BY 1, 2",
            sql::quote_literal(table)
        );
        let rows = self.at(place).query_rows(&query)?;
        Ok(rows.into_iter().filter_map(|row| self.holder(row)).collect())
    }

    /// A process and what is known of it, by the name of its session where it has one.
    fn holder(&self, row: Vec<Option<String>>) -> Option<String> {
        let mut row = row.into_iter();
        let (pid, what) = (row.next()?, row.next()??);
        let Some(pid) = pid else { return Some(what) };
        let name = pid.parse().ok().and_then(|pid| self.session_of(pid));
        Some(match name {
            Some(name) => format!("the session `{name}` ({what})"),
            None => format!("process {pid} ({what})"),
        })
    }
}

/// Whether VACUUM passed the table over for want of a lock (SKIP_LOCKED).
fn skipped(account: &[String]) -> bool {
    account.iter().any(|line| line.contains("skipping vacuum of"))
}

/// From 14 on, VACUUM leaves index cleanup out where few pages hold dead items: those pages stay out of the map.
fn bypassed(account: &[String]) -> Option<String> {
    let line =
        account.iter().flat_map(|entry| entry.lines()).find(|line| line.contains("index scan bypassed"))?;
    let told = line.split_once("bypassed: ").map_or("", |(_, told)| told.trim());
    Some(format!("index cleanup was bypassed: {told}, which INDEX_CLEANUP ON would remove"))
}

/// Pages that a cursor or another reader held at that moment.
fn pinned(account: &[String]) -> Option<String> {
    let mut lines = account.iter().flat_map(|entry| entry.lines());
    let line = lines.find(|line| {
        line.contains("cleanup lock contention")
            || line.contains("due to buffer pins") && !line.contains("kipped 0 pages due to buffer pins")
    })?;
    Some(format!("a reader kept pages pinned: {}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::{bypassed, pinned, skipped};

    fn account(text: &str) -> Vec<String> {
        vec!["INFO: vacuuming \"d.public.t\"".to_owned(), text.to_owned()]
    }

    #[test]
    fn the_account_of_a_vacuum_names_the_cause() {
        let told = account(
            "INFO: finished vacuuming \"d.public.t\": index scans: 0\npages: 0 removed, 443 remain\n\
             index scan bypassed: 2 pages from table (0.45% of total) have 20 dead item identifiers",
        );
        assert_eq!(
            bypassed(&told).as_deref(),
            Some(
                "index cleanup was bypassed: 2 pages from table (0.45% of total) have 20 dead item identifiers, \
                 which INDEX_CLEANUP ON would remove"
            )
        );
        assert!(!skipped(&told) && pinned(&told).is_none());
        assert!(skipped(&account("WARNING: skipping vacuum of \"t\" --- lock not available")));
        let old = "INFO: table \"t\"\nSkipped 3 pages due to buffer pins, 0 frozen pages.";
        assert!(pinned(&account(old)).is_some_and(|cause| cause.contains("Skipped 3 pages")));
        assert!(pinned(&account(&old.replace('3', "0"))).is_none());
        let new = "tuples missed: 4 dead from 1 pages not removed due to cleanup lock contention";
        assert!(pinned(&account(new)).is_some());
    }
}
