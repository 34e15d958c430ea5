//! Datasets: a file of its own, or statements in the notebook.

use std::path::Path;

use crate::template::Context;

use super::super::de::Reader;
use super::super::fault::{Fault, Faults};
use super::super::model::{Dataset, Part, ServerNeeds, Settings, Statistics, Template, Values};
use super::super::source::Source;
use super::super::wire::{self, DatasetUse, Entries, OneOrMany, Sql, Value};
use super::super::{scalar, traps};
use super::names::{Scope, World};
use super::{Convert, FindDataset, keys, params, version};

impl Convert<'_> {
    /// The dataset of a notebook. Faults of the file are shown in the file, and go to `outside`.
    pub(super) fn dataset(
        &self,
        wire: &DatasetUse,
        notebook: &str,
        path: &Path,
        values: &Values,
        find: &mut FindDataset<'_>,
        outside: &mut Vec<Fault>,
    ) -> Option<Dataset> {
        let reader = self.reader;
        let Some(file) = wire.file else { return self.inline(wire, notebook, path, values) };
        if let Some(sql) = &wire.sql {
            let at = sql.items.first().map_or(reader.tree.place(file.0), |sql| reader.tree.place(sql.0));
            reader.fault(at, "`dataset` has both `file` and `sql`", "keep one of them");
        }
        let name = self.text(file)?;
        let (path, source) = match find(&name, reader.tree.place(file.0), &reader.tree.source) {
            Ok(found) => found,
            Err(fault) => {
                outside.push(fault);
                return None;
            }
        };
        let stem =
            Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let mut read = File { source: &source, stem: &stem, path: &path, outside };
        read.whole(|defaults| self.with(wire.with.as_ref(), defaults))
    }

    fn inline(&self, wire: &DatasetUse, notebook: &str, path: &Path, values: &Values) -> Option<Dataset> {
        let reader = self.reader;
        if let Some((name, _)) = wire.with.as_ref().and_then(|with| with.0.first()) {
            let help = "statements in the notebook see its parameters as they are";
            reader.fault(reader.tree.place(name.0), "`with` goes with a dataset file", help);
        }
        let Some(sql) = &wire.sql else {
            if !keys::has_nested(reader, "dataset", &["file", "sql"]) {
                let place = keys::place_of(reader, "dataset");
                reader.fault(
                    place,
                    "`dataset` needs `file` or `sql`",
                    "write {file: datasets/….yaml}, or statements",
                );
            }
            return None;
        };
        Some(Dataset {
            name: notebook.to_owned(),
            path: path.to_owned(),
            source: reader.tree.source.clone(),
            params: values.clone(),
            parts: self.build(sql),
            verify: wire.verify.as_ref().map(|verify| self.verify(verify)).unwrap_or_default(),
            statistics: Statistics::Sampled,
        })
    }

    /// Statements that build tables. They see parameters only: the same tables for every run.
    fn build(&self, sql: &OneOrMany<Sql>) -> Vec<Part> {
        self.split_at_commas(&sql.items);
        sql.items.iter().filter_map(|sql| self.statements(*sql, Scope::Params)).map(Part::Sql).collect()
    }

    fn verify(&self, verify: &OneOrMany<Sql>) -> Vec<Template> {
        self.split_at_commas(&verify.items);
        verify.items.iter().filter_map(|sql| self.query(*sql, Scope::Params)).collect()
    }

    /// The values that the notebook gives to the parameters of the file.
    fn with(&self, with: Option<&Entries<Value>>, defaults: &Values) -> Values {
        let mut values = defaults.clone();
        for (name, value) in with.iter().flat_map(|with| &with.0) {
            let tree = self.reader.tree;
            let text = tree.text(name.0);
            let Some(slot) = values.iter_mut().find(|(known, _)| known == text) else {
                let help = params::unknown_parameter(text, defaults);
                self.reader.fault(tree.place(name.0), format!("the dataset has no parameter `{text}`"), help);
                continue;
            };
            let Some(rendered) = self.rendered(value.0) else { continue };
            match params::coerce(&slot.1, &rendered) {
                Some(value) => slot.1 = value,
                None => {
                    let message =
                        format!("`{text}` of the dataset is {}, not `{rendered}`", params::noun(&slot.1));
                    self.reader.fault(
                        tree.place(value.0),
                        message,
                        format!("write {}", params::noun(&slot.1)),
                    );
                }
            }
        }
        let set = |name: &str| {
            with.iter().flat_map(|with| &with.0).any(|(known, _)| self.reader.tree.text(known.0) == name)
        };
        for (name, value) in self.swept.iter().filter(|(name, _)| !set(name)) {
            let Some(slot) = values.iter_mut().find(|(known, _)| known == name) else { continue };
            match params::alike(&slot.1, value.clone()) {
                Some(value) => slot.1 = value,
                None => {
                    let noun = params::noun(&slot.1);
                    let message =
                        format!("`{name}` of the dataset is {noun}, and this notebook sweeps over `{value}`");
                    self.reader.fault(
                        keys::place_of(self.reader, "dataset"),
                        message,
                        format!("sweep over {noun}"),
                    );
                }
            }
        }
        values
    }
}

/// A dataset file by itself, its parameters changed as on a command line.
pub(in super::super) fn dataset_file(
    path: &Path,
    source: &Source,
    set: &[(String, String)],
) -> Result<Dataset, Faults> {
    let mut outside = Vec::new();
    let mut wrong = Vec::new();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut file = File { source, stem: &stem, path, outside: &mut outside };
    let dataset = file.whole(|defaults| {
        let mut values = defaults.clone();
        for (name, text) in set {
            let slot = values.iter_mut().find(|(known, _)| known == name);
            match slot.map(|slot| (params::coerce(&slot.1, text), slot)) {
                Some((Some(value), slot)) => slot.1 = value,
                Some((None, slot)) => wrong.push((
                    format!("`{name}` of the dataset is {}, not `{text}`", params::noun(&slot.1)),
                    format!("write {}", params::noun(&slot.1)),
                )),
                None => wrong.push((
                    format!("the dataset has no parameter `{name}`"),
                    params::unknown_parameter(name, defaults),
                )),
            }
        }
        values
    });
    let wrong =
        wrong.into_iter().map(|(message, help)| Fault::of_file(&source.name, message).with_help(help));
    outside.extend(wrong);
    match dataset {
        Some(dataset) if outside.is_empty() => Ok(dataset),
        _ => Err(Faults::new(outside)),
    }
}

/// A dataset file that is being read.
struct File<'f> {
    source: &'f Source,
    stem: &'f str,
    path: &'f Path,
    outside: &'f mut Vec<Fault>,
}

impl File<'_> {
    fn whole(&mut self, with: impl FnOnce(&Values) -> Values) -> Option<Dataset> {
        let parsed = traps::parse(self.source);
        let Some(tree) = parsed.tree else {
            self.outside.extend(parsed.faults);
            return None;
        };
        if let Err(faults) = version(&tree, "planbook-dataset", "a dataset file", &parsed.faults) {
            self.outside.extend(faults.faults().iter().cloned());
            return None;
        }
        let reader = Reader::new(&tree, parsed.faults, &parsed.set_aside);
        let dataset = self.decoded(&reader, with);
        self.outside.extend(reader.into_faults());
        dataset
    }

    fn decoded(&self, reader: &Reader<'_>, with: impl FnOnce(&Values) -> Values) -> Option<Dataset> {
        let wire: wire::Dataset = reader.decode(reader.tree.root)?;
        let defaults =
            wire.params.as_ref().map(|params| params::defaults(reader, params)).unwrap_or_default();
        let values = with(&defaults);
        let convert = Convert {
            reader,
            params: Context::new().with(&values),
            world: World::of_params(&values),
            profiles: Vec::new(),
            settings: Settings::new(),
            server: ServerNeeds::default(),
            swept: Values::new(),
        };
        convert.required(wire.version.is_some(), "planbook-dataset", "planbook-dataset: 1");
        let builds = wire.sql.is_some() || wire.files.is_some() || wire.copy.is_some();
        convert.required(builds, "sql", "sql: […]");
        if let Some(version) =
            wire.version.filter(|version| scalar::integer(reader.tree.text(version.0)).is_none())
        {
            convert.whole(version, "`planbook-dataset`", 1);
        }
        if let Some(summary) = wire.summary {
            convert.text(summary);
        }
        Some(Dataset {
            name: self.stem.to_owned(),
            path: self.path.to_owned(),
            source: self.source.clone(),
            params: values,
            parts: self.parts(&convert, &wire),
            statistics: wire.statistics.map_or(Statistics::Sampled, |text| convert.statistics(text)),
            verify: wire.verify.as_ref().map(|verify| convert.verify(verify)).unwrap_or_default(),
        })
    }

    /// What builds the tables, from top to bottom of the file, whichever key it stands under.
    fn parts(&self, convert: &Convert<'_>, wire: &wire::Dataset) -> Vec<Part> {
        let mut parts = wire.sql.as_ref().map(|sql| convert.build(sql)).unwrap_or_default();
        let folder = self.path.parent().unwrap_or(Path::new(""));
        for file in wire.files.iter().flat_map(|files| &files.items) {
            parts.extend(convert.data_file(*file, folder).map(Part::File));
        }
        for copy in wire.copy.iter().flat_map(|copy| &copy.items) {
            parts.extend(convert.copy(copy, folder).map(Part::Copy));
        }
        parts.sort_by_key(|part| part.at().offset);
        parts
    }
}
