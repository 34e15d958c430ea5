//! The bundled font: how wide text is, and how to make it fit.

use std::sync::{Arc, LazyLock};

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};
use resvg::usvg::fontdb::Database;

/// The name that the font bears. Readers who lack it get another; it is wider than nearly all of them, so that what
/// fits in it fits.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// Height of a line of the font over its size: ascender less descender, 1901 + 483 of 2048 units. plotters takes a
/// size for that height.
const LINE: f64 = 2384.0 / 2048.0;

/// plotters writes sizes into SVG divided by this.
pub(super) const WRITTEN: f64 = 1.24;

static REGISTERED: LazyLock<bool> = LazyLock::new(|| {
    [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())]
        .into_iter()
        .all(|(style, bytes)| register_font(FAMILY, style, bytes).is_ok())
});

/// The fonts that a PNG is drawn with.
pub(super) static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut database = Database::new();
    database.load_font_data(dejavu::sans::regular().to_vec());
    database.load_font_data(dejavu::sans::bold().to_vec());
    Arc::new(database)
});

/// A size and a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Type {
    /// Pixels of CSS.
    pub size: f64,
    pub bold: bool,
}

/// Titles.
pub(super) const TITLE: Type = Type { size: 15.0, bold: true };
/// Names of arms.
pub(super) const LABEL: Type = Type { size: 12.0, bold: false };
/// Values.
pub(super) const VALUE: Type = Type { size: 12.0, bold: true };
/// Ticks, axes and remarks.
pub(super) const NOTE: Type = Type { size: 11.0, bold: false };
/// The source.
pub(super) const SMALL: Type = Type { size: 10.0, bold: false };

impl Type {
    /// The font as plotters wants it, where its em is `em` pixels.
    pub(super) fn desc(self, size: f64) -> FontDesc<'static> {
        LazyLock::force(&REGISTERED);
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        FontDesc::new(FontFamily::Name(FAMILY), size, style)
    }

    /// The width of a text in pixels of CSS.
    pub(super) fn width(self, text: &str) -> f64 {
        const UNITS: f64 = 1000.0;
        let measured = self.desc(UNITS * LINE).layout_box(text);
        let font = measured.map_or(0.0, |(_, (width, _))| f64::from(width) / UNITS * self.size);
        // What the font lacks is drawn by another one, and an emoji is wider than an em.
        let strange = text.chars().filter(|c| u32::from(*c) > 0x2fff).count() as f64;
        font + strange * self.size * 0.9
    }

    /// Distance of two baselines.
    pub(super) fn leading(self) -> f64 {
        (self.size * 1.35).round()
    }

    /// The text, or as much of it as fits, with an ellipsis.
    pub(super) fn fit(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let cut = |count: usize| format!("{}…", text[..ends[count]].trim_end());
        // Widths grow with length: the longest that fits is found by halving.
        let fits =
            (0..ends.len()).collect::<Vec<_>>().partition_point(|count| self.width(&cut(*count)) <= width);
        cut(fits.saturating_sub(1))
    }

    /// The text in at most `most` lines of that width, broken between words; the last one ends in an ellipsis where
    /// that is not enough.
    pub(super) fn wrap(self, text: &str, width: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let words: Vec<&str> = text.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let longer = lines.last().map(|line| format!("{line} {word}"));
            match longer.filter(|longer| self.width(longer) <= width) {
                Some(longer) => *lines.last_mut().unwrap_or(&mut String::new()) = longer,
                None if lines.len() < most => lines.push((*word).to_owned()),
                None => {
                    let rest = words[at..].join(" ");
                    if let Some(last) = lines.last_mut() {
                        *last = format!("{last} {rest}");
                    }
                    break;
                }
            }
        }
        lines.iter().map(|line| self.fit(line, width)).collect()
    }
}

/// Text without what XML forbids and what turns the direction of writing; every gap is one space.
pub(super) fn clean(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}');
    let kept: String = text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advances of DejaVu Sans in 1/2048 em: n 1298, o 1253, t 803, e 1260; of its bold: o 1407, k 1362.
        let near = |width: f64, units: f64, size: f64| (width - units / 2048.0 * size).abs() < 0.05;
        assert!(near(LABEL.width("note"), 1298.0 + 1253.0 + 803.0 + 1260.0, 12.0), "{}", LABEL.width("note"));
        assert!(near(VALUE.width("ok"), 1407.0 + 1362.0, 12.0), "{}", VALUE.width("ok"));
    }

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        let long = "events_user_id_and_a_very_long_name_of_an_index";
        let short = LABEL.fit(long, 100.0);
        assert!(short.ends_with('…') && LABEL.width(&short) <= 100.0, "{short}");
        assert_eq!(LABEL.fit("short", 100.0), "short");
        let lines = LABEL.wrap("covering index, before VACUUM and everything else", 110.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| LABEL.width(line) <= 110.0), "{lines:?}");
        assert!(lines[1].ends_with('…'), "{lines:?}");
        assert_eq!(LABEL.wrap("", 110.0, 2), Vec::<String>::new());
    }

    #[test]
    fn text_has_nothing_that_xml_forbids() {
        assert_eq!(clean("a\u{0}\nb\t\u{202e} c\u{ffff}"), "a b c");
    }
}
