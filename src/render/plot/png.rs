//! Pixels from the same drawing.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use super::PlotError;
use super::font;

/// Pixels for each of CSS: sharp on good screens and in print.
const SHARP: f32 = 2.0;

/// A PNG of an SVG.
pub(super) fn encode(svg: &str) -> Result<Vec<u8>, PlotError> {
    let failed = |error: &dyn std::fmt::Display| PlotError::Image(error.to_string());
    let options = Options {
        fontdb: font::DATABASE.clone(),
        font_family: font::FAMILY.to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let pixels = |length: f32| (length * SHARP).ceil() as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut pixmap = Pixmap::new(width, height).ok_or_else(|| failed(&"it has no size"))?;
    resvg::render(&tree, Transform::from_scale(SHARP, SHARP), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}
