//! `planbook list`

use serde_json::{Value, json};

use crate::cli::{Format, ListArgs, Places};
use crate::notebook::{self, Notebook, Overrides};

use super::{CommandError, find, talk};

/// Lists the notebooks with their titles and what has been recorded of them.
pub(super) fn run(args: &ListArgs) -> Result<u8, CommandError> {
    match args.format {
        Format::Human => talk::print(table(&args.places)?),
        Format::Json => {
            let entries: Vec<Value> = entries(&args.places)?.iter().map(Entry::json).collect();
            talk::print(format_args!("{:#}\n", Value::from(entries)));
        }
    }
    Ok(0)
}

/// One notebook of the folder.
struct Entry {
    name: String,
    /// The notebook, or how many faults its file has.
    notebook: Result<Notebook, usize>,
    recordings: Vec<String>,
}

impl Entry {
    fn json(&self) -> Value {
        let base = json!({"name": self.name, "recordings": self.recordings});
        let Value::Object(mut entry) = base else { return base };
        match &self.notebook {
            Ok(notebook) => {
                entry.insert("title".to_owned(), json!(notebook.title));
                entry.insert("tags".to_owned(), json!(notebook.tags));
                entry.insert("profiles".to_owned(), json!(notebook.profiles));
            }
            Err(faults) => {
                entry.insert("faults".to_owned(), json!(faults));
            }
        }
        Value::Object(entry)
    }
}

fn entries(places: &Places) -> Result<Vec<Entry>, CommandError> {
    let paths = find::notebooks(&places.experiments)?;
    let entries = paths.iter().map(|path| {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let recordings = find::recordings(&places.results.join(&name))
            .iter()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let notebook = notebook::load(path, &Overrides::default()).map_err(|faults| faults.faults().len());
        Entry { name, notebook, recordings }
    });
    Ok(entries.collect())
}

/// The list for people.
pub(super) fn table(places: &Places) -> Result<String, CommandError> {
    let entries = entries(places)?;
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for entry in &entries {
        let what = match &entry.notebook {
            Ok(notebook) => notebook.title.clone(),
            Err(1) => "1 fault; `planbook validate` shows it".to_owned(),
            Err(faults) => format!("{faults} faults; `planbook validate` shows them"),
        };
        out.push_str(&format!("{:width$}  {what}\n", entry.name));
        if let Ok(notebook) = &entry.notebook
            && !notebook.profiles.is_empty()
        {
            out.push_str(&format!("{:width$}  profiles: {}\n", "", notebook.profiles.join(", ")));
        }
        if !entry.recordings.is_empty() {
            out.push_str(&format!("{:width$}  recorded: {}\n", "", entry.recordings.join(", ")));
        }
    }
    Ok(out)
}
