//! What tells lines apart without colour: the shape of their marks, and their dashes.

use super::canvas::{Canvas, Fill, Point};
use super::ink::Ink;

/// Lengths of line and gap in turn; none for a whole line.
const DASHES: [&[f64]; 4] = [&[], &[8.0, 4.0], &[3.0, 4.0], &[12.0, 4.0, 3.0, 4.0]];

/// How an arm's line is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// The arm's number.
    pub series: usize,
    /// Whether the planner was free in it: that line lies on top, wider and dashed, so that the one below shows through.
    pub free: bool,
}

impl Style {
    fn fill(self) -> Fill {
        Fill::solid(Ink::Series(self.series))
    }

    fn width(self) -> f64 {
        if self.free { 2.6 } else { 1.8 }
    }

    fn dashes(self) -> &'static [f64] {
        if self.free { DASHES[1] } else { [DASHES[0], DASHES[2], DASHES[3]][self.series % 3] }
    }

    /// A line through the points.
    pub(super) fn line(self, canvas: &mut Canvas<'_>, points: &[Point]) {
        for part in dashed(points, self.dashes()) {
            canvas.path(&part, self.fill(), self.width());
        }
    }

    /// A mark at a point.
    pub(super) fn mark(self, canvas: &mut Canvas<'_>, (x, y): Point) {
        let at = |points: &[Point]| points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
        let fill = self.fill();
        match self.series % 8 {
            0 => canvas.circle((x, y), 3.4, fill),
            1 => canvas.rect((x - 3.2, y - 3.2), (x + 3.2, y + 3.2), fill),
            2 => canvas.polygon(&at(&[(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)]), fill),
            3 => canvas.polygon(&at(&[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]), fill),
            4 => {
                canvas.line((x - 3.4, y - 3.4), (x + 3.4, y + 3.4), fill, 2.0);
                canvas.line((x - 3.4, y + 3.4), (x + 3.4, y - 3.4), fill, 2.0);
            }
            5 => canvas.polygon(&at(&[(0.0, 4.4), (4.2, -3.2), (-4.2, -3.2)]), fill),
            6 => {
                canvas.line((x - 4.2, y), (x + 4.2, y), fill, 2.0);
                canvas.line((x, y - 4.2), (x, y + 4.2), fill, 2.0);
            }
            _ => canvas.outline((x - 3.0, y - 3.0), (x + 3.0, y + 3.0), fill, 1.6),
        }
    }
}

/// The pieces of a line that has such dashes.
fn dashed(points: &[Point], dashes: &[f64]) -> Vec<Vec<Point>> {
    if dashes.is_empty() || points.len() < 2 {
        return vec![points.to_vec()];
    }
    let mut pieces = Vec::new();
    let (mut dash, mut left) = (0, dashes[0]);
    let mut piece = vec![points[0]];
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left {
                left -= length;
                piece.push(to);
                break;
            }
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            piece.push(from);
            if dash % 2 == 0 {
                pieces.push(std::mem::take(&mut piece));
            }
            dash = (dash + 1) % dashes.len();
            left = dashes[dash];
            piece = vec![from];
        }
    }
    if dash % 2 == 0 && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(pieces: &[Vec<Point>]) -> f64 {
        let step = |pair: &[Point]| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
        pieces.iter().flat_map(|piece| piece.windows(2).map(step)).sum()
    }

    #[test]
    fn dashes_go_round_corners() {
        let corner = [(0.0, 0.0), (10.0, 0.0), (10.0, 14.0)];
        let pieces = dashed(&corner, &[8.0, 4.0]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0], [(0.0, 0.0), (8.0, 0.0)]);
        assert_eq!(pieces[1], [(10.0, 2.0), (10.0, 10.0)]);
        assert!((length(&pieces) - 16.0).abs() < 1e-9);
        assert_eq!(dashed(&corner, &[]), [corner.to_vec()]);
        assert_eq!(dashed(&corner, &[100.0, 1.0]), [corner.to_vec()]);
    }
}
