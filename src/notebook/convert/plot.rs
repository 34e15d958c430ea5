//! Figures: which measures, which metric, which axes, and what would make an odd picture.

use std::collections::BTreeMap;

use super::super::model::{AxisScale, Plot, PlotKind, Step, StepKind, Subject};
use super::super::wire::{self, Text};
use super::Convert;
use super::decoded::Decoded;
use super::names::{Scope, Sort};
use crate::metric::{Metric, Nature};
use crate::nearest::nearest;

/// More rows or bars than this do not fit a page, and nobody could compare them.
const MOST_SERIES: usize = 24;

impl Convert<'_> {
    pub(super) fn plot(&self, wire: &wire::Plot) -> Option<Plot> {
        let id = self.reader.tree.text(wire.id.0).to_owned();
        if wire.of.items.is_empty() {
            let place = self.reader.tree.place(wire.id.0);
            self.reader.fault(place, format!("the plot `{id}` has no `of`"), "name at least one measure");
        }
        let scale = self.axis(wire.scale);
        let x = self.axis(wire.x_scale);
        let title = wire.title.and_then(|title| self.text(title));
        let caption = wire.caption.and_then(|caption| {
            self.cut_short(caption.0);
            self.template(caption.0, Scope::Text)
        });
        let kind = self.plot_kind(wire, x.unwrap_or_default())?;
        if let (PlotKind::Bars(_), Some(AxisScale::Log), Some(written)) = (kind, scale, wire.scale) {
            let help = "leave `scale` out, or show times with kind: distribution";
            let place = self.reader.tree.place(written.0);
            self.reader.fault(place, "bars begin at zero, and a logarithmic axis has no zero", help);
        }
        let of: Vec<Subject> =
            wire.of.items.iter().filter_map(|subject| self.subject_of(*subject, kind)).collect();
        Some(Plot { id, title, caption, of, kind, scale: scale? })
    }

    fn plot_kind(&self, wire: &wire::Plot, x: AxisScale) -> Option<PlotKind> {
        let name = self.rendered(wire.kind.0)?;
        let name = name.trim();
        let value = match name {
            "bars" | "sweep" => self.plot_value(wire, name)?,
            "distribution" | "timeline" => {
                if let Some(value) = wire.value {
                    let message = format!("a {name} shows every sample, and takes no `value`");
                    let help = "leave it out, or write kind: bars for one number of each arm";
                    self.reader.fault(self.reader.tree.place(value.0), message, help);
                }
                Metric::Median
            }
            _ => {
                let help = nearest(name, PlotKind::NAMES).map_or_else(
                    || format!("the kinds are {}", PlotKind::NAMES.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                let place = self.reader.tree.place(wire.kind.0);
                self.reader.fault(place, format!("`{name}` is no kind of plot"), help);
                return None;
            }
        };
        if let Some(given) = wire.x_scale.filter(|_| name != "sweep") {
            let message = format!("`x_scale` divides the parameter's axis of a sweep, and {name} has none");
            let help = "leave it out, or write `scale` for the axis of the values";
            self.reader.fault(self.reader.tree.place(given.0), message, help);
        }
        Some(match name {
            "bars" => PlotKind::Bars(value),
            "sweep" => PlotKind::Sweep { value, x },
            "timeline" => PlotKind::Timeline,
            _ => PlotKind::Distribution,
        })
    }

    /// The metric of bars, which have none of their own, and of the lines of a sweep, which show medians.
    fn plot_value(&self, wire: &wire::Plot, kind: &str) -> Option<Metric> {
        if kind == "bars" {
            if wire.value.is_none() {
                let message = format!("the bars `{}` have no `value`", self.reader.tree.text(wire.id.0));
                let place = self.reader.tree.place(wire.id.0);
                self.reader.fault(place, message, "name a metric, such as value: blocks");
            }
        } else if wire.value.is_none() {
            return Some(Metric::Median);
        }
        let value = wire.value?;
        let name = self.rendered(value.0)?;
        self.metric_named(value, name.trim())
    }

    fn axis(&self, text: Option<Text>) -> Option<AxisScale> {
        let Some(text) = text else { return Some(AxisScale::Auto) };
        let written = self.rendered(text.0)?;
        let found = AxisScale::ALL.into_iter().find(|axis| axis.name() == written.trim());
        if found.is_none() {
            let message = format!("`{}` is no way to divide an axis", written.trim());
            self.reader.fault(self.reader.tree.place(text.0), message, "write auto, linear or log");
        }
        found
    }

    /// A measure that such a plot can show.
    fn subject_of(&self, text: Text, kind: PlotKind) -> Option<Subject> {
        let subject = self.subject(text)?;
        let place = self.reader.tree.place(text.0);
        let name = &subject.measure;
        match (kind, self.world.sort(name)) {
            (PlotKind::Sweep { value, .. }, Some(Sort::Sweep)) if value.nature() == Nature::Size => {
                let message = format!("`{value}` is the size of a relation, and no metric of a sweep");
                self.reader.fault(place, message, "write `value` with a metric of plans or of times");
                return None;
            }
            (PlotKind::Sweep { .. }, Some(Sort::Sweep)) => {}
            (_, Some(Sort::Sweep)) => {
                let message = format!("`{name}` is a sweep, with an arm for every point");
                self.reader.fault(place, message, "write kind: sweep");
                return None;
            }
            (PlotKind::Sweep { .. }, Some(sort)) => {
                let message = format!("`{name}` is {}, and kind: sweep shows a sweep", sort.noun());
                self.reader.fault(place, message, "write kind: distribution, bars or timeline");
                return None;
            }
            (PlotKind::Distribution | PlotKind::Timeline, Some(Sort::Storage)) => {
                let message = format!("`{name}` is a `storage`, which has sizes and no samples");
                self.reader.fault(place, message, "write kind: bars with a size, such as value: total_bytes");
                return None;
            }
            (PlotKind::Bars(metric), Some(sort)) if !self.world.can_have(&subject, metric) => {
                let message = format!("`{subject}` is {} and has no metric `{metric}`", sort.noun());
                let help = match sort {
                    Sort::Storage => "its metrics are total_bytes, heap_bytes, toast_bytes and index_bytes",
                    Sort::Time => "its metrics are times, rows, those of WAL, and sizes",
                    _ => "its metrics are those of plans and of times",
                };
                self.reader.fault(place, message, help);
                return None;
            }
            _ => {}
        }
        Some(subject)
    }

    /// What needs all steps to be seen: how many series a plot has, and how many samples each of them.
    pub(super) fn look_at_plots(&self, decoded: &[Decoded], steps: &[Step]) {
        // Arms, and samples of each; points of a sweep.
        let mut samples: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for step in steps {
            match &step.kind {
                StepKind::Measure(measure) => {
                    samples.insert(&measure.id, (measure.arms.len(), measure.reps));
                }
                StepKind::Time(time) => {
                    samples.insert(&time.id, (time.arms.len(), time.reps));
                }
                StepKind::Sweep(sweep) => {
                    samples.insert(&sweep.measure.id, (sweep.measure.arms.len(), sweep.points.len()));
                }
                StepKind::Storage(storage) => {
                    samples.insert(&storage.id, (storage.of.len(), 1));
                }
                _ => {}
            }
        }
        for step in steps {
            let StepKind::Plot(plot) = &step.kind else { continue };
            let wire = decoded.iter().find(|one| one.number == step.number).and_then(|one| one.step.as_ref());
            let Some(wire::Step::Plot(wire)) = wire else { continue };
            // A subject that could not be read has been told of already.
            if plot.of.len() == wire.of.items.len()
                && plot.of.iter().all(|of| samples.contains_key(&*of.measure))
            {
                self.look_at_series(plot, wire, &samples);
            }
        }
    }

    fn look_at_series(&self, plot: &Plot, wire: &wire::Plot, samples: &BTreeMap<&str, (usize, usize)>) {
        let mut series = 0;
        for (at, (subject, written)) in plot.of.iter().zip(&wire.of.items).enumerate() {
            let place = self.reader.tree.place(written.0);
            let (arms, reps) = samples[&*subject.measure];
            series += if subject.arm.is_some() { 1 } else { arms };
            if plot.of[..at].iter().any(|other| overlap(other, subject)) {
                let message = format!("`{subject}` is named twice, and would be shown twice");
                self.reader.fault(place, message, "name it once");
                return;
            }
            let sweep = matches!(plot.kind, PlotKind::Sweep { .. });
            if sweep && subject.measure != plot.of[0].measure {
                let message = format!("`{subject}` is another sweep than `{}`", plot.of[0].measure);
                self.reader.fault(place, message, "make a plot of each: they have axes of their own");
                return;
            }
            if sweep && reps < 2 {
                let message = format!("`{subject}` has one point, and one point makes no line");
                self.reader.fault(place, message, "give its parameter more values in `over`");
                return;
            }
            if reps < 2 && matches!(plot.kind, PlotKind::Distribution | PlotKind::Timeline) {
                let message =
                    format!("`{subject}` has one sample, and one point makes no {}", plot.kind.name());
                self.reader.fault(place, message, "raise its `reps`, or write kind: bars");
                return;
            }
        }
        let place = self.reader.tree.place(wire.id.0);
        if series == 1 && matches!(plot.kind, PlotKind::Bars(_)) {
            let message = format!("the plot `{}` has one bar, and nothing to compare it with", plot.id);
            self.reader.fault(
                place,
                message,
                "name another measure or arm in `of`, or give the number in a text",
            );
        }
        if series > MOST_SERIES {
            let message =
                format!("the plot `{}` shows {series} arms, and {MOST_SERIES} are the most", plot.id);
            self.reader.fault(place, message, "name fewer in `of`, or make several plots");
        }
    }
}

/// Whether two subjects share an arm.
fn overlap(one: &Subject, two: &Subject) -> bool {
    one.measure == two.measure && (one.arm == two.arm || one.arm.is_none() || two.arm.is_none())
}
