//! How far a long statement is: by the server's own progress views, by the bytes of a file, or by the growth of the
//! table that an INSERT fills.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::Value;

use crate::session::{Endpoint, Session};
use crate::sql;

/// How far a statement is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// In all, as far as anybody knows.
    pub of: Option<u64>,
    /// What is counted: rows, blocks or bytes.
    pub unit: &'static str,
    /// Seconds left at the pace so far.
    pub left_s: Option<f64>,
}

/// Watches one statement from a session of its own.
pub(super) struct Gauge<'a> {
    endpoint: &'a Endpoint,
    database: &'a str,
    backend: i32,
    sql: &'a str,
    sent: Option<(&'a AtomicU64, u64)>,
    started: Instant,
    /// None until the first look; then none where no session can be had.
    session: Option<Option<Session>>,
    load: Option<Load>,
    first: Option<(Instant, u64)>,
}

/// What the planner expects of an INSERT.
struct Load {
    table: String,
    rows: f64,
    bytes: f64,
}

impl<'a> Gauge<'a> {
    pub fn new(
        endpoint: &'a Endpoint,
        database: &'a str,
        backend: i32,
        sql: &'a str,
        sent: Option<(&'a AtomicU64, u64)>,
    ) -> Self {
        let started = Instant::now();
        Self { endpoint, database, backend, sql, sent, started, session: None, load: None, first: None }
    }

    /// How far it is now, where that can be told. A statement is never disturbed: what goes wrong here is not told.
    pub fn look(&mut self) -> Option<Progress> {
        if let Some((sent, of)) = self.sent {
            let done = sent.load(Ordering::Relaxed);
            return Some(self.progress(done, Some(of), "bytes"));
        }
        self.of_views().or_else(|| self.of_growth())
    }

    fn session(&mut self) -> Option<&mut Session> {
        let (endpoint, database) = (self.endpoint, self.database);
        self.session.get_or_insert_with(|| Session::connect(endpoint, database).ok()).as_mut()
    }

    fn progress(&mut self, done: u64, of: Option<u64>, unit: &'static str) -> Progress {
        let elapsed = self.started.elapsed().as_secs_f64();
        let left_s = of.filter(|_| done > 0).map(|of| elapsed / done as f64 * of.saturating_sub(done) as f64);
        Progress { done, of, unit, left_s }
    }

    /// CREATE INDEX and ANALYZE tell how far they are.
    fn of_views(&mut self) -> Option<Progress> {
        let backend = self.backend;
        let query = format!(
            "SELECT CASE WHEN tuples_total > 0 THEN tuples_done ELSE blocks_done END, \
             CASE WHEN tuples_total > 0 THEN tuples_total ELSE blocks_total END, tuples_total > 0 \
             FROM pg_stat_progress_create_index WHERE pid = {backend} \
             UNION ALL SELECT sample_blks_scanned, sample_blks_total, false \
             FROM pg_stat_progress_analyze WHERE pid = {backend}"
        );
        let rows = self.session()?.query_rows(&query).ok()?;
        let row: Vec<String> = rows.into_iter().next()?.into_iter().flatten().collect();
        let [done, of, tuples] = row.as_slice() else { return None };
        let (done, of) = (done.parse().ok()?, of.parse().ok().filter(|of| *of > 0));
        Some(self.progress(done, of, if tuples == "t" { "rows" } else { "blocks" }))
    }

    /// The rows of an INSERT are seen by nobody before its end, but its table grows. What the planner expects of
    /// `generate_series` is exact.
    fn of_growth(&mut self) -> Option<Progress> {
        if self.load.is_none() {
            self.load = Some(expect(self.sql, self.session()?)?);
        }
        let load = self.load.take()?;
        let size = size(self.session()?, &load.table);
        let progress = size.and_then(|size| self.grown(&load, size));
        self.load = Some(load);
        progress
    }

    /// What was there before the statement is reckoned back from the pace since the first look.
    fn grown(&mut self, load: &Load, size: u64) -> Option<Progress> {
        let now = Instant::now();
        let Some((then, before)) = self.first else {
            self.first = Some((now, size));
            return None;
        };
        let pace = size.saturating_sub(before) as f64 / (now - then).as_secs_f64();
        let written = pace * self.started.elapsed().as_secs_f64();
        let share = (written / load.bytes).min(0.99);
        if share.is_nan() || share <= 0.0 {
            return None;
        }
        let elapsed = self.started.elapsed().as_secs_f64();
        Some(Progress {
            done: (share * load.rows) as u64,
            of: Some(load.rows as u64),
            unit: "rows",
            left_s: Some(elapsed / share * (1.0 - share)),
        })
    }
}

/// A tuple's header and its line pointer, in bytes.
const OVERHEAD: f64 = 28.0;

/// The table that an INSERT fills, and how much is to come; none for anything else.
fn expect(sql: &str, session: &mut Session) -> Option<Load> {
    if sql::leading_keywords(sql).first().is_none_or(|word| word != "INSERT") {
        return None;
    }
    let rows = session.query_rows(&format!("EXPLAIN (FORMAT json, VERBOSE) {sql}")).ok()?;
    let text: String = rows.into_iter().flatten().flatten().collect();
    let json: Value = serde_json::from_str(&text).ok()?;
    let insert = &json[0]["Plan"];
    let source = &insert["Plans"][0];
    let name = |key: &str| insert[key].as_str().map(sql::quote_ident);
    let table = format!("{}.{}", name("Schema")?, name("Relation Name")?);
    let (rows, width) = (source["Plan Rows"].as_f64()?, source["Plan Width"].as_f64()?);
    // Rows begin at multiples of eight bytes.
    let bytes = rows * ((width / 8.0).ceil() * 8.0 + OVERHEAD);
    Some(Load { table, rows, bytes })
}

fn size(session: &mut Session, table: &str) -> Option<u64> {
    let query = format!("SELECT pg_relation_size({}::regclass)", sql::quote_literal(table));
    session.query_rows(&query).ok()?.into_iter().flatten().flatten().next()?.parse().ok()
}
