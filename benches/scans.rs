//! The three scan notebooks against the same statements driven the plain way.
//!
//! The plain way is one psql script: load the table, make what the arms need, run every query once untimed, EXPLAIN it,
//! then time it as often as the harness that these experiments come from did (100 executions of the lookups and range
//! queries, 20 of every arm at every point of a sweep), one after the other. It does not search for a crossing. Planbook
//! runs the notebooks as they ship, with the dataset in its cache. Both on servers with the same flags, in one run. Fails
//! above half of the script's time, and where the two come to different conclusions. The method stands in docs/method.md.

#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use planbook::analysis::chosen_node;
use planbook::metric::{self, Metric};
use planbook::plan::Plan;
use planbook::server::{self, Needs, Spec};
use planbook::stats;
use serde_json::Value;

use support::{Result, home, psql};

/// Planbook may take this share of the script's time.
const MOST: f64 = 0.5;

/// Executions of the lookups and of the range queries.
const REPS: usize = 100;

/// Executions of every arm at every point of a sweep.
const SWEEP_REPS: usize = 20;

/// The sweeps of the last notebook: what they set, and their points, rows whose `bucket` is below.
const SWEEPS: [(&str, &str, &[u32]); 2] = [
    ("crossover", "RESET random_page_cost;\n", &[1, 2, 5, 10, 50, 100, 200, 500, 900]),
    ("cheaper", "SET random_page_cost = 1.1;\n", &[1, 100, 500, 700]),
];

/// The arms of a sweep, and what forces their plans.
const ARMS: [(&str, &str); 3] = [
    ("planner", ""),
    ("index", "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;\n"),
    ("seq", "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;\n"),
];

/// The arms of the covering index that stand on clones of their own, and how each is made.
const STATES: [(&str, &str); 3] = [
    ("plain", PLAIN),
    ("unvacuumed", COVERING),
    ("vacuumed", "CREATE INDEX events_user_id_id ON events (user_id) INCLUDE (id);\nVACUUM events;\n"),
];
const PLAIN: &str = "CREATE INDEX events_user_id ON events (user_id);\n";
const COVERING: &str = "CREATE INDEX events_user_id_id ON events (user_id) INCLUDE (id);\n";

/// The script's database.
const DATABASE: &str = "scans";

/// What the notebooks set for each of their sessions.
const SESSION: &str = "SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '64MB';\n";

const NOTEBOOKS: [&str; 3] = ["seq-vs-index", "covering-vacuum", "selectivity-crossover"];

fn main() -> Result<ExitCode> {
    let rows = std::env::var("PLANBOOK_BENCH_ROWS").unwrap_or_else(|_| "5000000".to_owned());
    let home = home()?;
    notebooks(home.path(), &rows, &["--only", "seq"], &NOTEBOOKS[..1])?; // fills the cache
    let started = Instant::now();
    notebooks(home.path(), &rows, &[], &NOTEBOOKS)?;
    let ours = started.elapsed().as_secs_f64();
    println!("planbook: {ours:.1} s");
    let (theirs, said) = script(&rows)?;
    println!("script:   {theirs:.1} s");
    let different = differences(&conclusions(home.path())?, &said);
    for line in &different {
        println!("differs:  {line}");
    }
    let share = ours / theirs;
    println!("planbook took {share:.3} of the script's time, {rows} rows (at most {MOST})");
    let held = share <= MOST && different.is_empty();
    println!("{}", if held { "pass" } else { "FAIL" });
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs notebooks as their user would.
fn notebooks(home: &Path, rows: &str, more: &[&str], names: &[&str]) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_planbook"))
        .arg("run")
        .args(names)
        .args(["--server", "local", "--set", &format!("rows={rows}")])
        .args(more)
        .arg("--experiments")
        .arg(root.join("experiments"))
        .arg("--results")
        .arg(home.join("results"))
        .env("PLANBOOK_DATA_DIR", home.join("data"))
        .env("PLANBOOK_STATE_DIR", home.join("state"))
        .stdin(Stdio::null())
        .output()?;
    // 1 is a claim that did not hold: with fewer rows than the notebooks were written for, some do not.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(())
}

/// What the notebooks' recordings say, by the names that [`conclude`] uses.
fn conclusions(home: &Path) -> Result<BTreeMap<String, String>> {
    let mut said = BTreeMap::new();
    for notebook in NOTEBOOKS {
        let mut folders =
            fs::read_dir(home.join("results").join(notebook))?.collect::<std::io::Result<Vec<_>>>()?;
        folders.retain(|folder| !folder.file_name().to_string_lossy().contains("only"));
        let folder = folders.first().ok_or("a notebook left no recording")?.path();
        let values: BTreeMap<String, Value> = serde_json::from_slice(&fs::read(folder.join("values.json"))?)?;
        let text = |name: &str| {
            values.get(name).map(|value| value.as_str().map_or(value.to_string(), str::to_owned))
        };
        let states = STATES.map(|(arm, _)| format!("states.{arm}"));
        for id in ["seq", "index", "plain", "before", "after"].into_iter().chain(states.iter().map(|s| &**s))
        {
            for what in ["plan", "blocks", "heap_fetches"] {
                if let Some(value) = text(&format!("{id}.{what}")) {
                    said.insert(format!("{id} {what}"), value);
                }
            }
        }
        for (sweep, _, points) in SWEEPS {
            for n in points {
                let at = |arm: &str, what: &str| format!("{sweep}.{arm}.at(n={n}).{what}");
                let median = |arm: &str| values.get(&at(arm, "median")).and_then(Value::as_f64);
                for (arm, _) in ARMS {
                    if let Some(value) = text(&at(arm, "plan")) {
                        said.insert(format!("{sweep} {arm} at {n} plan"), value);
                    }
                }
                if let (Some(index), Some(seq)) = (median("index"), median("seq")) {
                    said.insert(format!("{sweep}, faster at {n}"), faster(index, seq));
                }
            }
        }
    }
    Ok(said)
}

/// Which forced plan is faster, where they are far enough apart to say so of two runs on a busy machine.
fn faster(index: f64, seq: f64) -> String {
    /// Medians of two runs differed by up to this factor.
    const NEAR: f64 = 1.5;
    match index / seq {
        ratio if ratio > NEAR => "seq".to_owned(),
        ratio if ratio * NEAR < 1.0 => "index".to_owned(),
        _ => "either".to_owned(),
    }
}

/// What one of the two said and the other did not. Near the crossing, either answer agrees with "either".
fn differences(ours: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>) -> Vec<String> {
    let near = |value: &str| value == "either";
    let mut lines = Vec::new();
    for (name, theirs) in theirs {
        match ours.get(name) {
            Some(ours) if ours == theirs || near(ours) || near(theirs) => {}
            ours => lines.push(format!(
                "{name}: {} by the notebook, {theirs} by the script",
                ours.map_or("nothing", |s| s)
            )),
        }
    }
    lines
}

/// The script's wall time in seconds, and what it says.
fn script(rows: &str) -> Result<(f64, BTreeMap<String, String>)> {
    let server =
        server::start(&Spec::Local { bindir: None }, &Needs::default(), &mut |line| println!("{line}"))?;
    println!("PostgreSQL {}", server.identity().version);
    let text = statements(rows);
    let started = Instant::now();
    server.create_database(DATABASE, None)?;
    let output = psql(&server, DATABASE, &text)?;
    let seconds = started.elapsed().as_secs_f64();
    server.stop()?;
    Ok((seconds, read(&String::from_utf8(output.stdout)?)?))
}

/// The whole script.
fn statements(rows: &str) -> String {
    let lookup = "SELECT * FROM events WHERE user_id = :user";
    let range = "SELECT id FROM events WHERE user_id BETWEEN :lo AND :hi";
    let mut text = format!(
        "\\pset format unaligned\n\\pset tuples_only on\n{SESSION}\
         CREATE TABLE events (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL, status smallint NOT NULL, \
         amount integer NOT NULL, bucket integer NOT NULL, created_at timestamptz NOT NULL) \
         WITH (autovacuum_enabled = off);\n\
         INSERT INTO events SELECT g, g * 2654435761 % ({rows} / 5) + 1, g % 5, g * 7 % 100000, g % 1000, \
         timestamptz '2026-01-01 00:00:00+00' + g * interval '1 second' FROM generate_series(1::bigint, {rows}) AS g;\n\
         ANALYZE events;\n\
         SELECT user_id AS user FROM events WHERE id = {rows} / 2 \\gset\n\
         SELECT max(user_id) / 2 AS lo, max(user_id) / 2 + 1000 AS hi FROM events \\gset\n"
    );
    for (arm, made) in STATES {
        text +=
            &format!("\\c postgres\nCREATE DATABASE {arm} TEMPLATE {DATABASE};\n\\c {arm}\n{SESSION}{made}");
        text += "SET enable_bitmapscan = off;\n";
        text += &timed(&format!("states.{arm}"), range, REPS);
    }
    text += &format!("\\c {DATABASE}\n{SESSION}");
    text += &timed("seq", lookup, REPS);
    text += PLAIN;
    text += &timed("index", lookup, REPS);
    text += "SET enable_bitmapscan = off;\n";
    text += &timed("plain", range, REPS);
    text += "DROP INDEX events_user_id;\n";
    text += COVERING;
    text += &timed("before", range, REPS);
    text += "VACUUM events;\n";
    text += &timed("after", range, REPS);
    text += "CREATE INDEX events_bucket ON events (bucket);\n";
    for (sweep, set, points) in SWEEPS {
        for n in points {
            let sum = format!("SELECT sum(amount) FROM events WHERE bucket < {n}");
            for (arm, forced) in ARMS {
                text += &format!("RESET ALL;\n{SESSION}{set}{forced}");
                text += &timed(&format!("{sweep} {arm} at {n}"), &sum, SWEEP_REPS);
            }
        }
    }
    text
}

/// A query once untimed, once under EXPLAIN, and then timed.
fn timed(label: &str, sql: &str, reps: usize) -> String {
    let repeated = format!("{sql};\n").repeat(reps);
    format!(
        "\\o /dev/null\n{sql};\n\\o\n\\echo plan {label}\nEXPLAIN (ANALYZE, BUFFERS) {sql};\n\
         \\echo time {label}\n\\o /dev/null\n\\timing on\n{repeated}\\timing off\n\\o\n"
    )
}

/// The plans and times that psql printed, as conclusions.
fn read(output: &str) -> Result<BTreeMap<String, String>> {
    let (mut plans, mut times) = (BTreeMap::<_, String>::new(), BTreeMap::<_, Vec<f64>>::new());
    let mut plan = None;
    let mut timed = "";
    for line in output.lines() {
        if let Some(label) = line.strip_prefix("plan ") {
            plan = Some(label);
        } else if let Some(label) = line.strip_prefix("time ") {
            (plan, timed) = (None, label);
        } else if let Some(label) = plan {
            plans.entry(label).or_default().push_str(&format!("{line}\n"));
        } else if let Some(time) = line.strip_prefix("Time: ") {
            let ms = time.split(' ').next().unwrap_or_default().parse()?;
            times.entry(timed).or_default().push(ms);
        }
    }
    let mut said = BTreeMap::new();
    for (label, text) in plans {
        let plan = Plan::from_text(&text)?;
        let metrics = metric::of_plan(&plan);
        said.insert(format!("{label} plan"), chosen_node(&plan).title());
        if !label.contains(" at ") {
            for metric in [Metric::Blocks, Metric::HeapFetches] {
                said.extend(
                    metrics.get(&metric).map(|value| (format!("{label} {metric}"), value.to_string())),
                );
            }
        }
    }
    for (sweep, _, points) in SWEEPS {
        for n in points {
            let median = |arm: &str| {
                times.get(format!("{sweep} {arm} at {n}").as_str()).map(|times| stats::median(times))
            };
            if let (Some(index), Some(seq)) = (median("index"), median("seq")) {
                said.insert(format!("{sweep}, faster at {n}"), faster(index, seq));
            }
        }
    }
    Ok(said)
}
