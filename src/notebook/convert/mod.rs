//! From wire types to the model: the checks that a whole notebook is needed for.

mod actions;
mod check;
mod copy;
mod dataset;
mod decoded;
mod expect;
mod identifier;
mod inherit;
mod keys;
mod measure;
mod names;
mod over;
mod params;
mod plan;
mod plot;
mod samples;
mod server;
mod setup;
mod sql;
mod steps;
mod sweep;
mod values;

use std::path::{Path, PathBuf};

use crate::template::{self, Context};

use super::de::Reader;
use super::fault::{Fault, Faults};
use super::model::{Notebook, ServerNeeds, Settings, Values};
use super::node::{Content, Tree};
use super::overrides::Overrides;
use super::source::{Place, Source};
use super::{traps, wire};

use names::World;

pub(super) use dataset::dataset_file;
pub(super) use sql::outliving;

/// Finds the dataset file that a notebook names: its path and text, or the fault at the place that names it.
pub(super) type FindDataset<'f> = dyn FnMut(&str, Place, &Source) -> Result<(PathBuf, Source), Fault> + 'f;

/// The version of the language that this program reads.
const VERSION: i64 = 1;

/// Everything that the conversion of one file needs at hand.
struct Convert<'r> {
    reader: &'r Reader<'r>,
    /// The values of the parameters.
    params: Context,
    /// Every name of the notebook, where it stands and what it is.
    world: World,
    /// The names of the profiles.
    profiles: Vec<String>,
    /// The settings of the notebook itself.
    settings: Settings,
    /// What the notebook asks of its server.
    server: ServerNeeds,
    /// The values of swept parameters, inside a sweep.
    swept: Values,
}

impl Convert<'_> {
    /// Notes the faults of a template whose text is the scalar at `place`.
    fn template_faults(
        &self,
        text: &str,
        at: Place,
        errors: &[template::TemplateError],
        scope: names::Scope,
    ) {
        for error in errors {
            let place = super::scalar::locate(text, at, &self.reader.tree.source, error.offset, error.length);
            let elsewhere = error.undefined.then(|| &text[error.offset..error.offset + error.length]);
            let help = elsewhere
                .and_then(|name| self.world.elsewhere(name, scope))
                .or_else(|| error.help.clone())
                .unwrap_or_else(|| "see docs/notebook.md for the language of templates".to_owned());
            self.reader.fault(place, error.message.clone(), help);
        }
    }
}

/// Reads a notebook.
pub(super) fn notebook(
    name: &str,
    path: &Path,
    source: Source,
    overrides: &Overrides,
    find: &mut FindDataset<'_>,
) -> Result<Notebook, Faults> {
    let parsed = traps::parse(&source);
    let Some(tree) = parsed.tree else { return Err(Faults::new(parsed.faults)) };
    version(&tree, "planbook", "a notebook", &parsed.faults)?;
    let reader = Reader::new(&tree, parsed.faults, &parsed.set_aside);
    let mut outside = Vec::new();
    let notebook = whole(&reader, overrides, name, path, find, &mut outside);
    let mut faults = reader.into_faults();
    faults.append(&mut outside);
    match notebook {
        Some(notebook) if faults.is_empty() => Ok(Notebook { source, ..notebook }),
        _ => Err(Faults::new(faults)),
    }
}

/// Refuses what is no notebook at all, or one of another version, before anything else is said of it.
fn version(tree: &Tree, key: &str, what: &str, faults: &[Fault]) -> Result<(), Faults> {
    let source = &tree.source;
    if !faults.is_empty() && !matches!(tree.node(tree.root).content, Content::Map(_)) {
        return Err(Faults::new(faults.to_vec()));
    }
    let first = format!("begin it with `{key}: {VERSION}`");
    let fault =
        |place, message: String, help: String| Err(Fault::at(source, place, message).with_help(help).into());
    let entries = match &tree.node(tree.root).content {
        Content::Map(entries) => entries,
        Content::Null => {
            return Err(Fault::of_file(&source.name, "the file is empty").with_help(first).into());
        }
        other => {
            let place =
                source.place(tree.place(tree.root).offset, source.line(tree.place(tree.root)).trim().len());
            return fault(place, format!("{what} is a mapping, and this is {}", other.noun()), first);
        }
    };
    let find = |wanted: &str| entries.iter().find(|(key, _)| tree.text(*key) == wanted);
    for (other, name) in [("planbook", "a notebook"), ("planbook-dataset", "a dataset file")] {
        if let Some((at, _)) = find(other).filter(|_| other != key && find(key).is_none()) {
            let help = format!("name it where {name} is wanted");
            return fault(tree.place(*at), format!("this is {name}, and {what} is expected here"), help);
        }
    }
    let Some(&(at, value)) = find(key) else { return Ok(()) };
    match super::scalar::integer(tree.text(value)) {
        Some(VERSION) | None => Ok(()),
        Some(newer) if newer > VERSION => fault(
            tree.place(value),
            format!(
                "this file is written in version {newer} of the language, too new for this planbook, which reads {VERSION}"
            ),
            "install a newer planbook".to_owned(),
        ),
        Some(older) => fault(
            tree.place(at),
            format!(
                "this file is written in version {older} of the language, too old for this planbook, which reads {VERSION}"
            ),
            format!("write `{key}: {VERSION}` and run planbook validate"),
        ),
    }
}

fn whole(
    reader: &Reader<'_>,
    overrides: &Overrides,
    name: &str,
    path: &Path,
    find: &mut FindDataset<'_>,
    outside: &mut Vec<Fault>,
) -> Option<Notebook> {
    let tree = reader.tree;
    let wire: wire::Notebook = reader.decode(tree.root)?;
    let (params, profiles) = params::in_force(reader, &wire, overrides, outside);
    let steps = decoded::decode(reader, wire.steps.as_deref().unwrap_or_default());
    let world = World::new(reader, &params, &steps);
    let context = Context::new().with(&params);
    let mut convert = Convert {
        reader,
        params: context,
        world,
        profiles,
        settings: Settings::new(),
        server: ServerNeeds::default(),
        swept: Values::new(),
    };
    convert.required(wire.planbook.is_some(), "planbook", "planbook: 1");
    convert.required(wire.title.is_some(), "title", "title: …");
    convert.required(wire.steps.is_some(), "steps", "steps: […]");
    if let Some(version) = wire.planbook {
        convert.whole(version, "`planbook`", 1);
    }
    let title = wire.title.and_then(|title| convert.text(title));
    let summary = wire.summary.and_then(|summary| convert.text(summary));
    let tags = wire.tags.unwrap_or_default().into_iter().filter_map(|tag| convert.text(tag)).collect();
    convert.settings =
        wire.settings.map(|settings| convert.settings(&settings, names::Scope::Params)).unwrap_or_default();
    convert.server = wire.server.map(|server| convert.server(&server)).unwrap_or_default();
    let of = wire.dataset.as_ref();
    let dataset = of.and_then(|dataset| convert.dataset(dataset, name, path, &params, find, outside));
    let mut steps = convert.steps(steps);
    if let (Some(wire), Some(dataset)) = (of, &dataset) {
        convert.point_datasets(&mut steps, wire, dataset, (name, path), find, outside);
    }
    Some(Notebook {
        name: name.to_owned(),
        path: path.to_owned(),
        source: tree.source.clone(),
        title: title.unwrap_or_default(),
        summary,
        tags,
        dataset,
        overrides: params::as_read(&overrides.set, &params),
        params,
        profile: overrides.profile.clone(),
        profiles: convert.profiles,
        settings: convert.settings,
        server: convert.server,
        steps,
    })
}
