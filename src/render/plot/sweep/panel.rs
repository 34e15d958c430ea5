//! One field of lines, with its own vertical axis.

use super::super::canvas::{Anchor, Canvas, Fill, Point};
use super::super::font::{self, NOTE};
use super::super::frame::{self, PAD};
use super::super::ink::Ink;
use super::super::labels;
use super::super::marker::Style;
use super::super::model::{Line, Panel, Zone};
use super::super::scale::Scale;
use super::Across;
use crate::number;

/// Room for the ticks of the vertical axis.
pub(super) const TICKS: f64 = 56.0;
/// Height of the figure's own panel, and of one beside it.
const MAIN: f64 = 280.0;
const ASIDE: f64 = 150.0;
/// Height of a name beside its line.
const NAME: f64 = 15.0;
/// Up to here every point of a line gets a mark.
const MARKED: usize = 40;

/// Draws a panel below `top`; gives where it ends.
pub(super) fn draw(canvas: &mut Canvas<'_>, panel: &Panel, across: &Across, top: f64) -> f64 {
    let (from, to) = across.field;
    let values = panel.lines.iter().flat_map(|line| &line.spots).flat_map(|spot| {
        spot.y.into_iter().chain(spot.interval.iter().flat_map(|interval| [interval.lo, interval.hi]))
    });
    let tall = if panel.main { MAIN } else { ASIDE }.max(panel.lines.len() as f64 * NAME);
    let head = top + NOTE.size + 4.0;
    let marked = zone_names(canvas, panel, across, head);
    let bottom = marked + tall;
    let scale = Scale::around(values, panel.quantity.unit, panel.scale, false, (bottom - 6.0, marked + 6.0));
    let log = if scale.as_ref().is_some_and(Scale::is_log) { " (log)" } else { "" };
    let name = format!("{}{log}", font::clean(&panel.quantity.name));
    let text = NOTE.fit(&name, canvas.width() - 2.0 * PAD);
    canvas.text((PAD, top + NOTE.size), &text, &name, (NOTE, Ink::Soft, Anchor::Start));
    let Some(scale) = scale else {
        frame::absent(canvas, (from + 8.0, f64::midpoint(marked, bottom)), number::NOT_MEASURED);
        return bottom;
    };
    for zone in &panel.zones {
        shade(canvas, zone, across, (marked, bottom));
    }
    ground(canvas, &scale, across, (marked, bottom));
    for line in
        panel.lines.iter().filter(|line| !line.free).chain(panel.lines.iter().filter(|line| line.free))
    {
        draw_line(canvas, line, &scale, across);
    }
    canvas.line((from, marked), (from, bottom), Fill::solid(Ink::Soft), 1.0);
    canvas.line((from, bottom), (to, bottom), Fill::solid(Ink::Soft), 1.0);
    if let Some(names) = across.names {
        name_lines(canvas, panel, &scale, across, (names, marked, bottom));
    }
    bottom
}

fn ground(canvas: &mut Canvas<'_>, scale: &Scale, across: &Across, (top, bottom): (f64, f64)) {
    let (from, to) = across.field;
    for (tick, _) in &across.ticks {
        let x = across.scale.place(*tick);
        canvas.line((x, top), (x, bottom), Fill::solid(Ink::Rule), 1.0);
    }
    let most = (((bottom - top) / 40.0) as usize).clamp(3, 7);
    let mut free = f64::INFINITY;
    for (tick, text) in scale.ticks(most) {
        let y = scale.place(tick);
        canvas.line((from, y), (to, y), Fill::solid(Ink::Rule), 1.0);
        let baseline = y + NOTE.size * 0.36;
        if free - baseline >= NOTE.size + 2.0 {
            let cut = NOTE.fit(&text, TICKS - 8.0);
            canvas.text((from - 6.0, baseline), &cut, &text, (NOTE, Ink::Soft, Anchor::End));
            free = baseline;
        }
    }
}

/// The pieces of a line between its gaps.
fn pieces(line: &Line, scale: &Scale, across: &Across) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = vec![Vec::new()];
    for spot in &line.spots {
        let Some(y) = spot.y else {
            pieces.push(Vec::new());
            continue;
        };
        let point = (across.scale.place(spot.x), scale.place(y));
        if let Some(piece) = pieces.last_mut() {
            // A thousand estimates lie closer together than pixels: those that nobody could see are left out.
            let close = |last: &Point| (point.0 - last.0).hypot(point.1 - last.1) < 0.7;
            if !piece.last().is_some_and(close) {
                piece.push(point);
            }
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn draw_line(canvas: &mut Canvas<'_>, line: &Line, scale: &Scale, across: &Across) {
    let style = Style { series: line.series, free: line.free };
    let marked = line.spots.iter().filter(|spot| spot.y.is_some()).count() <= MARKED;
    for spot in &line.spots {
        let Some(interval) = spot.interval.filter(|_| spot.y.is_some()) else { continue };
        let x = across.scale.place(spot.x);
        let (low, high) = (scale.place(interval.lo), scale.place(interval.hi));
        let fill = Fill { ink: Ink::Series(line.series), opacity: if marked { 0.75 } else { 0.3 } };
        canvas.line((x, low), (x, high), fill, 1.2);
        for y in [low, high].into_iter().filter(|_| marked) {
            canvas.line((x - 3.0, y), (x + 3.0, y), fill, 1.2);
        }
    }
    for piece in pieces(line, scale, across) {
        if across.whole {
            style.line(canvas, &piece);
        }
        if marked || piece.len() == 1 || !across.whole {
            piece.iter().for_each(|point| style.mark(canvas, *point));
        }
    }
}

/// Names beside the ends of the lines, with a mark of each, and a thread to the end where a name had to move.
fn name_lines(
    canvas: &mut Canvas<'_>,
    panel: &Panel,
    scale: &Scale,
    across: &Across,
    (left, top, bottom): (f64, f64, f64),
) {
    let end = |line: &Line| {
        let last =
            line.spots.iter().rev().find_map(|spot| Some((across.scale.place(spot.x), scale.place(spot.y?))));
        last.unwrap_or((across.field.1, bottom))
    };
    let ends: Vec<Point> = panel.lines.iter().map(end).collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    let places = labels::spread(&wanted, NAME, (top, bottom));
    for ((line, (x, y)), place) in panel.lines.iter().zip(ends).zip(places) {
        let style = Style { series: line.series, free: line.free };
        if !line.is_empty() {
            let thread = Fill { ink: Ink::Soft, opacity: 0.6 };
            canvas.line((x + 5.0, y), (left - 2.0, place), thread, 0.8);
            style.mark(canvas, (left + 6.0, place));
        }
        let whole = line.label();
        let text = NOTE.fit(&whole, canvas.width() - PAD - left - 16.0);
        let ink = if line.is_empty() { Ink::Soft } else { Ink::Strong };
        canvas.text((left + 16.0, place + NOTE.size * 0.36), &text, &whole, (NOTE, ink, Anchor::Start));
    }
}

fn shade(canvas: &mut Canvas<'_>, zone: &Zone, across: &Across, (top, bottom): (f64, f64)) {
    let (low, high) = (across.scale.place(zone.lo), across.scale.place(zone.hi));
    canvas.rect((low, top), (high, bottom), Fill { ink: Ink::Soft, opacity: 0.16 });
    for x in [low, high] {
        canvas.line((x, top - 3.0), (x, bottom), Fill { ink: Ink::Soft, opacity: 0.8 }, 1.0);
    }
}

/// What zones are, and what is so on both sides of them, in lines above the field; gives where the field begins.
fn zone_names(canvas: &mut Canvas<'_>, panel: &Panel, across: &Across, top: f64) -> f64 {
    let (from, to) = across.field;
    let style = |anchor| (NOTE, Ink::Strong, anchor);
    let mut y = top;
    for zone in &panel.zones {
        let middle = f64::midpoint(across.scale.place(zone.lo), across.scale.place(zone.hi));
        let lines = NOTE.wrap(&font::clean(&zone.label), to - from, 2);
        let half = lines.iter().map(|line| NOTE.width(line)).fold(0.0, f64::max) / 2.0;
        let middle = middle.min(to - half).max(from + half);
        for line in &lines {
            y += NOTE.leading();
            canvas.text((middle, y), line, line, style(Anchor::Middle));
        }
        let [below, above] = zone.sides.each_ref().map(|side| font::clean(side));
        let soft = |anchor| (NOTE, Ink::Soft, anchor);
        let room = |side: &str, room: f64| NOTE.width(side) + 14.0 <= room;
        if lines.len() == 1 && room(&below, middle - half - from) && room(&above, to - middle - half) {
            canvas.text((middle - half - 12.0, y), &below, &below, soft(Anchor::End));
            canvas.text((middle + half + 12.0, y), &above, &above, soft(Anchor::Start));
        }
    }
    if panel.zones.is_empty() { y } else { y + 8.0 }
}
