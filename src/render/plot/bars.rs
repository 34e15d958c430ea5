//! One number per arm, from zero.

use super::Layout;
use super::canvas::{Anchor, Canvas, Fill};
use super::font::{NOTE, VALUE};
use super::frame::{self, Columns, GAP, PAD};
use super::ink::Ink;
use super::model::{Bar, Bars, Print, Quantity};
use super::scale::Scale;
use crate::metric::Unit;
use crate::notebook::AxisScale;
use crate::number;

/// Height of a bar, and of the row that it stands in.
const THICK: f64 = 20.0;
const ROW: f64 = 36.0;

/// What the two parts of split bars are.
const PARTS: [&str; 2] = ["found in PostgreSQL's buffers", "read from outside them"];

/// Draws the bars below `top`; gives where they end.
pub(super) fn draw(canvas: &mut Canvas<'_>, layout: Layout, bars: &Bars, top: f64) -> f64 {
    let texts: Vec<(String, String)> = bars.bars.iter().map(|bar| printed(bar, bars)).collect();
    let columns = Columns::new(canvas, layout, bars.bars.iter().map(|bar| &bar.name), 0.0);
    // Values stand behind their bars, so the longest bar leaves room for the widest of them.
    let room = match layout {
        Layout::Wide => texts.iter().map(|(value, beside)| width(value, beside)).fold(0.0, f64::max) + GAP,
        Layout::Narrow => 0.0,
    };
    let field = (columns.field.0, (columns.field.1 + GAP - room).min(canvas.width() - PAD));
    let all = bars.bars.iter().flat_map(|bar| {
        bar.value.into_iter().chain(bar.interval.iter().flat_map(|interval| [interval.lo, interval.hi]))
    });
    let scale = Scale::around(all, bars.quantity.unit, AxisScale::Linear, true, field);
    let mut y = key(canvas, bars, top);
    for (at, (bar, (value, beside))) in bars.bars.iter().zip(&texts).enumerate() {
        let captioned = match layout {
            Layout::Wide => ("", ""),
            Layout::Narrow => (value.as_str(), beside.as_str()),
        };
        y = columns.group(canvas, at.checked_sub(1).map(|before| &bars.bars[before].name), &bar.name, y);
        let row = columns.caption(canvas, &bar.name, captioned, (y, ROW));
        let middle = row + ROW / 2.0;
        if let Some(scale) = &scale {
            frame::grid(canvas, scale, ticks(field), (row, row + ROW));
            let zero = scale.place(0.0);
            canvas.line((zero, row), (zero, row + ROW), Fill::solid(Ink::Soft), 1.0);
        }
        match (&scale, bar.value) {
            (Some(scale), Some(number)) => {
                let end = one(canvas, bar, bars.split, scale, middle);
                if layout == Layout::Wide {
                    // Left of a bar that goes left there may be no room: the value stands right of zero then.
                    let x = if number < 0.0 { scale.place(0.0) } else { end } + 6.0;
                    let baseline = middle + VALUE.size * 0.36;
                    canvas.text((x, baseline), value, value, (VALUE, Ink::Strong, Anchor::Start));
                    let x = x + VALUE.width(value) + 6.0;
                    canvas.text((x, baseline), beside, beside, (NOTE, Ink::Soft, Anchor::Start));
                }
            }
            _ => frame::absent(canvas, (field.0 + 6.0, middle), bar.absent),
        }
        y = row + ROW;
    }
    let Some(scale) = &scale else { return y };
    frame::axis(canvas, scale, ticks(field), &bars.quantity, (field, y))
}

fn ticks((from, to): (f64, f64)) -> usize {
    (((to - from) / 70.0) as usize).clamp(3, 8)
}

fn width(value: &str, beside: &str) -> f64 {
    VALUE.width(value) + if beside.is_empty() { 0.0 } else { 6.0 + NOTE.width(beside) }
}

/// A value as people read it, and what belongs beside it: its second part, or its interval.
fn printed(bar: &Bar, bars: &Bars) -> (String, String) {
    let Some(value) = bar.value else { return (String::new(), String::new()) };
    let beside = match (bar.read.filter(|read| *read > 0.0), bar.interval) {
        (Some(read), _) if bars.split => format!("{} read", number::count(read)),
        (_, Some(interval)) if bars.quantity.unit == Print::Unit(Unit::Milliseconds) => {
            frame::bracketed(value, interval)
        }
        _ => String::new(),
    };
    (value_of(&bars.quantity, value), beside)
}

fn value_of(quantity: &Quantity, value: f64) -> String {
    let unit = match quantity.unit {
        Print::Unit(unit) => unit,
        Print::Percent => return number::percent(value),
    };
    match unit {
        Unit::Milliseconds => number::milliseconds(value),
        Unit::Count | Unit::Blocks => number::count(value),
        Unit::Kilobytes => format!("{} kB", number::count(value)),
        Unit::Bytes => number::bytes(value),
        Unit::Cost | Unit::Ratio => number::significant(value),
    }
}

/// One bar with its parts; gives its far end.
fn one(canvas: &mut Canvas<'_>, bar: &Bar, split: bool, scale: &Scale, middle: f64) -> f64 {
    let value = bar.value.unwrap_or_default();
    let (zero, end) = (scale.place(0.0), scale.place(value));
    let (top, bottom) = (middle - THICK / 2.0, middle + THICK / 2.0);
    let parts = scale.place(value - bar.read.filter(|_| split).unwrap_or(0.0));
    let fill = Fill::solid(Ink::Series(0));
    canvas.rect((zero.min(parts), top), (zero.max(parts), bottom), fill);
    if end > parts {
        canvas.hatch((parts, top), (end, bottom), Fill::solid(Ink::Series(1)));
    }
    let Some(interval) = bar.interval else { return end };
    let (low, high) = (scale.place(interval.lo), scale.place(interval.hi));
    let strong = Fill::solid(Ink::Strong);
    canvas.line((low, middle), (high, middle), strong, 1.6);
    for x in [low, high] {
        canvas.line((x, middle - 4.0), (x, middle + 4.0), strong, 1.6);
    }
    end.max(high)
}

/// What the two parts of bars are, each beside a sample of it; gives where the bars begin.
fn key(canvas: &mut Canvas<'_>, bars: &Bars, top: f64) -> f64 {
    if !bars.split {
        return top;
    }
    let mut at = (PAD, top + 2.0);
    for (part, name) in PARTS.into_iter().enumerate() {
        let text = NOTE.fit(name, canvas.width() - 2.0 * PAD - 24.0);
        let wide = 24.0 + NOTE.width(&text);
        if at.0 > PAD && at.0 + wide > canvas.width() - PAD {
            at = (PAD, at.1 + NOTE.leading() + 3.0);
        }
        let (from, to) = (at, (at.0 + 18.0, at.1 + 11.0));
        match part {
            0 => canvas.rect(from, to, Fill::solid(Ink::Series(0))),
            _ => canvas.hatch(from, to, Fill::solid(Ink::Series(1))),
        }
        canvas.text((at.0 + 24.0, at.1 + 10.0), &text, &text, (NOTE, Ink::Strong, Anchor::Start));
        at.0 += wide + 18.0;
    }
    at.1 + NOTE.leading() + 8.0
}
