//! A notebook whose names, SQL, errors and values are HTML, markdown, templates and formulas does nothing in any report.

use std::fs;

use pulldown_cmark::{Event, Tag};

use crate::chromium::{Browser, Look};
use crate::project::{Project, files};

/// What would show itself as an element, a script, a template's result or a formula.
const NOTEBOOK: &str = r##"planbook: 1
title: "<script>window.pwned = 1</script> {% raw %}{{ 7 * 191 }}{% endraw %} | # *x* `y` [a](javascript:alert(1))"
summary: "</title></style><img src=x onerror=alert(1)> =cmd|' /C calc'!A0"
tags: ["<b onclick=alert(1)>tag</b>", "</script><script>alert(1)</script>"]
params: {evil: "</code></pre><svg onload=alert(1)>"}
dataset:
  sql:
    - CREATE TABLE "<img src=x onerror=alert(1)>" ("<b>" text, "=1+1" int, "{% raw %}{{ n }}{% endraw %}" int)
    - INSERT INTO "<img src=x onerror=alert(1)>" SELECT '<script>alert(1)</script>', g, g FROM generate_series(1, 50) AS g
steps:
  - text: |
      # <script>alert(1)</script> heading

      Raw <img src=x onerror=alert(1)> and [a link](javascript:alert(1)), ![an image](https://example.org/track.png),
      <javascript:alert(1)>, [data](data:text/html,<script>alert(1)</script>), {{ evil }}, and

      <iframe src="https://example.org"></iframe>

      <style>body { display: none }</style>
  - let: {value: {sql: "SELECT '</dd><script>alert(1)</script>' || chr(96) || '|'"}}
  - measure:
      id: m
      label: "=HYPERLINK(\"https://example.org\") <script>alert(1)</script> `tick` | bar"
      reps: 2
      turns: 2
      query: |
        SELECT "<b>" AS "</pre><script>alert(1)</script>" FROM "<img src=x onerror=alert(1)>"
        WHERE "<b>" <> '</pre></details><script>alert(1)</script> ``` {% raw %}{{ 7 * 191 }}{% endraw %}'
      arms:
        a: {label: "<i onmouseover=alert(1)>a</i>"}
        b: {label: "+1|b", settings: {enable_seqscan: off}}
      expect: {plan: "Seq Scan on \"<img src=x onerror=alert(1)>\"", rows: 49}
  - sweep:
      id: s
      label: "<script>alert(1)</script> | sweep"
      over: {n: [1, 2]}
      x: {label: "<b onclick=alert(1)>x</b> | y", expr: n}
      query: SELECT "=1+1" FROM "<img src=x onerror=alert(1)>" WHERE "=1+1" < {{ n }}
      reps: 2
      turns: 2
      arms: {a: {label: "<i onmouseover=alert(1)>a</i> | b"}, b: {}}
  - plan: {title: "</h3><script>alert(1)</script>", of: [m.a, m.b]}
  - table: {id: t, title: "@SUM(1) <script>alert(1)</script>", of: m, columns: [plan, rows]}
  - plot: {id: p, kind: bars, of: m, value: rows, title: "</svg></title><script>alert(1)</script>", caption: "<img src=x onerror=alert(1)>"}
  - sql: |
      DO $$ BEGIN RAISE NOTICE '<script>alert(1)</script> *notice*'; END $$;
  - sql: |
      DO $$ BEGIN RAISE EXCEPTION '</p><script>alert(1)</script> {% raw %}{{ 7 * 191 }}{% endraw %}'
        USING DETAIL = '<img src=x onerror=alert(1)>', HINT = '[h](javascript:alert(1))'; END $$;
"##;

const PLACE: &str = "results/hostile/local-15";

fn run() -> Project {
    let project = Project::with("hostile", NOTEBOOK);
    project.planbook(&["run", "hostile", "--server", "local"]).exits(1);
    project
}

#[test]
fn nothing_of_it_acts_in_any_file() {
    let project = run();
    let mut seen = 0;
    for file in files(&project.path().join("results")) {
        let name = file.display().to_string();
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let derived = ["html", "md", "svg", "csv"].iter().any(|ending| name.ends_with(&format!(".{ending}")));
        if !derived || name.ends_with("samples.csv") {
            continue;
        }
        seen += 1;
        assert!(!text.contains("1337"), "{name}: a template was evaluated\n{text}");
        let lower = text.to_lowercase();
        match name.rsplit('.').next() {
            Some("csv") => {
                for cell in text.split(['\n', ',']) {
                    let cell = cell.trim_start_matches('"');
                    let formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
                    assert!(!formula, "{name}: {cell} is a formula");
                }
            }
            Some("md") => markdown_is_harmless(&name, &text),
            _ => {
                for tag in [
                    "<script>alert",
                    "<img",
                    "<iframe",
                    "<foreignobject",
                    "<svg onload",
                    "<b onclick",
                    "<i onmouse",
                    "href=\"javascript",
                ] {
                    assert!(!lower.contains(tag), "{name}: {tag}\n{text}");
                }
            }
        }
    }
    assert!(seen >= 6, "only {seen} files were looked at");
}

/// No tag but our own, no image from elsewhere, and no link that acts.
fn markdown_is_harmless(name: &str, text: &str) {
    let rule = |line: &&str| line.starts_with("|-") && line.bytes().all(|byte| b"|-:".contains(&byte));
    let options = pulldown_cmark::Options::ENABLE_TABLES;
    let tables = pulldown_cmark::Parser::new_ext(text, options)
        .filter(|event| matches!(event, Event::Start(Tag::Table(_))))
        .count();
    assert_eq!(tables, text.lines().filter(rule).count(), "{name}: a table fell apart");
    for event in pulldown_cmark::Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES) {
        match event {
            Event::Html(tag) | Event::InlineHtml(tag) => {
                assert!(ours(tag.trim()), "{name}: {tag}");
            }
            Event::Start(Tag::Image { dest_url: to, .. }) => {
                assert!(!to.contains(':'), "{name}: an image at {to}");
            }
            Event::Start(Tag::Link { dest_url: to, .. }) => {
                assert!(
                    !to.contains(':') || &*to == "https://example.org/track.png",
                    "{name}: a link to {to}"
                );
            }
            _ => {}
        }
    }
}

/// Tags that the templates write, and the comment that marks an index.
fn ours(tag: &str) -> bool {
    let plain = ["<details>", "</details>", "<summary>", "</summary>", "<details><summary>", "</summary>"];
    plain.contains(&tag) || tag.starts_with("<!-- Planbook writes this file.") || summary(tag)
}

/// `<details><summary>…` in one line, its words escaped.
fn summary(tag: &str) -> bool {
    let inner = tag.strip_prefix("<details><summary>").and_then(|rest| rest.strip_suffix("</summary>"));
    inner.is_some_and(|inner| !inner.contains('<'))
}

#[test]
fn nothing_of_it_acts_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let project = run();
    let html = project.planbook(&["explain", "--html", &format!("{PLACE}/plans/m.a.txt")]).exits(0).out;
    project.write("explained.html", &html);
    for file in [format!("{PLACE}/report.html"), "results/index.html".to_owned(), "explained.html".to_owned()]
    {
        let mut page =
            browser.open(&project.path().join(&file), Look { width: 1280, dark: false, scripts: true });
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
        page.evaluate("new Promise((done) => setTimeout(done, 200))");
        assert_eq!(page.complaints(), [""; 0], "{file}");
        assert_eq!(page.requests(), std::slice::from_ref(&page.address), "{file}");
        assert_eq!(page.evaluate("typeof window.pwned"), "undefined", "{file}");
        let injected = page.evaluate(
            "[...document.querySelectorAll('img, iframe, svg script, foreignObject, svg a, svg image, object, embed, link, form, base, i[onmouseover], b[onclick]')].length + \
             document.querySelectorAll('script').length - 1 + document.querySelectorAll('style').length - 1 + \
             [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length + \
             [...document.querySelectorAll('a')].filter((a) => !['https:', 'file:'].includes(a.protocol)).length",
        );
        assert_eq!(injected, 0, "{file}");
    }
}
