//! Imports point one way: a module may use only what stands to its left in the flow that `lib.rs` describes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Each module with the modules that it may use. What is not listed is not allowed.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let leaves = ["sql", "stats", "plan", "metric", "number", "nearest", "template"];
    let upto = |more: &[&'static str]| leaves.iter().chain(more).copied().collect::<Vec<_>>();
    BTreeMap::from([
        ("sql", vec![]),
        ("stats", vec![]),
        ("plan", vec![]),
        ("metric", vec!["plan"]),
        ("number", vec!["metric"]),
        ("nearest", vec![]),
        ("template", vec!["metric", "number", "nearest"]),
        ("project", vec![]),
        ("notebook", upto(&[])),
        ("session", upto(&["notebook"])),
        ("server", upto(&["notebook", "session"])),
        ("dataset", upto(&["notebook", "session", "server"])),
        ("recording", upto(&["notebook", "session", "server", "dataset"])),
        ("run", upto(&["notebook", "session", "server", "dataset", "recording"])),
        ("analysis", upto(&["notebook", "session", "server", "dataset", "recording"])),
        ("verdict", upto(&["notebook", "session", "server", "dataset", "recording", "analysis"])),
        ("render", upto(&["notebook", "session", "server", "dataset", "recording", "analysis", "verdict"])),
    ])
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("read src") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The top module that a file belongs to: `src/plan/json.rs` → `plan`, `src/metric.rs` → `metric`.
fn module(file: &Path, src: &Path) -> String {
    let inside = file.strip_prefix(src).expect("below src");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_point_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed = allowed();
    let single = Regex::new(r"\bcrate::([a-z_]+)").expect("regex");
    let grouped = Regex::new(r"\bcrate::\{([^}]*)\}").expect("regex");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in sources(&src) {
        let from = module(&file, &src);
        if matches!(from.as_str(), "lib" | "main" | "cli" | "commands") {
            continue;
        }
        let may = allowed
            .get(from.as_str())
            .unwrap_or_else(|| panic!("`{from}` has no place in the flow: add it here"));
        let text = fs::read_to_string(&file).expect("read");
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let names = single.captures_iter(&code).map(|c| c[1].to_owned());
        let in_groups = grouped.captures_iter(&code).flat_map(|c| {
            c[1].split(',')
                .map(|part| part.trim().split("::").next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        });
        for used in names.chain(in_groups).filter(|name| !name.is_empty()) {
            seen += 1;
            if used != from && !may.contains(&used.as_str()) {
                wrong.push(format!(
                    "{} uses crate::{used}",
                    file.strip_prefix(&src).expect("below src").display()
                ));
            }
        }
    }
    assert!(seen > 50, "the test no longer sees the imports: {seen}");
    assert!(wrong.is_empty(), "imports against the flow:\n{}", wrong.join("\n"));
}
