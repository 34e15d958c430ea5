//! Prose for the report. A number that was not measured is never invented and never left out unnoticed.

use minijinja::machinery::ast::Stmt;
use minijinja::machinery::parse;
use minijinja::{ErrorKind, syntax::SyntaxConfig};

use crate::number::NOT_MEASURED;

use super::check::check_template;
use super::context::Context;
use super::library::{Purpose, environment};
use super::paths;

/// Renders markdown over what was measured.
///
/// Counts get thousands separators, times three significant digits and their unit, other numbers three
/// significant digits; the filters `raw`, `ms` and `percent` change that. Texts are escaped.
///
/// Where a value is missing, [`NOT_MEASURED`] stands in its place. A text with conditions or loops could tell
/// a story that did not happen if one of its values is missing, so it is replaced as a whole by a sentence
/// that says what is missing.
#[must_use]
pub fn render_text(text: &str, values: &Context) -> String {
    let written = paths::rewrite_text(text, values);
    let environment = environment(Purpose::Text);
    let rendered = environment.render_str(&written, values.values());
    let error = match rendered {
        Ok(rendered) => return rendered,
        Err(error) => error,
    };
    if text.contains("{%") {
        return missing_sentence(text, values, &error);
    }
    piecewise(&written, values).unwrap_or_else(|| missing_sentence(text, values, &error))
}

/// Renders each `{{ … }}` alone, so that one missing value does not take the others with it.
fn piecewise(text: &str, values: &Context) -> Option<String> {
    let tree = parse(text, "", SyntaxConfig::default()).ok()?;
    let Stmt::Template(template) = tree else { return None };
    let environment = environment(Purpose::Text);
    let context = values.values();
    let mut out = String::new();
    for statement in &template.children {
        match statement {
            Stmt::EmitRaw(raw) => out.push_str(raw.raw),
            Stmt::EmitExpr(emit) => {
                let end = emit.span().end_offset as usize;
                let start = text.get(..end)?.rfind("{{").map(|braces| braces + 2)?;
                let inner = text.get(start..end)?.trim_matches(['-', '+', '{', '}', ' ', '\n', '\t']);
                match environment.render_str(&format!("{{{{ {inner} }}}}"), context.clone()) {
                    Ok(value) => out.push_str(&value),
                    Err(error) => out.push_str(stand_in(&error)),
                }
            }
            _ => return None,
        }
    }
    Some(out)
}

fn stand_in(error: &minijinja::Error) -> &'static str {
    match error.kind() {
        ErrorKind::UndefinedError => NOT_MEASURED,
        _ => "not computable",
    }
}

/// A sentence in place of a text that cannot be told.
fn missing_sentence(text: &str, values: &Context, error: &minijinja::Error) -> String {
    let checked = check_template(text, &values.names());
    let mut missing: Vec<String> = checked
        .metrics
        .iter()
        .filter(|used| !values.has_metric(&used.measure, used.arm.as_deref(), used.metric))
        .map(|used| format!("`{}`", used.path()))
        .collect();
    missing.extend(checked.errors.iter().filter_map(|error| {
        let name = text.get(error.offset..error.offset + error.length)?;
        (!name.is_empty()).then(|| format!("`{name}`"))
    }));
    missing.dedup();
    if missing.is_empty() {
        return format!("*A paragraph is left out here: {}.*\n", escape_markdown(&error.to_string()));
    }
    format!(
        "*A paragraph is left out here, because it tells of what was not measured: {}.*\n",
        missing.join(", ")
    )
}

/// Escapes what markdown or HTML would read as markup. Line breaks become spaces.
///
/// An underscore inside a word is left alone: markdown does not read it as emphasis, and names are full of
/// them.
#[must_use]
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let characters: Vec<char> = text.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let inside_word = || {
            let word = |at: Option<usize>| {
                at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_')
            };
            word(index.checked_sub(1)) && word(Some(index + 1))
        };
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            '_' if inside_word() => out.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}
