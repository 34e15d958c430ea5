//! What a name stands for, as far as that is known before anything runs.

use std::collections::BTreeMap;

use crate::metric::Metric;

/// The names that a template may use.
pub type Names = BTreeMap<String, Kind>;

/// What a name or an expression stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Not known before it is computed, such as the result of a query.
    Any,
    /// `true` or `false`
    Boolean,
    /// A number that is not a metric.
    Number,
    /// A number named by `check`, with `.lo` and `.hi`, the ends of its 95% interval.
    Interval,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What it is, for messages: `measure`, `measure with arms`, `arm`.
    pub what: &'static str,
    /// What one of its parts is called: `metric`, `arm`.
    pub part: &'static str,
    /// The parts.
    pub parts: Names,
}

impl Kind {
    /// A group of named parts.
    #[must_use]
    pub fn group(what: &'static str, part: &'static str, parts: Names) -> Self {
        Self::Group(Group { what, part, parts })
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
        matches!(self, Self::Number | Self::Interval | Self::Metric(_))
    }

    /// How a message names it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Boolean => "a truth value",
            Self::Number | Self::Interval | Self::Metric(_) => "a number",
            Self::Text => "a text",
            Self::List(_) => "a list",
            Self::Group(group) => match group.what {
                "arm" => "an arm",
                "loop" => "the loop",
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
            return Self::Number;
        }
        match (self, other) {
            (Self::Group(one), Self::Group(two)) => {
                let mut other_parts = two.parts;
                let parts = one.parts.into_iter().filter_map(|(name, kind)| {
                    let other = other_parts.remove(&name)?;
                    Some((name, kind.or(other)))
                });
                Self::Group(Group { what: one.what, part: one.part, parts: parts.collect() })
            }
            (Self::List(one), Self::List(two)) => Self::List(Box::new(one.or(*two))),
            _ => Self::Any,
        }
    }
}
