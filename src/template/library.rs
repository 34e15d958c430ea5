//! The filters, tests and functions of a template, and the environment that holds them.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use crate::number;

use super::kind::Kind;

/// What a template is rendered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// SQL and settings: values as they are.
    Sql,
    /// Markdown for the report: numbers made readable, texts escaped.
    Text,
}

/// Steps of the interpreter that one template may take: far above any sentence or statement, far below what
/// would hold up a run.
const FUEL: u64 = 2_000_000;

/// What a filter makes of what it gets.
#[derive(Debug, Clone, Copy)]
pub(super) enum Makes {
    Number,
    /// A number of the unit of what it gets.
    Amount,
    Text,
    Element,
    Same,
}

/// A filter that may be used: its name, how many arguments it takes at most, what it makes.
pub(super) struct FilterRule {
    pub(super) name: &'static str,
    pub(super) arguments: usize,
    pub(super) makes: Makes,
}

const fn filter(name: &'static str, arguments: usize, makes: Makes) -> FilterRule {
    FilterRule { name, arguments, makes }
}

/// The filters of the language. `default` is left out on purpose: it would turn what was not measured into a
/// number.
pub(super) const FILTERS: &[FilterRule] = &[
    filter("abs", 0, Makes::Amount),
    filter("bytes", 0, Makes::Text),
    filter("count", 0, Makes::Number),
    filter("first", 0, Makes::Element),
    filter("float", 0, Makes::Amount),
    filter("int", 0, Makes::Amount),
    filter("join", 1, Makes::Text),
    filter("last", 0, Makes::Element),
    filter("length", 0, Makes::Number),
    filter("list", 0, Makes::Same),
    filter("lower", 0, Makes::Text),
    filter("max", 0, Makes::Element),
    filter("min", 0, Makes::Element),
    filter("ms", 0, Makes::Text),
    filter("percent", 0, Makes::Text),
    filter("raw", 0, Makes::Text),
    filter("replace", 2, Makes::Text),
    filter("reverse", 0, Makes::Same),
    filter("round", 1, Makes::Amount),
    filter("sort", 0, Makes::Same),
    filter("string", 0, Makes::Text),
    filter("sum", 0, Makes::Amount),
    filter("trim", 0, Makes::Text),
    filter("unique", 0, Makes::Same),
    filter("upper", 0, Makes::Text),
];

/// The tests that may stand after `is`.
pub(super) const TESTS: &[&str] =
    &["boolean", "defined", "divisibleby", "even", "number", "odd", "string", "undefined"];

/// The functions, with what they return.
pub(super) const FUNCTIONS: &[&str] = &["range"];

/// What a call of a function returns.
pub(super) fn returns(function: &str) -> Kind {
    match function {
        "range" => Kind::List(Box::new(Kind::Number)),
        _ => Kind::Any,
    }
}

/// Whether a word means something in the template language, so that nothing may be named so.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    const WORDS: &[&str] =
        &["and", "else", "false", "if", "in", "is", "loop", "none", "not", "or", "self", "true"];
    WORDS.contains(&name) || FUNCTIONS.contains(&name)
}

/// How templates are read: a line break at the end is kept.
pub(super) fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// The environment in which templates are evaluated.
pub(super) fn environment(purpose: Purpose) -> &'static Environment<'static> {
    static SQL: LazyLock<Environment<'static>> = LazyLock::new(|| make(Purpose::Sql));
    static TEXT: LazyLock<Environment<'static>> = LazyLock::new(|| make(Purpose::Text));
    match purpose {
        Purpose::Sql => &SQL,
        Purpose::Text => &TEXT,
    }
}

fn make(purpose: Purpose) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    for filter in ["default", "d", "safe"] {
        environment.remove_filter(filter);
    }
    environment.add_filter("ms", |value: Value| numeric(&value).map(number::milliseconds).map(safe));
    environment.add_filter("bytes", |value: Value| numeric(&value).map(number::bytes).map(safe));
    environment.add_filter("percent", |value: Value| numeric(&value).map(number::percent).map(safe));
    environment.add_filter("raw", |value: Value| raw(&value));
    lists(&mut environment);
    match purpose {
        Purpose::Sql => environment.set_formatter(|out, _, value| Ok(write!(out, "{}", plain(value)?)?)),
        Purpose::Text => environment.set_formatter(|out, _, value| Ok(write!(out, "{}", readable(value)?)?)),
    }
    environment
}

/// The filters over lists and numbers, strict: minijinja's own pass over what is undefined in a list, and a
/// maximum of what was measured would stand for a maximum of all.
fn lists(environment: &mut Environment<'_>) {
    environment
        .add_filter("int", |value: Value| parsed(&value).map(|number| super::scalar::number(number.trunc())));
    environment.add_filter("float", |value: Value| parsed(&value));
    environment.add_filter("min", |value: Value| items(&value).map(|items| items.into_iter().min()));
    environment.add_filter("max", |value: Value| items(&value).map(|items| items.into_iter().max()));
    environment.add_filter("sum", |value: Value| {
        items(&value)?.iter().map(numeric).sum::<Result<f64, Error>>().map(super::scalar::number)
    });
    environment.add_filter("list", |value: Value| items(&value));
    environment.add_filter("reverse", |value: Value| {
        items(&value).map(|items| items.into_iter().rev().collect::<Vec<_>>())
    });
    environment.add_filter("sort", |value: Value| {
        items(&value).map(|mut items| {
            items.sort();
            items
        })
    });
    environment.add_filter("unique", |value: Value| {
        items(&value).map(|items| {
            items.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        })
    });
    environment.add_filter("join", |value: Value, between: Option<String>| {
        let texts: Vec<String> = items(&value)?.iter().map(plain).collect::<Result<_, _>>()?;
        Ok::<_, Error>(texts.join(&between.unwrap_or_default()))
    });
}

/// The items of a list, all of them defined.
fn items(value: &Value) -> Result<Vec<Value>, Error> {
    let items: Vec<Value> = value.try_iter()?.collect();
    if items.iter().any(Value::is_undefined) {
        Err(Error::from(ErrorKind::UndefinedError))
    } else {
        Ok(items)
    }
}

/// A number, or a text that reads as one.
fn parsed(value: &Value) -> Result<f64, Error> {
    match value.as_str().map(|text| text.trim().parse::<f64>()) {
        Some(Ok(number)) if number.is_finite() => Ok(number),
        Some(_) => {
            Err(Error::new(ErrorKind::InvalidOperation, format!("`{value}` does not read as a number")))
        }
        None => numeric(value),
    }
}

fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

fn numeric(value: &Value) -> Result<f64, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_number() {
        return f64::try_from(value.clone());
    }
    Err(Error::new(ErrorKind::InvalidOperation, format!("this filter takes a number, not {}", value.kind())))
}

fn raw(value: &Value) -> Result<Value, Error> {
    plain(value).map(safe)
}

/// A value as it stands.
fn plain(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Err(Error::new(ErrorKind::InvalidOperation, "there is no value here"));
    }
    if let Ok(boolean) = bool::try_from(value.clone()) {
        return Ok(boolean.to_string());
    }
    if value.is_number() && !value.is_integer() {
        let float = f64::try_from(value.clone())?;
        if !float.is_finite() {
            return Err(Error::new(ErrorKind::InvalidOperation, "this is not a finite number"));
        }
        return Ok(float.to_string());
    }
    Ok(value.to_string())
}

/// A value as prose shows it.
fn readable(value: &Value) -> Result<String, Error> {
    if value.is_safe() || value.is_undefined() || value.is_none() {
        return plain(value);
    }
    if value.is_number() {
        let float = f64::try_from(value.clone())?;
        return if value.is_integer() {
            Ok(number::count(float))
        } else {
            plain(value).map(|_| number::significant(float))
        };
    }
    plain(value).map(|text| super::escape_markdown(&text))
}
