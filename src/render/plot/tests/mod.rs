//! What every figure must be: readable, inside its frame, the same twice, and harmless.
//!
//! To look at all of them: `PLANBOOK_GALLERY=gallery.html cargo test --lib plot::tests`.

mod figures;
mod sweeps;

use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document;

use super::font::Type;
use super::{Drawn, Figure, draw};
use figures::{HOSTILE, row, samples, small, unlucky};

fn drawn(figure: &Figure) -> Drawn {
    draw(figure).expect("a drawing")
}

fn all() -> Vec<(String, Figure)> {
    small()
        .into_iter()
        .map(|(name, figure)| (name.to_owned(), figure))
        .chain(unlucky())
        .chain(sweeps::unlucky())
        .collect()
}

/// The wide and the narrow layout.
fn layouts(figure: &Figure) -> [String; 2] {
    let drawn = drawn(figure);
    [drawn.wide.file().expect("wide"), drawn.narrow.file().expect("narrow")]
}

/// Left, top, right, bottom of a text, with what it says.
type Area = ([f64; 4], String);

/// The areas of all texts, by the font's own metrics.
fn texts(svg: &str) -> ([f64; 2], Vec<Area>) {
    let document = Document::parse(svg).expect("XML");
    let root = document.root_element();
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).expect("a number");
    let size = [number(root.attribute("width")), number(root.attribute("height"))];
    let texts = root.descendants().filter(|node| node.has_tag_name("text")).map(|node| {
        let inherited =
            |name| node.attribute(name).or_else(|| node.parent().and_then(|group| group.attribute(name)));
        let said = node
            .children()
            .filter(|child| child.is_text())
            .filter_map(|child| child.text())
            .collect::<String>();
        let kind =
            Type { size: number(inherited("font-size")), bold: inherited("font-weight") == Some("bold") };
        let width = kind.width(&said);
        let left = number(node.attribute("x"))
            - match inherited("text-anchor") {
                Some("middle") => width / 2.0,
                Some("end") => width,
                _ => 0.0,
            };
        let baseline = number(node.attribute("y"));
        ([left, baseline - kind.size * 0.76, left + width, baseline + kind.size * 0.24], said)
    });
    let texts = texts.collect();
    (size, texts)
}

#[test]
fn every_text_is_inside_and_none_lies_on_another() {
    for (name, figure) in all() {
        for svg in layouts(&figure) {
            let ([width, height], texts) = texts(&svg);
            for (at, ([left, top, right, bottom], said)) in texts.iter().enumerate() {
                let inside = *left >= 0.0 && *right <= width && *top >= 0.0 && *bottom <= height;
                assert!(inside, "{name}: `{said}` at {left},{top} to {right},{bottom} of {width}×{height}");
                for ([other_left, other_top, other_right, other_bottom], other) in &texts[..at] {
                    let apart = right <= other_left
                        || other_right <= left
                        || bottom <= other_top
                        || other_bottom <= top;
                    assert!(apart, "{name}, {width} wide: `{said}` lies on `{other}`");
                }
            }
        }
    }
}

#[test]
fn every_number_is_one_and_lies_inside() {
    for (name, figure) in all() {
        for svg in layouts(&figure) {
            let ([width, height], _) = texts(&svg);
            let document = Document::parse(&svg).expect("XML");
            for node in document.root_element().descendants() {
                let within = |length: &str, most: f64| {
                    let length: f64 = length.parse().unwrap_or_else(|_| panic!("{name}: {length}"));
                    assert!(
                        (-0.01..=most + 0.01).contains(&length),
                        "{name}: {length} of {most} in {node:?}"
                    );
                };
                for (attributes, most) in
                    [(["x", "x1", "x2", "cx"], width), (["y", "y1", "y2", "cy"], height)]
                {
                    attributes
                        .iter()
                        .filter_map(|name| node.attribute(*name))
                        .for_each(|length| within(length, most));
                }
                for point in node.attribute("points").unwrap_or_default().split_whitespace() {
                    let (x, y) = point.split_once(',').expect("a point");
                    within(x, width);
                    within(y, height);
                }
            }
        }
    }
}

#[test]
fn a_figure_is_the_same_twice_and_changes_with_its_samples_alone() {
    for (name, figure) in all() {
        let (one, two) = (drawn(&figure), drawn(&figure));
        assert_eq!(one.file().expect("SVG"), two.file().expect("SVG"), "{name}");
        assert_eq!(one.inline("x").expect("markup"), two.inline("x").expect("markup"), "{name}");
    }
    let of = |level: f64| {
        let mut rows = vec![row("a", 5.0, (5, 2))];
        rows[0].turns[2][1] *= level;
        let body = super::Body::Distribution(samples(rows, crate::notebook::AxisScale::Auto));
        drawn(&figures::figure("One sample", body)).file().expect("SVG")
    };
    assert_eq!(of(1.0), of(1.0));
    assert_ne!(of(1.0), of(1.05));
}

#[test]
fn the_png_is_the_drawing_at_twice_its_size() {
    for (name, figure) in small() {
        let drawn = drawn(&figure);
        let png = drawn.png().expect("a PNG");
        assert_eq!(png, drawn.png().expect("a PNG"), "{name}");
        let pixels = Pixmap::decode_png(&png).expect("a PNG that can be read");
        assert_eq!(f64::from(pixels.width()), drawn.wide.width * 2.0, "{name}");
        assert_eq!(f64::from(pixels.height()), drawn.wide.height * 2.0, "{name}");
        let colours: std::collections::BTreeSet<[u8; 4]> = pixels
            .pixels()
            .iter()
            .map(|pixel| [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()])
            .collect();
        assert!(colours.iter().all(|colour| colour[3] == 255), "{name} shines through");
        assert!(colours.len() > 20, "{name} has {} colours", colours.len());
        assert!(colours.contains(&[0x1b, 0x1f, 0x24, 255]), "{name} has no text");
    }
}

#[test]
fn hostile_names_are_text_and_nothing_else() {
    for (_, figure) in all().iter().filter(|(name, _)| name.starts_with("hostile")) {
        let drawn = drawn(figure);
        for svg in [drawn.file().expect("SVG"), drawn.inline("x").expect("markup")] {
            for tag in ["<script", "<b>", "<foreignObject", "<image", "<a "] {
                assert!(!svg.contains(tag), "{tag} in {svg}");
            }
            let document = Document::parse(&svg).expect("XML");
            let known = [
                "svg", "title", "desc", "style", "g", "rect", "line", "circle", "polyline", "polygon",
                "text", "div",
            ];
            for node in document.descendants().filter(|node| node.is_element()) {
                assert!(known.contains(&node.tag_name().name()), "{node:?}");
                assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{node:?}");
            }
        }
    }
    assert!(HOSTILE.contains('\u{0}'));
}

#[test]
fn a_cut_name_can_be_read_in_whole() {
    let long =
        "a name that is far too long for the two lines that a figure has for it, and then some more of it";
    let rows = vec![row(long, 5.0, (5, 2))];
    let body = super::Body::Distribution(samples(rows, crate::notebook::AxisScale::Auto));
    let svg = drawn(&figures::figure("t", body)).file().expect("SVG");
    assert!(svg.contains(&format!("<title>{long}</title>")), "{svg}");
    assert!(svg.contains('…'), "{svg}");
}

#[test]
fn what_was_not_measured_is_said_where_it_would_stand() {
    for (name, figure) in all().iter().filter(|(name, _)| name.starts_with("no ")) {
        for svg in layouts(figure) {
            assert!(svg.contains("not measured</text>"), "{name}: {svg}");
        }
    }
}

#[test]
fn a_figure_speaks_and_takes_the_colours_of_its_page() {
    let [(_, figure), ..] = &small()[..] else { panic!("no figures") };
    let inline = drawn(figure).inline("one").expect("markup");
    assert!(inline.contains("role=\"img\" aria-labelledby=\"plot.one.title plot.one.desc\""), "{inline}");
    assert!(inline.contains("<title id=\"plot.one.title\">Two arms</title>"), "{inline}");
    assert!(inline.contains("<desc id=\"plot.one.narrow.desc\">What it shows, in words.</desc>"), "{inline}");
    assert!(inline.contains("style=\"fill:var(--series-1,#0072b2)\""), "{inline}");
    assert!(!inline.contains("<style"), "a style in a page is the whole page's");
    let file = drawn(figure).file().expect("SVG");
    assert!(file.contains("@media(prefers-color-scheme:dark){svg{--ink:#e7eaed;"), "{file}");
}

#[test]
fn small_figures_are_as_they_were() {
    for (name, figure) in small() {
        insta::assert_snapshot!(format!("plot_{name}"), drawn(&figure).file().expect("SVG"));
    }
}

#[test]
fn a_gallery_can_be_looked_at() {
    let Some(path) = std::env::var_os("PLANBOOK_GALLERY") else { return };
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width,initial-scale=1'>\
         <style>:root{color-scheme:light dark;--bg:#fcfcfa}body{margin:8px;background:var(--bg)}\
         @media(prefers-color-scheme:dark){:root{--bg:#14171a;",
    );
    for (name, _, dark) in super::ink::PALETTE {
        page.push_str(&format!("{name}:{dark};"));
    }
    page.push_str(&format!("}}}}{}</style>", include_str!("../../../../templates/style.css")));
    for (at, (_, figure)) in all().iter().enumerate() {
        page.push_str(&drawn(figure).inline(&format!("g{at}")).expect("markup"));
    }
    std::fs::write(path, page).expect("the gallery");
}
