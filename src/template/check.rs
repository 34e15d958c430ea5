//! The check of a template before anything runs: every name and path, in every branch, and what is compared
//! with what.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};
use minijinja::machinery::{parse, parse_expr};

use crate::metric::Metric;

use super::ast::{self, extent};
use super::error::TemplateError;
use super::kind::{Group, Kind, Names};

/// The most words and signs between `{{` and `}}`. A chain of operators nests as deep as it is long, and every
/// level takes stack.
const MOST_WORDS: usize = 300;
/// The most `{% … %}` tags of one template.
const MOST_TAGS: usize = 400;

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What the expression stands for; [`Kind::Text`] for a template.
    pub kind: Kind,
    /// Every fault, in the order of the text.
    pub errors: Vec<TemplateError>,
    /// The metrics that it uses, in the order of the text.
    pub metrics: Vec<MetricUse>,
    /// The numbers with an interval of their own that it uses as if they were exact.
    pub estimates: Vec<EstimateUse>,
    /// The outermost names that it uses, in the order of the text, each once.
    pub names: Vec<String>,
    /// Whether it asks `is defined` of something, and so can do without what was not measured.
    pub asks_whether_defined: bool,
}

/// One place where a metric is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricUse {
    /// The measure.
    pub measure: String,
    /// The arm, where the measure has arms.
    pub arm: Option<String>,
    /// The point of a sweep, as it prints.
    pub point: Option<String>,
    /// Whether it is meant as one of all points of a sweep, whichever that turns out to be.
    pub one_of_many: bool,
    /// The metric.
    pub metric: Metric,
    /// Byte offset of the path in the text.
    pub offset: usize,
    /// Its length in bytes.
    pub length: usize,
}

impl MetricUse {
    /// The path as an expression writes it.
    #[must_use]
    pub fn path(&self) -> String {
        let arm = self.arm.as_ref().map(|arm| format!(".{arm}")).unwrap_or_default();
        let point = self.point.as_ref().map(|point| format!(".at({point})")).unwrap_or_default();
        format!("{}{arm}{point}.{}", self.measure, self.metric)
    }
}

/// One place where a number is used that was estimated from times, and has an interval of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstimateUse {
    /// The path as it is written.
    pub path: String,
    /// Byte offset of the path in the text.
    pub offset: usize,
    /// Its length in bytes.
    pub length: usize,
}

/// Checks a template, text with `{{ … }}` in it.
#[must_use]
pub fn check_template(text: &str, names: &Names) -> Checked {
    let mut checker = Checker::new(text, names);
    if let Err(error) = segments(text) {
        checker.errors.push(error);
        return checker.done(Kind::Text);
    }
    match parse(text, "", super::library::syntax()) {
        Ok(tree) => checker.statement(&tree),
        Err(error) => checker.errors.push(TemplateError::new(&error, text)),
    }
    checker.done(Kind::Text)
}

/// Checks an expression, what would stand between `{{` and `}}`.
#[must_use]
pub fn check_expression(text: &str, names: &Names) -> Checked {
    let mut checker = Checker::new(text, names);
    if words(text) > MOST_WORDS {
        checker.errors.push(too_long(text, 0));
        return checker.done(Kind::Any);
    }
    if let Some(braces) = text.find("{{") {
        let error = TemplateError::at(text, braces, 2, "this is an expression already, and takes no braces");
        checker.errors.push(error.with_help("write the name alone, without `{{` and `}}`"));
        return checker.done(Kind::Any);
    }
    let kind = match parse_expr(text) {
        Ok(tree) => checker.expression(&tree),
        Err(error) => {
            let error = TemplateError::new(&error, text);
            // Whoever comes from SQL writes it with one sign.
            let assigns = text[error.offset..].starts_with('=');
            checker.errors.push(if assigns { error.with_help("write `==` to compare") } else { error });
            Kind::Any
        }
    };
    checker.done(kind)
}

fn too_long(text: &str, offset: usize) -> TemplateError {
    let message = format!("an expression may have {MOST_WORDS} words and signs, this one has more");
    TemplateError::at(text, offset, 2, message).with_help("name a part of it first, in `let` or `check`")
}

/// How many words and signs a text has, at least.
fn words(text: &str) -> usize {
    let mut count = 0;
    let mut in_word = false;
    for byte in text.bytes() {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        count += usize::from(!(byte.is_ascii_whitespace() || word && in_word));
        in_word = word;
    }
    count
}

/// Refuses what would nest too deep for the parser's stack.
fn segments(text: &str) -> Result<(), TemplateError> {
    let (mut at, mut tags) = (0, 0);
    while let Some(found) = text[at..].find("{{").into_iter().chain(text[at..].find("{%")).min() {
        let start = at + found;
        let is_tag = text[start..].starts_with("{%");
        let close = if is_tag { "%}" } else { "}}" };
        let length = text[start..].find(close).unwrap_or(text.len() - start);
        tags += usize::from(is_tag);
        if words(&text[start..start + length]) > MOST_WORDS {
            return Err(too_long(text, start));
        }
        if tags > MOST_TAGS {
            let message = format!("a template may have {MOST_TAGS} `{{% … %}}` tags, this one has more");
            return Err(TemplateError::at(text, start, 2, message).with_help("split it into several steps"));
        }
        at = start + 2;
    }
    Ok(())
}

pub(super) struct Checker<'t> {
    pub(super) text: &'t str,
    pub(super) scopes: Vec<Names>,
    pub(super) errors: Vec<TemplateError>,
    pub(super) metrics: Vec<MetricUse>,
    pub(super) estimates: Vec<EstimateUse>,
    pub(super) names: Vec<String>,
    pub(super) asks_whether_defined: bool,
}

impl<'t> Checker<'t> {
    fn new(text: &'t str, names: &Names) -> Self {
        Self {
            text,
            scopes: vec![names.clone()],
            errors: Vec::new(),
            metrics: Vec::new(),
            estimates: Vec::new(),
            names: Vec::new(),
            asks_whether_defined: false,
        }
    }

    fn done(mut self, kind: Kind) -> Checked {
        self.errors.sort_by_key(|error| error.offset);
        Checked {
            kind,
            errors: self.errors,
            metrics: self.metrics,
            estimates: self.estimates,
            names: self.names,
            asks_whether_defined: self.asks_whether_defined,
        }
    }

    pub(super) fn error(
        &mut self,
        (start, end): (usize, usize),
        message: String,
        help: impl Into<Option<String>>,
    ) {
        let mut error = TemplateError::at(self.text, start, end.saturating_sub(start), message);
        error.help = help.into();
        self.errors.push(error);
    }

    fn body(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn scoped(&mut self, names: Names, statements: &[Stmt<'_>]) {
        self.scopes.push(names);
        self.body(statements);
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Template(template) => self.body(&template.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(emit) => {
                let kind = self.expression(&emit.expr);
                self.printable(&emit.expr, &kind);
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::IfCond(choice) => {
                let kind = self.expression(&choice.expr);
                self.printable(&choice.expr, &kind);
                self.body(&choice.true_body);
                self.body(&choice.false_body);
            }
            Stmt::WithBlock(with) => {
                let mut names = Names::new();
                for (target, value) in &with.assignments {
                    let kind = self.expression(value);
                    bind(target, &kind, &mut names);
                }
                self.scoped(names, &with.body);
            }
            Stmt::Set(set) => {
                let kind = self.expression(&set.expr);
                if let Some(names) = self.scopes.last_mut() {
                    bind(&set.target, &kind, names);
                }
            }
            Stmt::SetBlock(set) => {
                self.body(&set.body);
                if let Some(names) = self.scopes.last_mut() {
                    bind(&set.target, &Kind::Text, names);
                }
            }
            Stmt::FilterBlock(filter) => {
                self.expression(&filter.filter);
                self.body(&filter.body);
            }
            other => self.refuse(other),
        }
    }

    fn refuse(&mut self, statement: &Stmt<'_>) {
        let (name, span) = match statement {
            Stmt::AutoEscape(tag) => ("autoescape", tag.span()),
            Stmt::Block(tag) => ("block", tag.span()),
            Stmt::Import(tag) => ("import", tag.span()),
            Stmt::FromImport(tag) => ("from", tag.span()),
            Stmt::Extends(tag) => ("extends", tag.span()),
            Stmt::Include(tag) => ("include", tag.span()),
            Stmt::Macro(tag) => ("macro", tag.span()),
            Stmt::CallBlock(tag) => ("call", tag.span()),
            Stmt::Do(tag) => ("do", tag.span()),
            _ => return,
        };
        let help = "a template may use `if`, `for`, `set`, `with` and `filter`".to_owned();
        let span = (span.start_offset as usize, span.start_offset as usize + name.len());
        self.error(span, format!("`{{% {name} %}}` is not part of the language"), help);
    }

    fn for_loop(&mut self, each: &ForLoop<'_>) {
        let element = match self.expression(&each.iter) {
            Kind::List(element) => *element,
            Kind::Any => Kind::Any,
            other => {
                let help = "write a list, such as `[before, after]` or `range(10)`".to_owned();
                self.error(extent(&each.iter), format!("{} cannot be looped over", other.noun()), help);
                Kind::Any
            }
        };
        let counters =
            ["index", "index0", "revindex", "revindex0", "length"].map(|name| (name, Kind::Number));
        let flags = ["first", "last"].map(|name| (name, Kind::Boolean));
        let parts = counters.into_iter().chain(flags).map(|(name, kind)| (name.to_owned(), kind)).collect();
        let mut names = Names::from([("loop".to_owned(), Kind::group("loop", "part", parts))]);
        bind(&each.target, &element, &mut names);
        self.scopes.push(names);
        if let Some(filter) = &each.filter_expr {
            self.expression(filter);
        }
        self.body(&each.body);
        self.scopes.pop();
        self.body(&each.else_body);
    }

    /// A thing that is printed or tested must have a value.
    fn printable(&mut self, expr: &Expr<'_>, kind: &Kind) {
        if let Kind::Group(group) = kind {
            self.no_value(extent(expr), group);
        } else if let Kind::List(_) = kind {
            self.error(
                extent(expr),
                "a list has no value of its own".to_owned(),
                "use `|join(', ')`".to_owned(),
            );
        }
    }

    pub(super) fn no_value(&mut self, span: (usize, usize), group: &Group) {
        let path = &self.text[span.0..span.1.max(span.0)];
        let example = match group.parts.get("median") {
            Some(_) => Some("median"),
            None => group.parts.keys().next().map(String::as_str),
        };
        let article = if group.what.starts_with('a') { "an" } else { "a" };
        let help = match &group.swept {
            Some(swept) if group.what != "point" => {
                Some(format!("name a point of it: `{path}{}`", swept.example()))
            }
            _ => example.map(|part| format!("name one {} of it, such as `{path}.{part}`", group.part)),
        };
        self.error(span, format!("`{path}` is {article} {} and has no value of its own", group.what), help);
    }
}

fn bind(target: &Expr<'_>, kind: &Kind, names: &mut Names) {
    match target {
        Expr::Var(variable) => {
            names.insert(variable.id.to_owned(), kind.clone());
        }
        other => {
            for child in ast::children(other) {
                bind(child, &Kind::Any, names);
            }
        }
    }
}
