//! Every sample in the order of execution: whether the machine was the same from first to last.
//!
//! Arms that took turns share the horizontal axis, so that what slowed one turn shows in all of them. Every strip has
//! an axis of its own, and all of them span the same ratio: the same height is the same factor everywhere.

use super::Layout;
use super::canvas::{Anchor, Canvas, Fill};
use super::distribution::columns;
use super::font::NOTE;
use super::frame;
use super::ink::Ink;
use super::model::{Row, Samples};
use super::scale::Scale;
use crate::notebook::AxisScale;
use crate::stats;

/// Height of one strip, and of the room between two.
const STRIP: f64 = 62.0;
const BETWEEN: f64 = 12.0;
/// Room for the ticks of a strip.
const TICKS: f64 = 52.0;
/// A strip spans at least this ratio: the noise of a quiet machine should look quiet.
const LEAST: f64 = 1.5;

/// Draws the strips below `top`; gives where they end.
pub(super) fn draw(canvas: &mut Canvas<'_>, layout: Layout, samples: &Samples, top: f64) -> f64 {
    let (columns, texts) = columns(canvas, layout, samples);
    let field = (columns.field.0 + TICKS, columns.field.1);
    let turns = samples.rows.iter().map(|row| row.turns.len()).max().unwrap_or(0);
    let spans = spans(samples);
    let mut y = top;
    for (at, (row, (value, beside))) in samples.rows.iter().zip(&texts).enumerate() {
        y = columns.group(canvas, at.checked_sub(1).map(|before| &samples.rows[before].name), &row.name, y);
        let strip = columns.caption(canvas, &row.name, (value, beside), (y, STRIP));
        match spans[at] {
            Some((low, high)) => {
                let log = samples.scale != AxisScale::Linear;
                let scale = Scale::over(low, high, samples.quantity.unit, log, (strip + STRIP, strip));
                ground(canvas, &scale, field, (strip, turns));
                dots(canvas, row, &scale, Ink::Series(at), (field, turns));
            }
            None => frame::absent(canvas, (columns.field.0, strip + STRIP / 2.0), row.absent),
        }
        y = strip + STRIP + BETWEEN;
    }
    y -= BETWEEN;
    if turns == 0 { y } else { turn_axis(canvas, field, turns, y) }
}

/// The span of each strip, of one ratio for all (or one width, on a linear axis); none where there are no samples.
fn spans(samples: &Samples) -> Vec<Option<(f64, f64)>> {
    let ranges = samples.rows.iter().map(|row| {
        let mut all: Vec<f64> = row.samples().collect();
        all.sort_by(f64::total_cmp);
        Some((*all.first()?, *all.last()?))
    });
    let ranges: Vec<Option<(f64, f64)>> = ranges.collect();
    if samples.scale == AxisScale::Linear || ranges.iter().flatten().any(|(low, _)| *low <= 0.0) {
        return ranges
            .into_iter()
            .map(|range| range.map(|(_, high)| (0.0, if high > 0.0 { high * 1.05 } else { 1.0 })))
            .collect();
    }
    let ratio = ranges.iter().flatten().map(|(low, high)| high / low).fold(LEAST, f64::max) * 1.3;
    let around = |(low, high): (f64, f64)| {
        let middle = (low * high).sqrt();
        (middle / ratio.sqrt(), middle * ratio.sqrt())
    };
    ranges.into_iter().map(|range| range.map(around)).collect()
}

/// What lies behind the dots of a strip: every other turn shaded, ticks, and a frame.
fn ground(canvas: &mut Canvas<'_>, scale: &Scale, (from, to): (f64, f64), (strip, turns): (f64, usize)) {
    let each = (to - from) / turns.max(1) as f64;
    for turn in (1..turns).step_by(2) {
        let left = from + each * turn as f64;
        let shade = Fill { ink: Ink::Soft, opacity: 0.1 };
        canvas.rect((left, strip), (left + each, strip + STRIP), shade);
    }
    let mut free = f64::INFINITY;
    for (tick, text) in scale.ticks(3) {
        let y = scale.place(tick);
        canvas.line((from, y), (to, y), Fill::solid(Ink::Rule), 1.0);
        let baseline = y + NOTE.size * 0.36;
        let inside = baseline - NOTE.size * 0.8 >= strip - 2.0 && baseline <= strip + STRIP + 4.0;
        if inside && free - baseline >= NOTE.size + 1.0 {
            canvas.text((from - 6.0, baseline), &text, &text, (NOTE, Ink::Soft, Anchor::End));
            free = baseline;
        }
    }
    canvas.line((from, strip), (from, strip + STRIP), Fill::solid(Ink::Soft), 1.0);
}

fn dots(
    canvas: &mut Canvas<'_>,
    row: &Row,
    scale: &Scale,
    ink: Ink,
    ((from, to), turns): ((f64, f64), usize),
) {
    let each = (to - from) / turns.max(1) as f64;
    let radius = if row.samples().count() > 120 { 1.4 } else { 2.2 };
    for (turn, samples) in row.turns.iter().enumerate() {
        let left = from + each * turn as f64;
        let step = each / samples.len().max(1) as f64;
        for (rep, sample) in samples.iter().enumerate() {
            let x = left + step * (rep as f64 + 0.5);
            canvas.circle((x, scale.place(*sample)), radius, Fill { ink, opacity: 0.75 });
        }
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        let y = scale.place(stats::median(&sorted));
        if samples.len() > 1 {
            let inset = (each * 0.12).min(4.0);
            canvas.line((left + inset, y), (left + each - inset, y), Fill::solid(Ink::Strong), 1.8);
        }
    }
}

/// The numbers of the turns; gives where they end.
fn turn_axis(canvas: &mut Canvas<'_>, (from, to): (f64, f64), turns: usize, y: f64) -> f64 {
    let each = (to - from) / turns as f64;
    canvas.line((from, y), (to, y), Fill::solid(Ink::Soft), 1.0);
    // Every number, or every so many, so that they do not touch.
    let widest = NOTE.width(&turns.to_string()) + 8.0;
    let every =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|every| each * *every as f64 >= widest);
    let every = every.unwrap_or(turns);
    let style = (NOTE, Ink::Soft, Anchor::Middle);
    for turn in (1..=turns).filter(|turn| every == 1 || *turn == 1 || turn % every == 0) {
        if turn == 1 && every > 1 && each * (every - 1) as f64 <= widest {
            continue;
        }
        let text = turn.to_string();
        canvas.text((from + each * (turn as f64 - 0.5), y + 4.0 + NOTE.size), &text, &text, style);
    }
    let name = "turn, in the order of execution";
    let baseline = y + 4.0 + NOTE.size + NOTE.leading() + 2.0;
    canvas.text((f64::midpoint(from, to), baseline), name, name, style);
    baseline + 4.0
}
