//! The notebooks that ship are valid under every profile of theirs, and their recordings show what they promise.

use std::path::{Path, PathBuf};

use planbook::notebook::{Overrides, load};
use regex::Regex;
use serde_json::Value;

fn shipped() -> Vec<PathBuf> {
    let entries = Path::new("experiments").read_dir().expect("the experiments");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

#[test]
fn shipped_notebooks_are_valid_under_every_profile() {
    let paths = shipped();
    assert!(!paths.is_empty());
    for path in paths {
        let plain = load(&path, &Overrides::default()).unwrap_or_else(|faults| panic!("{faults:?}"));
        for profile in &plain.profiles {
            let overrides = Overrides { profile: Some(profile.clone()), set: Vec::new() };
            let notebook = load(&path, &overrides).unwrap_or_else(|faults| panic!("{profile}: {faults:?}"));
            assert_ne!(notebook.runs_hash(), plain.runs_hash(), "{profile} changes nothing that runs");
        }
    }
}

#[test]
fn the_readme_and_the_changelog_name_every_notebook() {
    let read = |path: &str| std::fs::read_to_string(path).expect("a document");
    let (readme, changelog) = (read("README.md"), read("CHANGELOG.md"));
    for path in shipped() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(readme.contains(&format!("[{name}](experiments/{name}.yaml)")), "README.md: {name}");
        assert!(changelog.contains(&format!("`{name}`")), "CHANGELOG.md: {name}");
    }
}

/// The recordings that ship, by the folder of the notebook and that of the server.
fn recorded() -> Vec<PathBuf> {
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = of.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let mut found: Vec<PathBuf> =
        folders(Path::new("results")).iter().flat_map(|notebook| folders(notebook)).collect();
    // A profile's are somebody's quick look, and not part of the repository.
    found.retain(|path| !path.to_string_lossy().contains(['~', '.']));
    found.sort();
    found
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn recordings_that_ship_hold() {
    let recorded = recorded();
    assert!(!recorded.is_empty());
    for path in recorded {
        let verdicts = json(&path.join("verdicts.json"));
        for outcome in ["fail", "inconclusive", "not_run"] {
            assert_eq!(verdicts[outcome], 0, "{}: {outcome}", path.display());
        }
    }
}

#[test]
fn every_link_of_a_report_leads_somewhere() {
    let links = Regex::new(r##"(?:href="|\]\()([^"#)][^")]*)"##).expect("a pattern");
    let mut pages: Vec<PathBuf> = vec!["results/index.html".into(), "results/README.md".into()];
    pages.extend(recorded().iter().flat_map(|path| ["report.html", "report.md"].map(|page| path.join(page))));
    for page in pages {
        let text =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let found: Vec<&str> =
            links.captures_iter(&text).map(|link| link.get(1).expect("a target").as_str()).collect();
        assert!(!found.is_empty(), "{}", page.display());
        for link in found {
            let target = page.parent().expect("a folder").join(link);
            assert!(target.exists(), "{} leads to {link}, which is not there", page.display());
        }
    }
}

/// How far the interval of a timed claim must be clear of its bound; docs/method.md says so too.
const CLEAR: f64 = 1.3;

#[test]
fn no_claim_of_a_recording_that_ships_was_decided_by_luck() {
    let method = std::fs::read_to_string("docs/method.md").expect("the method");
    assert!(method.contains(&format!("by a factor of at least {CLEAR}")), "docs/method.md gives the factor");
    let mut timed = 0;
    for path in recorded() {
        let (verdicts, values) = (json(&path.join("verdicts.json")), json(&path.join("values.json")));
        for verdict in verdicts["verdicts"].as_array().expect("verdicts") {
            let text = |key: &str| verdict[key].as_str().unwrap_or_default();
            // A clock decides claims over latencies, and where two arms cross by time.
            let by_clock =
                text("seen").contains("of the resamples") || text("expected").contains(".crossing.");
            if text("subject") != "check" || !by_clock {
                continue;
            }
            let factor = clearance(text("expected"), &values);
            let factor = factor.unwrap_or_else(|| panic!("{}: `{}`", path.display(), text("expected")));
            assert!(factor >= CLEAR, "{}: `{}` by {factor}", path.display(), text("expected"));
            timed += 1;
        }
    }
    assert!(timed >= 2, "seq-vs-index has one on each server");
}

/// By what factor the interval of `NAME > NUMBER` or `NAME < NUMBER` is clear of the number. The end of a zone is one end
/// of an interval, and may be held against a multiple of an exact number.
fn clearance(claim: &str, values: &Value) -> Option<f64> {
    let words: Vec<&str> = claim.split_whitespace().collect();
    let (name, operator, bound) = match words[..] {
        [name, operator, bound] => (name, operator, bound.parse::<f64>().ok()?),
        [name, operator, times, "*", exact] => {
            (name, operator, times.parse::<f64>().ok()? * values[exact].as_f64()?)
        }
        _ => return None,
    };
    let zone = name.contains(".crossing.").then(|| values[name].as_f64()).flatten();
    let end = |end: &str| zone.or_else(|| values[format!("{name}.{end}")].as_f64());
    match operator {
        ">" => Some(end("lo")? / bound),
        "<" => Some(bound / end("hi")?),
        _ => None,
    }
}

#[test]
fn the_covering_index_touches_the_blocks_that_were_published() {
    let recorded = recorded();
    let of_notebook: Vec<&PathBuf> =
        recorded.iter().filter(|path| path.starts_with("results/covering-vacuum")).collect();
    assert!(of_notebook.len() >= 2, "{of_notebook:?}");
    for path in of_notebook {
        let values = json(&path.join("values.json"));
        for (name, wanted) in [
            ("plain.blocks", 5015),
            ("before.heap_fetches", 5005),
            ("before.blocks", 5027),
            ("after.heap_fetches", 0),
            ("after.blocks", 2024),
            ("plain.rows", 5005),
            ("before.rows", 5005),
            ("after.rows", 5005),
        ] {
            assert_eq!(values[name], wanted, "{}: {name}", path.display());
        }
    }
}
