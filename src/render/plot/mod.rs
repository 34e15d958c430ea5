//! Figures: plain data in, SVG and PNG out, the same bytes every time.
//!
//! ```text
//! model → (distribution · timeline · bars · sweep) → canvas → plotters' SVG → dress → SVG with the page's colours
//!                                                                                  ↘ png
//! ```
//!
//! A figure is drawn twice: 720 pixels wide for pages and print, and 320 for narrow screens, where text that
//! shrinks with its figure could not be read any more.

mod bars;
mod canvas;
mod distribution;
mod dress;
mod font;
mod frame;
mod ink;
mod labels;
mod marker;
mod model;
mod png;
mod scale;
mod swarm;
mod sweep;
mod timeline;

pub(super) use model::{
    Band, Bar, Bars, Body, Figure, Line, Name, Panel, Print, Quantity, Row, Samples, Spot, Sweep, Zone,
};

use canvas::Canvas;
use dress::Drawing;

/// How wide a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// For pages, print and PNG.
    Wide,
    /// For narrow screens: names stand above their rows.
    Narrow,
}

impl Layout {
    /// Pixels of CSS.
    fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 320.0,
        }
    }
}

/// A figure, drawn.
#[derive(Debug)]
pub(super) struct Drawn {
    wide: Drawing,
    narrow: Drawing,
}

/// A figure could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The drawing library failed.
    #[error("the figure could not be drawn: {0}")]
    Draw(String),
    /// The SVG could not be read again, or made into a PNG.
    #[error("the figure could not be made into an image: {0}")]
    Image(String),
}

/// Draws a figure.
pub(super) fn draw(figure: &Figure) -> Result<Drawn, PlotError> {
    Ok(Drawn { wide: draw_in(figure, Layout::Wide)?, narrow: draw_in(figure, Layout::Narrow)? })
}

fn draw_in(figure: &Figure, layout: Layout) -> Result<Drawing, PlotError> {
    let mut buffer = String::new();
    let mut canvas = Canvas::new(&mut buffer, layout.width());
    let top = frame::head(&mut canvas, figure);
    let bottom = match &figure.body {
        Body::Distribution(samples) => distribution::draw(&mut canvas, layout, samples, top),
        Body::Timeline(samples) => timeline::draw(&mut canvas, layout, samples, top),
        Body::Bars(bars) => bars::draw(&mut canvas, layout, bars, top),
        Body::Sweep(sweep) => sweep::draw(&mut canvas, layout, sweep, top),
    };
    let height = frame::foot(&mut canvas, figure, bottom);
    let texts = canvas.finish()?;
    Ok(Drawing {
        svg: buffer,
        width: layout.width(),
        height,
        titles: texts,
        title: font::clean(&figure.title),
        description: font::clean(&figure.description),
    })
}

impl Drawn {
    /// Markup to place in a page: both layouts, of which the page's style chooses one by its width. Colours are the page's
    /// custom properties `--ink`, `--soft`, `--rule`, `--card` and `--series-1` to `--series-8`, with fallbacks.
    pub(super) fn inline(&self, id: &str) -> Result<String, PlotError> {
        Ok(format!(
            "<div class=\"plot\">\n{}{}</div>\n",
            self.wide.inline(id, "plot-wide")?,
            self.narrow.inline(&format!("{id}.narrow"), "plot-narrow")?
        ))
    }

    /// A file of its own, readable on light and on dark pages.
    pub(super) fn file(&self) -> Result<String, PlotError> {
        self.wide.file()
    }

    /// The same drawing as pixels, two for each of CSS, on a light background.
    pub(super) fn png(&self) -> Result<Vec<u8>, PlotError> {
        png::encode(&self.wide.plain()?)
    }
}

#[cfg(test)]
mod tests;
