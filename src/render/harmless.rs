//! Markdown in which nothing can act and nothing is a second title, whatever shows it: what `prose` does for a page, done to
//! the text itself.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Tag};

use super::prose::{is_beside, may_lead_to, parser};

/// The text with its HTML, and its links to places that act, as plain text; images from elsewhere become links, titles
/// headings below that of the report. What is harmless stays byte for byte.
pub(super) fn harmless(markdown: &str) -> String {
    let mut text = markdown.to_owned();
    loop {
        // What was part of an HTML block is markdown once that block is none, so look again.
        let edits = edits(&text);
        if edits.is_empty() {
            return text;
        }
        for (range, with) in edits.into_iter().rev() {
            text.replace_range(range, with);
        }
    }
}

/// What to replace, in order, without overlaps.
fn edits(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut edits = Vec::new();
    for (event, range) in parser(text).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let brackets = text[range.clone()].match_indices('<').map(|(at, _)| range.start + at);
                edits.extend(brackets.filter(|&at| !is_escaped(text, at)).map(|at| (at..at, "\\")));
            }
            Event::Start(Tag::Image { dest_url, .. }) if !is_beside(&dest_url) => {
                edits.push((range.start..range.start + "![".len(), "[image: "));
            }
            Event::Start(Tag::Link { dest_url, .. }) if !may_lead_to(&dest_url) => {
                edits.push((range.start..range.start, "\\"));
            }
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => edits.extend(lowered(text, range)),
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    edits.dedup();
    edits
}

/// What makes a title a heading of the second level: one more `#`, or a line of `-` below it.
fn lowered(text: &str, title: Range<usize>) -> Vec<(Range<usize>, &'static str)> {
    let written = text[title.clone()].trim_end();
    let below = title.start + written.rfind('\n').map_or(0, |at| at + 1);
    let line = &text[below..title.start + written.len()];
    if below > title.start && line.trim_start_matches(['>', ' ', '\t']).bytes().all(|byte| byte == b'=') {
        let signs = line.match_indices('=').map(|(at, _)| below + at);
        return signs.map(|at| (at..at + 1, "-")).collect();
    }
    let sign = written.find('#').map(|at| title.start + at);
    sign.map(|at| (at..at, "#")).into_iter().collect()
}

fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_harmless_stays() {
        for text in [
            "## A `<b>` heading\n\n> 1 < 2 and 3 > 2, [a link](https://x.org), <https://x.org>, ![a plot](p.svg)\n",
            "```html\n<script>alert(1)</script>\n```\n\n| a | b |\n|---|---|\n| 1 | *2* |\n",
            "\\<b> &lt;b&gt;\n",
        ] {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn no_title_stands_beside_that_of_the_report() {
        for (title, heading) in [
            ("# Result\n\ntext\n\n## More", "## Result\n\ntext\n\n## More"),
            ("Two\nlines\n=====\n\ntext", "Two\nlines\n-----\n\ntext"),
            ("> # Result\n", "> ## Result\n"),
            ("> Result\n> ===\n", "> Result\n> ---\n"),
            ("- # Result #\n", "- ## Result #\n"),
            ("```sql\n# no heading\n```\n", "```sql\n# no heading\n```\n"),
        ] {
            assert_eq!(harmless(title), heading);
        }
    }

    #[test]
    fn html_is_text() {
        assert_eq!(harmless("a <b onclick=alert(1)>b</b>"), "a \\<b onclick=alert(1)>b\\</b>");
        assert_eq!(harmless("<script>\nalert(1)\n</script>\n"), "\\<script>\nalert(1)\n\\</script>\n");
        assert_eq!(harmless("<!-- a\n\nb -->\n"), "\\<!-- a\n\nb -->\n");
        assert_eq!(
            harmless("<div>\n\\<p>\n[x](javascript:a)\n</div>\n"),
            "\\<div>\n\\<p>\n\\[x](javascript:a)\n\\</div>\n"
        );
    }

    #[test]
    fn links_that_act_are_text_and_images_from_elsewhere_are_links() {
        assert_eq!(harmless("[x](javascript:a)"), "\\[x](javascript:a)");
        assert_eq!(harmless("<javascript:a>"), "\\<javascript:a>");
        assert_eq!(harmless("[x][r]\n\n[r]: data:text/html,x\n"), "\\[x]\\[r]\n\n[r]: data:text/html,x\n");
        assert_eq!(harmless("![x](https://x.org/x.png)"), "[image: x](https://x.org/x.png)");
        assert_eq!(harmless("![x](javascript:a)"), "\\[image: x](javascript:a)");
        assert_eq!(harmless("[![x](//x.org/a)](data:b)"), "\\[\\[image: x](//x.org/a)](data:b)");
    }

    const PIECES: [&str; 24] = [
        "# ",
        "=\n",
        "<",
        ">",
        "b",
        "<!--",
        "-->",
        "<script>",
        "</p>",
        "\\",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "[",
        "](",
        ")",
        "![",
        "javascript:a",
        "https://x.org",
        "]: ",
        "> ",
        "    ",
        "|",
    ];

    proptest! {
        #[test]
        fn nothing_is_left_that_acts(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
            let text = harmless(&pieces.concat());
            prop_assert!(edits(&text).is_empty());
            for event in parser(&text) {
                prop_assert!(!matches!(event, Event::Html(_) | Event::InlineHtml(_)), "{text}");
                let title = matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }));
                prop_assert!(!title, "{text}");
            }
        }
    }
}
