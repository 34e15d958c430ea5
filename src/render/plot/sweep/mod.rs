//! Lines of each arm over a parameter: what was measured, what the planner chose, and what it had estimated.

mod bands;
mod panel;

use super::Layout;
use super::canvas::{Anchor, Canvas, Fill};
use super::font::{self, NOTE};
use super::frame::{self, GAP, PAD};
use super::ink::Ink;
use super::marker::Style;
use super::model::{Line, Sweep};
use super::scale::Scale;

/// Room for names beside the ends of lines.
const NAMES: f64 = 150.0;

/// The horizontal axis and what is printed on it.
struct Across {
    scale: Scale,
    ticks: Vec<(f64, String)>,
    /// Where the field begins and ends.
    field: (f64, f64),
    /// Where names of lines begin, in the wide layout.
    names: Option<f64>,
    /// Whether there is something between two values: names have nothing between them.
    whole: bool,
}

/// Draws the panels below `top`; gives where they end.
pub(super) fn draw(canvas: &mut Canvas<'_>, layout: Layout, sweep: &Sweep, top: f64) -> f64 {
    let Some(across) = across(canvas, layout, sweep) else {
        let why = crate::number::NOT_MEASURED;
        frame::absent(canvas, (PAD, top + 12.0), why);
        return top + 24.0;
    };
    let mut y = top;
    if layout == Layout::Narrow {
        y = key(canvas, sweep, y);
    }
    y = bands::draw(canvas, sweep, &across, y);
    for (at, panel) in sweep.panels.iter().enumerate() {
        if at > 0 {
            y += 14.0;
        }
        y = panel::draw(canvas, panel, &across, y);
    }
    axis(canvas, sweep, &across, y)
}

fn across(canvas: &Canvas<'_>, layout: Layout, sweep: &Sweep) -> Option<Across> {
    let lines = || sweep.panels.iter().flat_map(|panel| &panel.lines);
    let right = canvas.width() - PAD;
    let widest = lines().map(|line| NOTE.width(&line.label()).ceil() + 22.0).fold(0.0, f64::max);
    // A line alone is what the title says.
    let told =
        sweep.panels.iter().any(|panel| panel.lines.len() > 1 || panel.lines.iter().any(Line::is_empty));
    let (to, names) = match layout {
        Layout::Wide if told => {
            let names = right - widest.min(NAMES);
            (names - GAP, Some(names))
        }
        _ => (right - 6.0, None),
    };
    let field = (PAD + panel::TICKS, to);
    let inset = (field.0 + 8.0, field.1 - 8.0);
    let measured =
        lines().flat_map(|line| line.spots.iter().filter(|spot| spot.y.is_some()).map(|spot| spot.x));
    if sweep.categories.is_empty() {
        let scale = Scale::exact(measured, sweep.x.unit, sweep.x_scale, inset)?;
        let most = (((field.1 - field.0) / 62.0) as usize).clamp(3, 9);
        let ticks = scale.ticks(most);
        return Some(Across { scale, ticks, field, names, whole: true });
    }
    measured.count().checked_sub(1)?;
    let last = sweep.categories.len().saturating_sub(1).max(1) as f64;
    let scale = Scale::over(0.0, last, sweep.x.unit, false, inset);
    let ticks =
        sweep.categories.iter().enumerate().map(|(at, name)| (at as f64, font::clean(name))).collect();
    Some(Across { scale, ticks, field, names, whole: false })
}

/// The names of the lines above the panels, where there is no room beside them; gives where it ends.
fn key(canvas: &mut Canvas<'_>, sweep: &Sweep, top: f64) -> f64 {
    let Some(panel) = sweep.panels.first() else { return top };
    if let [line] = &panel.lines[..]
        && !line.is_empty()
    {
        return top;
    }
    let mut y = top + 6.0;
    for line in &panel.lines {
        if !line.is_empty() {
            sample(canvas, line, (PAD, y));
        }
        let whole = line.label();
        let text = NOTE.fit(&whole, canvas.width() - 2.0 * PAD - 34.0);
        let style = (NOTE, Ink::Strong, Anchor::Start);
        canvas.text((PAD + 34.0, y + NOTE.size * 0.36), &text, &whole, style);
        y += NOTE.leading() + 1.0;
    }
    y
}

/// A short piece of a line with its mark.
fn sample(canvas: &mut Canvas<'_>, line: &Line, (x, y): (f64, f64)) {
    let style = Style { series: line.series, free: line.free };
    style.line(canvas, &[(x, y), (x + 26.0, y)]);
    style.mark(canvas, (x + 13.0, y));
}

/// The horizontal axis below the last panel; gives where it ends.
fn axis(canvas: &mut Canvas<'_>, sweep: &Sweep, across: &Across, y: f64) -> f64 {
    let (from, to) = across.field;
    canvas.line((from, y), (to, y), Fill::solid(Ink::Soft), 1.0);
    let mut free = f64::NEG_INFINITY;
    let room = (to - from) / across.ticks.len().max(1) as f64 - 6.0;
    for (tick, whole) in &across.ticks {
        let x = across.scale.place(*tick);
        canvas.line((x, y), (x, y + 4.0), Fill::solid(Ink::Soft), 1.0);
        let text = if sweep.categories.is_empty() { whole.clone() } else { NOTE.fit(whole, room.max(20.0)) };
        let half = NOTE.width(&text) / 2.0;
        let middle = x.min(canvas.width() - PAD - half).max(PAD + half);
        if middle - half >= free {
            canvas.text((middle, y + 5.0 + NOTE.size), &text, whole, (NOTE, Ink::Soft, Anchor::Middle));
            free = middle + half + 6.0;
        }
    }
    let log = if across.scale.is_log() { " (log)" } else { "" };
    let name = format!("{}{log}", font::clean(&sweep.x.name));
    let text = NOTE.fit(&name, canvas.width() - 2.0 * PAD);
    let half = NOTE.width(&text) / 2.0;
    let middle = f64::midpoint(from, to).min(canvas.width() - PAD - half).max(PAD + half);
    let baseline = y + 5.0 + NOTE.size + NOTE.leading() + 2.0;
    canvas.text((middle, baseline), &text, &name, (NOTE, Ink::Soft, Anchor::Middle));
    baseline + 4.0
}
