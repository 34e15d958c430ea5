//! What prepares an arm: steps on a clone of its own, and DDL in a transaction that is rolled back.

use crate::sql::{Statement, modifies_data};

use super::super::model::{SetupKind, SetupStep, Template};
use super::super::node::NodeId;
use super::super::wire::{self, OneOrMany, Sql, Text};
use super::Convert;
use super::names::Scope;

/// Advice for what needs more than a transaction.
const SETUP: &str = "write it in the arm's `setup`, which has a clone of the database to itself";

impl Convert<'_> {
    /// The steps of a `setup`; `owner` is what they belong to.
    pub(super) fn setup(
        &self,
        setup: Option<&OneOrMany<wire::SetupStep>>,
        owner: NodeId,
        scope: Scope,
    ) -> Vec<SetupStep> {
        let Some(setup) = setup else { return Vec::new() };
        setup.items.iter().filter_map(|step| self.setup_step(step, owner, scope)).collect()
    }

    fn setup_step(&self, step: &wire::SetupStep, owner: NodeId, scope: Scope) -> Option<SetupStep> {
        let place = |name: Option<&wire::Name>| self.reader.tree.place(name.map_or(owner, |name| name.0));
        Some(match step {
            wire::SetupStep::Sql(sql) => {
                let template = self.statements(*sql, scope)?;
                SetupStep { at: template.at, kind: SetupKind::Sql(template) }
            }
            wire::SetupStep::Analyze(tables) => SetupStep {
                at: place(tables.items.first()),
                kind: SetupKind::Analyze(self.objects(&tables.items, "ANALYZE", owner)),
            },
            wire::SetupStep::Vacuum(vacuum) => {
                let first = match vacuum {
                    wire::Either::Other(tables) => tables.items.first(),
                    wire::Either::Map(map) => map
                        .table
                        .as_ref()
                        .or_else(|| map.tables.as_ref().and_then(|tables| tables.items.first())),
                };
                SetupStep { at: place(first), kind: SetupKind::Vacuum(self.vacuum(vacuum, owner)) }
            }
        })
    }

    /// Whether `fresh` asks for a clone for every arm.
    pub(super) fn fresh(&self, fresh: Option<Text>) -> bool {
        let Some(text) = fresh else { return false };
        let Some(rendered) = self.rendered(text.0) else { return false };
        if rendered.trim() != "arm" {
            let message = format!("`fresh` cannot be `{}`", rendered.trim());
            self.reader.fault(
                self.reader.tree.place(text.0),
                message,
                "write `fresh: arm`: each arm has a clone of the database to itself",
            );
            return false;
        }
        true
    }

    /// DDL that hides something for one arm.
    pub(super) fn within(&self, sql: Sql, scope: Scope) -> Option<Template> {
        self.cut_short(sql.0);
        let template = self.template(sql.0, scope)?;
        let statements = self.split(sql, &template)?;
        let mut allowed = true;
        for statement in &statements {
            if let Some((message, help)) = refusal(statement) {
                self.statement_fault(&template, statement, message, help);
                allowed = false;
            }
        }
        allowed.then_some(template)
    }
}

/// Why a statement cannot stand in `within`.
fn refusal(statement: &Statement) -> Option<(String, &'static str)> {
    let words: Vec<&str> = statement.keywords.iter().map(String::as_str).take(3).collect();
    let first = words.first().copied().unwrap_or_default();
    let (message, help) = match words.as_slice() {
        ["DROP", "INDEX", "CONCURRENTLY", ..] => {
            ("DROP INDEX CONCURRENTLY cannot run in a transaction", "write DROP INDEX without CONCURRENTLY")
        }
        ["DROP", "INDEX", ..] => return None,
        ["ALTER", ..] => return super::sql::refusal(statement, false),
        ["VACUUM", ..] => ("VACUUM cannot run in the transaction of `within`", SETUP),
        ["ANALYZE" | "ANALYSE", ..] => {
            ("ANALYZE changes the table's row count even when it is rolled back", SETUP)
        }
        ["SET" | "RESET", ..] => ("settings have no place in `within`", "use the arm's `settings`"),
        ["BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE", ..] => (
            "`within` is a transaction already, and is rolled back after every turn",
            "write the DROP INDEX or ALTER alone",
        ),
        _ if modifies_data(&statement.text) => {
            ("a change of data leaves dead rows and a larger table even when it is rolled back", SETUP)
        }
        _ => {
            let what = if first.is_empty() { "this".to_owned() } else { words.join(" ") };
            return Some((format!("`within` takes DROP INDEX and ALTER only, not {what}"), SETUP));
        }
    };
    Some((message.to_owned(), help))
}
