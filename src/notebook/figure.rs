//! A `plot` step: which figure is made of which measures.

use crate::metric::Metric;

use super::model::{Subject, Template};

/// A `plot` step.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Names the files.
    pub id: String,
    /// What stands above it; the figure finds its own title where there is none.
    pub title: Option<String>,
    /// Markdown below it, evaluated when the report is rendered.
    pub caption: Option<Template>,
    /// Measures, all their arms, in order; or single arms. One sweep for [`PlotKind::Sweep`].
    pub of: Vec<Subject>,
    /// What it shows of them.
    pub kind: PlotKind,
    /// The axis of the values.
    pub scale: AxisScale,
}

/// The kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotKind {
    /// Every sample, its median and interval, one row per arm.
    Distribution,
    /// A metric over a sweep's points, one line per arm.
    Sweep {
        /// The metric.
        value: Metric,
        /// The axis of the parameter.
        x: AxisScale,
    },
    /// A metric, one bar per arm.
    Bars(Metric),
    /// Every sample in the order of execution, one strip per arm.
    Timeline,
}

impl PlotKind {
    /// The names of the kinds in a notebook.
    pub const NAMES: [&str; 4] = ["distribution", "sweep", "bars", "timeline"];

    /// Its name in a notebook.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Distribution => "distribution",
            Self::Sweep { .. } => "sweep",
            Self::Bars(_) => "bars",
            Self::Timeline => "timeline",
        }
    }
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AxisScale {
    /// Logarithmic where the values differ by much.
    #[default]
    Auto,
    /// Equal steps.
    Linear,
    /// Equal ratios.
    Log,
}

impl AxisScale {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Linear, Self::Log];

    /// Its name in a notebook.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Linear => "linear",
            Self::Log => "log",
        }
    }
}
