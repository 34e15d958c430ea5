//! Figures of sweeps: lines of what was measured, bands of what the planner chose, and lines of what it estimated.

use crate::analysis::{CrossingResult, Estimate, Inside, PointResult, SweepResult};
use crate::metric::{Metric, Nature, Unit};
use crate::notebook::{Arm, AxisScale, Plot, StepKind, Sweep, XFormat};
use crate::number;

use super::super::Subject;
use super::super::arms::arm_name;
use super::super::plot::{self, Body, Figure, Line, Panel, Print, Quantity, Spot, Zone};
use super::super::sweep::on_axis;
use super::{axis, heading, range, source};

/// A sweep as a plot shows it.
struct About<'a> {
    subject: Subject<'a>,
    sweep: &'a Sweep,
    result: &'a SweepResult,
    /// The parameter on the horizontal axis; the values of the others tell lines apart.
    across: usize,
    /// What is printed where that parameter is no number.
    categories: Vec<String>,
    value: Metric,
}

/// A figure of one metric over the parameter.
pub(super) fn figure(subject: Subject<'_>, plot: &Plot, value: Metric, x: AxisScale) -> (Figure, String) {
    let found = about(subject, plot, value);
    let title = |label: Option<&String>| {
        let heading = || label.map_or_else(|| heading(value), |label| format!("{}: {label}", heading(value)));
        plot.title.clone().unwrap_or_else(heading)
    };
    let quantity = Quantity { name: axis(subject, value), unit: value.unit().into() };
    let Some(about) = found else {
        let name = "not measured".to_owned();
        let x = Quantity { name, unit: Unit::Ratio.into() };
        let body = plot::Sweep {
            x,
            x_scale: AxisScale::Auto,
            categories: Vec::new(),
            bands: Vec::new(),
            panels: Vec::new(),
        };
        let description = number::NOT_MEASURED.to_owned();
        let figure = Figure {
            title: title(None),
            reading: String::new(),
            source: source(subject),
            description,
            body: Body::Sweep(body),
        };
        return (figure, "Nothing of this was measured.".to_owned());
    };
    let chosen = |arm: &Arm| plot.of.iter().any(|of| of.arm.is_none() || of.arm == arm.id);
    let lines = about.lines(chosen);
    let zones = about.zones(value);
    let measured = Panel { quantity, scale: plot.scale, lines, zones, main: true };
    let description = about.described(&measured);
    let panels: Vec<Panel> = std::iter::once(measured).chain(about.costs(plot, chosen)).collect();
    let bands = about.bands();
    let reading = reading(value, !bands.is_empty(), panels.len() > 1);
    let facts = about.facts();
    let label = about.sweep.measure.label.as_ref();
    let body = plot::Sweep { x: about.x(), x_scale: x, categories: about.categories, bands, panels };
    let figure = Figure {
        title: title(label),
        reading,
        source: source(subject),
        description,
        body: Body::Sweep(body),
    };
    (figure, facts)
}

fn reading(value: Metric, bands: bool, costs: bool) -> String {
    let mut said = match value {
        Metric::Median => "Marks are medians, the bars through them their 95% intervals.".to_owned(),
        other => format!("{}.", super::capital(other.doc())),
    };
    if bands {
        said.push_str(" The strip on top is what the planner chose where it was free.");
    }
    if costs {
        said.push_str(" Below: what it had estimated.");
    }
    said
}

fn about<'a>(subject: Subject<'a>, plot: &Plot, value: Metric) -> Option<About<'a>> {
    let id = &plot.of.first()?.measure;
    let sweep = subject.notebook.steps.iter().find_map(|step| match &step.kind {
        StepKind::Sweep(sweep) if sweep.measure.id == *id => Some(&**sweep),
        _ => None,
    })?;
    let result = subject.analysis.sweeps.iter().find(|result| result.id == *id)?;
    // Of a grid the numbers go on the axis, else what has most values.
    let across = (0..sweep.axes.len()).max_by_key(|at| {
        let axis = &sweep.axes[*at];
        (axis.is_numeric(), axis.values.len(), std::cmp::Reverse(*at))
    })?;
    let axis = &sweep.axes[across];
    let categories = if axis.is_numeric() || result.points.iter().all(|point| point.x.is_some()) {
        Vec::new()
    } else {
        axis.values.iter().map(ToString::to_string).collect()
    };
    Some(About { subject, sweep, result, across, categories, value })
}

impl About<'_> {
    fn x(&self) -> Quantity {
        let axis = &self.sweep.axes[self.across];
        let unit = match self.result.format {
            _ if !self.categories.is_empty() => Unit::Ratio.into(),
            XFormat::Percent => Print::Percent,
            XFormat::Bytes => Unit::Bytes.into(),
            XFormat::Milliseconds => Unit::Milliseconds.into(),
            XFormat::Number if self.sweep.x.is_none() && axis.is_whole() => Unit::Count.into(),
            XFormat::Number => Unit::Ratio.into(),
        };
        let name = if self.sweep.x.is_some() { self.result.label.clone() } else { axis.name.clone() };
        Quantity { name, unit }
    }

    /// Where a point stands on the horizontal axis.
    fn place(&self, point: &PointResult) -> Option<f64> {
        let axis = &self.sweep.axes[self.across];
        if self.categories.is_empty() {
            return point.x.filter(|_| self.sweep.x.is_some()).or_else(|| point.point.number(&axis.name));
        }
        let value = point.point.value(&axis.name)?.to_string();
        self.categories.iter().position(|known| *known == value).map(|at| at as f64)
    }

    fn printed(&self, x: f64) -> String {
        match self.categories.get(x as usize) {
            Some(name) => name.clone(),
            None => on_axis(Some(x), self.result.format),
        }
    }

    /// The points of a grid by the values of the other parameters, with what these are called.
    fn rows(&self) -> Vec<(String, Vec<&PointResult>)> {
        let mut rows: Vec<(String, Vec<&PointResult>)> = Vec::new();
        let across = &self.sweep.axes[self.across].name;
        for point in &self.result.points {
            let others = point.point.values().iter().filter(|(name, _)| name != across);
            let name = others.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
            match rows.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => rows.push((name, vec![point])),
            }
        }
        rows
    }

    fn lines(&self, chosen: impl Fn(&Arm) -> bool) -> Vec<Line> {
        let rows = self.rows();
        let arms = &self.sweep.measure.arms;
        let free = self.sweep.free_arm().map(|arm| &arm.id);
        let mut lines = Vec::new();
        for (number, arm) in arms.iter().enumerate().filter(|(_, arm)| chosen(arm)) {
            for (at, (name, points)) in rows.iter().enumerate() {
                let own = arm_name(&self.sweep.measure, arm);
                lines.push(Line {
                    name: match (name.is_empty(), arms.len()) {
                        (true, _) => own,
                        (false, 1) => name.clone(),
                        (false, _) => format!("{own}, {name}"),
                    },
                    series: number * rows.len() + at,
                    free: arms.len() > 1 && rows.len() == 1 && free == Some(&arm.id),
                    spots: self.spots(number, points),
                });
            }
        }
        lines
    }

    fn spots(&self, arm: usize, points: &[&PointResult]) -> Vec<Spot> {
        let spot = |point: &&PointResult| {
            let found = point.arms.get(arm).and_then(|key| self.subject.analysis.arm(key));
            let y = found.and_then(|arm| arm.metrics.get(&self.value)).copied();
            // A point that was added for the crossing is measured in two arms, and is no gap in the others.
            if y.is_none() && point.refined {
                return None;
            }
            let interval = found.and_then(|arm| arm.median_interval).filter(|_| self.value == Metric::Median);
            Some(Spot { x: self.place(point)?, y, interval })
        };
        let mut spots: Vec<Spot> = points.iter().filter_map(spot).collect();
        spots.sort_by(|one, two| one.x.total_cmp(&two.x));
        spots
    }

    /// Whether there is one parameter, and a number: of a grid nobody knows where lines cross.
    fn is_line(&self) -> bool {
        self.sweep.axes.len() == 1 && self.categories.is_empty()
    }

    fn crossing(&self, metric: Metric) -> Option<&CrossingResult> {
        self.result.crossings.iter().find(|crossing| crossing.metric == metric).filter(|_| self.is_line())
    }

    fn zones(&self, metric: Metric) -> Vec<Zone> {
        let Some(crossing) = self.crossing(metric) else { return Vec::new() };
        let name = |id: &str| {
            self.sweep.arm(id).map_or_else(|| id.to_owned(), |arm| arm_name(&self.sweep.measure, arm))
        };
        let wins = match metric {
            Metric::Median => "surely faster",
            Metric::Cost => "cheaper",
            _ => "fewer",
        };
        let zone = |zone: &crate::analysis::ZoneResult| {
            let (lo, hi) = ascending(zone.x_lo.unwrap_or(zone.lo), zone.x_hi.unwrap_or(zone.hi));
            // Where the axis runs against the parameter, what comes before stands on the right.
            let turned = zone.x_lo > zone.x_hi;
            let [left, right] =
                if turned { [&zone.after, &zone.before] } else { [&zone.before, &zone.after] };
            let place = if lo == hi {
                self.printed(lo)
            } else {
                format!("{} to {}", self.printed(lo), self.printed(hi))
            };
            // What was not measured up to its ends is not said to be even.
            let what = match metric {
                _ if crossing.inside(zone) == Inside::Unknown => "lines cross, not measured closer",
                Metric::Median if crossing.inside(zone) == Inside::Undecided => "neither surely faster",
                Metric::Cost => "estimates cross",
                _ => "lines cross",
            };
            Zone {
                lo,
                hi,
                label: format!("{what}: {place}"),
                sides: [left, right].map(|arm| format!("{} {wins}", name(arm))),
            }
        };
        crossing.zones.iter().map(zone).collect()
    }

    fn bands(&self) -> Vec<plot::Band> {
        if !self.is_line() {
            return Vec::new();
        }
        let band = |band: &crate::analysis::Band| {
            let (lo, hi) = ascending(band.x_lo.unwrap_or(band.lo), band.x_hi.unwrap_or(band.hi));
            plot::Band { lo, hi, node: band.node.clone() }
        };
        let mut bands: Vec<plot::Band> = self.result.bands.iter().map(band).collect();
        bands.sort_by(|one, two| one.lo.total_cmp(&two.lo));
        bands
    }

    /// What the planner estimated, beside what was measured.
    fn costs(&self, plot: &Plot, chosen: impl Fn(&Arm) -> bool) -> Option<Panel> {
        if self.value == Metric::Cost || !self.is_line() || self.result.estimates.is_empty() {
            return None;
        }
        let arms = self.sweep.measure.arms.iter().enumerate().filter(|(_, arm)| chosen(arm));
        let free = self.sweep.free_arm().map(|arm| &arm.id);
        let line = |(number, arm): (usize, &Arm)| Line {
            name: arm_name(&self.sweep.measure, arm),
            series: number,
            free: self.sweep.measure.arms.len() > 1 && free == Some(&arm.id),
            spots: estimated(self.result.estimates.iter().filter(|estimate| estimate.arm == arm.id)),
        };
        // Of the arms beside the two that cross nothing was estimated but their own plans.
        let lines: Vec<Line> = arms.map(line).filter(|line| !line.spots.is_empty()).collect();
        let quantity =
            Quantity { name: "estimated cost, in the planner's units".to_owned(), unit: Unit::Cost.into() };
        (!lines.is_empty()).then(|| Panel {
            quantity,
            scale: plot.scale,
            lines,
            zones: self.zones(Metric::Cost),
            main: false,
        })
    }

    fn described(&self, panel: &Panel) -> String {
        let print = |y: f64| number::metric(self.value, y);
        let mut said: Vec<String> = panel
            .lines
            .iter()
            .map(|line| {
                let mut measured = line.spots.iter().filter_map(|spot| Some((spot.x, spot.y?)));
                let Some(first) = measured.next() else {
                    return format!("{}: {}.", line.name, number::NOT_MEASURED);
                };
                let last = measured.next_back().unwrap_or(first);
                let end = |(x, y): (f64, f64)| format!("{} at {}", print(y), self.printed(x));
                format!("{}: {}, {}.", line.name, end(first), end(last))
            })
            .collect();
        said.extend(panel.zones.iter().map(|zone| format!("{}.", super::capital(&zone.label))));
        let bands = self.bands();
        if !bands.is_empty() {
            let bands: Vec<String> = bands
                .iter()
                .map(|band| {
                    format!("{} from {} to {}", band.node, self.printed(band.lo), self.printed(band.hi))
                })
                .collect();
            said.push(format!("The planner chose {}.", bands.join(", ")));
        }
        said.join(" ")
    }

    /// What the figure rests on.
    fn facts(&self) -> String {
        let arms = |point: &PointResult| {
            let arms = point.arms.iter().filter_map(|key| self.subject.analysis.arm(key));
            arms.filter(|arm| arm.measured).collect::<Vec<_>>()
        };
        let measured = self.result.points.iter().filter(|point| !arms(point).is_empty());
        let (added, listed): (Vec<_>, Vec<_>) = measured.partition(|point| point.refined);
        if listed.is_empty() && added.is_empty() {
            return "Nothing of this was measured.".to_owned();
        }
        let samples = |points: &[&PointResult]| -> Vec<usize> {
            points
                .iter()
                .flat_map(|point| arms(point))
                .map(|arm| arm.samples)
                .filter(|count| *count > 0)
                .collect()
        };
        let several = self.sweep.measure.arms.len() > 1;
        let each = if several { " of each arm" } else { "" };
        let points = range(&[listed.len()], "point");
        let timed = self.value.nature() == Nature::Timing && !samples(&listed).is_empty();
        let mut facts = vec![if timed {
            format!("{points}, {}{each} at each.", range(&samples(&listed), "execution"))
        } else {
            format!("{points}, as EXPLAIN counted in one execution{each} at each.")
        }];
        if timed && several {
            facts.push("The arms took turns in random order at every point.".to_owned());
        }
        if !added.is_empty() {
            let of_them = added.iter().filter(|point| !samples(&[**point]).is_empty()).count();
            let rest = match timed && of_them < added.len() {
                true => format!("; {of_them} of them were timed"),
                false => String::new(),
            };
            facts.push(format!(
                "{} added after all others in search of the crossing, for the two arms that cross{rest}.",
                range(&[added.len()], "point")
            ));
        }
        if !self.result.complete {
            facts.push("The sweep did not come to its end.".to_owned());
        }
        facts.join(" ")
    }
}

fn estimated<'e>(estimates: impl Iterator<Item = &'e Estimate>) -> Vec<Spot> {
    let spot =
        |estimate: &Estimate| Spot { x: estimate.x.unwrap_or(estimate.at), y: estimate.cost, interval: None };
    let mut spots: Vec<Spot> = estimates.map(spot).collect();
    spots.sort_by(|one, two| one.x.total_cmp(&two.x));
    spots
}

fn ascending(one: f64, two: f64) -> (f64, f64) {
    (one.min(two), one.max(two))
}
