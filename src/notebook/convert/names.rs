//! The one namespace of a notebook: parameters, lets, measures, named numbers and tables.

use crate::metric::{Metric, Nature};
use crate::template::{Kind, Names, check_expression};

use super::super::de::Reader;
use super::super::model::Values;
use super::super::node::{Content, NodeId};
use super::super::wire::{Either, Entries, Measure, Name, Step};
use super::inherit::Family;
use super::steps::Decoded;
use super::values::identifier;

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
    Time,
    Storage,
    Number,
    Table,
    /// The id of a step that could not be read.
    Broken,
}

impl Sort {
    fn noun(self) -> &'static str {
        match self {
            Self::Parameter => "a parameter",
            Self::Let => "a `let`",
            Self::Measure => "a measure",
            Self::Time => "a `time`",
            Self::Storage => "a `storage`",
            Self::Number => "a named number",
            Self::Table => "a table",
            Self::Broken => "a step",
        }
    }
}

/// One name.
#[derive(Debug)]
struct Known {
    name: String,
    sort: Sort,
    kind: Kind,
    /// Where it begins to be known.
    since: usize,
    line: usize,
}

/// Every name of the notebook.
#[derive(Debug, Default)]
pub(super) struct World {
    known: Vec<Known>,
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
            world.step(reader, &family, decoded);
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
        Self { known: known.collect() }
    }

    fn step(&mut self, reader: &Reader<'_>, family: &Family<'_>, decoded: &Decoded) {
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
                    for (name, _) in &named.0 {
                        self.add(
                            reader,
                            *name,
                            Sort::Number,
                            Kind::Interval,
                            reader.tree.place(name.0).offset,
                        );
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
            Some(_) => {}
            None => self.broken(reader, decoded.node),
        }
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
            let help =
                "params, lets, measures, named numbers and tables share one namespace: choose another name";
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
            (_, Sort::Table) => format!("`{name}` is a table, and a table is no value"),
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
                group.parts.keys().cloned().collect()
            }
            _ => Vec::new(),
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
        (_, Sort::Table) | (Scope::Params, _) => false,
        (Scope::Run(here), Sort::Let) => known.since < here,
        (Scope::Run(_), _) => false,
        (Scope::Claim(here), _) => known.since < here,
        (Scope::Text, _) => true,
    }
}

fn measure_kind(reader: &Reader<'_>, family: &Family<'_>, measure: &Measure) -> Kind {
    let metrics = |what| Kind::metrics_where(what, |metric| !is_size(metric));
    match family.arms(reader, measure) {
        None => metrics("measure"),
        Some(arms) => arms_kind(reader, arms, || metrics("arm")),
    }
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
