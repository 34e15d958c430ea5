//! Prose for the report. A number that was not measured is never invented and never left out unnoticed.

use minijinja::ErrorKind;
use minijinja::machinery::ast::Stmt;
use minijinja::machinery::parse;

use crate::number::NOT_MEASURED;

use super::check::{Checked, check_template};
use super::context::Context;
use super::error::TemplateError;
use super::library::{Purpose, environment};
use super::paths;

/// Renders markdown over what was measured.
///
/// Counts get thousands separators, times three significant digits and their unit, other numbers three
/// significant digits; the filters `raw`, `ms`, `bytes` and `percent` change that. Texts are escaped.
///
/// Where a value is missing, [`NOT_MEASURED`] stands in its place. A text with conditions or loops could tell
/// a story that did not happen if one of its values is missing, so it is replaced as a whole by a sentence
/// that says what is missing.
#[must_use]
pub fn render_text(text: &str, values: &Context) -> String {
    let written = paths::rewrite_text(text, values);
    if !text.contains("{%")
        && let Some(rendered) = piecewise(&written, values)
    {
        return rendered;
    }
    environment(Purpose::Text)
        .render_str(&written, values.values())
        .unwrap_or_else(|error| missing_sentence(text, values, &error))
}

/// Renders each `{{ … }}` alone, so that one missing value does not take the others with it.
fn piecewise(text: &str, values: &Context) -> Option<String> {
    let tree = parse(text, "", super::library::syntax()).ok()?;
    let Stmt::Template(template) = tree else { return None };
    let environment = environment(Purpose::Text);
    let context = values.values();
    let mut out = String::new();
    for statement in &template.children {
        match statement {
            Stmt::EmitRaw(raw) => out.push_str(raw.raw),
            Stmt::EmitExpr(emit) => {
                let span = emit.span();
                let inner = text.get(span.start_offset as usize..span.end_offset as usize)?;
                let inner = format!("{{{{ {} }}}}", inner.trim());
                let checked = check_template(&inner, &values.names());
                let missing = !checked.asks_whether_defined && values.missing(&checked).next().is_some();
                match environment.render_str(&inner, context.clone()) {
                    Ok(value) if !missing => out.push_str(&value),
                    _ => out.push_str(stand_in(&checked, values)),
                }
            }
            _ => return None,
        }
    }
    Some(out)
}

/// What stands for an expression that has no value.
fn stand_in(checked: &Checked, values: &Context) -> &'static str {
    let undefined = checked.errors.iter().any(|error| error.undefined);
    if undefined || values.missing(checked).next().is_some() { NOT_MEASURED } else { "not computable" }
}

/// A sentence in place of a text that cannot be told.
fn missing_sentence(text: &str, values: &Context, error: &minijinja::Error) -> String {
    let checked = check_template(text, &values.names());
    let mut missing: Vec<String> =
        values.missing(&checked).map(|used| format!("`{}`", used.path())).collect();
    missing.extend(checked.errors.iter().filter_map(|error| {
        let name = text.get(error.offset..error.offset + error.length)?;
        (!name.is_empty()).then(|| format!("`{name}`"))
    }));
    missing.dedup();
    if missing.is_empty() {
        let fault = TemplateError::new(error, text);
        let why = match error.kind() {
            ErrorKind::UndefinedError => "something in it has no value",
            _ => "it cannot be evaluated",
        };
        let said = escape_markdown(&fault.message);
        return format!("*A paragraph is left out here, because {why} (its line {}: {said}).*\n", fault.line);
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
