//! Colours by what they are for, with the names of the page's custom properties.

use plotters::style::RGBColor;

/// What a mark is coloured as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text and what matters most.
    Strong,
    /// Axes, ticks and side remarks.
    Soft,
    /// Lines of the grid.
    Rule,
    /// The figure's background.
    Card,
    /// One arm, counted from 0. They repeat after the eighth: names tell arms apart, colours only help.
    Series(usize),
}

/// Custom property, colour on light pages, colour on dark ones: those of `templates/style.css`, so that a figure looks the
/// same beside its page as on it. No two light colours are the same: the dress finds its role by the colour that
/// plotters wrote.
///
/// The series begin with the hues of Okabe and Ito (2008), each as dark or light as it takes for a contrast of 3 to 1
/// with the background.
pub(super) const PALETTE: [(&str, (u8, u8, u8), &str); 12] = [
    ("--ink", (0x1b, 0x1f, 0x24), "#e7eaed"),
    ("--soft", (0x57, 0x60, 0x6b), "#a2acb6"),
    ("--rule", (0xd9, 0xde, 0xe2), "#343b43"),
    ("--card", (0xff, 0xff, 0xff), "#1a1e22"),
    ("--series-1", (0x00, 0x72, 0xb2), "#5cb3ea"),
    ("--series-2", (0xb8, 0x4d, 0x00), "#ff9a5c"),
    ("--series-3", (0x00, 0x75, 0x5a), "#4fd0a5"),
    ("--series-4", (0x9c, 0x40, 0x85), "#e79bc9"),
    ("--series-5", (0x7a, 0x5c, 0x00), "#e6c24d"),
    ("--series-6", (0x0f, 0x73, 0x80), "#6fd3dd"),
    ("--series-7", (0x54, 0x58, 0xbd), "#a9adff"),
    ("--series-8", (0x5f, 0x66, 0x6d), "#b5bcc4"),
];

/// How many colours the series have.
const SERIES: usize = 8;

impl Ink {
    fn index(self) -> usize {
        match self {
            Self::Strong => 0,
            Self::Soft => 1,
            Self::Rule => 2,
            Self::Card => 3,
            Self::Series(number) => 4 + number % SERIES,
        }
    }

    /// The colour on light pages.
    pub(super) fn light(self) -> RGBColor {
        let (red, green, blue) = PALETTE[self.index()].1;
        RGBColor(red, green, blue)
    }

    /// The colour on light pages, as SVG writes it.
    pub(super) fn hex(self) -> String {
        let RGBColor(red, green, blue) = self.light();
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The custom property of a colour that plotters wrote, `#1B1F24`.
pub(super) fn property(colour: &str) -> Option<&'static str> {
    let written = |(red, green, blue): (u8, u8, u8)| format!("#{red:02X}{green:02X}{blue:02X}");
    PALETTE.iter().find(|(_, light, _)| written(*light) == colour).map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance by WCAG 2.
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: (u8, u8, u8), two: (u8, u8, u8)) -> f64 {
        let (one, two) = (luminance(one), luminance(two));
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    fn parsed(hex: &str) -> (u8, u8, u8) {
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        (part(1), part(3), part(5))
    }

    #[test]
    fn marks_and_words_stand_out_on_both_backgrounds() {
        let (light, dark) = (PALETTE[3].1, parsed(PALETTE[3].2));
        for (name, on_light, on_dark) in PALETTE {
            let needed = match name {
                "--ink" => 10.0,
                "--soft" => 4.5,
                "--rule" | "--card" => 1.0,
                _ => 3.0,
            };
            assert!(contrast(on_light, light) >= needed, "{name} on light: {}", contrast(on_light, light));
            let on_dark = contrast(parsed(on_dark), dark);
            assert!(on_dark >= needed, "{name} on dark: {on_dark}");
        }
    }

    #[test]
    fn a_figure_has_the_colours_of_the_page() {
        let style = include_str!("../../../templates/style.css");
        let (light, dark) = style.split_once("prefers-color-scheme: dark").expect("two schemes");
        for (name, (red, green, blue), on_dark) in PALETTE {
            assert!(light.contains(&format!("{name}: #{red:02x}{green:02x}{blue:02x};")), "{name} on light");
            assert!(dark.contains(&format!("{name}: {on_dark};")), "{name} on dark");
        }
    }

    #[test]
    fn a_colour_has_one_role() {
        let mut colours: Vec<_> = PALETTE.iter().map(|(_, light, _)| light).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), PALETTE.len());
        assert_eq!(property("#0072B2"), Some("--series-1"));
        assert_eq!(property("#123456"), None);
    }
}
