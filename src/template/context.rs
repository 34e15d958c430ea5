//! The values that a template sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;

use crate::metric::Unit;

use super::check::{Checked, MetricUse};
use super::kind::{Kind, Names, Swept};
use super::scalar::{Scalar, number};

/// Values by name. What is absent is undefined: an expression that needs it has no value, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Scalar(Scalar),
    Interval { value: f64, ends: Option<(f64, f64)>, unit: Option<Unit> },
    Metrics(BTreeMap<String, f64>),
    Arms(BTreeMap<String, BTreeMap<String, f64>>),
    Sweep(Arc<Sweep>),
}

/// A sweep: points by arms, and what was found over all points.
#[derive(Debug, Clone, Default, PartialEq)]
struct Sweep {
    /// By the arm's id; one under the empty name where the sweep has no arms.
    arms: BTreeMap<String, Vec<PointValues>>,
    parts: BTreeMap<String, Part>,
}

/// One arm at one point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct PointValues {
    /// The values of the parameters, in their order.
    pub values: Vec<(String, Scalar)>,
    /// How the point prints.
    pub printed: String,
    /// Where it stands on the axis, as far as that is a number.
    pub x: Option<f64>,
    /// Metrics by their names, those that were not reported left out.
    pub metrics: Arc<BTreeMap<String, f64>>,
    /// Metrics from SQL by their names.
    pub probes: Arc<BTreeMap<String, f64>>,
}

/// What was found over all points of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Numbers by name, exact or conservative; those that do not exist are known and have no value.
    Numbers(BTreeMap<String, Option<f64>>),
    /// Numbers by name; those named here were estimated from times, with `_lo` and `_hi` beside them.
    Estimates(BTreeMap<String, Option<f64>>, &'static [&'static str]),
    /// Things in order, each with the same named values.
    List(Vec<BTreeMap<String, Scalar>>),
}

impl Context {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parameters or lets.
    #[must_use]
    pub fn with(mut self, values: &[(String, Scalar)]) -> Self {
        for (name, value) in values {
            self.set(name, value.clone());
        }
        self
    }

    /// Binds a name to a scalar.
    pub fn set(&mut self, name: &str, value: Scalar) {
        self.entries.insert(name.to_owned(), Entry::Scalar(value));
    }

    /// Binds a named number and the ends of its interval, `name.lo` and `name.hi`, which are the number itself where it
    /// is exact. Without ends, which too few turns leave unknown, those two have no value.
    pub fn set_interval(&mut self, name: &str, value: f64, ends: Option<(f64, f64)>, unit: Option<Unit>) {
        self.entries.insert(name.to_owned(), Entry::Interval { value, ends, unit });
    }

    /// Binds a measure without arms to its metrics, by their names. Leave out what was not reported.
    pub fn set_measure(&mut self, name: &str, metrics: BTreeMap<String, f64>) {
        self.entries.insert(name.to_owned(), Entry::Metrics(metrics));
    }

    /// Binds one arm of a measure to its metrics.
    pub fn set_arm(&mut self, measure: &str, arm: &str, metrics: BTreeMap<String, f64>) {
        let entry = self.entries.entry(measure.to_owned()).or_insert_with(|| Entry::Arms(BTreeMap::new()));
        if let Entry::Arms(arms) = entry {
            arms.insert(arm.to_owned(), metrics);
        } else {
            *entry = Entry::Arms(BTreeMap::from([(arm.to_owned(), metrics)]));
        }
    }

    /// Binds one arm of a sweep at one point; `arm` is empty where the sweep has no arms.
    pub fn set_point(&mut self, sweep: &str, arm: &str, point: PointValues) {
        self.change_sweep(sweep, |sweep| {
            let points = sweep.arms.entry(arm.to_owned()).or_default();
            match points.iter_mut().find(|known| known.printed == point.printed) {
                Some(known) => *known = point,
                None => points.push(point),
            }
        });
    }

    /// Replaces metrics of one arm at one point of a sweep that is bound.
    pub fn replace_at(&mut self, sweep: &str, arm: &str, printed: &str, metrics: BTreeMap<String, f64>) {
        self.change_sweep(sweep, |sweep| {
            let mut points = sweep.arms.get_mut(arm).into_iter().flatten();
            if let Some(point) = points.find(|known| known.printed == printed) {
                Arc::make_mut(&mut point.metrics).extend(metrics);
            }
        });
    }

    /// Binds what was found over all points of a sweep.
    pub fn set_part(&mut self, sweep: &str, name: &str, part: Part) {
        self.change_sweep(sweep, |sweep| {
            sweep.parts.insert(name.to_owned(), part);
        });
    }

    fn change_sweep(&mut self, name: &str, change: impl FnOnce(&mut Sweep)) {
        let mut sweep = match self.entries.remove(name) {
            Some(Entry::Sweep(sweep)) => sweep,
            _ => Arc::default(),
        };
        change(Arc::make_mut(&mut sweep));
        self.entries.insert(name.to_owned(), Entry::Sweep(sweep));
    }

    /// How the point of a sweep prints that has those values.
    pub(super) fn point_of(&self, sweep: &str, arguments: &[(String, Scalar)]) -> Option<String> {
        let Some(Entry::Sweep(sweep)) = self.entries.get(sweep) else { return None };
        let arm = sweep.arms.values().max_by_key(|points| points.len())?;
        swept("", None, arm).find(arguments).map(str::to_owned)
    }

    /// The scalar of that name.
    #[must_use]
    pub fn scalar(&self, name: &str) -> Option<&Scalar> {
        match self.entries.get(name) {
            Some(Entry::Scalar(scalar)) => Some(scalar),
            _ => None,
        }
    }

    /// The metrics that a template uses and that have no value.
    pub(super) fn missing<'c>(&self, checked: &'c Checked) -> impl Iterator<Item = &'c MetricUse> {
        checked.metrics.iter().filter(|used| !used.one_of_many && !self.has_metric(used))
    }

    fn has_metric(&self, used: &MetricUse) -> bool {
        let name = used.metric.name();
        match (self.entries.get(&used.measure), used.arm.as_deref()) {
            (Some(Entry::Metrics(metrics)), None) => metrics.contains_key(name),
            (Some(Entry::Arms(arms)), Some(arm)) => {
                arms.get(arm).is_some_and(|metrics| metrics.contains_key(name))
            }
            (Some(Entry::Sweep(sweep)), arm) => {
                let mut points = sweep.arms.get(arm.unwrap_or_default()).into_iter().flatten();
                let found = points.find(|point| Some(&point.printed) == used.point.as_ref());
                found.is_some_and(|point| point.metrics.contains_key(name))
            }
            _ => false,
        }
    }

    /// Whether the name is a number with an interval.
    pub(super) fn is_interval(&self, name: &str) -> bool {
        matches!(self.entries.get(name), Some(Entry::Interval { .. }))
    }

    /// What is known of each name. Every metric of a measure is known, reported or not: one that was not
    /// reported is undefined when it is evaluated, and that is another matter than a misspelt name.
    #[must_use]
    pub fn names(&self) -> Names {
        self.entries.iter().map(|(name, entry)| (name.clone(), entry.kind(name))).collect()
    }

    /// What minijinja sees.
    pub(super) fn values(&self) -> Value {
        Self::object_of(self.entries.iter())
    }

    /// What minijinja sees of some names.
    pub(super) fn values_of(&self, names: &[String]) -> Value {
        Self::object_of(names.iter().filter_map(|name| self.entries.get_key_value(name)))
    }

    fn object_of<'e>(entries: impl Iterator<Item = (&'e String, &'e Entry)>) -> Value {
        let mut values = BTreeMap::new();
        for (name, entry) in entries {
            let value = match entry {
                Entry::Scalar(scalar) => scalar.value(),
                Entry::Interval { value, ends, .. } => {
                    if let Some((low, high)) = ends {
                        values.insert(end_name(name, "lo"), number(*low));
                        values.insert(end_name(name, "hi"), number(*high));
                    }
                    number(*value)
                }
                Entry::Metrics(metrics) => numbers(metrics),
                Entry::Arms(arms) => {
                    object(arms.iter().map(|(arm, metrics)| (arm.clone(), numbers(metrics))))
                }
                Entry::Sweep(sweep) => sweep.value(),
            };
            values.insert(name.clone(), value);
        }
        object(values)
    }
}

impl Entry {
    fn kind(&self, name: &str) -> Kind {
        match self {
            Self::Scalar(scalar) => scalar.kind(),
            Self::Sweep(sweep) => sweep.kind(name),
            Self::Interval { unit, .. } => Kind::Interval(*unit),
            Self::Metrics(_) => Kind::metrics("measure"),
            Self::Arms(arms) => {
                let parts = arms.keys().map(|arm| (arm.clone(), Kind::metrics("arm")));
                Kind::group("measure with arms", "arm", parts.collect())
            }
        }
    }
}

impl Sweep {
    fn value(&self) -> Value {
        let parts = self.parts.iter().map(|(name, part)| {
            let value = match part {
                Part::Numbers(numbers) | Part::Estimates(numbers, _) => {
                    object(numbers.iter().filter_map(|(name, value)| Some((name.clone(), number((*value)?)))))
                }
                Part::List(items) => Value::from(items.iter().map(scalars).collect::<Vec<_>>()),
            };
            (name.clone(), value)
        });
        let arms = self.arms.iter().flat_map(|(arm, points)| {
            let own = points_value(points);
            // Without arms, the sweep itself has the points.
            if arm.is_empty() { own } else { BTreeMap::from([(arm.clone(), object(own))]) }
        });
        object(parts.chain(arms))
    }

    fn kind(&self, name: &str) -> Kind {
        let part = |(name, part): (&String, &Part)| (name.clone(), part.kind(name));
        let mut parts: Names = self.parts.iter().map(part).collect();
        for (arm, points) in &self.arms {
            let probes: Vec<String> = points.iter().flat_map(|point| point.probes.keys().cloned()).collect();
            if arm.is_empty() {
                return Kind::swept("sweep", swept(name, None, points), &probes, parts);
            }
            let kind = Kind::swept("arm of a sweep", swept(name, Some(arm), points), &probes, Names::new());
            parts.insert(arm.clone(), kind);
        }
        Kind::group("sweep with arms", "arm", parts)
    }
}

impl Part {
    fn kind(&self, name: &str) -> Kind {
        let what = if name == "regret" { "regret" } else { "crossing" };
        match self {
            Self::Numbers(numbers) => {
                Kind::group(what, "number", numbers.keys().map(|key| (key.clone(), Kind::Number)).collect())
            }
            Self::Estimates(numbers, estimated) => {
                let kind = |key: &String| match estimated.contains(&key.as_str()) {
                    true => Kind::Estimated,
                    false => Kind::Number,
                };
                let parts = numbers.keys().map(|key| (key.clone(), kind(key)));
                Kind::group(what, "number", parts.collect())
            }
            Self::List(items) => {
                let Some(first) = items.first() else { return Kind::List(Box::new(Kind::Any)) };
                let parts = first.iter().map(|(key, value)| (key.clone(), value.kind())).collect();
                Kind::List(Box::new(Kind::group("flip", "part", parts)))
            }
        }
    }
}

fn swept(sweep: &str, arm: Option<&String>, points: &[PointValues]) -> Swept {
    Swept {
        measure: sweep.to_owned(),
        arm: arm.cloned(),
        points: points.iter().map(|point| (point.values.clone(), point.printed.clone())).collect(),
        picked: None,
    }
}

/// All points as a list, and each under its own name.
fn points_value(points: &[PointValues]) -> BTreeMap<String, Value> {
    let value = |point: &PointValues| {
        let metrics = point.metrics.iter().chain(point.probes.iter());
        let metrics = metrics.map(|(name, value)| (name.clone(), number(*value)));
        let values = point.values.iter().map(|(name, value)| (name.clone(), value.value()));
        let x = point.x.map(|x| ("x".to_owned(), number(x)));
        object(metrics.chain(values).chain(x))
    };
    let values: Vec<Value> = points.iter().map(value).collect();
    let mut named: BTreeMap<String, Value> =
        points.iter().map(|point| point.printed.clone()).zip(values.iter().cloned()).collect();
    named.insert("points".to_owned(), Value::from(values));
    named
}

fn scalars(values: &BTreeMap<String, Scalar>) -> Value {
    object(values.iter().map(|(name, value)| {
        let value = value.number().map_or_else(|| value.value(), number);
        (name.clone(), value)
    }))
}

/// What `speedup.lo` is called inside: numbers have no attributes. Identifiers of a notebook are lower case,
/// so the name is free.
pub(super) fn end_name(name: &str, end: &str) -> String {
    format!("{name}_{}", end.to_ascii_uppercase())
}

fn object(entries: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::from_object(entries.into_iter().collect::<BTreeMap<_, _>>())
}

fn numbers(metrics: &BTreeMap<String, f64>) -> Value {
    object(metrics.iter().map(|(name, value)| (name.clone(), number(*value))))
}
