//! `planbook doctor`: tries what a run needs, and says what is missing.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{DoctorArgs, Format};
use crate::server::{self, Needs, ServerError, Spec};
use crate::session::Session;

use super::{CommandError, find, signals, talk};

/// One thing that was tried.
struct Finding {
    what: &'static str,
    good: bool,
    seen: String,
    next: Option<String>,
}

impl Finding {
    fn good(what: &'static str, seen: String) -> Self {
        Self { what, good: true, seen, next: None }
    }

    fn bad(what: &'static str, seen: String, next: String) -> Self {
        Self { what, good: false, seen, next: Some(next) }
    }
}

/// Tries everything; exit code 3 where a run could not work.
pub(super) fn run(args: &DoctorArgs) -> Result<u8, CommandError> {
    let interrupt = signals::listen()?;
    let mut findings = vec![experiments(&args.places.experiments), results(&args.places.results)];
    let needs = Needs { stop: interrupt.shared(), ..Needs::default() };
    findings.extend(servers(&needs));
    match args.format {
        Format::Human => findings.iter().for_each(show),
        Format::Json => talk::print(format_args!("{:#}\n", findings.iter().map(as_json).collect::<Value>())),
    }
    Ok(if findings.iter().all(|finding| finding.good) { 0 } else { 3 })
}

fn show(finding: &Finding) {
    let mark = if finding.good { "✓" } else { "✗" };
    talk::print(format_args!("{mark} {:<12}  {}\n", finding.what, finding.seen));
    if let Some(next) = &finding.next {
        talk::print(format_args!("{:15} hint: {next}\n", ""));
    }
}

fn as_json(finding: &Finding) -> Value {
    json!({"what": finding.what, "good": finding.good, "seen": finding.seen, "next": finding.next})
}

fn experiments(folder: &Path) -> Finding {
    match find::notebooks(folder) {
        Ok(found) => Finding::good("notebooks", format!("{} in {}", found.len(), folder.display())),
        Err(error) => Finding::bad("notebooks", error.report.to_string(), next(&error)),
    }
}

fn results(folder: &Path) -> Finding {
    let was_there = folder.exists();
    let checked = super::run::check_results(folder);
    if !was_there {
        // Only an empty one goes.
        let _ = std::fs::remove_dir(folder);
    }
    match checked {
        Ok(()) => Finding::good("results", format!("{} can be written", folder.display())),
        Err(error) => Finding::bad("results", error.report.to_string(), next(&error)),
    }
}

fn next(error: &CommandError) -> String {
    error.report.help().map(|help| help.to_string()).unwrap_or_default()
}

/// The ways to a server. One is enough: where another is open, a closed one is no fault.
fn servers(needs: &Needs) -> Vec<Finding> {
    let docker = server::engine().map(|engine| format!("{} {} answers", engine.name, engine.version));
    let mut ways = vec![way("docker", docker), way("embedded", server::embedded_outlook())];
    let mut local = local(needs).into_iter();
    ways.extend(local.next());
    if ways.iter().any(|way| way.good) {
        for closed in ways.iter_mut().filter(|way| !way.good) {
            *closed = Finding::good(closed.what, format!("not open here: {}", closed.seen));
        }
    }
    ways.extend(local);
    ways
}

fn way(what: &'static str, seen: Result<String, ServerError>) -> Finding {
    match seen {
        Ok(seen) => Finding::good(what, seen),
        Err(error) => Finding::bad(what, error.to_string(), error.next()),
    }
}

/// A server is started and asked, which proves more than looking for files.
fn local(needs: &Needs) -> Vec<Finding> {
    let server = match server::start(&Spec::Local { bindir: None }, needs, &mut |_| {}) {
        Ok(server) => server,
        Err(error) => return vec![Finding::bad("local server", error.to_string(), error.next())],
    };
    let version = format!("PostgreSQL {} starts and answers", server.identity().version);
    let capture = match Session::connect(server.endpoint(), "postgres")
        .and_then(|mut session| session.has_auto_explain())
    {
        Ok(true) => {
            Finding::good("auto_explain", "text and JSON of a plan come from one execution".to_owned())
        }
        Ok(false) => Finding::good(
            "auto_explain",
            "absent: text and JSON come from two executions, and the report says so".to_owned(),
        ),
        Err(error) => Finding::bad("auto_explain", error.to_string(), "see the server's log".to_owned()),
    };
    let stopped = match server.stop() {
        Ok(()) => Finding::good("local server", version),
        Err(error) => Finding::bad("local server", error.to_string(), error.next()),
    };
    vec![stopped, capture]
}
