//! What a run says on a terminal: a line per arm, what failed, and where the report is.

use std::fmt::Write as _;
use std::path::Path;

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::number;
use crate::recording::ArmKey;
use crate::verdict::{Outcome, Verdict};

use super::gathered::gathered;
use super::{Subject, acts, judged, sweep, view};

/// Colours, or none where the output is no terminal or NO_COLOR is set.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    /// Whether to colour.
    pub colour: bool,
}

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Bold.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Faint.
    #[must_use]
    pub fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// The mark of an outcome in its colour.
    #[must_use]
    pub fn mark(self, outcome: Outcome) -> String {
        let code = match outcome {
            Outcome::Pass => "32",
            Outcome::Fail => "31",
            Outcome::Inconclusive => "33",
            Outcome::NotRun => "35",
        };
        self.wrap(code, judged::mark(outcome))
    }
}

/// One line per arm of the measure, or per point of the sweep: name, chosen node, median with its interval, blocks, rows, verdict.
#[must_use]
pub fn measure_lines(subject: Subject<'_>, step: usize, paint: Paint) -> String {
    if subject.analysis.sweeps.iter().any(|sweep| sweep.step == step) {
        return sweep::lines(subject, step, paint);
    }
    let width =
        subject.analysis.arms.iter().map(|arm| arm.key.to_string().chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for arm in subject.analysis.arms.iter().filter(|arm| arm.step == step) {
        let _ = writeln!(out, "  {}", measure_line(subject, arm, width, paint));
    }
    out
}

fn measure_line(subject: Subject<'_>, arm: &ArmResult, width: usize, paint: Paint) -> String {
    let name = format!("{:width$}", arm.key.to_string());
    let mark = paint.mark(worst(subject, &arm.key));
    let deed = acts::deed(subject, arm);
    if !arm.measured {
        return format!("{}  {deed:<NODE_WIDTH$}  {mark}", paint.bold(&name));
    }
    let median = arm.metrics.get(&Metric::Median).copied();
    let time = match (median, arm.median_interval) {
        (Some(median), Some(interval)) => number::milliseconds_within(median, interval.lo, interval.hi),
        (Some(median), None) => number::milliseconds(median),
        (None, _) => String::new(),
    };
    let counter = |metric: Metric, unit: &str| {
        let value = arm.metrics.get(&metric);
        value.map(|value| format!("{} {unit}", number::count(*value))).unwrap_or_default()
    };
    format!(
        "{}  {:<NODE_WIDTH$}  {time:<26}  {:>14}  {:>16}  {mark}",
        paint.bold(&name),
        shorten(&deed, NODE_WIDTH),
        if arm.node.is_some() { counter(Metric::Blocks, "blocks") } else { bytes(arm) },
        counter(Metric::HeapFetches, "from heap"),
    )
}

/// What counts where there is no plan: the log that a statement wrote, or the size of a relation.
fn bytes(arm: &ArmResult) -> String {
    let told = |metric| arm.metrics.get(&metric).copied().map(number::bytes);
    match told(Metric::WalBytes) {
        Some(wal) => format!("{wal} WAL"),
        None => told(Metric::TotalBytes).unwrap_or_default(),
    }
}

/// Columns for the chosen node: wide enough for an index scan with names of usual length.
const NODE_WIDTH: usize = 46;

/// A long node title, cut in the middle of its words but never in its type.
fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width - 1).collect();
    format!("{cut}…")
}

fn worst(subject: Subject<'_>, key: &ArmKey) -> Outcome {
    let name = key.to_string();
    let of_arm = subject.judgement.verdicts.iter().filter(|verdict| verdict.subject == name);
    of_arm.map(|verdict| verdict.outcome).min().unwrap_or(Outcome::Pass)
}

/// What did not hold, how much did, how long it took and where the report is.
#[must_use]
pub fn summary(subject: Subject<'_>, folder: &Path, paint: Paint) -> String {
    let mut out = String::new();
    let mut troubles: Vec<&Verdict> =
        subject.judgement.verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Pass).collect();
    troubles.sort_by_key(|verdict| verdict.outcome);
    let (not_run, judged): (Vec<&Verdict>, Vec<&Verdict>) =
        troubles.into_iter().partition(|verdict| verdict.outcome == Outcome::NotRun);
    for verdict in judged {
        out.push_str(&trouble(subject, verdict, folder, paint));
        out.push('\n');
    }
    out.push_str(&left_out(subject, &not_run, paint));
    for (name, named) in &subject.judgement.named {
        let interval =
            named.shown_interval().map(|ends| format!("  [{}]", ends.join(" – "))).unwrap_or_default();
        let _ = writeln!(out, "  {name} = {}{interval}", named.shown());
    }
    let count = |outcome| subject.judgement.count(outcome);
    let seconds = subject.recording.manifest.seconds.map(|s| format!(" · {}", number::milliseconds(s * 1e3)));
    let _ = writeln!(
        out,
        "  {} held · {} failed · {} inconclusive · {} not run{}",
        count(Outcome::Pass),
        count(Outcome::Fail),
        count(Outcome::Inconclusive),
        count(Outcome::NotRun),
        seconds.unwrap_or_default()
    );
    let _ = writeln!(out, "  {} · report.html", folder.join("report.md").display());
    out
}

/// Verdicts that were not run, by reason: what one failed step takes with it is said in one line.
fn left_out(subject: Subject<'_>, verdicts: &[&Verdict], paint: Paint) -> String {
    let mut out = String::new();
    for (_, group) in gathered(verdicts.iter().map(|verdict| (&verdict.seen, *verdict))) {
        let (first, count) = (group[0], group.len());
        let mut subjects: Vec<&str> = group.iter().map(|verdict| verdict.subject.as_str()).collect();
        subjects.dedup();
        let whose = subjects.join(", ");
        let which =
            if count == 1 { format!("{whose}: ") } else { format!("{count} of {whose}, the first: ") };
        let _ = writeln!(
            out,
            "  {} not run: {}\n      {which}{}\n      {}:{}",
            paint.mark(Outcome::NotRun),
            first.seen,
            first.expected,
            file(subject, first),
            first.line
        );
        if let Some(next) = &first.next {
            let _ = writeln!(out, "      next: {next}");
        }
        out.push('\n');
    }
    out
}

/// The file whose line a verdict names.
fn file<'a>(subject: Subject<'a>, verdict: &Verdict) -> &'a str {
    let dataset = subject.notebook.dataset.as_ref().filter(|_| verdict.step == 0);
    dataset.map_or(&subject.notebook.source.name, |dataset| &dataset.source.name)
}

fn trouble(subject: Subject<'_>, verdict: &Verdict, folder: &Path, paint: Paint) -> String {
    let mut out = format!(
        "  {} {}: {} · {}\n",
        paint.mark(verdict.outcome),
        paint.bold(&verdict.subject),
        verdict.expected,
        if verdict.outcome == Outcome::Inconclusive {
            format!("inconclusive: {}", verdict.seen)
        } else {
            format!("saw {}", verdict.seen)
        }
    );
    let _ = writeln!(out, "      {}:{}", file(subject, verdict), verdict.line);
    if let Some(statement) = failed_statement(subject, verdict) {
        push_indented(&mut out, &statement);
    }
    if let Some(nearest) = &verdict.nearest {
        let _ = writeln!(out, "      nearest node: {nearest}");
    }
    if let Some(tree) = &verdict.tree {
        push_indented(&mut out, tree);
    }
    if let Some(evidence) = &verdict.evidence {
        let _ = writeln!(out, "      {}", folder.join(evidence).display());
    }
    if let Some(next) = &verdict.next {
        let _ = writeln!(out, "      next: {next}");
    }
    out
}

/// The statement of a failed step, with the caret where the server pointed.
fn failed_statement(subject: Subject<'_>, verdict: &Verdict) -> Option<String> {
    subject.recording.events.iter().find_map(|event| match event {
        crate::recording::Event::Failure(failure)
            if failure.step == verdict.step && verdict.outcome == Outcome::Fail =>
        {
            let detail =
                failure.detail.as_ref().map(|detail| format!("\ndetail: {detail}")).unwrap_or_default();
            view::pointed(failure).map(|statement| format!("{statement}{detail}"))
        }
        _ => None,
    })
}

fn push_indented(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "      {line}");
    }
}
