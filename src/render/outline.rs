//! Headings: their levels, which never skip one, and their anchors, which are all different.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

/// One line of the table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "content")]
pub(super) struct ContentView {
    /// The heading's text.
    pub title: String,
    /// What it is reached by, without the `#`.
    pub anchor: String,
    /// Its level, from 2 on.
    pub level: usize,
}

/// What the page itself uses.
const TAKEN: [&str; 6] = ["top", "contents", "verdicts", "method", "settings", "main"];

/// The headings of a page in order.
#[derive(Debug)]
pub(super) struct Outline {
    taken: BTreeSet<String>,
    /// The level of the last heading of the prose; 1 is the page's title.
    prose: usize,
    last: usize,
    /// Every heading so far.
    pub contents: Vec<ContentView>,
}

impl Outline {
    pub(super) fn new() -> Self {
        Self { taken: TAKEN.map(str::to_owned).into(), prose: 1, last: 1, contents: vec![] }
    }

    /// A heading of the prose that was written with `level` signs.
    pub(super) fn prose(&mut self, title: &str, level: usize) -> ContentView {
        let level = level.clamp(2, 6).min(self.last + 1);
        self.prose = level;
        self.add(title, title, level)
    }

    /// The heading of a step, below that of the prose around it.
    pub(super) fn step(&mut self, title: &str, id: &str) -> ContentView {
        self.add(title, id, (self.prose + 1).min(6))
    }

    fn add(&mut self, title: &str, id: &str, level: usize) -> ContentView {
        self.last = level;
        let content = ContentView { title: title.to_owned(), anchor: self.anchor(id), level };
        self.contents.push(content.clone());
        content
    }

    /// An anchor that nothing else has: the text's letters and digits.
    pub(super) fn anchor(&mut self, text: &str) -> String {
        let words: String = text
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { ' ' })
            .collect();
        let slug = words.split_whitespace().collect::<Vec<_>>().join("-");
        let slug = if slug.is_empty() { "part".to_owned() } else { slug };
        let mut anchor = slug.clone();
        let mut count = 1;
        while !self.taken.insert(anchor.clone()) {
            count += 1;
            anchor = format!("{slug}-{count}");
        }
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_never_skip_one_and_anchors_differ() {
        let mut outline = Outline::new();
        let levels = [
            outline.step("first", "first").level,
            outline.prose("Deep at once", 4).level,
            outline.prose("A title", 1).level,
            outline.step("first", "first").level,
            outline.prose("Below", 3).level,
            outline.step("Third!", "contents").level,
        ];
        assert_eq!(levels, [2, 3, 2, 3, 3, 4]);
        let anchors: Vec<&str> = outline.contents.iter().map(|content| content.anchor.as_str()).collect();
        assert_eq!(anchors, ["first", "deep-at-once", "a-title", "first-2", "below", "contents-2"]);
        assert_eq!(outline.anchor("¿?"), "part");
    }
}
