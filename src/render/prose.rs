//! Markdown as HTML: headings get anchors and levels that fit the page, and nothing in it can act.
//!
//! HTML in markdown is shown as text. Links go to the web, to mail, to a place on the page or to a file beside it; images
//! become links, since a page must not ask anybody for anything.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::outline::Outline;

/// Reads the one dialect of markdown that reports are written in.
pub(super) fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// A whole text.
pub(super) fn page(markdown: &str, outline: &mut Outline) -> String {
    let mut events: Vec<Event> = Vec::new();
    let mut links: Vec<bool> = Vec::new();
    let mut heading: Option<(usize, usize, String)> = None;
    for event in parser(markdown) {
        let event = match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((events.len(), depth(level), String::new()));
                raw(String::new())
            }
            Event::End(TagEnd::Heading(_)) => match heading.take() {
                Some((at, level, title)) => {
                    let placed = outline.prose(&title, level);
                    events[at] = raw(format!("<h{} id=\"{}\">", placed.level, escaped(&placed.anchor)));
                    raw(format!("</h{}>\n", placed.level))
                }
                None => continue,
            },
            Event::Start(Tag::Link { dest_url, .. }) => open(&dest_url, &mut links, ""),
            Event::Start(Tag::Image { dest_url, .. }) => open(&dest_url, &mut links, "image: "),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                raw(if links.pop() == Some(true) { "</a>".to_owned() } else { String::new() })
            }
            Event::Start(Tag::Table(columns)) => {
                events
                    .push(raw("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"a table\">"
                        .to_owned()));
                Event::Start(Tag::Table(columns))
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                raw("</div>\n".to_owned())
            }
            other => other,
        };
        if let (Some((_, _, title)), Event::Text(text) | Event::Code(text)) = (&mut heading, &event) {
            title.push_str(text);
        }
        events.push(event);
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    out
}

/// A line or two inside something else: no headings, no paragraph around a single one.
pub(super) fn line(markdown: &str) -> String {
    let html = page(markdown, &mut Outline::new());
    let html = html.trim();
    match html.strip_prefix("<p>").and_then(|inner| inner.strip_suffix("</p>")) {
        Some(inner) if !inner.contains("<p>") => inner.to_owned(),
        _ => html.to_owned(),
    }
}

fn raw<'a>(html: String) -> Event<'a> {
    Event::InlineHtml(CowStr::from(html))
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

/// The beginning of a link, or nothing where it may not lead there: its text stays.
fn open<'a>(url: &str, links: &mut Vec<bool>, before: &str) -> Event<'a> {
    let may = may_lead_to(url);
    links.push(may);
    if may { raw(format!("<a href=\"{}\">{before}", escaped(url))) } else { raw(before.to_owned()) }
}

/// Whether a link is harmless: the web, mail, a place on the page, or a file beside it.
pub(super) fn may_lead_to(url: &str) -> bool {
    let lower = url.trim().to_ascii_lowercase();
    let known = ["http://", "https://", "mailto:", "#"].iter().any(|scheme| lower.starts_with(scheme));
    (known && !url.chars().any(char::is_control)) || is_beside(url)
}

/// Whether an address is that of a file beside the page.
pub(super) fn is_beside(url: &str) -> bool {
    let url = url.trim();
    let first = url.split(['/', '?', '#']).next().unwrap_or_default();
    !first.contains([':', '&'])
        && !url.starts_with("//")
        && !url.contains('\\')
        && !url.contains(char::is_control)
}

/// Text in which nothing is markup, also inside an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str) -> String {
        page(markdown, &mut Outline::new())
    }

    #[test]
    fn html_is_text() {
        let hostile =
            "a <b onclick=alert(1)>b</b>\n\n<script>alert(1)</script>\n\n- <img src=x onerror=alert(1)>\n";
        let html = shown(hostile);
        assert!(!html.contains("<b") && !html.contains("<script") && !html.contains("<img"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    }

    #[test]
    fn links_lead_to_harmless_places_only() {
        for good in ["https://x.org/a?b=c&d", "mailto:a@b.c", "#there", "samples.csv", "plans/a.txt"] {
            assert!(shown(&format!("[x]({good})")).contains("<a href="), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "//evil.org/x",
            "vbscript:x",
            "file:///etc",
        ] {
            let html = shown(&format!("[x](<{bad}>) ![y](<{bad}>) <{bad}>"));
            assert!(!html.contains("<a ") && !html.contains("<img"), "{bad}: {html}");
        }
        let html = shown("[x](<java&#10;script:alert(1)>) [y](<a\" onclick=\"alert(1)>)");
        assert!(!html.contains("script:") && !html.contains("\" onclick"), "{html}");
    }

    #[test]
    fn images_become_links() {
        assert_eq!(
            shown("![a dog](https://x.org/dog.png)"),
            "<p><a href=\"https://x.org/dog.png\">image: a dog</a></p>\n"
        );
    }

    #[test]
    fn headings_fit_the_page() {
        let mut outline = Outline::new();
        let html = page("# One `two`\n\n#### Deep\n", &mut outline);
        assert_eq!(html, "<h2 id=\"one-two\">One <code>two</code></h2>\n<h3 id=\"deep\">Deep</h3>\n");
        assert_eq!(outline.contents[0].title, "One two");
        assert_eq!(line("a `b` c"), "a <code>b</code> c");
    }
}
