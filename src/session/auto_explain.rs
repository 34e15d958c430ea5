//! The `auto_explain` library: loaded when a capture first needs it, proved by a notice that arrives, and
//! kept away from timed executions.

use super::query::Notice;
use super::{Session, SessionError};
use crate::plan::Plan;

/// What is known of the library in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AutoExplain {
    /// Nobody asked yet.
    Unknown,
    /// A probe's notice arrived.
    Loaded,
    /// It does not work here, and why.
    Absent(String),
}

const OFF: &str = "SELECT set_config('auto_explain.log_min_duration', '-1', false)";

impl Session {
    /// Whether text and JSON of one execution can be had here: the library is loaded and was seen to work.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub fn has_auto_explain(&mut self) -> Result<bool, SessionError> {
        Ok(self.load_auto_explain()? == AutoExplain::Loaded)
    }

    /// Loads the library, unless that was tried before. That a server has none is no error, nor the end of a
    /// transaction that is open.
    pub(super) fn load_auto_explain(&mut self) -> Result<AutoExplain, SessionError> {
        if self.auto_explain == AutoExplain::Unknown {
            self.auto_explain = match self.status {
                b'T' => self.try_in_savepoint()?,
                _ => self.try_auto_explain()?,
            };
        }
        Ok(self.auto_explain.clone())
    }

    /// The library is missing where LOAD or a setting of its own fails, unless all fails in a transaction that had
    /// failed before.
    fn try_auto_explain(&mut self) -> Result<AutoExplain, SessionError> {
        let failed_before = self.status == b'E';
        match self.ask("LOAD 'auto_explain'").and_then(|_| self.prove_auto_explain()) {
            Err(SessionError::Sql(error)) if !failed_before => Ok(AutoExplain::Absent(error.to_string())),
            other => other,
        }
    }

    /// What fails in a transaction ends it, save behind a savepoint.
    fn try_in_savepoint(&mut self) -> Result<AutoExplain, SessionError> {
        self.ask("SAVEPOINT planbook_load")?;
        let found = self.try_auto_explain()?;
        if self.status == b'E' {
            self.ask("ROLLBACK TO SAVEPOINT planbook_load")?;
        }
        self.ask("RELEASE SAVEPOINT planbook_load")?;
        Ok(found)
    }

    /// A probe query whose plan must arrive: an unprivileged role may set anything where the library is not
    /// loaded, to no effect.
    fn prove_auto_explain(&mut self) -> Result<AutoExplain, SessionError> {
        const PROBE: &str = "SELECT 1 AS planbook_probe";
        let messages = self.log_plans("off", false, false)?;
        let notices = self.ask(PROBE)?.notices;
        self.stop_logging(&messages)?;
        let arrived = notices.iter().filter(|notice| logged_plan(notice, PROBE).is_some()).count();
        Ok(match arrived {
            1 => AutoExplain::Loaded,
            _ => AutoExplain::Absent("no plan of a probe query arrived".to_owned()),
        })
    }

    /// Has the plan of every statement sent as a notice, from now on. Gives the `client_min_messages` to go
    /// back to.
    pub(super) fn log_plans(
        &mut self,
        timing: &str,
        verbose: bool,
        wal: bool,
    ) -> Result<String, SessionError> {
        let on = |wanted| if wanted { "on" } else { "off" };
        // Set at every capture: what was set in a transaction ends with its rollback.
        let settings = [
            ("auto_explain.log_analyze", "on"),
            ("auto_explain.log_buffers", "on"),
            ("auto_explain.log_wal", on(wal)),
            ("auto_explain.log_settings", "on"),
            ("auto_explain.log_triggers", "on"),
            ("auto_explain.log_timing", timing),
            ("auto_explain.log_verbose", on(verbose)),
            ("auto_explain.log_format", "json"),
            ("auto_explain.log_level", "notice"),
            ("auto_explain.log_nested_statements", "off"),
            ("auto_explain.sample_rate", "1"),
            ("client_min_messages", "notice"),
            ("auto_explain.log_min_duration", "0"),
        ];
        let mut calls = vec!["current_setting('client_min_messages')".to_owned()];
        calls.extend(settings.iter().map(|(name, value)| format!("set_config('{name}', '{value}', false)")));
        let row = self.first_row(&format!("SELECT {}", calls.join(", ")))?;
        Ok(row.into_iter().next().flatten().unwrap_or_else(|| "notice".to_owned()))
    }

    /// Ends [`Session::log_plans`]. In a failed transaction nothing can be set; its rollback does it.
    pub(super) fn stop_logging(&mut self, client_min_messages: &str) -> Result<(), SessionError> {
        if self.status == b'E' {
            return Ok(());
        }
        self.ask(&format!("{OFF}, set_config('client_min_messages', '{client_min_messages}', false)"))?;
        Ok(())
    }

    /// Makes sure that no timed execution is instrumented: any `log_min_duration` but -1 instruments every
    /// node and doubles the time, even where nothing is logged.
    pub(super) fn keep_quiet(&mut self) -> Result<(), SessionError> {
        if self.quiet {
            return Ok(());
        }
        const ASK: &str = "SELECT current_setting('auto_explain.log_min_duration', true)";
        let value = self.first_row(ASK)?.into_iter().next().flatten().unwrap_or_default();
        if !matches!(value.as_str(), "" | "-1") {
            match self.ask(OFF) {
                Ok(_) => {}
                Err(SessionError::Sql(_)) => return Err(SessionError::Instrumented(value)),
                Err(error) => return Err(error),
            }
        }
        self.quiet = true;
        Ok(())
    }
}

/// The JSON of a notice by which `auto_explain` logged the plan of that query string, exactly as it arrived.
pub(super) fn logged_plan<'a>(notice: &'a Notice, query: &str) -> Option<(&'a str, Plan)> {
    let message = notice.message.strip_prefix("duration: ")?;
    let (_, json) = message.split_once("plan:\n")?;
    let plan = Plan::from_json(json).ok()?;
    (plan.query_text() == Some(query)).then_some((json, plan))
}
