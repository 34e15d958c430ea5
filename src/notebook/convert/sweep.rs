//! Sweeps: one conversion per point, since expectations may depend on its values.

use std::path::Path;

use crate::metric::Metric;
use crate::nearest::nearest;
use crate::template::check_expression;

use super::super::fault::Fault;
use super::super::model::{
    Arm, Axis, Crossing, Dataset, Measure, Part, SetupKind, SetupStep, Step, StepKind, Sweep, SweepPoint,
    Template, Values, X, XFormat,
};
use super::super::wire::{self, DatasetUse, Text};
use super::actions::all;
use super::decoded::Decoded;
use super::identifier::identifier;
use super::inherit::{Base, Family};
use super::names::{SWEEP_PARTS, Scope};
use super::{Convert, FindDataset, over};

/// What gets a clone of the database to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fresh {
    Nothing,
    Point,
    Arm,
}

impl Convert<'_> {
    pub(super) fn sweep(
        &self,
        wire: &wire::Sweep,
        decoded: &Decoded,
        family: &Family<'_>,
    ) -> Option<Box<Sweep>> {
        let axes = self.world.axes(wire.id.0)?.to_vec();
        let scope = Scope::Run(decoded.at.offset);
        let fresh = self.sweep_fresh(wire.fresh);
        let mut base = Base::of_sweep(wire);
        base.fresh = wire.fresh.filter(|_| fresh == Fresh::Arm);
        base.setup = wire.setup.as_ref().filter(|_| fresh == Fresh::Arm);
        let own_setup = wire.setup.as_ref().filter(|_| fresh != Fresh::Arm);
        let (mut points, mut whole) = (Vec::new(), None::<Measure>);
        let mut setups: Vec<Vec<SetupStep>> = Vec::new();
        for point in over::points(&axes) {
            let inner = self.at(point.values());
            let measure = inner.measure(&base, decoded, family)?;
            setups.push(inner.setup(own_setup, wire.id.0, scope));
            let first = whole.get_or_insert_with(|| measure.clone());
            if pace(first) != pace(&measure) {
                let help = "take the swept parameters out of reps, turns, min_reps, budget and explain";
                self.reader.fault(
                    decoded.at,
                    "how often a sweep times its queries is the same at every point",
                    help,
                );
                return None;
            }
            points.push(SweepPoint { point, arms: measure.arms, dataset: None });
        }
        let first = points.first()?.point.clone();
        let inner = self.at(first.values());
        let mut measure = whole?;
        keep_common(&mut measure.arms, &points);
        let probes = inner.probes(wire, &axes, scope);
        let x = wire.x.as_ref().map(|x| inner.x(x, scope));
        if let Some(Some(x)) = &x {
            self.placed(x, &points, scope);
        }
        self.free_names(wire, &measure.arms);
        let crossing = wire.crossing.as_ref().map(|crossing| self.crossing(crossing, &axes, &measure.arms));
        let setup = setups.first().cloned().unwrap_or_default();
        let same = |other: &Vec<SetupStep>| names_of(other).eq(names_of(&setup));
        if !setups.iter().all(same) {
            let help = "name the tables of `analyze` and `vacuum` without the swept parameters";
            self.reader.fault(
                decoded.at,
                "the setup of a sweep is the same at every point, save its SQL",
                help,
            );
            return None;
        }
        Some(Box::new(Sweep {
            measure,
            axes,
            points,
            x: all(x)?,
            settings: inner.base_settings(wire, family, scope),
            fresh: fresh == Fresh::Point || own_setup.is_some(),
            setup,
            probes: probes?,
            crossing: all(crossing)?,
        }))
    }

    /// The same conversion where swept parameters have these values.
    fn at(&self, values: &Values) -> Convert<'_> {
        Convert {
            reader: self.reader,
            params: self.params.clone().with(values),
            world: self.world.with(values),
            profiles: self.profiles.clone(),
            settings: self.settings.clone(),
            server: self.server.clone(),
            swept: values.clone(),
        }
    }

    fn base_settings(
        &self,
        wire: &wire::Sweep,
        family: &Family<'_>,
        scope: Scope,
    ) -> super::super::model::Settings {
        let mut settings = self.settings.clone();
        let line = family.line(self.reader, Base::of_sweep(wire));
        settings
            .extend(line.iter().filter_map(|base| base.settings).flat_map(|own| self.settings(own, scope)));
        settings
    }

    fn sweep_fresh(&self, fresh: Option<Text>) -> Fresh {
        let Some((text, rendered)) = fresh.and_then(|text| Some((text, self.rendered(text.0)?))) else {
            return Fresh::Nothing;
        };
        match rendered.trim() {
            "point" => Fresh::Point,
            "arm" => Fresh::Arm,
            other => {
                let help = "write `fresh: point` (a clone of the database for every point) or `fresh: arm` (one for \
                            every arm of every point)";
                let place = self.reader.tree.place(text.0);
                self.reader.fault(place, format!("`fresh` cannot be `{other}`"), help);
                Fresh::Nothing
            }
        }
    }

    /// Metrics from SQL.
    fn probes(&self, wire: &wire::Sweep, axes: &[Axis], scope: Scope) -> Option<Vec<(String, Template)>> {
        let tree = self.reader.tree;
        let mut probes = Vec::new();
        let mut sound = true;
        for (name, sql) in wire.probe.iter().flat_map(|probe| &probe.0) {
            let id = identifier(self.reader, *name, "a probe");
            let taken = match tree.text(name.0) {
                text if Metric::from_name(text).is_some() => Some("a metric"),
                "x" | "plan" => Some("a part of every point"),
                text if axes.iter().any(|axis| axis.name == text) => Some("a swept parameter"),
                _ => None,
            };
            if let Some(what) = taken {
                let message = format!("`{}` is {what} already", tree.text(name.0));
                self.reader.fault(tree.place(name.0), message, "choose another name");
            }
            match (id, taken, self.query(*sql, scope)) {
                (Some(id), None, Some(query)) => probes.push((id, query)),
                _ => sound = false,
            }
        }
        sound.then_some(probes)
    }

    fn x(&self, wire: &wire::X, scope: Scope) -> Option<X> {
        let tree = self.reader.tree;
        let (label, expr) = (self.text(wire.label), self.expression(wire.expr, scope));
        let (label, expr) = (label?, expr?);
        let kind = check_expression(&expr.text, &self.world.names(scope)).kind;
        if !kind.is_number() && kind != crate::template::Kind::Any {
            let message = "this is no number, and an axis has numbers";
            self.reader.fault(tree.place(wire.expr.0), message, "write an expression that makes a number");
            return None;
        }
        let Some(format) = wire.format else { return Some(X { label, expr, format: XFormat::Number }) };
        let rendered = self.rendered(format.0)?;
        let found = XFormat::ALL.into_iter().find(|format| format.name() == rendered.trim());
        if found.is_none() {
            let known = XFormat::ALL.map(XFormat::name);
            let help = nearest(rendered.trim(), known).map_or_else(
                || format!("the formats are {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("there is no format `{}`", rendered.trim());
            self.reader.fault(tree.place(format.0), message, help);
        }
        Some(X { label, expr, format: found? })
    }

    /// Notes the first point that has no place on the axis. What a `let` finds is known only when the notebook runs.
    fn placed(&self, x: &X, points: &[SweepPoint], scope: Scope) {
        let mut errors = points.iter().filter_map(|listed| x.at(self.params.clone(), &listed.point).err());
        if let Some(error) = errors.find(|error| !error.undefined) {
            self.template_faults(&x.expr.text, x.expr.at, &[error], scope);
        }
    }

    /// Notes arms whose names mean something else in a sweep.
    fn free_names(&self, wire: &wire::Sweep, arms: &[Arm]) {
        let tree = self.reader.tree;
        for arm in arms.iter().filter_map(|arm| arm.id.as_deref()) {
            if SWEEP_PARTS.contains(&arm) {
                let named =
                    wire.arms.iter().flat_map(|arms| &arms.0).find(|(name, _)| tree.text(name.0) == arm);
                let at = named.map_or(wire.id.0, |(name, _)| name.0);
                let message = format!("`{arm}` names what was found over all points, and cannot name an arm");
                self.reader.fault(tree.place(at), message, "choose another name");
            }
        }
    }

    fn crossing(&self, wire: &wire::Crossing, axes: &[Axis], arms: &[Arm]) -> Option<Crossing> {
        let tree = self.reader.tree;
        let head =
            wire.of.items.first().map_or_else(super::super::source::Place::default, |of| tree.place(of.0));
        let refuse = |message: String, help: &str| {
            self.reader.fault(head, message, help);
            None
        };
        let metric = match wire.metric.map(|metric| (metric, self.rendered(metric.0))) {
            None => Metric::Median,
            Some((metric, rendered)) => {
                let rendered = rendered?;
                let found = [Metric::Median, Metric::Blocks, Metric::Cost]
                    .into_iter()
                    .find(|known| known.name() == rendered.trim());
                if found.is_none() {
                    let message = format!("arms do not cross by `{}`", rendered.trim());
                    self.reader.fault(tree.place(metric.0), message, "write median, blocks or cost");
                }
                found?
            }
        };
        let [one, other] = wire.of.items.as_slice() else {
            return refuse("two arms cross".to_owned(), "write `crossing: {of: [one, other]}`");
        };
        let mut of = Vec::new();
        for name in [one, other] {
            let text = tree.text(name.0);
            if !arms.iter().any(|arm| arm.id.as_deref() == Some(text)) {
                let known: Vec<&str> = arms.iter().filter_map(|arm| arm.id.as_deref()).collect();
                let help = match nearest(text, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "give the sweep `arms`".to_owned(),
                    None => format!("the arms are {}", known.join(", ")),
                };
                self.reader.fault(tree.place(name.0), format!("the sweep has no arm `{text}`"), help);
                return None;
            }
            of.push(text.to_owned());
        }
        let [axis] = axes else {
            let help = "sweep over one parameter, or leave `crossing` out";
            return refuse(
                "a crossing is looked for along one parameter, and this is a grid".to_owned(),
                help,
            );
        };
        if !axis.is_numeric() {
            let message =
                format!("between values of `{}` there are no others: they are no numbers", axis.name);
            return refuse(message, "sweep over numbers, or leave `crossing` out");
        }
        if axis.values.len() < 2 {
            let message = format!("between one value of `{}` and no other nothing crosses", axis.name);
            return refuse(message, "name at least two");
        }
        if of[0] == of[1] {
            return refuse(format!("`{}` cannot cross itself", of[0]), "name two arms");
        }
        let [one, other] = <[String; 2]>::try_from(of).ok()?;
        Some(Crossing { of: [one, other], metric })
    }

    /// Gives each point of a sweep over a parameter of the dataset the dataset that it starts from.
    pub(super) fn point_datasets(
        &self,
        steps: &mut [Step],
        wire: &DatasetUse,
        dataset: &Dataset,
        (notebook, path): (&str, &Path),
        find: &mut FindDataset<'_>,
        outside: &mut Vec<Fault>,
    ) {
        for step in steps {
            let StepKind::Sweep(sweep) = &mut step.kind else { continue };
            let used: Vec<String> = sweep
                .axes
                .iter()
                .filter(|axis| self.shapes_dataset(&axis.name, wire, dataset))
                .map(|axis| axis.name.clone())
                .collect();
            if used.is_empty() {
                continue;
            }
            if sweep.crossing.is_some() {
                let message =
                    format!("between values of `{}` there would be more datasets to build", used[0]);
                let help = "leave `crossing` out, or sweep over a parameter that no dataset depends on";
                self.reader.fault(step.at, message, help);
            }
            let mut known: Vec<(Values, Dataset)> = Vec::new();
            for point in &mut sweep.points {
                let mut values = point.point.values().clone();
                values.retain(|(name, _)| used.contains(name));
                if let Some((_, dataset)) = known.iter().find(|(of, _)| *of == values) {
                    point.dataset = Some(dataset.clone());
                    continue;
                }
                let inner = self.at(&values);
                let mut params = dataset_values(dataset, wire);
                for (name, value) in &values {
                    if let Some((_, slot)) = params.iter_mut().find(|(known, _)| known == name) {
                        *slot = value.clone();
                    }
                }
                let made = inner.dataset(wire, notebook, path, &params, find, outside);
                known.extend(made.clone().map(|dataset| (values, dataset)));
                point.dataset = made;
            }
        }
    }

    /// Whether the tables depend on a swept parameter: by a template over it, or since it is a parameter of the
    /// dataset's file that nothing else sets.
    fn shapes_dataset(&self, name: &str, wire: &DatasetUse, dataset: &Dataset) -> bool {
        let uses = |text: &str| {
            crate::template::check_template(text, &self.world.names(Scope::Params))
                .names
                .iter()
                .any(|used| used == name)
        };
        if wire.file.is_none() {
            let sql = dataset.parts.iter().filter_map(|part| match part {
                Part::Sql(sql) => Some(sql),
                _ => None,
            });
            return sql.chain(&dataset.verify).any(|template| uses(&template.text));
        }
        let tree = self.reader.tree;
        let with = || wire.with.iter().flat_map(|with| &with.0);
        with().any(|(_, value)| uses(tree.text(value.0)))
            || (dataset.params.iter().any(|(known, _)| known == name)
                && !with().any(|(known, _)| tree.text(known.0) == name))
    }
}

/// What an inline dataset sees: the notebook's parameters. A file's own are made anew from its defaults.
fn dataset_values(dataset: &Dataset, wire: &DatasetUse) -> Values {
    if wire.file.is_none() { dataset.params.clone() } else { Values::new() }
}

/// Keeps of the expectations those that are the same at every point.
fn keep_common(arms: &mut [Arm], points: &[SweepPoint]) {
    for (index, arm) in arms.iter_mut().enumerate() {
        let everywhere = |written: &str, at: super::super::source::Place| {
            points.iter().all(|point| {
                let mut expect = point.arms.get(index).into_iter().flat_map(|arm| &arm.expect);
                expect.any(|other| other.at == at && other.written == written)
            })
        };
        arm.expect.retain(|expectation| everywhere(&expectation.written, expectation.at));
    }
}

/// What decides how long a measure takes.
fn pace(measure: &Measure) -> impl PartialEq {
    (measure.reps, measure.turns, measure.min_reps, measure.budget, measure.explain)
}

/// The tables of `analyze` and `vacuum` in a setup.
fn names_of(setup: &[SetupStep]) -> impl Iterator<Item = &Vec<String>> {
    setup.iter().filter_map(|step| match &step.kind {
        SetupKind::Sql(_) => None,
        SetupKind::Analyze(tables) => Some(tables),
        SetupKind::Vacuum(vacuum) => Some(&vacuum.tables),
    })
}
