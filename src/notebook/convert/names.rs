//! The one namespace of a notebook: parameters, lets, measures, named numbers, tables and plots.

use crate::metric::{Metric, Nature};
use crate::template::{Kind, Names, Swept, check_expression};

use super::super::de::Reader;
use super::super::model::{Axis, Subject, Values};
use super::super::node::{Content, NodeId};
use super::super::wire::{Either, Entries, Measure, Name, Step, Sweep};
use super::decoded::Decoded;
use super::identifier::identifier;
use super::inherit::{Base, Family};
use super::over;

/// From where a template looks. The number is a place in the file: what stands above it can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Read together with the notebook: parameters only.
    Params,
    /// Rendered while the notebook runs: parameters and the lets above.
    Run(usize),
    /// A claim: also the measures and the named numbers above.
    Claim(usize),
    /// The text of the report: everything.
    Text,
}

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Parameter,
    Let,
    Measure,
    Sweep,
    Time,
    Storage,
    Number,
    Table,
    Plot,
    /// The id of a step that could not be read.
    Broken,
}

impl Sort {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Parameter => "a parameter",
            Self::Let => "a `let`",
            Self::Measure => "a measure",
            Self::Sweep => "a sweep",
            Self::Time => "a `time`",
            Self::Storage => "a `storage`",
            Self::Number => "a named number",
            Self::Table => "a table",
            Self::Plot => "a plot",
            Self::Broken => "a step",
        }
    }
}

/// One name.
#[derive(Debug, Clone)]
struct Known {
    name: String,
    sort: Sort,
    kind: Kind,
    /// Where it begins to be known.
    since: usize,
    line: usize,
}

/// Every name of the notebook.
#[derive(Debug, Clone, Default)]
pub(super) struct World {
    known: Vec<Known>,
    /// The parameters of the sweeps, by the nodes of their ids.
    axes: Vec<(NodeId, Vec<Axis>)>,
}

impl World {
    /// Gathers the names, and notes those that are used twice.
    pub(super) fn new(reader: &Reader<'_>, params: &Values, steps: &[Decoded]) -> Self {
        let mut world = Self::default();
        for (name, value) in params {
            let known =
                Known { name: name.clone(), sort: Sort::Parameter, kind: value.kind(), since: 0, line: 0 };
            world.known.push(known);
        }
        let family = Family::new(reader, steps);
        for decoded in steps {
            world.step(reader, &family, params, decoded);
        }
        world
    }

    /// A dataset's own names: its parameters.
    pub(super) fn of_params(params: &Values) -> Self {
        let known = params.iter().map(|(name, value)| Known {
            name: name.clone(),
            sort: Sort::Parameter,
            kind: value.kind(),
            since: 0,
            line: 0,
        });
        Self { known: known.collect(), axes: Vec::new() }
    }

    /// The same names where swept parameters have values, in place of parameters of the same names.
    pub(super) fn with(&self, values: &Values) -> Self {
        let swept = |name: &str| values.iter().any(|(known, _)| known == name);
        let mut known: Vec<Known> = Self::of_params(values).known;
        known.extend(self.known.iter().filter(|known| !swept(&known.name)).cloned());
        Self { known, axes: Vec::new() }
    }

    /// The parameters of a sweep; none where something is wrong with them.
    pub(super) fn axes(&self, sweep: NodeId) -> Option<&[Axis]> {
        self.axes.iter().find(|(id, _)| *id == sweep).map(|(_, axes)| axes.as_slice())
    }

    fn step(&mut self, reader: &Reader<'_>, family: &Family<'_>, params: &Values, decoded: &Decoded) {
        let since = decoded.at.offset;
        match &decoded.step {
            Some(Step::Let(bindings)) => {
                for (name, binding) in &bindings.0 {
                    let since = reader.tree.place(name.0).offset;
                    let kind = binding.expr.map_or(Kind::Any, |expr| {
                        check_expression(reader.tree.text(expr.0), &self.names(Scope::Run(since))).kind
                    });
                    self.add(reader, *name, Sort::Let, kind, since);
                }
            }
            Some(Step::Measure(measure)) => {
                self.add(reader, measure.id, Sort::Measure, measure_kind(reader, family, measure), since);
            }
            Some(Step::Sweep(sweep)) => self.sweep(reader, family, params, sweep, since),
            Some(Step::Time(time)) => {
                let kind = match &time.arms {
                    None => time_metrics("time"),
                    Some(arms) => arms_kind(reader, arms, || time_metrics("arm")),
                };
                self.add(reader, time.id, Sort::Time, kind, since);
            }
            Some(Step::Storage(storage)) => {
                let of = storage.of.items.iter().map(|name| reader.tree.text(name.0).to_owned());
                let parts = of.map(|name| (name, Kind::metrics_where("relation", is_size))).collect();
                let kind = Kind::group("storage with relations", "relation", parts);
                self.add(reader, storage.id, Sort::Storage, kind, since);
            }
            Some(Step::Check(check)) => {
                for item in &check.items {
                    let Either::Map(named) = item else { continue };
                    for (name, expr) in &named.0 {
                        let since = reader.tree.place(name.0).offset;
                        let names = self.names(Scope::Claim(since));
                        let unit = check_expression(reader.tree.text(expr.0), &names).kind.unit();
                        self.add(reader, *name, Sort::Number, Kind::Interval(unit), since);
                    }
                }
            }
            Some(Step::Table(table)) => {
                if self.add(reader, table.id, Sort::Table, Kind::Any, since)
                    && matches!(reader.tree.text(table.id.0), "samples" | "summary")
                {
                    let message = format!(
                        "`{0}` cannot name a table: every run writes {0}.csv",
                        reader.tree.text(table.id.0)
                    );
                    reader.fault(reader.tree.place(table.id.0), message, "choose another name");
                }
            }
            Some(Step::Plot(plot)) => {
                self.add(reader, plot.id, Sort::Plot, Kind::Any, since);
            }
            Some(_) => {}
            None => self.broken(reader, decoded.node),
        }
    }

    fn sweep(
        &mut self,
        reader: &Reader<'_>,
        family: &Family<'_>,
        params: &Values,
        sweep: &Sweep,
        since: usize,
    ) {
        let axes = over::axes(reader, params, sweep);
        for (name, _) in &sweep.over.0 {
            let text = reader.tree.text(name.0);
            let other = self.known.iter().find(|known| known.name == text && known.sort != Sort::Parameter);
            if let Some(other) = other {
                let message =
                    format!("`{text}` is taken: there is {} in line {}", other.sort.noun(), other.line);
                reader.fault(reader.tree.place(name.0), message, "choose another name");
            }
        }
        let kind = axes.as_ref().map_or(Kind::Any, |axes| sweep_kind(reader, family, sweep, axes));
        let sort = if axes.is_some() { Sort::Sweep } else { Sort::Broken };
        self.add(reader, sweep.id, sort, kind, since);
        self.axes.extend(axes.map(|axes| (sweep.id.0, axes)));
    }

    /// What a step that could not be read would have named: nobody else is told that it is not defined.
    fn broken(&mut self, reader: &Reader<'_>, step: NodeId) {
        let tree = reader.tree;
        let Content::Map(entries) = &tree.node(step).content else { return };
        for (key, value) in entries {
            let Content::Map(inner) = &tree.node(*value).content else { continue };
            let names_itself = tree.text(*key) != "let";
            for (inner_key, inner_value) in inner {
                let id = if names_itself { inner_value } else { inner_key };
                if !names_itself || tree.text(*inner_key) == "id" {
                    self.known.push(Known {
                        name: tree.text(*id).to_owned(),
                        sort: Sort::Broken,
                        kind: Kind::Any,
                        since: 0,
                        line: tree.place(*id).line,
                    });
                }
            }
        }
    }

    fn add(&mut self, reader: &Reader<'_>, id: Name, sort: Sort, kind: Kind, since: usize) -> bool {
        let Some(name) = identifier(reader, id, sort.noun()) else { return false };
        let place = reader.tree.place(id.0);
        if let Some(other) = self.known.iter().find(|known| known.name == name) {
            let where_else = match other.line {
                0 => format!("{} of that name", other.sort.noun()),
                line => format!("{} in line {line}", other.sort.noun()),
            };
            let help = "params, lets, measures, named numbers, tables and plots share one namespace: choose another name";
            reader.fault(place, format!("`{name}` is taken: there is {where_else}"), help);
            return false;
        }
        self.known.push(Known { name, sort, kind, since, line: place.line });
        true
    }

    /// The names that can be seen.
    pub(super) fn names(&self, scope: Scope) -> Names {
        let seen = self.known.iter().filter(|known| visible(known, scope));
        seen.map(|known| (known.name.clone(), known.kind.clone())).collect()
    }

    /// Why a name that exists cannot be used here.
    pub(super) fn elsewhere(&self, name: &str, scope: Scope) -> Option<String> {
        let known = self.known.iter().find(|known| known.name == name)?;
        let noun = known.sort.noun();
        Some(match (scope, known.sort) {
            (_, Sort::Table | Sort::Plot) => format!("`{name}` is {noun}, and {noun} is no value"),
            (Scope::Params, _) => {
                format!("`{name}` is {noun}, known only once the notebook runs; parameters can be used here")
            }
            (Scope::Run(_), Sort::Let) | (Scope::Claim(_), _) => {
                format!(
                    "`{name}` is {noun} in line {}, and only what stands above can be used here",
                    known.line
                )
            }
            (Scope::Run(_), _) => {
                format!(
                    "`{name}` is {noun}; SQL and settings can use parameters and `let`, claims and text use measures"
                )
            }
            (Scope::Text, _) => return None,
        })
    }

    /// What the name is.
    pub(super) fn sort(&self, name: &str) -> Option<Sort> {
        self.known.iter().find(|known| known.name == name).map(|known| known.sort)
    }

    /// The arms of a measure; none for one without arms.
    pub(super) fn arms(&self, measure: &str) -> Vec<String> {
        let known = self.known.iter().find(|known| known.name == measure);
        match known.map(|known| &known.kind) {
            Some(Kind::Group(group)) if matches!(group.part, "arm" | "relation") => {
                let found_over_all =
                    |name: &&String| group.what == SWEEP && SWEEP_PARTS.contains(&name.as_str());
                group.parts.keys().filter(|name| !found_over_all(name)).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a measure, or one of its arms, can have the metric.
    pub(super) fn can_have(&self, subject: &Subject, metric: Metric) -> bool {
        let known = self.known.iter().find(|known| known.name == subject.measure);
        let Some(Kind::Group(group)) = known.map(|known| &known.kind) else { return false };
        let has = |kind: &Kind| matches!(kind, Kind::Group(group) if group.parts.contains_key(metric.name()));
        match (&subject.arm, group.part) {
            (_, "metric") => group.parts.contains_key(metric.name()),
            (Some(arm), _) => group.parts.get(arm).is_some_and(has),
            (None, _) => group.parts.values().all(has),
        }
    }

    /// Whether a name is known before that place in the file.
    pub(super) fn is_above(&self, name: &str, offset: usize) -> bool {
        self.known.iter().any(|known| known.name == name && known.since < offset)
    }

    /// The names of one sort, for advice.
    pub(super) fn all(&self, sort: Sort) -> impl Iterator<Item = &str> {
        self.known.iter().filter(move |known| known.sort == sort).map(|known| known.name.as_str())
    }
}

fn visible(known: &Known, scope: Scope) -> bool {
    match (scope, known.sort) {
        (_, Sort::Parameter | Sort::Broken) => true,
        (_, Sort::Table | Sort::Plot) | (Scope::Params, _) => false,
        (Scope::Run(here), Sort::Let) => known.since < here,
        (Scope::Run(_), _) => false,
        (Scope::Claim(here), _) => known.since < here,
        (Scope::Text, _) => true,
    }
}

fn measure_kind(reader: &Reader<'_>, family: &Family<'_>, measure: &Measure) -> Kind {
    let metrics = |what| Kind::metrics_where(what, |metric| !is_size(metric));
    match family.arms(reader, Base::of_measure(measure)) {
        None => metrics("measure"),
        Some(arms) => arms_kind(reader, arms, || metrics("arm")),
    }
}

/// What a sweep with arms is, in messages.
const SWEEP: &str = "sweep with arms";

/// What is found over all points of a sweep, beside its arms.
pub(super) const SWEEP_PARTS: [&str; 7] =
    ["at", "points", "crossing", "blocks_crossing", "cost_crossing", "flips", "regret"];

/// Points by arms, and what is found over all points.
fn sweep_kind(reader: &Reader<'_>, family: &Family<'_>, sweep: &Sweep, axes: &[Axis]) -> Kind {
    let points: Vec<_> =
        over::points(axes).into_iter().map(|point| (point.values().clone(), point.to_string())).collect();
    let probes = sweep.probe.iter().flat_map(|probe| &probe.0);
    let probes: Vec<String> = probes.map(|(name, _)| reader.tree.text(name.0).to_owned()).collect();
    let measure = reader.tree.text(sweep.id.0);
    let swept = |arm: Option<&str>| Swept {
        measure: measure.to_owned(),
        arm: arm.map(str::to_owned),
        points: points.clone(),
        picked: None,
    };
    let mut parts = found_over_all(sweep.crossing.is_some());
    match family.arms(reader, Base::of_sweep(sweep)) {
        None => Kind::swept("sweep", swept(None), &probes, parts),
        Some(arms) => {
            parts.extend(arms.0.iter().map(|(name, _)| {
                let name = reader.tree.text(name.0);
                (name.to_owned(), Kind::swept("arm of a sweep", swept(Some(name)), &probes, Names::new()))
            }));
            Kind::group(SWEEP, "arm", parts)
        }
    }
}

fn found_over_all(crossing: bool) -> Names {
    let numbers =
        |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Kind::Number)).collect::<Names>();
    let mut regret = numbers(&["ms_lo", "ms_hi", "ratio_lo", "ratio_hi"]);
    regret.extend(["ms", "ratio"].map(|name| (name.to_owned(), Kind::Estimated)));
    let mut parts = Names::from([("regret".to_owned(), Kind::group("regret", "number", regret))]);
    if crossing {
        let zone = ["lo", "hi", "x_lo", "x_hi"];
        for name in ["crossing", "blocks_crossing", "cost_crossing"] {
            let mut numbers = numbers(&zone);
            numbers.insert("count".to_owned(), Kind::Number);
            parts.insert(name.to_owned(), Kind::group("crossing", "number", numbers));
        }
        let mut flip = numbers(&zone);
        flip.extend(["before", "after"].map(|name| (name.to_owned(), Kind::Text)));
        parts.insert("flips".to_owned(), Kind::List(Box::new(Kind::group("flip", "part", flip))));
    }
    parts
}

fn arms_kind<T>(reader: &Reader<'_>, arms: &Entries<T>, kind: impl Fn() -> Kind) -> Kind {
    let parts = arms.0.iter().map(|(name, _)| (reader.tree.text(name.0).to_owned(), kind()));
    Kind::group("measure with arms", "arm", parts.collect())
}

/// What a `time` step can tell: times, rows, WAL and sizes, and nothing of a plan.
fn time_metrics(what: &'static str) -> Kind {
    const COUNTED: [Metric; 4] = [Metric::Rows, Metric::WalRecords, Metric::WalBytes, Metric::WalFpi];
    Kind::metrics_where(what, |metric| {
        matches!(metric.nature(), Nature::Timing | Nature::Size) || COUNTED.contains(&metric)
    })
}

fn is_size(metric: Metric) -> bool {
    metric.nature() == Nature::Size && metric != Metric::GrowthBytes
}
