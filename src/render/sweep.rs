//! A sweep as the report's templates and the terminal show it: points by arms, and what was found over all points.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::{ArmResult, CrossingResult, Inside, PointResult, Regret, SweepResult, ZoneResult};
use crate::metric::Metric;
use crate::notebook::{Step, Sweep, XFormat};
use crate::number;
use crate::recording::{ArmKey, Event};
use crate::stats::Winner;
use crate::verdict::{Outcome, Verdict};

use super::acts::{self, StatementView};
use super::arms::{arm_name, was_not_run};
use super::cells::{HeadView, metric_cell};
use super::judged::{VerdictView, verdict_view};
use super::shapes::{ShapeView, shapes};
use super::{Paint, Subject};

/// A query over the values of parameters.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "sweep")]
pub(super) struct SweepView {
    /// Its name in expressions and files.
    pub id: String,
    /// What a reader calls it, where the notebook says.
    pub label: Option<String>,
    /// Whether the run ended before it.
    pub not_run: bool,
    /// The query as written, where all arms share it.
    pub query: Option<String>,
    /// The heads of the table's columns.
    pub header: Vec<HeadView>,
    /// One row per point.
    pub rows: Vec<Vec<String>>,
    /// Whether some points were added in search of the crossing.
    pub added: bool,
    /// What was found over all points, a sentence each: what it is about, and what was seen.
    pub findings: Vec<(String, String)>,
    /// Verdicts that did not hold, one by one.
    pub verdicts: Vec<VerdictView>,
    /// Verdicts that held: what, and at how many points.
    pub held: Vec<(String, String)>,
    /// What prepared the database of the first point.
    pub prepared: Vec<StatementView>,
    /// The captured plans: for each point its name, and for each arm its name and its file.
    pub plans: Vec<(String, Vec<(String, String)>)>,
    /// The plans of each arm, those of one shape together.
    pub shapes: Vec<ShapeView>,
}

/// The sweep of a step.
pub(super) fn view(subject: Subject<'_>, step: &Step, sweep: &Sweep) -> SweepView {
    let arms = &sweep.measure.arms;
    let query = arms.first().map(|arm| arm.query.text.trim().to_owned());
    let query = query.filter(|query| arms.iter().all(|arm| arm.query.text.trim() == query));
    let mut view = SweepView {
        id: sweep.measure.id.clone(),
        label: sweep.measure.label.clone(),
        not_run: was_not_run(subject, step.number),
        query,
        header: Vec::new(),
        rows: Vec::new(),
        added: false,
        findings: Vec::new(),
        verdicts: Vec::new(),
        held: Vec::new(),
        prepared: Vec::new(),
        plans: Vec::new(),
        shapes: Vec::new(),
    };
    let verdicts: Vec<&Verdict> =
        subject.judgement.verdicts.iter().filter(|verdict| verdict.step == step.number).collect();
    view.verdicts =
        verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Pass).map(|v| verdict_view(v)).collect();
    view.held = held(sweep, &verdicts);
    let Some(result) = subject.analysis.sweeps.iter().find(|result| result.step == step.number) else {
        return view;
    };
    let columns = columns(subject, sweep, result);
    view.header = columns.iter().map(|(head, _)| head.clone()).collect();
    for point in result.points.iter().filter(|point| !view.not_run && is_known(subject, point)) {
        view.added |= point.refined;
        view.rows.push(columns.iter().map(|(_, cell)| cell(point)).collect());
        view.plans.extend(plans(subject, sweep, point));
    }
    if !view.not_run {
        view.shapes = shapes(subject, sweep, result);
    }
    view.findings = findings(subject, sweep, result);
    if let Some(first) = sweep.points.first() {
        let key = ArmKey::new(&sweep.measure.id, None).at(&first.point);
        view.prepared = acts::statements(subject, step.number, Some(&key));
    }
    view
}

/// A point that was listed is shown whatever came of it.
fn is_known(subject: Subject<'_>, point: &PointResult) -> bool {
    !point.refined || measured(subject, point).next().is_some()
}

fn measured<'a>(subject: Subject<'a>, point: &'a PointResult) -> impl Iterator<Item = &'a ArmResult> {
    point.arms.iter().filter_map(move |key| subject.analysis.arm(key)).filter(|arm| arm.measured)
}

type Cell<'a> = Box<dyn Fn(&PointResult) -> String + 'a>;

/// The columns of the table: the point, the planner's choice, times by arms, blocks by arms, probes by arms, the regret.
fn columns<'a>(subject: Subject<'a>, sweep: &'a Sweep, result: &'a SweepResult) -> Vec<(HeadView, Cell<'a>)> {
    let mut columns: Vec<(HeadView, Cell<'a>)> = Vec::new();
    for (index, axis) in sweep.axes.iter().enumerate() {
        let name = &axis.name;
        columns.push((
            HeadView { number: axis.is_numeric(), ..HeadView::words(name) },
            Box::new(move |point| {
                let value = point.point.value(name);
                let printed = value.map(|value| value.number().map_or_else(|| value.to_string(), plain));
                let mark = if point.refined && index == 0 { " +" } else { "" };
                format!("{}{mark}", printed.unwrap_or_default())
            }),
        ));
    }
    if let Some(x) = &sweep.x {
        columns.push((HeadView::numbers(x.label.clone()), Box::new(|point| on_axis(point.x, x.format))));
    }
    let free = sweep.free_arm();
    for (index, arm) in sweep.measure.arms.iter().enumerate() {
        let node = move |point: &PointResult| {
            let result = point.arms.get(index).and_then(|key| subject.analysis.arm(key));
            result.and_then(|result| result.node.clone()).unwrap_or_default()
        };
        let mut nodes: Vec<String> = result.points.iter().map(node).filter(|node| !node.is_empty()).collect();
        nodes.dedup();
        let is_free = free.is_some_and(|free| free.id == arm.id);
        if is_free || nodes.len() > 1 {
            let title = if is_free {
                "planner's choice".to_owned()
            } else {
                format!("{}: node", arm_name(&sweep.measure, arm))
            };
            columns.push((HeadView::words(&title), Box::new(node)));
        }
    }
    for (metric, title) in [(Metric::Median, "median [95%]"), (Metric::Blocks, "blocks")] {
        for (index, arm) in sweep.measure.arms.iter().enumerate() {
            let cell = move |point: &PointResult| {
                let result = point.arms.get(index).and_then(|key| subject.analysis.arm(key));
                result.map(|result| metric_cell(result, metric)).unwrap_or_default()
            };
            columns.push((
                HeadView::numbers(format!("{}: {title}", arm_name(&sweep.measure, arm))),
                Box::new(cell),
            ));
        }
    }
    for (name, _) in &sweep.probes {
        for (index, arm) in sweep.measure.arms.iter().enumerate() {
            let cell = move |point: &PointResult| {
                let result = point.arms.get(index).and_then(|key| subject.analysis.arm(key));
                result
                    .and_then(|result| result.probes.get(name))
                    .map(|value| number::count(*value))
                    .unwrap_or_default()
            };
            columns.push((
                HeadView::numbers(format!("{}: {name}", arm_name(&sweep.measure, arm))),
                Box::new(cell),
            ));
        }
    }
    if result.points.iter().any(|point| point.regret.is_some()) {
        columns.push((
            HeadView { about: Some(REGRET.to_owned()), ..HeadView::numbers("regret".to_owned()) },
            Box::new(|point| point.regret.as_ref().map(short_regret).unwrap_or_default()),
        ));
    }
    columns
}

const REGRET: &str = "how many times as long the planner's choice took as the fastest of the arms with another plan; – where it was not \
     surely slower than they were";

fn short_regret(regret: &Regret) -> String {
    if regret.is_sure() { format!("{}×", number::significant(regret.ratio)) } else { "–".to_owned() }
}

/// A value of a parameter as it is named.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 { number::count(value) } else { value.to_string() }
}

/// A value on the axis.
pub(super) fn on_axis(value: Option<f64>, format: XFormat) -> String {
    let Some(value) = value else { return String::new() };
    match format {
        XFormat::Number => number::count(value),
        XFormat::Percent => number::percent(value),
        XFormat::Bytes => number::bytes(value),
        XFormat::Milliseconds => number::milliseconds(value),
    }
}

fn plans(
    subject: Subject<'_>,
    sweep: &Sweep,
    point: &PointResult,
) -> Option<(String, Vec<(String, String)>)> {
    let files: Vec<(String, String)> = sweep
        .measure
        .arms
        .iter()
        .zip(&point.arms)
        .filter_map(|(arm, key)| {
            let captured = subject.recording.captures.get(key)?;
            Some((arm_name(&sweep.measure, arm), captured.file.clone()))
        })
        .collect();
    (!files.is_empty()).then(|| (point.point.to_string(), files))
}

/// What held, each once, with the number of its points.
fn held(sweep: &Sweep, verdicts: &[&Verdict]) -> Vec<(String, String)> {
    let mut held: Vec<(String, String, usize)> = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Pass) {
        let of_arm = sweep.measure.arms.iter().filter_map(|arm| arm.id.as_deref());
        let rest =
            verdict.subject.strip_prefix(&format!("{}.", sweep.measure.id)).unwrap_or(&verdict.subject);
        let arm = of_arm.into_iter().find(|arm| rest.starts_with(&format!("{arm}.")));
        let subject = arm.unwrap_or("every arm").to_owned();
        match held.iter_mut().find(|(known, expected, _)| *known == subject && *expected == verdict.expected)
        {
            Some((_, _, count)) => *count += 1,
            None => held.push((subject, verdict.expected.clone(), 1)),
        }
    }
    let points = |count: usize| if count == 1 { "1 point".to_owned() } else { format!("{count} points") };
    held.into_iter()
        .map(|(subject, expected, count)| (expected, format!("{subject}, at {}", points(count))))
        .collect()
}

/// Sentences on what was found over all points, each with what it is about.
fn findings(subject: Subject<'_>, sweep: &Sweep, result: &SweepResult) -> Vec<(String, String)> {
    if !result.complete {
        let nothing = "the sweep did not come to its end, and nothing is said over all points";
        return vec![("cut off".to_owned(), nothing.to_owned())];
    }
    let about = About { sweep, result };
    let mut findings = Vec::new();
    for crossing in &result.crossings {
        let what = match crossing.metric {
            Metric::Blocks => "by blocks",
            Metric::Cost => "by the planner's estimate",
            _ => "by time",
        };
        findings.push((what.to_owned(), about.crossing(crossing)));
    }
    if !result.crossings.is_empty() {
        findings.push(("the planner's choice".to_owned(), about.flips()));
    }
    if let Some(regret) = &result.regret {
        findings.push(("regret".to_owned(), about.regret(regret)));
    }
    findings.extend(cut(subject, result).map(|cut| ("budget".to_owned(), cut)));
    findings
}

struct About<'a> {
    sweep: &'a Sweep,
    result: &'a SweepResult,
}

impl About<'_> {
    fn arm(&self, id: &str) -> String {
        self.sweep.arm(id).map_or_else(|| id.to_owned(), |arm| arm_name(&self.sweep.measure, arm))
    }

    /// `n = 100 (10.0%)`
    fn place(&self, at: f64, x: Option<f64>) -> String {
        let parameter = self.result.axes.first().map_or("", String::as_str);
        match x.filter(|_| self.sweep.x.is_some()) {
            Some(x) => format!("{parameter} = {} ({})", plain(at), on_axis(Some(x), self.result.format)),
            None => format!("{parameter} = {}", plain(at)),
        }
    }

    fn crossing(&self, crossing: &CrossingResult) -> String {
        let wins = match crossing.metric {
            Metric::Blocks => "touches fewer",
            Metric::Cost => "is the cheaper one",
            _ => "is surely the faster one",
        };
        let (Some(first), Some(last)) = (crossing.winners.first(), crossing.winners.last()) else {
            return "nothing is known of a crossing: the two arms were not measured".to_owned();
        };
        let undecided = crossing.winners.iter().filter(|(_, winner)| *winner == Winner::Neither).count();
        if let [zone] = crossing.zones.as_slice() {
            return self.zone(crossing, zone, wins);
        }
        if !crossing.zones.is_empty() {
            let zones = crossing.zones.iter().map(|zone| {
                format!("{} and {}", self.place(zone.lo, zone.x_lo), self.place(zone.hi, zone.x_hi))
            });
            let zones = zones.collect::<Vec<_>>().join("; between ");
            return format!("the two cross {} times: between {zones}", crossing.zones.len());
        }
        let x = |at: f64| {
            let point = self.result.points.iter().find(|point| point.point.position() == Some(at));
            point.and_then(|point| point.x)
        };
        let range = format!("from {} to {}", self.place(first.0, x(first.0)), self.place(last.0, x(last.0)));
        match &crossing.sole_winner {
            None => format!(
                "no crossing can be told from noise: {range} neither of {} and {} {wins} at any of {} points",
                self.arm(&crossing.of[0]),
                self.arm(&crossing.of[1]),
                crossing.winners.len()
            ),
            Some(winner) if undecided == 0 => {
                format!("no crossing: {range}, {} {wins} at every point", self.arm(winner))
            }
            Some(winner) => format!(
                "no crossing: {range}, {} {wins} at {} of {} points, and at the others neither does",
                self.arm(winner),
                crossing.winners.len() - undecided,
                crossing.winners.len()
            ),
        }
    }

    fn zone(&self, crossing: &CrossingResult, zone: &ZoneResult, wins: &str) -> String {
        let mut text = format!(
            "{} {wins} up to {}, {} from {} on",
            self.arm(&zone.before),
            self.place(zone.lo, zone.x_lo),
            self.arm(&zone.after),
            self.place(zone.hi, zone.x_hi)
        );
        text.push_str(match crossing.inside(zone) {
            Inside::Undecided if crossing.metric == Metric::Median => "; in between the noise hides which",
            Inside::Unknown => "; what lies between was not measured",
            Inside::Undecided | Inside::Nothing => "",
        });
        text
    }

    fn flips(&self) -> String {
        let bands = &self.result.bands;
        let (Some(first), Some(last)) = (bands.first(), bands.last()) else {
            return "not known: no arm leaves the planner its choice".to_owned();
        };
        let free = self.result.estimates.iter().filter(|estimate| estimate.free).count();
        let told = self.sweep.has_own_databases() || self.sweep.measure.arms.iter().any(|arm| arm.fresh);
        let source = match told {
            true => format!("at the {free} measured points, since the arms have databases of their own"),
            false => format!("by EXPLAIN at {} values", number::count(free as f64)),
        };
        let range = format!("{} to {}", self.place(first.lo, first.x_lo), self.place(last.hi, last.x_hi));
        if self.result.flips.is_empty() {
            return format!("{} from {range}, {source}", first.node);
        }
        let mut text = format!("{} up to {}", first.node, self.place(first.hi, first.x_hi));
        for band in &bands[1..] {
            let _ = write!(text, ", {} from {} on", band.node, self.place(band.lo, band.x_lo));
        }
        let _ = write!(text, ", {source}; costs within 1% of each other are equal to the planner");
        text
    }

    fn regret(&self, regret: &Regret) -> String {
        let at = match self.result.axes.len() {
            1 => {
                let point = self.result.points.iter().find(|point| point.point == regret.point);
                let x = point.and_then(|point| point.x);
                regret.point.position().map_or_else(|| regret.point.to_string(), |at| self.place(at, x))
            }
            _ => regret.point.to_string(),
        };
        if !regret.is_sure() {
            return "nowhere was the planner's choice surely slower than an arm with another plan".to_owned();
        }
        let within = |value: f64, interval: Option<crate::stats::Interval>| match interval {
            Some(interval) => format!(
                "{} times [{} – {}]",
                number::significant(value),
                number::significant(interval.lo),
                number::significant(interval.hi)
            ),
            None => format!("{} times", number::significant(value)),
        };
        let ms = match regret.ms_interval {
            Some(interval) => number::milliseconds_within(regret.ms, interval.lo, interval.hi),
            None => number::milliseconds(regret.ms),
        };
        format!(
            "at worst, at {at}, the planner's choice took {} as long as {}: {ms} more",
            within(regret.ratio, regret.ratio_interval),
            self.arm(&regret.best)
        )
    }
}

/// What the budget cut, by arms.
fn cut(subject: Subject<'_>, result: &SweepResult) -> Option<String> {
    let mut cuts = Vec::new();
    for arm in &result.arms {
        let mut points = Vec::new();
        for point in &result.points {
            let keys = point.arms.iter().filter(|key| key.arm == *arm);
            let short = keys
                .filter_map(|key| subject.analysis.arm(key))
                .find(|arm| arm.samples > 0 && arm.samples < arm.asked);
            points.extend(short.map(|arm| (arm.samples, arm.asked, point.point.to_string())));
        }
        let name = arm.as_ref().map(|arm| format!("{arm} at ")).unwrap_or_default();
        match points.iter().min() {
            None => {}
            Some((taken, asked, point)) if points.len() == 1 => {
                cuts.push(format!("{name}{point} ({taken} of {asked})"));
            }
            Some((taken, asked, point)) => cuts
                .push(format!("{name}{} points, to as few as {taken} of {asked} at {point}", points.len())),
        }
    }
    let said = subject.recording.events.iter().find_map(|event| match event {
        Event::Sweep(sweep) if sweep.step == result.step => Some(sweep),
        _ => None,
    })?;
    let bound = number::duration(said.at_most_ms);
    if cuts.is_empty() {
        return Some(format!("every arm was timed as often as asked; {bound} were foreseen at most"));
    }
    Some(format!("the time allowed for fewer repetitions than asked: {}", cuts.join("; ")))
}

/// One line per point on a terminal, and what was found over all points.
pub(super) fn lines(subject: Subject<'_>, step: usize, paint: Paint) -> String {
    let mut out = String::new();
    let Some(result) = subject.analysis.sweeps.iter().find(|result| result.step == step) else { return out };
    let sweep = subject.notebook.steps.iter().find_map(|step| match &step.kind {
        crate::notebook::StepKind::Sweep(sweep) if sweep.measure.id == result.id => Some(sweep),
        _ => None,
    });
    let Some(sweep) = sweep else { return out };
    // Points whose plans alone were captured are in the report.
    let timed = |point: &&PointResult| !point.refined || measured(subject, point).any(|arm| arm.samples > 0);
    let points: Vec<&PointResult> = result.points.iter().filter(timed).collect();
    let name = |point: &PointResult| {
        let x = sweep.x.as_ref().map(|x| format!(" ({})", on_axis(point.x, x.format))).unwrap_or_default();
        format!("{} {}{x}{}", result.id, point.point, if point.refined { " +" } else { "" })
    };
    let width = points.iter().map(|point| name(point).chars().count()).max().unwrap_or(0);
    for point in points {
        let arms = point.arms.iter().filter_map(|key| subject.analysis.arm(key));
        let arms = arms.map(|arm| {
            let label = arm.key.arm.as_deref().map(|arm| format!("{arm} ")).unwrap_or_default();
            let time = arm
                .metrics
                .get(&Metric::Median)
                .map_or_else(|| "–".to_owned(), |ms| number::milliseconds(*ms));
            format!("{:<22}", format!("{label}{time}"))
        });
        let arms = arms.collect::<Vec<_>>().join(" ");
        let names: Vec<String> = point.arms.iter().map(ToString::to_string).collect();
        let verdicts = subject.judgement.verdicts.iter().filter(|verdict| names.contains(&verdict.subject));
        let worst = verdicts.map(|verdict| verdict.outcome).min().unwrap_or(Outcome::Pass);
        let _ = writeln!(
            out,
            "  {}  {arms} {}",
            paint.bold(&format!("{:width$}", name(point))),
            paint.mark(worst)
        );
    }
    for (what, seen) in findings(subject, sweep, result) {
        let _ = writeln!(out, "    {} {seen}", paint.faint(&format!("{what}:")));
    }
    out
}
