//! What a figure shows, as plain data.

use crate::metric::Unit;
use crate::notebook::AxisScale;
use crate::stats::Interval;

/// One figure.
#[derive(Debug, Clone)]
pub(in crate::render) struct Figure {
    /// What stands above it.
    pub title: String,
    /// How to read it, in a sentence below the title.
    pub reading: String,
    /// Where it comes from, in small print below it.
    pub source: String,
    /// What it shows, in words, for those who cannot see it.
    pub description: String,
    /// What is drawn.
    pub body: Body,
}

/// The kinds of figures.
#[derive(Debug, Clone)]
pub(in crate::render) enum Body {
    /// Every sample, one row per arm.
    Distribution(Samples),
    /// Every sample in order, one strip per arm.
    Timeline(Samples),
    /// One number per arm.
    Bars(Bars),
    /// Numbers of each arm over the values of a parameter.
    Sweep(Sweep),
}

/// What an axis measures.
#[derive(Debug, Clone)]
pub(in crate::render) struct Quantity {
    /// Its name, without the unit.
    pub name: String,
    /// Its unit.
    pub unit: Print,
}

/// How the values of an axis are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::render) enum Print {
    /// As metrics of that unit are.
    Unit(Unit),
    /// As percentages: 0.05 is 5%.
    Percent,
}

impl From<Unit> for Print {
    fn from(unit: Unit) -> Self {
        Self::Unit(unit)
    }
}

/// The samples of some arms.
#[derive(Debug, Clone)]
pub(in crate::render) struct Samples {
    pub quantity: Quantity,
    pub scale: AxisScale,
    pub rows: Vec<Row>,
}

/// What a reader calls an arm.
#[derive(Debug, Clone)]
pub(in crate::render) struct Name {
    /// The measure that it belongs to, where a figure shows the arms of several: it stands above them once.
    pub group: Option<String>,
    /// The arm.
    pub label: String,
}

/// The samples of one arm.
#[derive(Debug, Clone)]
pub(in crate::render) struct Row {
    pub name: Name,
    /// The samples of each turn, in order.
    pub turns: Vec<Vec<f64>>,
    /// Their median.
    pub median: Option<f64>,
    /// Its 95% interval, where there are turns enough.
    pub interval: Option<Interval>,
    /// Shown where there are no samples, such as "not measured".
    pub absent: &'static str,
}

impl Row {
    /// All samples in order.
    pub(super) fn samples(&self) -> impl Iterator<Item = f64> {
        self.turns.iter().flatten().copied()
    }
}

/// One number per arm.
#[derive(Debug, Clone)]
pub(in crate::render) struct Bars {
    pub quantity: Quantity,
    pub bars: Vec<Bar>,
    /// Whether they are blocks, of which those that were read are shown apart.
    pub split: bool,
}

/// One bar.
#[derive(Debug, Clone)]
pub(in crate::render) struct Bar {
    pub name: Name,
    /// Its value; absent where there is none.
    pub value: Option<f64>,
    /// How much of the value was read, where blocks are split.
    pub read: Option<f64>,
    /// The value's 95% interval, of medians.
    pub interval: Option<Interval>,
    /// Shown where there is no value, such as "not measured".
    pub absent: &'static str,
}

/// Numbers of each arm over the values of a parameter.
#[derive(Debug, Clone)]
pub(in crate::render) struct Sweep {
    /// What stands on the horizontal axis.
    pub x: Quantity,
    pub x_scale: AxisScale,
    /// What is printed at 0, 1, 2 … where the values of the parameter are no numbers.
    pub categories: Vec<String>,
    /// What the planner chose, in ascending order.
    pub bands: Vec<Band>,
    /// What was measured, then what was estimated.
    pub panels: Vec<Panel>,
}

/// One field of lines over the shared horizontal axis.
#[derive(Debug, Clone)]
pub(in crate::render) struct Panel {
    pub quantity: Quantity,
    pub scale: AxisScale,
    pub lines: Vec<Line>,
    pub zones: Vec<Zone>,
    /// Whether it is the one that the figure is about, and not beside it for comparison.
    pub main: bool,
}

/// The line of one arm.
#[derive(Debug, Clone)]
pub(in crate::render) struct Line {
    /// What a reader calls the arm.
    pub name: String,
    /// The arm's number: the same colour, marker and dashes in all panels.
    pub series: usize,
    /// Whether the planner was free in it.
    pub free: bool,
    /// In ascending order of `x`.
    pub spots: Vec<Spot>,
}

impl Line {
    /// Whether nothing of it was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.spots.iter().all(|spot| spot.y.is_none())
    }

    /// What stands beside it: its name, and that it was not measured where that is so.
    pub(super) fn label(&self) -> String {
        let name = super::font::clean(&self.name);
        if self.is_empty() { format!("{name}: {}", crate::number::NOT_MEASURED) } else { name }
    }
}

/// One value of a line.
#[derive(Debug, Clone, Copy)]
pub(in crate::render) struct Spot {
    pub x: f64,
    /// Absent where it was not measured: the line has a gap there.
    pub y: Option<f64>,
    pub interval: Option<Interval>,
}

/// A stretch in which the planner's choice is the same.
#[derive(Debug, Clone)]
pub(in crate::render) struct Band {
    pub lo: f64,
    pub hi: f64,
    /// What it chose.
    pub node: String,
}

/// A stretch in which neither of two arms surely wins.
#[derive(Debug, Clone)]
pub(in crate::render) struct Zone {
    pub lo: f64,
    pub hi: f64,
    /// What it is.
    pub label: String,
    /// What is so below it, and above it.
    pub sides: [String; 2],
}
