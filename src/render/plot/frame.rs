//! What all figures have around them: title, source, names, values, ticks.

use super::Layout;
use super::canvas::{Anchor, Canvas, Fill, Point};
use super::font::{self, LABEL, NOTE, SMALL, TITLE, VALUE};
use super::ink::Ink;
use super::model::{Figure, Name, Quantity};
use super::scale::Scale;
use crate::number;
use crate::stats::Interval;

/// Pixels around everything.
pub(super) const PAD: f64 = 16.0;
/// Height of the name of a group.
const GROUP: f64 = 30.0;
/// Pixels between columns.
pub(super) const GAP: f64 = 12.0;

/// Title and how to read it; gives where the figure's body begins.
pub(super) fn head(canvas: &mut Canvas<'_>, figure: &Figure) -> f64 {
    let room = canvas.width() - 2.0 * PAD;
    let title = font::clean(&figure.title);
    let lines = TITLE.wrap(&title, room, 3);
    let mut y = PAD + TITLE.size;
    y = canvas.lines((PAD, y), &lines, &title, (TITLE, Ink::Strong, Anchor::Start));
    let reading = font::clean(&figure.reading);
    let lines = NOTE.wrap(&reading, room, 4);
    y = canvas.lines((PAD, y), &lines, &reading, (NOTE, Ink::Soft, Anchor::Start));
    y - NOTE.size + 10.0
}

/// The source; gives the figure's height.
pub(super) fn foot(canvas: &mut Canvas<'_>, figure: &Figure, bottom: f64) -> f64 {
    let source = font::clean(&figure.source);
    let text = SMALL.fit(&source, canvas.width() - 2.0 * PAD);
    let baseline = bottom + SMALL.size + 10.0;
    canvas.text((PAD, baseline), &text, &source, (SMALL, Ink::Soft, Anchor::Start));
    (baseline + PAD * 0.7).ceil()
}

/// The columns of a figure whose rows are arms: names, the field, values.
#[derive(Debug)]
pub(super) struct Columns {
    /// Where the field begins and ends.
    pub field: (f64, f64),
    /// How wide names may be.
    pub names: f64,
    layout: Layout,
}

/// `[1.61 – 2.00]`, in the unit in which the median prints.
pub(super) fn bracketed(median: f64, interval: Interval) -> String {
    let text = number::milliseconds_within(median, interval.lo, interval.hi);
    text.split_once('[').map_or(String::new(), |(_, interval)| format!("[{interval}"))
}

impl Columns {
    /// Columns as wide as their longest texts, within bounds. `values` is the width of the right one.
    pub(super) fn new<'l>(
        canvas: &Canvas<'_>,
        layout: Layout,
        names: impl Iterator<Item = &'l Name>,
        values: f64,
    ) -> Self {
        const WIDEST: f64 = 208.0;
        let right = canvas.width() - PAD;
        match layout {
            Layout::Wide => {
                let names =
                    names.map(|name| LABEL.width(&font::clean(&name.label)).ceil()).fold(0.0, f64::max);
                let names = names.min(WIDEST);
                Self { field: (PAD + names + GAP, right - values - GAP), names, layout }
            }
            Layout::Narrow => Self { field: (PAD, right), names: right - PAD, layout },
        }
    }

    /// The lines of a name.
    fn lines(&self, name: &Name) -> Vec<String> {
        LABEL.wrap(&font::clean(&name.label), self.names, 2)
    }

    /// Draws name and value of a row, and gives where the row's field begins. `value` is printed bold, `beside` soft.
    pub(super) fn caption(
        &self,
        canvas: &mut Canvas<'_>,
        name: &Name,
        (value, beside): (&str, &str),
        (top, height): (f64, f64),
    ) -> f64 {
        let (whole, lines) = (font::clean(&name.label), self.lines(name));
        let name = (LABEL, Ink::Strong, Anchor::Start);
        match self.layout {
            Layout::Wide => {
                let block = LABEL.leading() * (lines.len() as f64 - 1.0);
                let middle = top + height / 2.0 + LABEL.size * 0.36;
                canvas.lines((PAD, middle - block / 2.0), &lines, &whole, name);
                let x = self.field.1 + GAP;
                let lift = if beside.is_empty() { 0.0 } else { NOTE.leading() / 2.0 };
                canvas.text((x, middle - lift), value, value, (VALUE, Ink::Strong, Anchor::Start));
                canvas.text((x, middle + lift), beside, beside, (NOTE, Ink::Soft, Anchor::Start));
                top
            }
            Layout::Narrow => {
                let mut y = canvas.lines((PAD, top + LABEL.size), &lines, &whole, name);
                canvas.text((PAD, y), value, value, (VALUE, Ink::Strong, Anchor::Start));
                let x = PAD + VALUE.width(value) + 8.0;
                canvas.text((x, y), beside, beside, (NOTE, Ink::Soft, Anchor::Start));
                y += 6.0;
                y
            }
        }
    }

    /// The name of a row's group, where it is another than that of the row before; gives where the row begins.
    pub(super) fn group(&self, canvas: &mut Canvas<'_>, before: Option<&Name>, name: &Name, top: f64) -> f64 {
        match (before.map(|before| &before.group), &name.group) {
            (Some(before), group) if before == group => top,
            (_, Some(group)) => {
                let whole = font::clean(group);
                let lines = VALUE.wrap(&whole, canvas.width() - 2.0 * PAD, 3);
                let first = (PAD, top + GROUP - 8.0);
                let next = canvas.lines(first, &lines, &whole, (VALUE, Ink::Strong, Anchor::Start));
                next - VALUE.leading() + 8.0
            }
            (Some(Some(_)), None) => top + GROUP / 2.0,
            _ => top,
        }
    }

    /// How many ticks fit.
    pub(super) fn ticks(&self) -> usize {
        (((self.field.1 - self.field.0) / 70.0) as usize).clamp(3, 9)
    }
}

/// Lines of the grid at the ticks of a horizontal axis, behind one row: names between rows are not struck out.
pub(super) fn grid(canvas: &mut Canvas<'_>, scale: &Scale, ticks: usize, (top, bottom): (f64, f64)) {
    for (tick, _) in scale.ticks(ticks) {
        let x = scale.place(tick);
        canvas.line((x, top), (x, bottom), Fill::solid(Ink::Rule), 1.0);
    }
}

/// A horizontal axis with its ticks and name; gives where it ends.
pub(super) fn axis(
    canvas: &mut Canvas<'_>,
    scale: &Scale,
    ticks: usize,
    quantity: &Quantity,
    ((from, to), y): ((f64, f64), f64),
) -> f64 {
    canvas.line((from, y), (to, y), Fill::solid(Ink::Soft), 1.0);
    let mut free = f64::NEG_INFINITY;
    for (tick, text) in scale.ticks(ticks) {
        let x = scale.place(tick);
        canvas.line((x, y), (x, y + 4.0), Fill::solid(Ink::Soft), 1.0);
        let half = NOTE.width(&text) / 2.0;
        let middle = x.clamp(PAD + half, (canvas.width() - PAD - half).max(PAD + half));
        if middle - half >= free {
            let style = (NOTE, Ink::Soft, Anchor::Middle);
            canvas.text((middle, y + 5.0 + NOTE.size), &text, &text, style);
            free = middle + half + 6.0;
        }
    }
    let log = if scale.is_log() { " (log)" } else { "" };
    let name = format!("{}{log}", font::clean(&quantity.name));
    let text = NOTE.fit(&name, canvas.width() - 2.0 * PAD);
    let half = NOTE.width(&text) / 2.0;
    let middle = f64::midpoint(from, to).clamp(PAD + half, (canvas.width() - PAD - half).max(PAD + half));
    let baseline = y + 5.0 + NOTE.size + NOTE.leading() + 2.0;
    canvas.text((middle, baseline), &text, &name, (NOTE, Ink::Soft, Anchor::Middle));
    baseline + 4.0
}

/// What stands in the field of a row that has nothing to show.
pub(super) fn absent(canvas: &mut Canvas<'_>, (x, middle): Point, why: &str) {
    canvas.text((x, middle + NOTE.size * 0.36), why, why, (NOTE, Ink::Soft, Anchor::Start));
}
