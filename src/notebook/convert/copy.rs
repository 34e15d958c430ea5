//! Files that a dataset names: statements, and rows for COPY.

use std::path::Path;

use crate::sql::{quote_ident, quote_literal};

use super::super::model::{CopyFrom, DataFile, Statistics};
use super::super::wire::{self, Name, Text};
use super::Convert;

/// COPY's formats, and the endings of files that stand for them.
const FORMATS: [(&str, &[&str]); 3] =
    [("csv", &["csv"]), ("text", &["tsv", "txt", "tbl", "copy"]), ("binary", &["bin", "pgcopy"])];

impl Convert<'_> {
    /// A file, relative to the one that names it. Whether it is there is looked at when a notebook is loaded.
    pub(super) fn data_file(&self, text: Text, folder: &Path) -> Option<DataFile> {
        let written = self.text(text)?;
        let path = folder.join(&written);
        Some(DataFile { written, path, hash: String::new(), at: self.reader.tree.place(text.0) })
    }

    /// An entry of `copy`.
    pub(super) fn copy(&self, copy: &wire::CopyFrom, folder: &Path) -> Option<CopyFrom> {
        let table = self.text(Text(copy.table.0))?;
        let from = self.data_file(copy.from, folder)?;
        let columns: Vec<String> = copy
            .columns
            .iter()
            .flat_map(|columns| &columns.items)
            .filter_map(|Name(id)| self.text(Text(*id)))
            .map(|name| quote_ident(&name))
            .collect();
        let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
        let format = match copy.format {
            Some(text) => self.format(text)?,
            None => ending(&from.written),
        };
        let mut options = vec![format!("FORMAT {format}")];
        if self.switch(copy.header, false) {
            options.push("HEADER true".to_owned());
        }
        for (name, given) in [("DELIMITER", copy.delimiter), ("NULL", copy.null)] {
            // An empty text is a value here: `null: ""`.
            let value = given.and_then(|text| self.rendered(text.0));
            options.extend(value.map(|value| format!("{name} {}", quote_literal(&value))));
        }
        Some(CopyFrom { into: format!("{table}{columns}"), from, options: options.join(", ") })
    }

    fn format(&self, text: Text) -> Option<&'static str> {
        let given = self.text(text)?;
        let known = FORMATS.iter().find(|(name, _)| *name == given).map(|(name, _)| *name);
        if known.is_none() {
            let message = format!("`{given}` is not a format of COPY");
            self.reader.fault(self.reader.tree.place(text.0), message, "write csv, text or binary");
        }
        known
    }

    /// `statistics`
    pub(super) fn statistics(&self, text: Text) -> Statistics {
        match self.text(text).as_deref() {
            Some("pinned") => Statistics::Pinned,
            Some("sampled") | None => Statistics::Sampled,
            Some(other) => {
                let message = format!("`{other}` is no source of statistics");
                self.reader.fault(self.reader.tree.place(text.0), message, "write sampled or pinned");
                Statistics::Sampled
            }
        }
    }
}

/// The format that a file's ending stands for; CSV when it stands for none.
fn ending(file: &str) -> &'static str {
    let ending = file.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    FORMATS.iter().find(|(_, endings)| endings.contains(&ending)).map_or("csv", |(name, _)| *name)
}
