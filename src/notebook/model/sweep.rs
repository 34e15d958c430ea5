//! Sweeps: a measure at the points that parameters make.

use crate::metric::Metric;
use crate::notebook::point::Point;
use crate::template::{self, Context, Scalar, TemplateError};

use super::{Arm, Dataset, Measure, Settings, SetupStep, Template};

/// A `sweep` step: a measure repeated over the values of parameters.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What is measured at every point. Of its expectations those are here that hold at any point, also at one that is
    /// added in search of the crossing.
    pub measure: Measure,
    /// The parameters, in order; the points are all combinations of their values.
    pub axes: Vec<Axis>,
    /// The points in order, the last parameter changing fastest, each with its own expectations.
    pub points: Vec<SweepPoint>,
    /// What a reader sees instead of the parameter.
    pub x: Option<X>,
    /// Settings of the notebook and the sweep, without those of any arm.
    pub settings: Settings,
    /// What prepares the database that each point has to itself.
    pub setup: Vec<SetupStep>,
    /// Whether each point has a database to itself.
    pub fresh: bool,
    /// Metrics of its own: a name and a query with one number, executed in each arm's database at each point.
    pub probes: Vec<(String, Template)>,
    /// The search for the point where two arms cross.
    pub crossing: Option<Crossing>,
}

impl Sweep {
    /// The arm in which the planner is free: the first whose settings for the planner are those of the sweep.
    #[must_use]
    pub fn free_arm(&self) -> Option<&Arm> {
        let arms = &self.measure.arms;
        arms.iter().find(|arm| {
            arm.within.is_none() && planner_settings(&arm.settings).eq(planner_settings(&self.settings))
        })
    }

    /// The arm of that id.
    #[must_use]
    pub fn arm(&self, id: &str) -> Option<&Arm> {
        self.measure.arms.iter().find(|arm| arm.id.as_deref() == Some(id))
    }

    /// The listed point, with its own expectations and dataset; none for one that was added.
    #[must_use]
    pub fn listed(&self, point: &Point) -> Option<&SweepPoint> {
        self.points.iter().find(|listed| listed.point == *point)
    }

    /// The arms as they are judged at a point.
    #[must_use]
    pub fn arms_at(&self, point: &Point) -> &[Arm] {
        self.listed(point).map_or(&self.measure.arms, |listed| &listed.arms)
    }

    /// Whether each point's database is another than the notebook's.
    #[must_use]
    pub fn has_own_databases(&self) -> bool {
        self.fresh || self.points.iter().any(|point| point.dataset.is_some())
    }
}

/// The settings that bear on which plan is chosen, and not only on how it is executed.
fn planner_settings(settings: &Settings) -> impl Iterator<Item = (&String, &str)> {
    const WORDS: [&str; 9] = [
        "enable_",
        "_cost",
        "geqo",
        "_collapse_limit",
        "effective_cache_size",
        "plan_cache_mode",
        "constraint_exclusion",
        "cursor_tuple_fraction",
        "min_parallel_",
    ];
    let planner = |name: &str| WORDS.iter().any(|word| name.contains(word));
    let chosen = settings.iter().filter(move |(name, _)| planner(name));
    chosen.map(|(name, value)| (name, value.text.as_str()))
}

/// One parameter of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, all of one kind, in the order in which they are measured; no two alike.
    pub values: Vec<Scalar>,
}

impl Axis {
    /// Whether all values are numbers.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| value.number().is_some())
    }

    /// Whether all values are whole numbers, and so those between them are.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.values.iter().all(|value| matches!(value, Scalar::Integer(_)))
    }
}

/// A point that the notebook lists.
#[derive(Debug, Clone)]
pub struct SweepPoint {
    /// Its values.
    pub point: Point,
    /// The arms with the expectations that hold here.
    pub arms: Vec<Arm>,
    /// The dataset that it starts from, where that depends on a swept parameter.
    pub dataset: Option<Dataset>,
}

/// What stands on the axis of a sweep's figures and in the first column of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct X {
    /// What it is.
    pub label: String,
    /// An expression over parameters, lets and the swept parameters.
    pub expr: Template,
    /// How it is printed.
    pub format: XFormat,
}

impl X {
    /// Where a point stands on the axis, by its own values beside those that are known.
    ///
    /// # Errors
    /// As [`template::evaluate`], and a value that is no number; the message names the point.
    pub fn at(&self, known: Context, point: &Point) -> Result<f64, TemplateError> {
        let found = template::evaluate(&self.expr.text, &known.with(point.values())).and_then(|value| {
            let message = || format!("the result is `{value}`, and an axis has numbers");
            value.number().ok_or_else(|| TemplateError::whole(&self.expr.text, message()))
        });
        found.map_err(|error| TemplateError {
            message: format!("{}, where {}", error.message, point.arguments()),
            help: Some("write an expression that is a number at every point".to_owned()),
            ..error
        })
    }
}

/// How the value of a point is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XFormat {
    /// As a number.
    Number,
    /// A share, in percent.
    Percent,
    /// A size, with its unit.
    Bytes,
    /// Milliseconds, with their unit.
    Milliseconds,
}

impl XFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Number, Self::Percent, Self::Bytes, Self::Milliseconds];

    /// As a notebook writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Percent => "percent",
            Self::Bytes => "bytes",
            Self::Milliseconds => "ms",
        }
    }
}

/// `crossing` of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossing {
    /// The ids of the two arms.
    pub of: [String; 2],
    /// By which metric the points between are found: the median, blocks or the estimated cost.
    pub metric: Metric,
}
