//! `planbook.yaml` at the top of a project: where its notebooks are and which server they want. All of it is optional.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

/// The file's name, looked for in the current directory.
pub const FILE: &str = "planbook.yaml";

/// What a project asks for wherever the command line says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Project {
    /// Which server, as `--server` takes it, or a mapping.
    pub server: Wanted,
    /// The folder of the notebooks.
    pub experiments: Option<PathBuf>,
    /// The folder of the recordings.
    pub results: Option<PathBuf>,
    /// The folder of the project's own templates.
    pub templates: Option<PathBuf>,
}

/// The server of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wanted {
    /// As `--server` takes it.
    #[serde(rename = "use")]
    pub spec: Option<String>,
    /// A compose file in place of the one that Planbook ships.
    pub compose: Option<PathBuf>,
    /// The service of the compose file.
    pub service: Option<String>,
}

/// A `planbook.yaml` that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{FILE}: {problem}")]
pub struct ProjectError {
    problem: String,
}

impl Project {
    /// The project of a directory; the empty one where it has no file.
    ///
    /// # Errors
    /// Where the file cannot be read or says something that Planbook does not know.
    pub fn of(dir: &Path) -> Result<Self, ProjectError> {
        let text = match std::fs::read_to_string(dir.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(ProjectError { problem: error.to_string() }),
        };
        // An empty file, or one of comments alone, asks for nothing.
        let options = serde_yaml::options! { strict_booleans: true };
        let read: Result<Option<Self>, _> = serde_yaml::from_str_with_options(&text, options);
        read.map(Option::unwrap_or_default).map_err(|error| ProjectError { problem: error.to_string() })
    }

    /// The project of the current directory, read once.
    ///
    /// # Errors
    /// As [`Project::of`].
    pub fn current() -> Result<&'static Self, &'static ProjectError> {
        static CURRENT: OnceLock<Result<Project, ProjectError>> = OnceLock::new();
        CURRENT.get_or_init(|| Self::of(Path::new("."))).as_ref()
    }
}

/// The folder of the notebooks where the command line names none. A file that cannot be read is told elsewhere.
pub(crate) fn experiments() -> PathBuf {
    let named = Project::current().ok().and_then(|project| project.experiments.clone());
    named.unwrap_or_else(|| "experiments".into())
}

/// The folder of the recordings where the command line names none.
pub(crate) fn results() -> PathBuf {
    let named = Project::current().ok().and_then(|project| project.results.clone());
    named.unwrap_or_else(|| "results".into())
}

/// The folder of templates where the command line names none.
pub(crate) fn templates() -> Option<PathBuf> {
    Project::current().ok().and_then(|project| project.templates.clone())
}

/// The server where the command line names none.
pub(crate) fn server() -> String {
    let named = Project::current().ok().and_then(|project| project.server.spec.clone());
    named.unwrap_or_else(|| "auto".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, ProjectError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        Project::of(dir.path())
    }

    #[test]
    fn everything_is_optional() {
        assert_eq!(Project::of(tempfile::tempdir().unwrap().path()).unwrap(), Project::default());
        assert_eq!(read("# nothing yet\n").unwrap(), Project::default());
        let project =
            read("server: {use: docker, compose: ci/pg.yaml, service: db}\nresults: out\n").unwrap();
        assert_eq!(project.server.spec.as_deref(), Some("docker"));
        assert_eq!(project.server.compose, Some("ci/pg.yaml".into()));
        assert_eq!(project.results, Some("out".into()));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = read("results: out\nserver:\n  composse: x\n").unwrap_err().to_string();
        assert!(error.contains("composse") && error.contains("line 3"), "{error}");
    }
}
