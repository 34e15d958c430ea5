//! `--open`: a report in the reader's own browser.

use std::path::{Path, PathBuf};

use super::talk;

/// Opens the only report that was made, or the index over several.
pub(super) fn reports(made: &[PathBuf], home: Option<&Path>) {
    let index = home.map(|home| home.join("index.html")).filter(|index| index.exists());
    match (made, index) {
        ([], _) => {}
        ([_, _, ..], Some(index)) => open(&index),
        (all, _) => all.iter().for_each(|one| open(&one.join("report.html"))),
    }
}

/// Opens a page, or says where it is where nothing can.
fn open(page: &Path) {
    let place = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    let told = if has_desktop() {
        opener::open(&place).map_err(|error| error.to_string())
    } else {
        Err("there is no desktop here".to_owned())
    };
    if let Err(reason) = told {
        talk::say(format_args!("note: {reason}; open {} in a browser", place.display()));
    }
}

/// Whether there is a screen to open a window on. Elsewhere than on Linux and its like there is no telling.
fn has_desktop() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos")))
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].into_iter().any(set)
}
