//! What happens, while it happens: a moving line on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analysis::Analysis;
use crate::notebook::Notebook;
use crate::number;
use crate::recording::{
    ArmKey, Event, LoadingEvent, Observer, PointEvent, Recording, RecordingError, SampleEvent, StepOutcome,
    SweepEvent,
};
use crate::render::{self, Subject};
use crate::verdict::Judgement;

use super::talk;

/// Shows the run's progress, and each measure's line when it is done.
#[derive(Debug)]
pub(super) struct Progress {
    steps: usize,
    partial: PathBuf,
    /// Whether measures get a line on stdout.
    lines: bool,
    bar: ProgressBar,
    kind: String,
    label: String,
    arms: BTreeMap<ArmKey, (usize, usize)>,
    timing_since: Option<Instant>,
    /// Where a sweep is.
    at_point: Option<String>,
    dataset_since: Instant,
    /// When an earlier run built the dataset, where this one need not.
    reused: Option<String>,
}

impl Progress {
    pub(super) fn new(notebook: &Notebook, partial: PathBuf, lines: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        if std::io::stderr().is_terminal() {
            if let Ok(style) = ProgressStyle::with_template("  {spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self {
            steps: notebook.steps.len(),
            partial,
            lines,
            bar,
            kind: String::new(),
            label: String::new(),
            arms: BTreeMap::new(),
            timing_since: None,
            at_point: None,
            dataset_since: Instant::now(),
            reused: None,
        }
    }

    /// Takes the moving line away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn plain(&self, line: &str) {
        if self.bar.is_hidden() {
            talk::say(line);
        } else {
            self.bar.suspend(|| talk::say(line));
        }
    }

    /// Shown on a terminal as the moving line, elsewhere as a line of its own.
    fn doing(&self, what: String) {
        if self.bar.is_hidden() { talk::say(format_args!("  {what}")) } else { self.bar.set_message(what) }
    }

    fn place(&self, step: usize) -> String {
        if step == 0 { "dataset".to_owned() } else { format!("step {step} of {}", self.steps) }
    }

    fn started(&mut self, step: usize, kind: &str, label: &str) {
        kind.clone_into(&mut self.kind);
        label.clone_into(&mut self.label);
        self.arms.clear();
        self.timing_since = None;
        self.at_point = None;
        self.dataset_since = Instant::now();
        // What only shapes the report takes no time, and statements are announced one by one.
        if kind == "measure" || kind == "sweep" {
            self.doing(format!("{} · {kind} {label}", self.place(step)));
        }
    }

    /// How long a sweep takes at most, before it starts.
    fn sweep(&self, sweep: &SweepEvent) {
        let SweepEvent {
            measure, points, arms, most_added, most_captured, at_most_ms, added_at_most_ms, ..
        } = sweep;
        let added = match most_added {
            0 => String::new(),
            most => format!(
                ", and up to {most} points more in search of the crossing ({})",
                number::duration(*added_at_most_ms)
            ),
        };
        let captured = match most_captured {
            0 => String::new(),
            most => format!(", and plans alone at up to {most}"),
        };
        self.plain(&format!(
            "  sweep    {measure} · {points} points × {arms} arms, {} of timing at most{added}{captured}",
            number::duration(*at_most_ms)
        ));
    }

    /// Where the sweep is, and how long what is left takes at most.
    fn point(&mut self, point: &PointEvent) {
        self.arms.clear();
        self.timing_since = None;
        let PointEvent { measure, point, added, number, of, at_most_ms, about_ms, .. } = point;
        let what = if *added { "added point".to_owned() } else { format!("point {number} of {of}") };
        // Where plans alone are captured, nothing is timed.
        let timed = *at_most_ms > 0.0;
        let about = about_ms.map(|ms| format!("about {} left, ", number::duration(ms))).unwrap_or_default();
        let left = match timed {
            true => format!("{about}at most {}", number::duration(*at_most_ms)),
            false => "plans alone".to_owned(),
        };
        self.at_point = Some(format!("{what}: {left}"));
        self.doing(format!("{measure} {point} · {what} · {left}"));
    }

    fn sample(&mut self, sample: &SampleEvent) {
        let since = *self.timing_since.get_or_insert_with(Instant::now);
        self.arms.insert(sample.key.clone(), (sample.rep, sample.of));
        if self.bar.is_hidden() {
            return;
        }
        let (done, of) = self.arms.values().fold((0, 0), |(done, of), arm| (done + arm.0, of + arm.1));
        let left = since.elapsed().as_secs_f64() / done as f64 * of.saturating_sub(done) as f64;
        let point = self.at_point.as_ref().map(|point| format!(" · {point}")).unwrap_or_default();
        self.bar.set_message(format!(
            "{} · turn {} · {done} of {of} samples, about {}{point}",
            sample.key,
            sample.turn,
            number::milliseconds(left * 1e3)
        ));
    }

    /// On a terminal alone: elsewhere the statement itself was said.
    fn loading(&self, loading: &LoadingEvent) {
        if self.bar.is_hidden() {
            return;
        }
        let LoadingEvent { done, of, unit, left_s } = loading;
        let count = |number: u64| number::count(number as f64);
        let of = of.map(|of| format!(" of {}", count(of))).unwrap_or_default();
        let left = left_s
            .map(|left| format!(" · about {} left", number::milliseconds(left * 1e3)))
            .unwrap_or_default();
        self.bar.set_message(format!("dataset · {}{of} {unit}{left}", count(*done)));
    }

    fn ended(&self, step: usize, outcome: StepOutcome) {
        if step == 0 {
            let how = match (outcome, &self.reused) {
                (StepOutcome::Done, None) => "built in".to_owned(),
                (StepOutcome::Done, Some(built)) => format!("from the cache (built {built}), cloned in"),
                _ => "failed in".to_owned(),
            };
            let took = number::milliseconds(self.dataset_since.elapsed().as_secs_f64() * 1e3);
            self.plain(&format!("  dataset  {} · {how} {took}\n", self.label));
        }
        if !matches!(self.kind.as_str(), "measure" | "sweep" | "time" | "storage")
            || outcome != StepOutcome::Done
            || !self.lines
        {
            return;
        }
        // The line is computed like everything else that is reported: from what is on disk.
        if let Ok(recording) = Recording::open(&self.partial) {
            let analysis = Analysis::of(&recording);
            let notebook = &recording.notebook;
            let judgement = Judgement::of_measure(&recording, &analysis, notebook, step);
            let subject =
                Subject { recording: &recording, analysis: &analysis, judgement: &judgement, notebook };
            let lines = render::measure_lines(subject, step, talk::paint());
            self.bar.suspend(|| talk::print(lines));
        }
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: &Event) -> Result<(), RecordingError> {
        match event {
            Event::StepStarted { step, kind, label } => self.started(*step, kind, label),
            Event::Sending { step, sql } => {
                self.doing(format!("{} · {}", self.place(*step), talk::first_line(sql)))
            }
            Event::Loading(loading) => self.loading(loading),
            Event::Note { text, .. } => self.plain(&format!("  note     {text}")),
            Event::Reused { built } => self.reused = Some(built.clone()),
            Event::Sample(sample) => self.sample(sample),
            Event::Sweep(sweep) => self.sweep(sweep),
            Event::Point(point) => self.point(point),
            Event::Step { step, outcome, .. } => self.ended(*step, *outcome),
            _ => {}
        }
        Ok(())
    }
}
