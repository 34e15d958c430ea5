//! Every sample of every arm as a dot, with the median and its interval.

use super::Layout;
use super::canvas::{Canvas, Fill};
use super::font::{NOTE, VALUE};
use super::frame::{self, Columns};
use super::ink::Ink;
use super::model::{Row, Samples};
use super::scale::Scale;
use super::swarm;
use crate::number;

/// Up to here dots are large and rows low.
const FEW: usize = 80;

/// Sizes of a row, in pixels of CSS.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Radius of a dot.
    radius: f64,
    /// How far dots go from the row's middle.
    half: f64,
    /// The field of one row.
    field: f64,
}

impl Sizes {
    fn of(samples: &Samples) -> Self {
        let most = samples.rows.iter().map(|row| row.samples().count()).max().unwrap_or(0);
        if most <= FEW {
            Self { radius: 2.4, half: 13.0, field: 48.0 }
        } else {
            Self { radius: 1.8, half: 24.0, field: 68.0 }
        }
    }
}

/// Draws the rows below `top`; gives where they end.
pub(super) fn draw(canvas: &mut Canvas<'_>, layout: Layout, samples: &Samples, top: f64) -> f64 {
    let (columns, texts) = columns(canvas, layout, samples);
    let sizes = Sizes::of(samples);
    let all = samples.rows.iter().flat_map(|row| {
        row.samples().chain(row.interval.iter().flat_map(|interval| [interval.lo, interval.hi]))
    });
    let scale = Scale::around(all, samples.quantity.unit, samples.scale, false, columns.field);
    let mut y = top;
    for (at, (row, (value, beside))) in samples.rows.iter().zip(&texts).enumerate() {
        y = columns.group(canvas, at.checked_sub(1).map(|before| &samples.rows[before].name), &row.name, y);
        let field = columns.caption(canvas, &row.name, (value, beside), (y, sizes.field));
        let middle = field + sizes.field / 2.0 - 3.0;
        if let Some(scale) = &scale {
            frame::grid(canvas, scale, columns.ticks(), (field, field + sizes.field));
        }
        match &scale {
            Some(scale) if row.median.is_some() => {
                swarm_of(canvas, row, scale, Ink::Series(at), (middle, sizes))
            }
            _ => frame::absent(canvas, (columns.field.0, middle + 3.0), row.absent),
        }
        y = field + sizes.field;
    }
    match &scale {
        Some(scale) => frame::axis(canvas, scale, columns.ticks(), &samples.quantity, (columns.field, y)),
        None => y,
    }
}

/// The columns beside the rows, and the median and the interval that stand in the right one.
pub(super) fn columns(
    canvas: &Canvas<'_>,
    layout: Layout,
    samples: &Samples,
) -> (Columns, Vec<(String, String)>) {
    let names = samples.rows.iter().map(|row| &row.name);
    let texts: Vec<(String, String)> = samples.rows.iter().map(printed).collect();
    let widest =
        texts.iter().map(|(value, beside)| VALUE.width(value).max(NOTE.width(beside))).fold(0.0, f64::max);
    (Columns::new(canvas, layout, names, widest.ceil()), texts)
}

/// The median, and its interval.
fn printed(row: &Row) -> (String, String) {
    let value = row.median.map(number::milliseconds).unwrap_or_default();
    let interval = row.median.zip(row.interval).map(|(median, interval)| frame::bracketed(median, interval));
    (value, interval.unwrap_or_default())
}

fn swarm_of(canvas: &mut Canvas<'_>, row: &Row, scale: &Scale, ink: Ink, (middle, sizes): (f64, Sizes)) {
    let places: Vec<f64> = row.samples().map(|sample| scale.place(sample)).collect();
    let offsets = swarm::offsets(&places, sizes.radius * 2.0, sizes.half);
    for (x, offset) in places.iter().zip(offsets) {
        canvas.circle((*x, middle + offset), sizes.radius, Fill { ink, opacity: 0.62 });
    }
    let Some(median) = row.median.map(|median| scale.place(median)) else { return };
    let strong = Fill::solid(Ink::Strong);
    let base = middle + sizes.half + sizes.radius + 5.0;
    if let Some(interval) = row.interval {
        let (low, high) = (scale.place(interval.lo), scale.place(interval.hi));
        canvas.line((low, base), (high, base), strong, 2.0);
        for end in [low, high] {
            canvas.line((end, base - 3.0), (end, base + 3.0), strong, 1.2);
        }
    }
    canvas.line((median, middle - sizes.half - 3.0), (median, base + 4.0), strong, 2.0);
}
