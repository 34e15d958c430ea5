//! Claims and named numbers.

use crate::metric::{Metric, Nature};
use crate::template::{Checked, Kind, check_expression};

use super::super::model::{Claim, Template};
use super::super::wire::{Either, Entries, Expr, OneOrMany};
use super::Convert;
use super::names::Scope;

impl Convert<'_> {
    pub(super) fn check(&self, check: &OneOrMany<Either<Entries<Expr>, Expr>>) -> Vec<Claim> {
        let tree = self.reader.tree;
        let mut claims = Vec::new();
        for item in &check.items {
            match item {
                Either::Other(expr) => {
                    let template = self.claim(*expr, Scope::Claim(tree.place(expr.0).offset), None);
                    claims.extend(template.map(|expr| Claim { name: None, expr }));
                }
                Either::Map(named) => {
                    for (name, expr) in &named.0 {
                        let text = tree.text(name.0);
                        let template = self.claim(*expr, Scope::Claim(tree.place(name.0).offset), Some(text));
                        claims.extend(template.map(|expr| Claim { name: Some(text.to_owned()), expr }));
                    }
                }
            }
        }
        claims
    }

    fn claim(&self, expr: Expr, scope: Scope, name: Option<&str>) -> Option<Template> {
        let tree = self.reader.tree;
        self.cut_short(expr.0);
        let (text, at) = (tree.text(expr.0), tree.place(expr.0));
        let checked = check_expression(text, &self.world.names(scope));
        self.template_faults(text, at, &checked.errors, scope);
        if !checked.errors.is_empty() {
            return None;
        }
        let kept = self.single_samples(expr, &checked);
        let (message, help) = match (name, &checked.kind) {
            (_, Kind::Any) | (None, Kind::Boolean) => {
                return kept.then(|| Template { text: text.to_owned(), at });
            }
            (Some(_), kind) if kind.is_number() => {
                return kept.then(|| Template { text: text.to_owned(), at });
            }
            (None, kind) if kind.is_number() => (
                "this is a number, and a claim is true or false",
                "compare it with something, or name it: `- name: …`",
            ),
            (None, _) => {
                ("this is no claim: it is neither true nor false", "compare something with something")
            }
            (Some(_), Kind::Boolean) => {
                ("this is true or false, and only numbers are named", "write it as a claim, without a name")
            }
            (Some(_), _) => {
                ("this is no number, and only numbers are named", "write an expression that makes a number")
            }
        };
        self.reader.fault(at, message, help);
        None
    }

    /// Refuses numbers that were estimated from times as if they were exact: their intervals stand beside them.
    fn estimates(&self, expr: Expr, checked: &Checked) -> bool {
        let tree = self.reader.tree;
        for used in &checked.estimates {
            let (text, at) = (tree.text(expr.0), tree.place(expr.0));
            let at = super::super::scalar::locate(text, at, &tree.source, used.offset, used.length);
            let message = format!("`{}` rests on times, and a claim on it alone would be luck", used.path);
            let help = format!("use an end of its 95% interval, `{0}_lo` or `{0}_hi`", used.path);
            self.reader.fault(at, message, help);
        }
        checked.estimates.is_empty()
    }

    /// Refuses what cannot carry a claim.
    fn single_samples(&self, expr: Expr, checked: &Checked) -> bool {
        let tree = self.reader.tree;
        let single = checked.metrics.iter().filter(|used| used.metric.nature() == Nature::SingleTime);
        let mut kept = self.estimates(expr, checked);
        for used in single {
            let at = super::super::scalar::locate(
                tree.text(expr.0),
                tree.place(expr.0),
                &tree.source,
                used.offset,
                used.length,
            );
            let message = format!("`{}` is a single sample, and no claim can rest on one", used.metric);
            self.reader.fault(at, message, format!("use `{}`, which has many samples", Metric::Median));
            kept = false;
        }
        kept
    }
}
