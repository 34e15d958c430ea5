//! What the templates of HTML pages write with.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use minijinja::{AutoEscape, Environment, Error, Output, State, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use super::prose;

/// Adds the filters of pages. `beside` serves markdown too.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    environment.add_filter("inline", |markdown: &str| Value::from_safe_string(prose::line(markdown)));
    environment.add_filter("ticked", |text: &str| Value::from_safe_string(ticked(text)));
    environment.add_filter("beside", |path: &str| beside(path));
    environment.add_filter("line_count", |text: &str| text.lines().count());
    environment.add_filter("csp_hash", |text: &str| csp_hash(text));
}

/// Writes a value into a template: escaped in pages, unless it is HTML already.
pub(super) fn write(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    match value.as_str().filter(|_| *state.auto_escape() == AutoEscape::Html && !value.is_safe()) {
        Some(text) => out.write_str(&prose::escaped(text)).map_err(Error::from),
        None => minijinja::escape_formatter(out, state, value),
    }
}

/// A message as HTML: what stands between two backticks is code. One backtick too many is part of the text, and then all are.
fn ticked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return prose::escaped(text);
    }
    let shown = parts.iter().enumerate().map(|(at, part)| match prose::escaped(part) {
        code if at % 2 == 1 => format!("<code>{code}</code>"),
        plain => plain,
    });
    shown.collect()
}

/// What stays as it is in the path of a file.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'.')
    .remove(b'_')
    .remove(b'-')
    .remove(b'/')
    .remove(b'~')
    .remove(b'=')
    .remove(b',');

/// The address of a file beside the page: never one of another place, whatever the path says.
fn beside(path: &str) -> String {
    let encoded = utf8_percent_encode(path, KEPT).to_string();
    if encoded.starts_with('/') { format!(".{encoded}") } else { encoded }
}

/// The hash under which a page's policy allows a script, and no other.
fn csp_hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_of_a_message_are_code() {
        for (text, html) in [
            ("the session `lunch` holds it", "the session <code>lunch</code> holds it"),
            ("`a` < `<b>`", "<code>a</code> &lt; <code>&lt;b&gt;</code>"),
            ("syntax error at or near \"`\"", "syntax error at or near &quot;`&quot;"),
            ("no code", "no code"),
        ] {
            assert_eq!(ticked(text), html);
        }
    }

    #[test]
    fn a_path_leads_to_a_file_beside_the_page() {
        for (path, leads) in [
            ("plans/a.b.txt", "plans/a.b.txt"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("//evil.org/x", ".//evil.org/x"),
            ("a b\"<", "a%20b%22%3C"),
        ] {
            assert_eq!(beside(path), leads);
        }
    }
}
