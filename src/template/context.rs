//! The values that a template sees.

use std::collections::BTreeMap;

use minijinja::Value;

use crate::metric::Metric;

use super::check::{Checked, MetricUse};
use super::kind::{Kind, Names};

/// A value of a parameter, a `let` or a named number.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// `true` or `false`
    Boolean(bool),
    /// An integer
    Integer(i64),
    /// Any other number
    Float(f64),
    /// Text
    Text(String),
}

impl Scalar {
    /// What a template knows of it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Boolean(_) => Kind::Boolean,
            Self::Integer(_) | Self::Float(_) => Kind::Number,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Its size, where it is a number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            Self::Boolean(_) | Self::Text(_) => None,
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Boolean(boolean) => Value::from(*boolean),
            Self::Integer(integer) => Value::from(*integer),
            Self::Float(float) => Value::from(*float),
            Self::Text(text) => Value::from(text.as_str()),
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Boolean(boolean) => boolean.fmt(f),
            Self::Integer(integer) => integer.fmt(f),
            Self::Float(float) => float.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Values by name. What is absent is undefined: an expression that needs it has no value, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Scalar(Scalar),
    Interval { value: f64, low: Option<f64>, high: Option<f64> },
    Metrics(BTreeMap<String, f64>),
    Arms(BTreeMap<String, BTreeMap<String, f64>>),
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

    /// Binds a named number and the ends of its interval, `name.lo` and `name.hi`. A number without an
    /// interval (it used no timing) is exact: both ends are the number itself.
    pub fn set_interval(&mut self, name: &str, value: f64, low: Option<f64>, high: Option<f64>) {
        self.entries.insert(name.to_owned(), Entry::Interval { value, low, high });
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
        checked
            .metrics
            .iter()
            .filter(|used| !self.has_metric(&used.measure, used.arm.as_deref(), used.metric))
    }

    fn has_metric(&self, measure: &str, arm: Option<&str>, metric: Metric) -> bool {
        match (self.entries.get(measure), arm) {
            (Some(Entry::Metrics(metrics)), None) => metrics.contains_key(metric.name()),
            (Some(Entry::Arms(arms)), Some(arm)) => {
                arms.get(arm).is_some_and(|metrics| metrics.contains_key(metric.name()))
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
        self.entries.iter().map(|(name, entry)| (name.clone(), entry.kind())).collect()
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
                Entry::Interval { value, low, high } => {
                    values.insert(end_name(name, "lo"), number(low.unwrap_or(*value)));
                    values.insert(end_name(name, "hi"), number(high.unwrap_or(*value)));
                    number(*value)
                }
                Entry::Metrics(metrics) => numbers(metrics),
                Entry::Arms(arms) => {
                    object(arms.iter().map(|(arm, metrics)| (arm.clone(), numbers(metrics))))
                }
            };
            values.insert(name.clone(), value);
        }
        object(values)
    }
}

impl Entry {
    fn kind(&self) -> Kind {
        match self {
            Self::Scalar(scalar) => scalar.kind(),
            Self::Interval { .. } => Kind::Interval,
            Self::Metrics(_) => Kind::metrics("measure"),
            Self::Arms(arms) => {
                let parts = arms.keys().map(|arm| (arm.clone(), Kind::metrics("arm")));
                Kind::group("measure with arms", "arm", parts.collect())
            }
        }
    }
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

/// Whole numbers become integers, so that they print without a decimal point.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Value::from(value as i64);
    }
    Value::from(value)
}
