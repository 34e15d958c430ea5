//! `planbook validate`

use serde_json::json;

use crate::cli::{Format, ValidateArgs};
use crate::notebook::{self, Overrides};

use super::{CommandError, error, find, talk};

/// Checks notebooks without a server; every fault of every file is shown.
pub(super) fn run(args: &ValidateArgs) -> Result<u8, CommandError> {
    let paths = if args.notebooks.is_empty() {
        find::notebooks(&args.places.experiments)?
    } else {
        args.notebooks
            .iter()
            .map(|name| find::notebook(name, &args.places.experiments))
            .collect::<Result<_, _>>()?
    };
    let overrides = Overrides { profile: args.changes.profile.clone(), set: args.changes.set.clone() };
    let mut faulty = false;
    let mut findings = Vec::new();
    for path in &paths {
        match notebook::load(path, &overrides) {
            Ok(notebook) => {
                findings.push(json!({"notebook": path.display().to_string(), "faults": []}));
                if args.format == Format::Human {
                    talk::print(format_args!("✓ {}: {} steps\n", path.display(), notebook.steps.len()));
                }
            }
            Err(faults) => {
                faulty = true;
                findings.push(json!({"notebook": path.display().to_string(), "faults": faults.faults()}));
                if args.format == Format::Human {
                    talk::say(error::printed(&faults.into()));
                }
            }
        }
    }
    if args.format == Format::Json {
        talk::print(format_args!("{:#}\n", serde_json::Value::from(findings)));
    }
    Ok(if faulty { 2 } else { 0 })
}
