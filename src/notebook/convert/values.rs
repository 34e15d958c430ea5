//! Leaves: text rendered over the parameters, templates for run time, whole numbers, settings.

use std::time::Duration;

use crate::template::{check_template, render_sql};

use super::super::model::{Settings, Template};
use super::super::node::NodeId;
use super::super::scalar;
use super::super::wire::{Entries, Name, Text, Value, Whole};
use super::Convert;
use super::names::Scope;

impl Convert<'_> {
    /// Notes that the file as a whole lacks a key.
    pub(super) fn required(&self, present: bool, key: &str, example: &str) {
        let tree = self.reader.tree;
        let misspelt = self.reader.is_set_aside(tree.root) || super::keys::has_key(self.reader, key);
        if !present && !misspelt {
            let place = tree
                .source
                .place(tree.place(tree.root).offset, tree.source.line(tree.place(tree.root)).len());
            self.reader.fault(
                place,
                format!("`{key}` is missing"),
                format!("add `{example}` at the top level"),
            );
        }
    }

    /// The text of a scalar, rendered over the parameters.
    pub(super) fn rendered(&self, id: NodeId) -> Option<String> {
        let tree = self.reader.tree;
        let text = tree.text(id);
        if is_literal(text) {
            return Some(text.to_owned());
        }
        let names = self.world.names(Scope::Params);
        let checked = check_template(text, &names);
        if !checked.errors.is_empty() {
            self.template_faults(text, tree.place(id), &checked.errors, Scope::Params);
            return None;
        }
        match render_sql(text, &self.params) {
            Ok(rendered) => Some(rendered),
            Err(error) => {
                self.template_faults(text, tree.place(id), &[error], Scope::Params);
                None
            }
        }
    }

    /// Text that must not be empty.
    pub(super) fn text(&self, text: Text) -> Option<String> {
        let rendered = self.rendered(text.0)?;
        if rendered.trim().is_empty() {
            self.reader.fault(
                self.reader.tree.place(text.0),
                "there is no text here",
                "write it, or leave the key out",
            );
            return None;
        }
        Some(rendered.trim_end().to_owned())
    }

    /// A template that is rendered when the notebook runs, checked over the names of `scope`.
    pub(super) fn template(&self, id: NodeId, scope: Scope) -> Option<Template> {
        let tree = self.reader.tree;
        let text = tree.text(id);
        if is_literal(text) {
            return Some(Template { text: text.to_owned(), at: tree.place(id) });
        }
        let checked = check_template(text, &self.world.names(scope));
        self.template_faults(text, tree.place(id), &checked.errors, scope);
        checked.errors.is_empty().then(|| Template { text: text.to_owned(), at: tree.place(id) })
    }

    /// A whole number of at least `least`.
    pub(super) fn whole(&self, whole: Whole, what: &str, least: usize) -> Option<usize> {
        const MOST: usize = 1_000_000;
        let rendered = self.rendered(whole.0)?;
        let place = self.reader.tree.place(whole.0);
        let number = scalar::integer(rendered.trim()).and_then(|number| usize::try_from(number).ok());
        match number {
            Some(number) if (least..=MOST).contains(&number) => return Some(number),
            Some(_) => {
                let message = format!("{what} is {rendered}, and must be from {least} to {MOST}");
                self.reader.fault(place, message, format!("write a whole number from {least} to {MOST}"));
            }
            None => {
                let message = format!("{what} is `{}`, and must be a whole number", rendered.trim());
                self.reader.fault(place, message, format!("write one from {least} to {MOST}, in digits"));
            }
        }
        None
    }

    /// A span of time, such as `10s`.
    pub(super) fn duration(&self, text: Text) -> Option<Duration> {
        let rendered = self.rendered(text.0)?;
        let written = rendered.trim();
        let digits = written.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(written.len());
        let unit = match written[digits..].trim() {
            "ms" => Some(0.001),
            "s" => Some(1.0),
            "min" => Some(60.0),
            _ => None,
        };
        let number = written[..digits].parse::<f64>().ok().filter(|number| number.is_finite());
        let seconds = number.zip(unit).map(|(number, unit)| number * unit);
        let duration =
            seconds.filter(|s| *s > 0.0 && *s <= 86_400.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
        if duration.is_none() {
            let message = format!("`{written}` is not a span of time");
            self.reader.fault(self.reader.tree.place(text.0), message, "write it like 500ms, 10s or 2min");
        }
        duration
    }

    /// `on` or `off`.
    pub(super) fn switch(&self, text: Option<Text>, default: bool) -> bool {
        let Some(text) = text else { return default };
        let Some(rendered) = self.rendered(text.0) else { return default };
        match rendered.trim() {
            "on" | "true" => true,
            "off" | "false" => false,
            other => {
                let message = format!("`{other}` is neither on nor off");
                self.reader.fault(self.reader.tree.place(text.0), message, "write on or off");
                default
            }
        }
    }

    /// Settings by name.
    pub(super) fn settings(&self, settings: &Entries<Value>, scope: Scope) -> Settings {
        let mut merged = Settings::new();
        for (name, value) in &settings.0 {
            let text = self.reader.tree.text(name.0);
            if !is_setting(text) {
                let help = "write it as SHOW takes it, in lower case, such as work_mem";
                self.reader.fault(
                    self.reader.tree.place(name.0),
                    format!("`{text}` is not the name of a setting"),
                    help,
                );
                continue;
            }
            if let Some(template) = self.template(value.0, scope) {
                merged.insert(text.to_owned(), template);
            }
        }
        merged
    }

    /// Names of tables or the like, rendered over the parameters.
    pub(super) fn objects(&self, names: &[Name], what: &str, key: NodeId) -> Vec<String> {
        let rendered: Vec<String> = names.iter().filter_map(|name| self.text(Text(name.0))).collect();
        if names.is_empty() {
            self.reader.fault(
                self.reader.tree.head(key),
                format!("{what} names no table"),
                "name at least one",
            );
        }
        rendered
    }
}

/// Whether a text has nothing of a template in it.
fn is_literal(text: &str) -> bool {
    !["{{", "{%", "{#"].iter().any(|open| text.contains(open))
}

fn is_setting(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.'))
}
