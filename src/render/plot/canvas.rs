//! Marks and text, drawn by plotters.
//!
//! plotters counts in whole pixels. The canvas gives it tenths, and the dress divides them again.

use plotters::prelude::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBAColor, ShapeStyle, TextStyle};

use super::PlotError;
use super::font::{self, Type};
use super::ink::Ink;

/// Units of plotters in a pixel of CSS.
pub(super) const UNITS: f64 = 10.0;

/// Left of, centred on, or right of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A colour and how much of what lies below shines through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub ink: Ink,
    /// 0 to 1.
    pub opacity: f64,
}

impl Fill {
    /// Nothing shines through.
    pub(super) fn solid(ink: Ink) -> Self {
        Self { ink, opacity: 1.0 }
    }

    fn colour(self) -> RGBAColor {
        self.ink.light().mix(self.opacity)
    }
}

/// A point in pixels of CSS.
pub(super) type Point = (f64, f64);

/// One drawing in the making.
pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
    width: f64,
    /// For each text, in order, the whole of one that was cut.
    titles: Vec<Option<String>>,
    failure: Option<String>,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(buffer: &'a mut String, width: f64) -> Self {
        // The height is known only at the end; the dress writes it.
        let size = ((width * UNITS) as u32, 1);
        let backend = SVGBackend::with_string(buffer, size);
        Self { backend, width, titles: Vec::new(), failure: None }
    }

    /// Pixels of CSS.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// Ends the drawing; gives the whole of each text that was cut.
    pub(super) fn finish(mut self) -> Result<Vec<Option<String>>, PlotError> {
        let presented = self.backend.present().map_err(|error| error.to_string());
        match self.failure.or(presented.err()) {
            Some(failure) => Err(PlotError::Draw(failure)),
            None => Ok(self.titles),
        }
    }

    fn note<E: std::fmt::Display>(&mut self, drawn: Result<(), E>) {
        if let Err(error) = drawn {
            self.failure.get_or_insert(error.to_string());
        }
    }

    /// A line of that width.
    pub(super) fn line(&mut self, from: Point, to: Point, fill: Fill, width: f64) {
        let drawn = self.backend.draw_line(units(from), units(to), &stroke(fill, width));
        self.note(drawn);
    }

    /// A line through all points.
    pub(super) fn path(&mut self, points: &[Point], fill: Fill, width: f64) {
        if points.len() > 1 {
            let drawn = self.backend.draw_path(points.iter().copied().map(units), &stroke(fill, width));
            self.note(drawn);
        }
    }

    /// A rectangle between two corners.
    pub(super) fn rect(&mut self, from: Point, to: Point, fill: Fill) {
        let (from, to) = (units(from), units(to));
        if to.0 > from.0 && to.1 > from.1 {
            let drawn = self.backend.draw_rect(from, to, &fill.colour(), true);
            self.note(drawn);
        }
    }

    /// The outline of a rectangle.
    pub(super) fn outline(&mut self, (x0, y0): Point, (x1, y1): Point, fill: Fill, width: f64) {
        self.path(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], fill, width);
    }

    /// A filled shape.
    pub(super) fn polygon(&mut self, points: &[Point], fill: Fill) {
        let drawn = self.backend.fill_polygon(points.iter().copied().map(units), &fill.colour());
        self.note(drawn);
    }

    pub(super) fn circle(&mut self, at: Point, radius: f64, fill: Fill) {
        let drawn =
            self.backend.draw_circle(units(at), (radius * UNITS).round() as u32, &fill.colour(), true);
        self.note(drawn);
    }

    /// Text with its baseline at `at`. `whole` is what a cut text stands for.
    pub(super) fn text(&mut self, at: Point, text: &str, whole: &str, style: (Type, Ink, Anchor)) {
        let (kind, ink, anchor) = style;
        if text.is_empty() {
            return;
        }
        let h_pos = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let colour = ink.light();
        let style = TextStyle::from(kind.desc(kind.size * UNITS * font::WRITTEN))
            .color(&colour)
            .pos(Pos::new(h_pos, VPos::Bottom));
        let drawn = self.backend.draw_text(text, &style, units(at));
        self.note(drawn);
        self.titles.push((text != whole).then(|| whole.to_owned()));
    }

    /// Lines of text, the first with its baseline at `at`, and where the baseline of the next would be.
    pub(super) fn lines(
        &mut self,
        (x, y): Point,
        lines: &[String],
        whole: &str,
        style: (Type, Ink, Anchor),
    ) -> f64 {
        let cut = lines.iter().any(|line| line.ends_with('…') && !whole.contains(line.as_str()));
        let mut baseline = y;
        for line in lines {
            self.text((x, baseline), line, if cut { whole } else { line }, style);
            baseline += style.0.leading();
        }
        baseline
    }

    /// A rectangle in slanted lines, which a printer without colours shows apart from a solid one.
    pub(super) fn hatch(&mut self, (x0, y0): Point, (x1, y1): Point, fill: Fill) {
        const APART: f64 = 5.0;
        let height = y1 - y0;
        let mut start = x0 - height;
        while start < x1 {
            // From bottom left to top right, cut where it leaves the rectangle.
            let (from, to) = (start.max(x0), (start + height).min(x1));
            if to - from > 0.3 {
                self.line((from, y1 - (from - start)), (to, y1 - (to - start)), fill, 1.6);
            }
            start += APART;
        }
        self.outline((x0, y0), (x1, y1), fill, 1.2);
    }
}

fn units((x, y): Point) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}

fn stroke(fill: Fill, width: f64) -> ShapeStyle {
    ShapeStyle { color: fill.colour(), filled: false, stroke_width: (width * UNITS).round() as u32 }
}
