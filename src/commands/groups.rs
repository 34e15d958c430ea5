//! Which server each notebook of a run gets: those with equal needs share one, one that wants its own has it.

use crate::cli::RunArgs;
use crate::notebook::{Notebook, ServerNeeds};
use crate::project::Project;
use crate::run::Interrupt;
use crate::server::{Needs, Spec};

use super::CommandError;

/// Notebooks that share a server.
pub(super) struct Group<'n> {
    /// What they ask of it.
    pub wanted: &'n ServerNeeds,
    /// In the order in which they were named.
    pub notebooks: Vec<&'n Notebook>,
}

/// The groups, in the order of their first notebooks.
pub(super) fn of(notebooks: &[Notebook]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for notebook in notebooks {
        let shared =
            groups.iter_mut().find(|group| !notebook.server.fresh && *group.wanted == notebook.server);
        match shared {
            Some(group) => group.notebooks.push(notebook),
            None => groups.push(Group { wanted: &notebook.server, notebooks: vec![notebook] }),
        }
    }
    groups
}

/// Somebody else's server cannot be thrown away, nor started with other flags.
pub(super) fn check(spec: &Spec, notebooks: &[Notebook]) -> Result<(), CommandError> {
    let Spec::Url { .. } = spec else { return Ok(()) };
    match notebooks.iter().find(|notebook| notebook.server.fresh) {
        None => Ok(()),
        Some(notebook) => Err(CommandError::usage(
            format!(
                "{} wants a server of its own, to throw away, and --server url is somebody else's",
                notebook.name
            ),
            "run it with --server docker, local or embedded",
        )),
    }
}

impl Group<'_> {
    /// The needs in full: the notebook's over the project's.
    pub(super) fn needs(&self, args: &RunArgs, project: &Project, interrupt: &Interrupt) -> Needs {
        let ServerNeeds { service, settings, memory, .. } = self.wanted.clone();
        Needs {
            settings,
            service: service.or_else(|| project.server.service.clone()),
            compose: project.server.compose.clone(),
            memory,
            // A server that is to be thrown away may hold what outlives a database.
            cache: !args.no_cache && !self.wanted.fresh,
            allow_unpinned: args.allow_unpinned,
            stop: interrupt.shared(),
            ..Needs::default()
        }
    }
}
