//! The templates of the reports: those that ship, and a project's own in their place, file by file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::{RenderError, html, markdown};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/", $name)))),*]
    };
}

/// Every template by its file's name.
const SHIPPED: &[(&str, &str)] = shipped![
    "explain.html",
    "index.html",
    "index.md",
    "parts.html",
    "report.html",
    "report.md",
    "script.js",
    "style.css",
];

/// The templates in force.
#[derive(Debug, Clone)]
pub struct Templates {
    texts: BTreeMap<&'static str, String>,
    /// Where a project's own are, and which.
    own: Option<(PathBuf, Vec<&'static str>)>,
}

impl Default for Templates {
    fn default() -> Self {
        Self { texts: SHIPPED.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(), own: None }
    }
}

impl Templates {
    /// The shipped templates, and those of a folder in place of the shipped ones with the same names.
    ///
    /// # Errors
    /// Where the folder cannot be read, holds a file that is no template, or one that does not parse.
    pub fn with(folder: &Path) -> Result<Self, RenderError> {
        let mut templates = Self::default();
        let wrong = |place: &Path, reason: String| RenderError::Templates { place: place.to_owned(), reason };
        let mut own = vec![];
        let entries = fs::read_dir(folder).map_err(|error| wrong(folder, error.to_string()))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with('.') {
                continue;
            }
            let Some((known, _)) = SHIPPED.iter().find(|(known, _)| *known == name) else {
                let known: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
                return Err(wrong(
                    &path,
                    format!("there is no template of that name: they are {}", known.join(", ")),
                ));
            };
            let text = fs::read_to_string(&path).map_err(|error| wrong(&path, error.to_string()))?;
            templates.texts.insert(known, text);
            own.push(*known);
        }
        templates.own = Some((folder.to_owned(), own));
        templates.environment()?;
        Ok(templates)
    }

    /// Renders one template over a context.
    pub(super) fn render(&self, name: &str, context: &impl Serialize) -> Result<String, RenderError> {
        let environment = self.environment()?;
        let render = || environment.get_template(name)?.render(Value::from(Serde(context)));
        let text = render().map_err(|error| self.failed(name, &error))?;
        Ok(if name.ends_with(".md") { markdown::squeeze(&text) } else { text })
    }

    fn environment(&self) -> Result<Environment<'_>, RenderError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|name| {
            if name.ends_with(".html") { AutoEscape::Html } else { AutoEscape::None }
        });
        let syntax =
            SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(|error| self.failed("report.md", &error))?);
        environment.set_formatter(html::write);
        markdown::add_filters(&mut environment);
        html::add_filters(&mut environment);
        for (name, text) in &self.texts {
            environment.add_template(name, text).map_err(|error| self.failed(name, &error))?;
        }
        Ok(environment)
    }

    /// The innermost error that has a place: that of an included file rather than that of the line which includes it.
    fn failed(&self, name: &str, error: &minijinja::Error) -> RenderError {
        let mut inner = error;
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            if let Some(cause) =
                cause.downcast_ref::<minijinja::Error>().filter(|cause| cause.line().is_some())
            {
                inner = cause;
            }
            source = cause.source();
        }
        let name = inner.name().unwrap_or(name);
        let place = match &self.own {
            Some((folder, own)) if own.contains(&name) => folder.join(name),
            _ => Path::new("templates").join(name),
        };
        let line = inner.line().map(|line| format!(":{line}")).unwrap_or_default();
        let detail = inner.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        RenderError::Template {
            place: format!("{}{line}", place.display()),
            reason: format!("{}{detail}", inner.kind()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_did_not_hold_stands_first_worst_first() {
        let verdict = |outcome: &str, mark: &str, expected: &str| {
            json!({
                "outcome": outcome, "mark": mark, "expected": expected, "subject": "m", "seen": "something", "line": 7,
                "evidence": null, "nearest": null, "tree": null, "next": null, "anchor": null,
            })
        };
        let context = json!({
            "notebook": "n", "title": "The title", "summary": "The summary", "tags": [], "origin": [],
            "notices": ["A `notice`."], "contents": [], "captured": false, "words": [], "server": [], "settings": [],
            "counts": {"pass": 3, "fail": 1, "inconclusive": 1, "not_run": 2},
            "troubles": [
                verdict("fail", "✗", "claim one"), verdict("not_run", "–", "claim two"),
                verdict("not_run", "–", "claim three"), verdict("inconclusive", "?", "claim four"),
            ],
            "steps": [{"kind": "text", "markdown": "The prose.", "html": "<p>The prose.</p>", "anchor": null, "heading": null, "level": null}],
        });
        let order =
            ["The title", "notice", "claim one", "claim two", "claim three", "claim four", "The prose."];
        for name in ["report.html", "report.md"] {
            let text = Templates::default().render(name, &context).unwrap();
            let places: Vec<Option<usize>> = order.iter().map(|part| text.find(part)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {text}");
            for part in ["failed", "not run", "inconclusive", "held", "line 7"] {
                assert!(text.contains(part), "{part} is not in {text}");
            }
        }
    }
}
