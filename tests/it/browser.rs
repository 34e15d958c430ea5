//! Pages in a real browser: nothing overflows, complains or is asked for, plans fold, and everybody can read them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chromium::{Browser, Look, Page};
use crate::project::{Project, files};
use crate::report::STORY;

const WIDTHS: [u32; 2] = [360, 1280];

/// axe-core, which `tests/run` brings. Without it the test says what it leaves out; in CI it must be there.
fn checker() -> Option<String> {
    let Some(path) = std::env::var_os("PLANBOOK_TEST_AXE") else {
        assert!(std::env::var_os("CI").is_none(), "PLANBOOK_TEST_AXE is not set");
        let _ = writeln!(
            std::io::stderr(),
            "left out: PLANBOOK_TEST_AXE names no axe.min.js, the accessibility checker"
        );
        return None;
    };
    Some(fs::read_to_string(path).unwrap())
}

/// What holds of every page however it is opened.
fn sound(page: &mut Page, look: Look) {
    let place = format!("{} {look:?}", page.address);
    let asked = page.requests();
    assert_eq!(asked, std::slice::from_ref(&page.address), "{place}: asks for something");
    for unfolded in [false, true] {
        if unfolded {
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
        }
        let wide = page.evaluate(
            "[...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, pre.wide, .hidden, .skip, .label') && \
             e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120))",
        );
        let widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
        assert!(widths[0].as_f64() <= widths[1].as_f64(), "{place}: {widths} unfolded: {unfolded}: {wide:#}");
    }
    let copy = page.evaluate("[...document.querySelectorAll('button')].some((b) => b.checkVisibility())");
    let buttons = page.evaluate("document.querySelectorAll('button').length").as_u64() > Some(0);
    assert_eq!(copy, Value::from(look.scripts && buttons), "{place}: buttons are there with scripts alone");
    let acts = page.evaluate(
        "[...document.querySelectorAll('iframe, object, embed, form, link, img, base')].length + \
         [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length + \
         [...document.querySelectorAll('a')].filter((a) => !['http:', 'https:', 'mailto:', 'file:'].includes(a.protocol)).length",
    );
    assert_eq!(acts, 0, "{place}: an element that could act");
    assert_eq!(page.evaluate("document.querySelectorAll('script').length"), 1, "{place}: scripts");
    assert_eq!(page.complaints(), [""; 0], "{place}");
}

/// On A4 nothing is cut off, and nothing is printed white on black.
fn fits_on_paper(page: &mut Page) {
    const A4: u32 = 715; // pixels of 1/96 inch inside Chromium's usual margins
    page.on_paper(A4);
    let cut = page.evaluate(
        "[...document.querySelectorAll('body *')].filter((e) => !e.closest('.hidden, .skip, .label, svg') && \
         e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120))",
    );
    assert_eq!(cut, Value::Array(vec![]), "{} on paper: {cut:#}", page.address);
    assert_eq!(background(page), "\"rgb(255, 255, 255)\"", "{}", page.address);
}

fn accessible(page: &mut Page, checker: &str, look: Look) {
    page.evaluate(checker);
    let found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => \
         [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)]))",
    );
    assert_eq!(found, Value::Array(vec![]), "{} {look:?}: {found:#}", page.address);
}

fn background(page: &mut Page) -> String {
    page.evaluate("getComputedStyle(document.body).backgroundColor").to_string()
}

/// A story with every ending, opened in every way.
#[test]
fn a_report_is_sound_however_it_is_opened() {
    let Some(mut browser) = Browser::start() else { return };
    let project = Project::with("story", STORY);
    project.planbook(&["run", "story", "--server", "local"]).exits(1);
    let html = project.planbook(&["explain", "--html", "results/story/local-15/plans/scan.txt"]).exits(0).out;
    project.write("explained.html", &html);
    let checker = checker();
    for file in ["results/story/local-15/report.html", "results/index.html", "explained.html"] {
        let file = project.path().join(file);
        let mut colours = Vec::new();
        for width in WIDTHS {
            for dark in [false, true] {
                for scripts in [false, true] {
                    let look = Look { width, dark, scripts };
                    let mut page = browser.open(&file, look);
                    sound(&mut page, look);
                    colours.push((dark, background(&mut page)));
                    if let Some(checker) = checker.as_ref().filter(|_| scripts) {
                        accessible(&mut page, checker, look);
                    }
                }
            }
        }
        let of = |dark: bool| {
            colours.iter().filter(|(is, _)| *is == dark).map(|(_, colour)| colour.clone()).collect::<Vec<_>>()
        };
        assert_ne!(of(true)[0], of(false)[0], "light and dark differ");
    }
    plans_fold(&mut browser, &project.path().join("results/story/local-15/report.html"));
}

/// By mouse and by keyboard, with scripts and without.
fn plans_fold(browser: &mut Browser, file: &Path) {
    for scripts in [false, true] {
        let mut page = browser.open(file, Look { width: 1280, dark: false, scripts });
        let summary = ".pair details.node > summary";
        let below = ".pair details.node details.node > summary";
        let open = format!("document.querySelector({:?}).open", ".pair details.node");
        let shown = format!("document.querySelector({below:?}).checkVisibility()");
        assert_eq!([page.evaluate(&open), page.evaluate(&shown)], [true, true]);
        page.click(summary);
        assert_eq!([page.evaluate(&open), page.evaluate(&shown)], [false, false], "folded by a click");
        page.evaluate(&format!("document.querySelector({summary:?}).focus()"));
        page.press("Enter", 13);
        assert_eq!([page.evaluate(&open), page.evaluate(&shown)], [true, true], "unfolded by a key");
        if scripts {
            page.click(".pair button.fold");
            assert_eq!(page.evaluate(&open), false, "folded whole");
        }
        assert_eq!(page.complaints(), [""; 0]);
    }
}

/// The recordings that ship, rendered anew.
#[test]
fn every_shipped_report_is_sound_and_opens_at_once() {
    let Some(mut browser) = Browser::start() else { return };
    let project = Project::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["experiments", "results"] {
        for file in files(&root.join(folder)) {
            let copy = project.path().join(file.strip_prefix(root).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(&file, copy).unwrap();
        }
    }
    let said = project.planbook(&["render"]).exits(0);
    let checker = checker();
    let mut pages: Vec<PathBuf> =
        said.out.lines().map(|line| project.path().join(line).with_extension("html")).collect();
    assert!(pages.len() >= 12, "{pages:?}");
    pages.push(project.path().join("results/index.html"));
    for (at, file) in pages.into_iter().enumerate() {
        const MOST: u64 = 2_000_000;
        assert!(fs::metadata(&file).unwrap().len() < MOST, "{} is too large", file.display());
        for (width, dark) in [(360, true), (1280, false)] {
            let look = Look { width, dark, scripts: true };
            let mut page = browser.open(&file, look);
            sound(&mut page, look);
            // The checker takes seconds for each page, so that each is checked in one of the looks.
            if let Some(checker) = checker.as_ref().filter(|_| dark == at.is_multiple_of(2)) {
                accessible(&mut page, checker, look);
            }
        }
        let mut page = browser.open(&file, Look { width: 1280, dark: true, scripts: true });
        fits_on_paper(&mut page);
        // The best of three: the machine may be busy with something else.
        let took = (0..3).map(|_| {
            let mut page = browser.open(&file, Look { width: 1280, dark: false, scripts: true });
            page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64().unwrap()
        });
        let best = took.fold(f64::INFINITY, f64::min);
        assert!(best < 1000.0, "{} opens in {best} ms", file.display());
    }
}
