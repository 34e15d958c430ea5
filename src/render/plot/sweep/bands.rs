//! What the planner chose, as a strip above the panels.

use super::super::canvas::{Anchor, Canvas, Fill};
use super::super::font::{self, NOTE};
use super::super::frame::PAD;
use super::super::ink::Ink;
use super::super::model::{Band, Sweep};
use super::Across;

/// Height of the strip.
const STRIP: f64 = 18.0;

/// Draws the strip below `top`; gives where it ends.
pub(super) fn draw(canvas: &mut Canvas<'_>, sweep: &Sweep, across: &Across, top: f64) -> f64 {
    if sweep.bands.is_empty() {
        return top;
    }
    let style = (NOTE, Ink::Soft, Anchor::Start);
    let head = "the planner chose";
    let mut y = top + NOTE.size;
    canvas.text((PAD, y), head, head, style);
    y += 5.0;
    let spans = spans(&sweep.bands, across);
    let mut letters: Vec<&str> = Vec::new();
    for (which, node) in nodes(&sweep.bands).into_iter().enumerate() {
        let own: Vec<(f64, f64)> = sweep
            .bands
            .iter()
            .zip(&spans)
            .filter(|(band, _)| band.node == node)
            .map(|(_, span)| *span)
            .collect();
        let text = inside(node, &sweep.bands, &own).unwrap_or_else(|| {
            letters.push(node);
            letter(letters.len() - 1)
        });
        for (from, to) in own {
            ground(canvas, which, (from, y), (to, y + STRIP));
            if NOTE.width(&text) + 2.0 <= to - from {
                let at = (f64::midpoint(from, to), y + STRIP / 2.0 + NOTE.size * 0.36);
                canvas.text(at, &text, &font::clean(node), (NOTE, Ink::Strong, Anchor::Middle));
            }
        }
    }
    y += STRIP;
    for (which, node) in letters.iter().enumerate() {
        y += NOTE.leading();
        let whole = format!("{}: {}", letter(which), font::clean(node));
        let text = NOTE.fit(&whole, canvas.width() - 2.0 * PAD);
        canvas.text((PAD, y), &text, &whole, (NOTE, Ink::Strong, Anchor::Start));
    }
    y + if letters.is_empty() { 6.0 } else { 10.0 }
}

/// What stands inside the bands of a node where the widest of them has room for it: its title, or its kind alone where
/// no other node is of that kind. Where there is no room, a letter has to do.
fn inside(node: &str, bands: &[Band], own: &[(f64, f64)]) -> Option<String> {
    let room = own.iter().map(|(from, to)| to - from).fold(0.0, f64::max) - 8.0;
    let only = bands.iter().filter(|band| kind(&band.node) == kind(node)).all(|band| band.node == node);
    let texts = [Some(node), only.then(|| kind(node))];
    texts.into_iter().flatten().map(font::clean).find(|text| NOTE.width(text) <= room)
}

/// `Index Scan` of `Index Scan using i on t`.
fn kind(node: &str) -> &str {
    let ends = [" using ", " on "].into_iter().filter_map(|word| node.find(word));
    ends.min().map_or(node, |end| &node[..end])
}

/// The nodes in order of their first band.
fn nodes(bands: &[Band]) -> Vec<&str> {
    let mut nodes: Vec<&str> = Vec::new();
    for band in bands {
        if !nodes.contains(&band.node.as_str()) {
            nodes.push(&band.node);
        }
    }
    nodes
}

/// Where bands begin and end: a band goes half the way to the next, the first and the last to the ends of the field.
fn spans(bands: &[Band], across: &Across) -> Vec<(f64, f64)> {
    let edge = |before: &Band, after: &Band| {
        f64::midpoint(across.scale.place(before.hi), across.scale.place(after.lo))
    };
    (0..bands.len())
        .map(|at| {
            let from = if at == 0 { across.field.0 } else { edge(&bands[at - 1], &bands[at]) };
            let to = bands.get(at + 1).map_or(across.field.1, |next| edge(&bands[at], next));
            (from, to.max(from))
        })
        .collect()
}

/// The background of a band: another pattern for each of the first three, so that no colour is needed.
fn ground(canvas: &mut Canvas<'_>, which: usize, from: (f64, f64), to: (f64, f64)) {
    let shade = |opacity| Fill { ink: Ink::Soft, opacity };
    canvas.rect(from, to, shade([0.12, 0.28, 0.2, 0.36][which % 4]));
    canvas.outline(from, to, shade(0.7), 1.0);
}

fn letter(which: usize) -> String {
    let letter = char::from(b'A' + (which % 26) as u8);
    letter.to_string().repeat(which / 26 + 1)
}
