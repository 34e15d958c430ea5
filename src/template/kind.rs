//! What a name stands for, as far as that is known before anything runs.

use std::collections::BTreeMap;

use crate::metric::{Metric, Nature, Unit};

use super::scalar::Scalar;

/// The names that a template may use.
pub type Names = BTreeMap<String, Kind>;

/// What a name or an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Not known before it is computed, such as the result of a query.
    Any,
    /// `true` or `false`
    Boolean,
    /// A number that is not a metric.
    Number,
    /// A number that was reckoned from metrics of one unit.
    Quantity(Unit),
    /// A number named by `check`, with `.lo` and `.hi`, the ends of its 95% interval; and its unit, where that is known.
    Interval(Option<Unit>),
    /// A number computed from times, which has an interval of its own: shown, and no ground for a claim.
    Estimated,
    /// One metric of a measure.
    Metric(Metric),
    /// Text
    Text,
    /// A list of things of one kind.
    List(Box<Kind>),
    /// A measure, an arm or the like: a thing with named parts and no value of its own.
    Group(Group),
}

/// A thing with named parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What it is, for messages: `measure`, `measure with arms`, `arm`.
    pub what: &'static str,
    /// What one of its parts is called: `metric`, `arm`.
    pub part: &'static str,
    /// The parts.
    pub parts: Names,
    /// For an arm of a sweep, and for its points: whose they are.
    pub swept: Option<Box<Swept>>,
}

/// An arm of a sweep with its points, which `.at(…)` picks from.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// The sweep.
    pub measure: String,
    /// The arm, where the sweep has arms.
    pub arm: Option<String>,
    /// The points: for each the values of the parameters, in their order, and how the point prints.
    pub points: Vec<(Vec<(String, Scalar)>, String)>,
    /// The one point that was picked.
    pub picked: Option<String>,
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
}

impl Kind {
    /// A group of named parts.
    #[must_use]
    pub fn group(what: &'static str, part: &'static str, parts: Names) -> Self {
        Self::Group(Group { what, part, parts, swept: None })
    }

    /// An arm of a sweep: `.points` lists its points, `.at(n=10)` picks one. A point has the metrics of the catalogue,
    /// `probes`, the swept parameters and `x`.
    #[must_use]
    pub fn swept(what: &'static str, swept: Swept, probes: &[String], others: Names) -> Self {
        let mut parts: Names = Metric::ALL
            .iter()
            .filter(|metric| metric.nature() != Nature::Size)
            .map(|metric| (metric.name().to_owned(), Self::Metric(*metric)))
            .collect();
        parts.extend(probes.iter().map(|probe| (probe.clone(), Self::Number)));
        parts.insert("x".to_owned(), Self::Number);
        let values = swept.points.first().into_iter().flat_map(|(values, _)| values);
        parts.extend(values.map(|(name, value)| (name.clone(), value.kind())));
        let point = Group { what: "point", part: "metric", parts, swept: Some(Box::new(swept.clone())) };
        let mut parts = others;
        parts.insert("points".to_owned(), Self::List(Box::new(Self::Group(point))));
        Self::Group(Group { what, part: "part", parts, swept: Some(Box::new(swept)) })
    }

    /// A measure or an arm: every metric of the catalogue.
    #[must_use]
    pub fn metrics(what: &'static str) -> Self {
        Self::metrics_where(what, |_| true)
    }

    /// A thing with those metrics of the catalogue that it can have.
    #[must_use]
    pub fn metrics_where(what: &'static str, has: impl Fn(Metric) -> bool) -> Self {
        let metrics = Metric::ALL.iter().copied().filter(|metric| has(*metric));
        let parts = metrics.map(|metric| (metric.name().to_owned(), Self::Metric(metric)));
        Self::group(what, "metric", parts.collect())
    }

    /// Whether it can be reckoned with.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Number | Self::Quantity(_) | Self::Interval(_) | Self::Estimated | Self::Metric(_)
        )
    }

    /// How a message names it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Boolean => "a truth value",
            Self::Number | Self::Quantity(_) | Self::Interval(_) | Self::Estimated | Self::Metric(_) => {
                "a number"
            }
            Self::Text => "a text",
            Self::List(_) => "a list",
            Self::Group(group) => match group.what {
                "arm" => "an arm",
                "loop" => "the loop",
                "point" => "a point",
                "crossing" => "a crossing",
                "regret" => "the regret",
                _ => "a measure",
            },
        }
    }

    /// What is known of something that is either of two.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        if self.is_number() && other.is_number() {
            return Self::number(self.unit().filter(|unit| other.unit() == Some(*unit)));
        }
        match (self, other) {
            (Self::Group(one), Self::Group(two)) => {
                let mut other_parts = two.parts;
                let parts = one.parts.into_iter().filter_map(|(name, kind)| {
                    let other = other_parts.remove(&name)?;
                    Some((name, kind.or(other)))
                });
                Self::Group(Group { what: one.what, part: one.part, parts: parts.collect(), swept: None })
            }
            (Self::List(one), Self::List(two)) => Self::List(Box::new(one.or(*two))),
            _ => Self::Any,
        }
    }
}
