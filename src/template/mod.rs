//! Templates and expressions: what stands between `{{` and `}}` in a notebook.
//!
//! The language is minijinja, strict, without the `default` filter. Every name, attribute, filter, test and
//! function is [checked](check_template) before anything runs, in branches that are not taken too, and every
//! comparison of a number with a text is refused: minijinja would call `5 > '3'` false and go on.
//!
//! A leaf: it knows metrics by name and nothing of notebooks or recordings.

mod ast;
mod check;
mod context;
mod error;
mod infer;
mod kind;
mod library;
mod paths;
mod point;
mod scalar;
mod text;
mod unit;

pub use check::{Checked, EstimateUse, MetricUse, check_expression, check_template};
pub use context::{Context, Part, PointValues};
pub use error::TemplateError;
pub use kind::{Group, Kind, Names, Swept};
pub use library::is_reserved;
pub use scalar::Scalar;
pub use text::{escape_markdown, render_text};

use minijinja::Value;

use library::Purpose;

/// Renders SQL or a setting. Values go in as they are: nothing is quoted or escaped.
///
/// # Errors
/// A template that does not parse, an undefined name, a comparison of unlike things.
pub fn render_sql(text: &str, values: &Context) -> Result<String, TemplateError> {
    first(check_template(text, &values.names()).errors)?;
    let written = paths::rewrite_template(text, values);
    let environment = library::environment(Purpose::Sql);
    environment.render_str(&written, values.values()).map_err(|error| TemplateError::new(&error, text))
}

/// The value of an expression: a number, a truth value or a text.
///
/// # Errors
/// As [`Expression::new`] and [`Expression::evaluate`].
pub fn evaluate(expression: &str, values: &Context) -> Result<Scalar, TemplateError> {
    Expression::new(expression, values)?.evaluate(values)
}

/// An expression that was checked once and can be evaluated often.
#[derive(Debug)]
pub struct Expression {
    text: String,
    checked: Checked,
    compiled: minijinja::Expression<'static, 'static>,
}

impl Expression {
    /// Checks the expression against the kinds that the values have now, so that a number is never compared with a
    /// text whose kind was not known when the notebook was read.
    ///
    /// # Errors
    /// An expression that does not parse, an undefined name, a comparison of unlike things.
    pub fn new(expression: &str, values: &Context) -> Result<Self, TemplateError> {
        let checked = check_expression(expression, &values.names());
        first(checked.errors.clone())?;
        let written = paths::rewrite_expression(expression, values);
        let compiled = library::environment(Purpose::Sql)
            .compile_expression_owned(written)
            .map_err(|error| TemplateError::new(&error, expression))?;
        Ok(Self { text: expression.to_owned(), checked, compiled })
    }

    /// Its value over these values, which may be fewer than it was checked against, but all that it uses.
    ///
    /// # Errors
    /// A metric that was not measured (unless the expression asks `is defined`), a result that is neither a number,
    /// a truth value nor a text, or a number that is not finite.
    pub fn evaluate(&self, values: &Context) -> Result<Scalar, TemplateError> {
        if !self.checked.asks_whether_defined
            && let Some(used) = values.missing(&self.checked).next()
        {
            let message = format!("`{}` was not measured", used.path());
            return Err(TemplateError::at(&self.text, used.offset, used.length, message));
        }
        let value = self
            .compiled
            .eval(values.values_of(&self.checked.names))
            .map_err(|error| TemplateError::new(&error, &self.text))?;
        Scalar::of(&value).ok_or_else(|| TemplateError::whole(&self.text, not_a_scalar(&value)))
    }
}

fn first(errors: Vec<TemplateError>) -> Result<(), TemplateError> {
    errors.into_iter().next().map_or(Ok(()), Err)
}

fn not_a_scalar(value: &Value) -> String {
    if value.is_integer() {
        return format!("the result ({value}) does not fit into 64 bits");
    }
    match f64::try_from(value.clone()) {
        Ok(number) if !number.is_finite() => format!("the result is not a finite number ({number})"),
        _ => format!("the result is neither a number, a truth value nor a text, but {}", value.kind()),
    }
}

#[cfg(test)]
mod tests;
