//! What Planbook adds to a timed execution: one query that finds one row, timed by `Session::time` and by
//! `pgbench -M simple -n -c 1` in interleaved blocks on one socket of one server. Prints the microseconds
//! added at the median, and fails above ten. The method stands in docs/method.md.

#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use planbook::server::{self, Needs, Server, Spec};
use planbook::session::{Host, Session};
use planbook::stats;

const TABLE: &str = "CREATE TABLE one AS SELECT g AS id, g * 2 AS value FROM generate_series(1, 10000) AS g";
const QUERY: &str = "SELECT value FROM one WHERE id = 4321";

/// Blocks of each, in turn.
const BLOCKS: usize = 60;

/// Executions in a block, and how many at its start do not count.
const EXECUTIONS: usize = 1_000;
const UNTIMED: usize = 100;

/// Microseconds that may be added at the median.
const MOST: f64 = 10.0;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let server = server::start(&Spec::Auto, &Needs::default(), &mut |line| println!("{line}"))?;
    let mut session = Session::connect(server.endpoint(), "postgres")?;
    session.execute(TABLE)?;
    session.execute("ALTER TABLE one ADD PRIMARY KEY (id)")?;
    session.execute("VACUUM (ANALYZE) one")?;
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("query.sql"), format!("{QUERY};\n"))?;

    let (mut ours, mut theirs, mut differences) = (Vec::new(), Vec::new(), Vec::new());
    for block in 0..BLOCKS {
        // Who goes first changes, so that neither always has the warmer machine.
        let (planbook, pgbench) = if block % 2 == 0 {
            let planbook = by_planbook(&server)?;
            (planbook, by_pgbench(&server, directory.path())?)
        } else {
            let pgbench = by_pgbench(&server, directory.path())?;
            (by_planbook(&server)?, pgbench)
        };
        differences.push(median(&planbook) - median(&pgbench));
        ours.extend(planbook);
        theirs.extend(pgbench);
    }
    differences.sort_by(f64::total_cmp);
    let added = median(&ours) - median(&theirs);
    println!("PostgreSQL {}, {QUERY}", server.identity().version);
    println!("{BLOCKS} blocks of {EXECUTIONS} executions each, the first {UNTIMED} of a block not counted");
    for (name, samples) in [("planbook", &ours), ("pgbench", &theirs)] {
        println!("{name:9} median {:6.2} µs, fastest tenth under {:6.2} µs", median(samples), tenth(samples));
    }
    let of_blocks = |q| stats::quantile(&differences, q);
    println!(
        "added at the median: {added:.2} µs (half of the blocks: {:.2} to {:.2})",
        of_blocks(0.25),
        of_blocks(0.75)
    );
    server.stop()?;
    let verdict = if added <= MOST { "pass" } else { "FAIL" };
    println!("{verdict}: at most {MOST} µs may be added");
    Ok(if added <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(samples: &[f64]) -> f64 {
    stats::median(&sorted(samples))
}

fn tenth(samples: &[f64]) -> f64 {
    stats::quantile(&sorted(samples), 0.1)
}

/// One block of latencies in microseconds. Each has a session of its own, as each run of pgbench has: on which
/// processor the two ends of a connection land decides more than either program does.
fn by_planbook(server: &Server) -> Result<Vec<f64>> {
    let mut session = Session::connect(server.endpoint(), "postgres")?;
    let mut block = Vec::with_capacity(EXECUTIONS);
    for _ in 0..EXECUTIONS {
        block.push(session.time(QUERY)? * 1e3);
    }
    Ok(block.split_off(UNTIMED))
}

/// The same by pgbench, from its log of transactions, which gives whole microseconds.
fn by_pgbench(server: &Server, directory: &Path) -> Result<Vec<f64>> {
    let endpoint = server.endpoint();
    let Host::Socket(socket) = &endpoint.host else { return Err("the server has no socket".into()) };
    let pgbench = server.program("pgbench").ok_or(
        "the server came without pgbench: install it, or name another \
                                                    PostgreSQL by PLANBOOK_PG_BIN",
    )?;
    let output = Command::new(pgbench)
        .current_dir(directory)
        .args(["-n", "-M", "simple", "-c", "1", "-l", "--log-prefix=block", "-f", "query.sql"])
        .args(["-t", &EXECUTIONS.to_string(), "-p", &endpoint.port.to_string(), "-U", &endpoint.user, "-h"])
        .arg(socket)
        .arg("postgres")
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut block = Vec::with_capacity(EXECUTIONS);
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("block")) {
            for line in fs::read_to_string(&path)?.lines() {
                block.push(line.split(' ').nth(2).ok_or("pgbench's log has another form")?.parse()?);
            }
            fs::remove_file(path)?;
        }
    }
    if block.len() != EXECUTIONS {
        return Err(format!("pgbench logged {} executions of {EXECUTIONS}", block.len()).into());
    }
    Ok(block.split_off(UNTIMED))
}
