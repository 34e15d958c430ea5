//! `vacuum` steps: VACUUM, then look at what it left in the visibility map.

use crate::notebook::{Step, Vacuum};
use crate::recording::{Event, VacuumEvent};
use crate::sql;

use super::Runner;
use super::error::StepError;

impl Runner<'_> {
    pub(super) fn vacuum(&mut self, step: &Step, vacuum: &Vacuum) -> Result<(), StepError> {
        for table in &vacuum.tables {
            self.job.interrupt.check()?;
            self.vacuum_table(step, vacuum, table)?;
        }
        Ok(())
    }

    fn vacuum_table(&mut self, step: &Step, vacuum: &Vacuum, table: &str) -> Result<(), StepError> {
        let options: Vec<String> =
            vacuum.options.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
        let statement = format!("VACUUM{options} {table}");
        self.emit(Event::Sending { step: step.number, sql: statement.clone() })?;
        let execution = self.session.execute(&statement).map_err(|error| self.failure(step, None, error))?;
        let (pages, all_visible) = self.pages(step, table)?;
        let cause = if pages == all_visible { None } else { self.cause(step)? };
        self.emit(Event::Vacuum(VacuumEvent {
            step: step.number,
            table: table.to_owned(),
            sql: statement,
            pages,
            all_visible,
            cause,
            duration_ms: execution.duration_ms,
        }))?;
        Ok(())
    }

    /// Pages of the table and those of them whose rows everyone can see, as VACUUM has just noted them.
    fn pages(&mut self, step: &Step, table: &str) -> Result<(i64, i64), StepError> {
        let name = sql::quote_literal(table);
        let query = format!("SELECT relpages, relallvisible FROM pg_class WHERE oid = {name}::regclass");
        let rows = self.session.query_rows(&query).map_err(|error| self.failure(step, None, error))?;
        let number = |column: usize| {
            rows.first().and_then(|row| row.get(column)?.as_deref()?.parse().ok()).ok_or_else(|| {
                StepError::failed(self.failure_at(step, format!("pg_class says nothing of {table}")))
            })
        };
        Ok((number(0)?, number(1)?))
    }

    /// The known reason for pages that stay out of the visibility map: somebody's snapshot is older than their rows.
    fn cause(&mut self, step: &Step) -> Result<Option<String>, StepError> {
        const HOLDERS: &str = "SELECT 'an old snapshot is held by ' || string_agg(who, ', ') FROM (\
            SELECT format('process %s (%s, %s)', pid, coalesce(datname, backend_type), state) AS who \
            FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() \
            UNION ALL SELECT format('prepared transaction %s', gid) FROM pg_prepared_xacts \
            UNION ALL SELECT format('replication slot %s', slot_name) FROM pg_replication_slots \
            WHERE coalesce(xmin, catalog_xmin) IS NOT NULL ORDER BY 1) holders";
        let rows = self.session.query_rows(HOLDERS).map_err(|error| self.failure(step, None, error))?;
        Ok(rows.into_iter().flatten().next().flatten())
    }
}
