//! Capturing plans: text and JSON of one execution, or of two where the server cannot tell of one twice.

use super::auto_explain::{AutoExplain, logged_plan};
use super::query::{Reply, one_statement};
use super::{ExplainOptions, Session, SessionError};
use crate::plan::Plan;
use crate::sql::modifies_data;

/// The most captures that [`Session::capture_settled`] is usually given.
pub const MAX_CAPTURES: usize = 5;

/// How text and JSON of a capture hang together.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureWay {
    /// Both tell of one execution.
    One,
    /// The JSON tells of a second execution, right after the text's; `why` says what stood in the way.
    Two {
        /// Why `auto_explain` could not be used.
        why: String,
    },
}

/// The record of one EXPLAIN ANALYZE.
#[derive(Debug, Clone)]
pub struct Capture {
    /// EXPLAIN's text, untouched.
    pub text: String,
    /// The JSON exactly as it arrived.
    pub json: String,
    /// The plan that the JSON holds, with what only the text tells.
    pub plan: Plan,
    /// Of how many executions text and JSON tell.
    pub executions: CaptureWay,
}

/// Captures of one statement, repeated until two agreed.
#[derive(Debug, Clone)]
pub struct Settled {
    /// Every capture, in order. The last one counts.
    pub captures: Vec<Capture>,
    /// Whether the last two agree in shape and blocks.
    pub agreed: bool,
    /// Whether the first execution changed data, by a function or a sequence, say. Unknown, and `false`, in a transaction
    /// that was open before.
    pub wrote: bool,
}

impl Settled {
    /// The capture that counts.
    #[must_use]
    pub fn last(&self) -> Option<&Capture> {
        self.captures.last()
    }
}

impl Session {
    /// The plan that the planner chooses, without running the statement.
    ///
    /// # Errors
    /// As [`Session::execute`]; [`SessionError::Plan`] where the server's answer cannot be read.
    pub fn explain(&mut self, sql: &str) -> Result<Plan, SessionError> {
        let reply = self.ask_behind("EXPLAIN (FORMAT JSON) ", &one_statement(sql)?)?;
        Ok(Plan::from_json(&joined(reply))?)
    }

    /// Runs a statement under EXPLAIN ANALYZE and keeps what the server tells of it.
    ///
    /// # Errors
    /// As [`Session::execute`]; [`SessionError::Capture`] where the answers do not belong together;
    /// [`SessionError::TooOld`] for an option that the server lacks.
    pub fn capture(&mut self, sql: &str, options: &ExplainOptions) -> Result<Capture, SessionError> {
        let statement = one_statement(sql)?;
        let prefix = options.prefix(self.version, false)?;
        match self.load_auto_explain()? {
            AutoExplain::Absent(why) => self.capture_twice(&prefix, &statement, *options, why),
            AutoExplain::Loaded | AutoExplain::Unknown => self.capture_once(&prefix, &statement, *options),
        }
    }

    /// Captures until two successive captures agree in shape and blocks, `most` times at most. The first
    /// execution in a session touches more blocks than the next, and reading clears dead index entries.
    ///
    /// # Errors
    /// As [`Session::capture`].
    pub fn capture_settled(
        &mut self,
        sql: &str,
        options: &ExplainOptions,
        most: usize,
    ) -> Result<Settled, SessionError> {
        let (first, wrote) = self.capture_watched(sql, options)?;
        let mut captures = vec![first];
        let mut agreed = false;
        while !agreed && captures.len() < most {
            let next = self.capture(sql, options)?;
            agreed = captures.last().is_some_and(|last| agree(&last.plan, &next.plan));
            captures.push(next);
        }
        Ok(Settled { captures, agreed, wrote })
    }

    /// A capture in a transaction of its own, which has an id of its own at the end only where something was written.
    fn capture_watched(
        &mut self,
        sql: &str,
        options: &ExplainOptions,
    ) -> Result<(Capture, bool), SessionError> {
        if self.in_transaction() {
            return Ok((self.capture(sql, options)?, false));
        }
        self.load_auto_explain()?;
        self.ask("BEGIN")?;
        let watched = self.capture(sql, options).and_then(|capture| {
            let id = self.first_row("SELECT txid_current_if_assigned()")?.into_iter().next().flatten();
            // To lock rows is to write into them, and changes nothing.
            let locks = capture.plan.root.nodes().any(|node| node.node_type() == "LockRows");
            Ok((capture, id.is_some() && !locks))
        });
        self.ask(if watched.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        watched
    }

    /// EXPLAIN's text comes as rows, the JSON of the same execution as a notice.
    fn capture_once(
        &mut self,
        prefix: &str,
        statement: &str,
        options: ExplainOptions,
    ) -> Result<Capture, SessionError> {
        let timing = if options.timing { "on" } else { "off" };
        let messages = self.log_plans(timing, options.verbose, options.wal)?;
        let reply = self.ask_behind(prefix, statement);
        self.stop_logging(&messages)?;
        let reply = reply?;
        let query = format!("{prefix}{statement}");
        // A function that the planner ran sent the plans of its own statements before.
        let mut plans = reply.notices.iter().filter_map(|notice| logged_plan(notice, &query));
        let (json, mut plan) = match (plans.next(), plans.count()) {
            (Some((json, plan)), 0) => (json.to_owned(), plan),
            (None, _) => return Err(SessionError::Capture("auto_explain sent no plan of it".to_owned())),
            (_, more) => {
                let count = more + 1;
                return Err(SessionError::Capture(format!("rules made {count} statements of it")));
            }
        };
        let text = joined(reply);
        plan.adopt_summary(&text)?;
        Ok(Capture { text, json, plan, executions: CaptureWay::One })
    }

    /// Without `auto_explain`: one execution for the text, a second for the JSON.
    fn capture_twice(
        &mut self,
        prefix: &str,
        statement: &str,
        options: ExplainOptions,
        why: String,
    ) -> Result<Capture, SessionError> {
        if modifies_data(statement) {
            let words = format!("it changes data and would have to run twice, since {why}");
            return Err(SessionError::Capture(words));
        }
        let text = joined(self.ask_behind(prefix, statement)?);
        let json = joined(self.ask_behind(&options.prefix(self.version, true)?, statement)?);
        let plan = Plan::from_json(&json)?;
        if Plan::from_text(&text)?.shape() != plan.shape() {
            let words = "its text and its JSON, of two executions, show different plans: run it again";
            return Err(SessionError::Capture(words.to_owned()));
        }
        Ok(Capture { text, json, plan, executions: CaptureWay::Two { why } })
    }

    /// Sends a statement behind a prefix; positions in errors count from the statement's own start.
    fn ask_behind(&mut self, prefix: &str, statement: &str) -> Result<Reply, SessionError> {
        self.ask(&format!("{prefix}{statement}")).map_err(|error| match error {
            SessionError::Sql(error) => SessionError::Sql(Box::new(error.behind(prefix, statement))),
            other => other,
        })
    }
}

/// Whether two captures show the same plan and the same work.
fn agree(one: &Plan, other: &Plan) -> bool {
    one.shape() == other.shape() && one.root.blocks() == other.root.blocks()
}

/// The first column of each row, a line each.
fn joined(reply: Reply) -> String {
    let lines = reply.rows.into_iter().map(|row| row.into_iter().next().flatten().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}
