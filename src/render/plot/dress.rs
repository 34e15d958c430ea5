//! plotters' SVG in the clothes of its place: a page, a file of its own, or pixels.
//!
//! plotters knows no custom properties and writes every attribute with every mark. Here tenths become pixels,
//! colours become roles with fallbacks, marks that look alike share a group, and words for those who cannot see the
//! figure are added. Nothing is drawn anew.

use std::fmt::Write as _;

use resvg::usvg::roxmltree::{Document, Node};

use super::PlotError;
use super::canvas::UNITS;
use super::font;
use super::ink::{self, Ink, PALETTE};

/// Fonts of the page where there are some, else of the system. None is wider than the one that was measured with.
const FONTS: &str = "var(--figure-font,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif)";

/// One layout of a figure as plotters drew it.
#[derive(Debug)]
pub(super) struct Drawing {
    pub svg: String,
    /// Pixels of CSS.
    pub width: f64,
    pub height: f64,
    /// For each text, in order, the whole of one that was cut.
    pub titles: Vec<Option<String>>,
    pub title: String,
    pub description: String,
}

/// Where the drawing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Into a page that defines the colours.
    Page,
    /// Into a file that has to bring them.
    File,
    /// To the rasteriser, which knows no custom properties.
    Pixels,
}

impl Drawing {
    /// For a page: `id` must be unique on it, `class` tells the layouts apart. The dots keep its ids apart from the
    /// anchors of headings, which have none.
    pub(super) fn inline(&self, id: &str, class: &str) -> Result<String, PlotError> {
        let head = format!(
            "<svg class=\"{class}\" role=\"img\" aria-labelledby=\"plot.{id}.title plot.{id}.desc\" {} \
             style=\"max-width:100%;height:auto;font-family:{FONTS}\">\n\
             <title id=\"plot.{id}.title\">{}</title>\n<desc id=\"plot.{id}.desc\">{}</desc>\n",
            self.size(),
            escaped(&self.title),
            escaped(&self.description),
        );
        self.dressed(head, Place::Page)
    }

    /// A file of its own, with colours for light and dark and a background in them.
    pub(super) fn file(&self) -> Result<String, PlotError> {
        let light = PALETTE.iter().fold(String::new(), |mut css, (name, (red, green, blue), _)| {
            let _ = write!(css, "{name}:#{red:02x}{green:02x}{blue:02x};");
            css
        });
        let dark = PALETTE.iter().fold(String::new(), |mut css, (name, _, dark)| {
            let _ = write!(css, "{name}:{dark};");
            css
        });
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" {} \
             font-family=\"{}, Verdana, sans-serif\" style=\"font-family:{FONTS}\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
             <style>svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}</style>\n{}",
            self.size(),
            font::FAMILY,
            escaped(&self.title),
            escaped(&self.description),
            self.background(" style=\"fill:var(--card)\""),
        );
        self.dressed(head, Place::File)
    }

    /// For the rasteriser: light colours, the bundled font.
    pub(super) fn plain(&self) -> Result<String, PlotError> {
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {} font-family=\"{}\">\n{}",
            self.size(),
            font::FAMILY,
            self.background(""),
        );
        self.dressed(head, Place::Pixels)
    }

    fn size(&self) -> String {
        let (width, height) = (self.width, self.height);
        format!("width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\"")
    }

    fn background(&self, style: &str) -> String {
        let Self { width, height, .. } = self;
        format!("<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"{style}/>\n", Ink::Card.hex())
    }

    fn dressed(&self, mut out: String, place: Place) -> Result<String, PlotError> {
        let document = Document::parse(&self.svg).map_err(|error| PlotError::Image(error.to_string()))?;
        let mut titles = self.titles.iter();
        let mut marks: Vec<(String, String)> = Vec::new();
        for node in document.root_element().children().filter(Node::is_element) {
            let title = if node.has_tag_name("text") { titles.next().and_then(Option::as_ref) } else { None };
            marks.push((look(node, place), shape(node, title)));
        }
        for alike in marks.chunk_by(|one, two| one.0 == two.0) {
            match alike {
                [(look, shape)] => out.push_str(&shape.replacen('\u{1}', look, 1)),
                _ => {
                    let _ = writeln!(out, "<g{}>", alike[0].0);
                    alike.iter().for_each(|(_, shape)| out.push_str(&shape.replacen('\u{1}', "", 1)));
                    out.push_str("</g>\n");
                }
            }
        }
        out.push_str("</svg>\n");
        Ok(out)
    }
}

/// The attributes that say how a mark looks.
fn look(node: Node<'_, '_>, place: Place) -> String {
    let mut out = String::new();
    let mut style = String::new();
    for name in ["fill", "stroke"] {
        let colour = node.attribute(name).unwrap_or("none");
        // What has no outline says so by saying nothing; without a fill it would be black.
        if colour == "none" {
            if name == "fill" && node.has_tag_name("polyline") {
                out.push_str(" fill=\"none\"");
            }
            continue;
        }
        let _ = write!(out, " {name}=\"{}\"", colour.to_lowercase());
        if let Some(property) = ink::property(colour) {
            let _ = write!(style, "{name}:var({property},{});", colour.to_lowercase());
        }
        if name == "stroke" {
            let width = node.attribute("stroke-width").unwrap_or("10");
            let _ = write!(out, " stroke-width=\"{}\"", pixels(width));
        }
    }
    if let Some(opacity) = node.attribute("opacity").filter(|opacity| *opacity != "1") {
        let _ = write!(out, " opacity=\"{opacity}\"");
    }
    if let Some(size) = node.attribute("font-size") {
        let _ = write!(out, " font-size=\"{}\"", pixels(size));
    }
    if let Some(weight) = node.attribute("font-weight") {
        let _ = write!(out, " font-weight=\"{weight}\"");
    }
    if let Some(anchor) = node.attribute("text-anchor").filter(|anchor| *anchor != "start") {
        let _ = write!(out, " text-anchor=\"{anchor}\"");
    }
    if place != Place::Pixels && !style.is_empty() {
        let _ = write!(out, " style=\"{}\"", style.trim_end_matches(';'));
    }
    out
}

/// The element with its geometry; U+0001 stands where its look goes, a character that no SVG can hold.
fn shape(node: Node<'_, '_>, title: Option<&String>) -> String {
    let tag = node.tag_name().name();
    let mut out = format!("<{tag}");
    for name in ["x", "y", "width", "height", "x1", "y1", "x2", "y2", "cx", "cy", "r"] {
        if let Some(length) = node.attribute(name) {
            let _ = write!(out, " {name}=\"{}\"", pixels(length));
        }
    }
    if let Some(points) = node.attribute("points") {
        let points: Vec<String> = points
            .split_whitespace()
            .map(|point| point.split(',').map(pixels).collect::<Vec<_>>().join(","))
            .collect();
        let _ = write!(out, " points=\"{}\"", points.join(" "));
    }
    out.push('\u{1}');
    match node.text().map(str::trim).filter(|_| tag == "text") {
        Some(text) => {
            let title = title.map(|title| format!("<title>{}</title>", escaped(title))).unwrap_or_default();
            let _ = writeln!(out, ">{title}{}</text>", escaped(text));
        }
        None => out.push_str("/>\n"),
    }
    out
}

/// Pixels of CSS, with at most one decimal.
fn pixels(units: &str) -> String {
    let units: f64 = units.parse().unwrap_or_default();
    // Adding zero makes a negative zero a plain one.
    ((units * 10.0 / UNITS).round() / 10.0 + 0.0).to_string()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
