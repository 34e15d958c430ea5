//! Parameters: typed by their default, changed by a profile, then by `--set`.

use crate::nearest::nearest;
use crate::template::Scalar;

use super::super::de::Reader;
use super::super::fault::Fault;
use super::super::model::Values;
use super::super::node::NodeId;
use super::super::overrides::Overrides;
use super::super::scalar;
use super::super::wire::{self, Entries, Value};
use super::identifier::identifier;

/// The parameters in force and the names of the profiles.
pub(super) fn in_force(
    reader: &Reader<'_>,
    wire: &wire::Notebook,
    overrides: &Overrides,
    outside: &mut Vec<Fault>,
) -> (Values, Vec<String>) {
    let mut values = wire.params.as_ref().map(|params| defaults(reader, params)).unwrap_or_default();
    let mut profiles = Vec::new();
    for (name, changes) in wire.profiles.iter().flat_map(|profiles| &profiles.0) {
        let Some(profile) = identifier(reader, *name, "a profile") else { continue };
        if profile == "default" {
            let message = "`default` is the name of the notebook without a profile";
            reader.fault(reader.tree.place(name.0), message, "choose another name");
            continue;
        }
        let changed = changes_of(reader, changes, &values);
        if overrides.profile.as_deref() == Some(profile.as_str()) {
            apply(&mut values, changed);
        }
        profiles.push(profile);
    }
    if let Some(wanted) = overrides.profile.as_deref()
        && wanted != "default"
        && !profiles.iter().any(|profile| profile == wanted)
    {
        outside.push(unknown_profile(wanted, &profiles));
    }
    for (index, (name, text)) in overrides.set.iter().enumerate() {
        if overrides.set[..index].iter().any(|(earlier, _)| earlier == name) {
            let fault =
                Fault::of_file(format!("--set {name}={text}"), format!("--set: `{name}` is set twice"));
            outside.push(fault.with_help("give it one value"));
            continue;
        }
        match set(&values, name, text) {
            Ok(value) => apply(&mut values, vec![(name.clone(), value)]),
            Err(fault) => outside.push(fault),
        }
    }
    (values, profiles)
}

/// What the command line sets, as it was read: `5_000` and `5000` are one value.
pub(super) fn as_read(set: &[(String, String)], values: &Values) -> Vec<(String, String)> {
    let value =
        |name: &String| values.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_string());
    set.iter().map(|(name, text)| (name.clone(), value(name).unwrap_or_else(|| text.clone()))).collect()
}

/// Names with their default values.
pub(super) fn defaults(reader: &Reader<'_>, params: &Entries<Value>) -> Values {
    let value = |(name, value): &(wire::Name, Value)| {
        let name = identifier(reader, *name, "a parameter")?;
        Some((name, literal(reader, value.0)?))
    };
    params.0.iter().filter_map(value).collect()
}

/// The values that a profile gives, each checked against the parameter that it changes.
fn changes_of(reader: &Reader<'_>, changes: &Entries<Value>, defaults: &Values) -> Values {
    let mut changed = Values::new();
    for (name, value) in &changes.0 {
        let text = reader.tree.text(name.0);
        let Some((_, default)) = defaults.iter().find(|(known, _)| known == text) else {
            let help = unknown_parameter(text, defaults);
            reader.fault(reader.tree.place(name.0), format!("there is no parameter `{text}`"), help);
            continue;
        };
        let Some(value_here) = literal(reader, value.0) else { continue };
        match alike(default, value_here) {
            Some(value) => changed.push((text.to_owned(), value)),
            None => {
                let message = format!("`{text}` is {}, as its default is", noun(default));
                reader.fault(reader.tree.place(value.0), message, format!("write {}", noun(default)));
            }
        }
    }
    changed
}

fn apply(values: &mut Values, changes: Values) {
    for (name, value) in changes {
        if let Some((_, old)) = values.iter_mut().find(|(known, _)| *known == name) {
            *old = value;
        }
    }
}

/// A value as it is written, by YAML's own rules minus their surprises.
pub(super) fn literal(reader: &Reader<'_>, id: NodeId) -> Option<Scalar> {
    let tree = reader.tree;
    let text = tree.text(id);
    let refuse = |message: String, help: &str| {
        reader.fault(tree.place(id), message, help);
        None
    };
    if text.contains("{{") || text.contains("{%") {
        return refuse(
            "the value of a parameter is a plain value".to_owned(),
            "write the number or text itself",
        );
    }
    if !tree.is_plain(id) {
        return Some(Scalar::Text(text.to_owned()));
    }
    match text {
        "true" => return Some(Scalar::Boolean(true)),
        "false" => return Some(Scalar::Boolean(false)),
        "on" | "off" | "yes" | "no" | "On" | "Off" | "Yes" | "No" | "True" | "False" => {
            return refuse(
                format!("`{text}` may be a truth value or text"),
                "write true or false, or quote the text",
            );
        }
        _ => {}
    }
    if let Some(integer) = scalar::integer(text) {
        return Some(Scalar::Integer(integer));
    }
    if let Some(float) = scalar::float(text) {
        return Some(Scalar::Float(float));
    }
    if text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || "_.eE+-x".contains(c))
    {
        return refuse(
            format!("`{text}` is not a number that can be read"),
            "write it in plain digits, or quote the text",
        );
    }
    Some(Scalar::Text(text.to_owned()))
}

/// The value, if it is of the kind of the default. A whole number stands for any number.
pub(super) fn alike(default: &Scalar, value: Scalar) -> Option<Scalar> {
    match (default, value) {
        (Scalar::Boolean(_), value @ Scalar::Boolean(_))
        | (Scalar::Integer(_), value @ Scalar::Integer(_))
        | (Scalar::Float(_), value @ Scalar::Float(_))
        | (Scalar::Text(_), value @ Scalar::Text(_)) => Some(value),
        #[expect(clippy::cast_precision_loss, reason = "a parameter is far below 2^53")]
        (Scalar::Float(_), Scalar::Integer(integer)) => Some(Scalar::Float(integer as f64)),
        _ => None,
    }
}

/// A text read as a value of the kind of the default.
pub(super) fn coerce(default: &Scalar, text: &str) -> Option<Scalar> {
    match default {
        Scalar::Boolean(_) => text.parse().ok().map(Scalar::Boolean),
        Scalar::Integer(_) => scalar::integer(text).map(Scalar::Integer),
        Scalar::Text(_) => Some(Scalar::Text(text.to_owned())),
        Scalar::Float(_) => {
            let number = scalar::float(text).map(Scalar::Float);
            number.or_else(|| {
                scalar::integer(text).and_then(|integer| alike(default, Scalar::Integer(integer)))
            })
        }
    }
}

/// How a message names the kind of a value.
pub(super) fn noun(value: &Scalar) -> &'static str {
    match value {
        Scalar::Boolean(_) => "true or false",
        Scalar::Integer(_) => "a whole number",
        Scalar::Float(_) => "a number",
        Scalar::Text(_) => "text",
    }
}

/// Advice for a parameter that does not exist.
pub(super) fn unknown_parameter(name: &str, known: &Values) -> String {
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there are no parameters: add it to `params` first".to_owned(),
        None => format!("the parameters are {}", names.join(", ")),
    }
}

fn set(values: &Values, name: &str, text: &str) -> Result<Scalar, Fault> {
    let option = format!("--set {name}={text}");
    let Some((_, default)) = values.iter().find(|(known, _)| known == name) else {
        let help = unknown_parameter(name, values);
        return Err(Fault::of_file(option, format!("--set: there is no parameter `{name}`")).with_help(help));
    };
    coerce(default, text).ok_or_else(|| {
        let message = format!("--set: `{name}` is {}, not `{text}`", noun(default));
        Fault::of_file(option, message).with_help(format!("write it like --set {name}={default}"))
    })
}

fn unknown_profile(wanted: &str, profiles: &[String]) -> Fault {
    let help = match nearest(wanted, profiles.iter().map(String::as_str)) {
        Some(near) => format!("did you mean --profile {near}?"),
        None if profiles.is_empty() => "run it without --profile: it has none".to_owned(),
        None => format!("the profiles are {}", profiles.join(", ")),
    };
    Fault::of_file(format!("--profile {wanted}"), format!("--profile: there is no profile `{wanted}`"))
        .with_help(help)
}
