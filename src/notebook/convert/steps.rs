//! The steps in order.

use super::super::model::{Binding, BindingValue, Column, Step, StepKind, Subject, Table, Vacuum};
use super::super::node::{Content, NodeId};
use super::super::wire::{self, Either, Entries, Expr, OneOrMany, Sql, Text};
use super::Convert;
use super::decoded::Decoded;
use super::inherit::{Base, Family};
use super::names::{Scope, Sort};
use crate::metric::{self, Metric};
use crate::nearest::nearest;
use crate::template::check_expression;

impl Convert<'_> {
    pub(super) fn steps(&self, decoded: Vec<Decoded>) -> Vec<Step> {
        let family = Family::new(self.reader, &decoded);
        let mut steps = Vec::new();
        for one in &decoded {
            let Some(step) = &one.step else { continue };
            if self.reader.is_full() {
                break;
            }
            if let Some(kind) = self.step(step, one, &family) {
                steps.push(Step { number: one.number, at: one.at, kind });
            }
        }
        self.look_at_plots(&decoded, &steps);
        // Where a step could not be read, who is open after it is not known.
        if steps.len() == decoded.len() {
            self.follow_sessions(&steps);
        }
        self.few_samples(&steps);
        steps
    }

    fn step(&self, step: &wire::Step, decoded: &Decoded, family: &Family<'_>) -> Option<StepKind> {
        let scope = Scope::Run(decoded.at.offset);
        Some(match step {
            wire::Step::Text(text) => {
                self.cut_short(text.0);
                let template = self.template(text.0, Scope::Text)?;
                if template.text.trim().is_empty() {
                    let place = self.reader.tree.place(text.0);
                    self.reader.fault(place, "there is no text here", "write some, or leave the step out");
                }
                StepKind::Text(template)
            }
            wire::Step::Let(bindings) => StepKind::Let(self.bindings(bindings)),
            wire::Step::Sql(sql) => StepKind::Sql(self.statements(*sql, scope)?),
            wire::Step::Analyze(tables) => {
                StepKind::Analyze(self.objects(&tables.items, "ANALYZE", self.value_of(decoded.node)))
            }
            wire::Step::Vacuum(vacuum) => StepKind::Vacuum(self.vacuum(vacuum, self.value_of(decoded.node))),
            wire::Step::Measure(measure) => {
                StepKind::Measure(self.measure(&Base::of_measure(measure), decoded, family)?)
            }
            wire::Step::Sweep(sweep) => StepKind::Sweep(self.sweep(sweep, decoded, family)?),
            wire::Step::Session(session) => StepKind::Session(self.session(session, scope)?),
            wire::Step::Time(time) => StepKind::Time(self.time(time, decoded)?),
            wire::Step::Storage(storage) => StepKind::Storage(self.storage(storage)),
            wire::Step::Compare(compare) => StepKind::Compare(self.compare(compare, decoded)?),
            wire::Step::Check(check) => StepKind::Check(self.check(check)),
            wire::Step::Table(table) => StepKind::Table(self.table(table)?),
            wire::Step::Plan(plan) => StepKind::Plan(self.plan(plan, decoded)?),
            wire::Step::Plot(plot) => StepKind::Plot(self.plot(plot)?),
        })
    }

    /// The value of a step's one key.
    fn value_of(&self, step: NodeId) -> NodeId {
        match &self.reader.tree.node(step).content {
            Content::Map(entries) => entries.first().map_or(step, |(_, value)| *value),
            _ => step,
        }
    }

    fn bindings(&self, bindings: &Entries<wire::Binding>) -> Vec<Binding> {
        let mut bound = Vec::new();
        for (name, binding) in &bindings.0 {
            let scope = Scope::Run(self.reader.tree.place(name.0).offset);
            let value = match (binding.sql, binding.expr) {
                (Some(sql), None) => self.query(sql, scope).map(BindingValue::Sql),
                (None, Some(expr)) => self.expression(expr, scope).map(BindingValue::Expr),
                _ => {
                    let text = self.reader.tree.text(name.0);
                    let message = format!("`{text}` needs either `sql` or `expr`");
                    let help = "write {sql: SELECT …} or {expr: …}";
                    self.reader.fault(self.reader.tree.place(name.0), message, help);
                    None
                }
            };
            if let Some(value) = value {
                bound.push(Binding { name: self.reader.tree.text(name.0).to_owned(), value });
            }
        }
        bound
    }

    pub(super) fn expression(&self, expr: Expr, scope: Scope) -> Option<super::super::model::Template> {
        let tree = self.reader.tree;
        self.cut_short(expr.0);
        let text = tree.text(expr.0);
        let checked = check_expression(text, &self.world.names(scope));
        self.template_faults(text, tree.place(expr.0), &checked.errors, scope);
        checked
            .errors
            .is_empty()
            .then(|| super::super::model::Template { text: text.to_owned(), at: tree.place(expr.0) })
    }

    pub(super) fn vacuum(
        &self,
        vacuum: &Either<wire::Vacuum, OneOrMany<wire::Name>>,
        node: NodeId,
    ) -> Vacuum {
        let wire = match vacuum {
            Either::Other(tables) => {
                return Vacuum {
                    tables: self.objects(&tables.items, "VACUUM", node),
                    options: Vec::new(),
                    complete: true,
                };
            }
            Either::Map(wire) => wire,
        };
        let tables: Vec<wire::Name> =
            wire.table.iter().chain(wire.tables.iter().flat_map(|tables| &tables.items)).copied().collect();
        let options = wire
            .options
            .iter()
            .flat_map(|options| &options.0)
            .filter_map(|(name, value)| Some((self.vacuum_option(*name)?, self.rendered(value.0)?)));
        let complete = match wire.expect.and_then(|expect| Some((expect, self.rendered(expect.0)?))) {
            None => true,
            Some((expect, text)) => {
                if !matches!(text.as_str(), "complete" | "incomplete") {
                    let message = format!("`{text}` is not what a VACUUM can be expected to leave");
                    self.reader.fault(
                        self.reader.tree.place(expect.0),
                        message,
                        "write complete or incomplete",
                    );
                }
                text != "incomplete"
            }
        };
        Vacuum { tables: self.objects(&tables, "VACUUM", node), options: options.collect(), complete }
    }

    fn vacuum_option(&self, name: wire::Name) -> Option<String> {
        const OPTIONS: [&str; 12] = [
            "FULL",
            "FREEZE",
            "VERBOSE",
            "DISABLE_PAGE_SKIPPING",
            "SKIP_LOCKED",
            "INDEX_CLEANUP",
            "PROCESS_MAIN",
            "PROCESS_TOAST",
            "TRUNCATE",
            "PARALLEL",
            "SKIP_DATABASE_STATS",
            "BUFFER_USAGE_LIMIT",
        ];
        let written = self.reader.tree.text(name.0);
        let upper = written.to_uppercase();
        let place = self.reader.tree.place(name.0);
        if upper == "ANALYZE" || upper == "ANALYSE" {
            let help = "write an `analyze` step after it: a VACUUM with ANALYZE changes two things at once";
            self.reader.fault(place, "VACUUM does not take ANALYZE here", help);
            return None;
        }
        if !OPTIONS.contains(&upper.as_str()) {
            let help = nearest(&upper, OPTIONS).map_or_else(
                || format!("the options are {}", OPTIONS.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            self.reader.fault(place, format!("VACUUM has no option `{written}`"), help);
            return None;
        }
        Some(upper)
    }

    fn table(&self, table: &wire::Table) -> Option<Table> {
        let of: Vec<Subject> = table.of.items.iter().filter_map(|subject| self.subject(*subject)).collect();
        let columns: Vec<Column> =
            table.columns.items.iter().filter_map(|column| self.column(*column)).collect();
        for (index, column) in table.columns.items.iter().enumerate() {
            let twice = |other: &Text| self.reader.tree.text(other.0) == self.reader.tree.text(column.0);
            if table.columns.items[..index].iter().any(twice) {
                let message = format!("the column `{}` is named twice", self.reader.tree.text(column.0));
                self.reader.fault(self.reader.tree.place(column.0), message, "name it once");
            }
        }
        let id = self.reader.tree.text(table.id.0).to_owned();
        for (empty, what) in [(table.of.items.is_empty(), "of"), (table.columns.items.is_empty(), "columns")]
        {
            if empty {
                self.reader.fault(
                    self.reader.tree.place(table.id.0),
                    format!("the table `{id}` has no `{what}`"),
                    "name at least one",
                );
            }
        }
        Some(Table { id, title: table.title.and_then(|title| self.text(title)), of, columns })
    }

    pub(super) fn subject(&self, subject: Text) -> Option<Subject> {
        let text = self.rendered(subject.0)?;
        let (measure, arm) =
            text.split_once('.').map_or((text.as_str(), None), |(measure, arm)| (measure, Some(arm)));
        let place = self.reader.tree.place(subject.0);
        match self.world.sort(measure) {
            Some(Sort::Measure | Sort::Sweep | Sort::Time | Sort::Storage) => {}
            Some(Sort::Broken) => return None,
            _ => {
                let help = nearest(measure, self.world.all(Sort::Measure)).map_or_else(
                    || {
                        format!(
                            "the measures are {}",
                            self.world.all(Sort::Measure).collect::<Vec<_>>().join(", ")
                        )
                    },
                    |near| format!("did you mean `{near}`?"),
                );
                self.reader.fault(place, format!("there is no measure `{measure}`"), help);
                return None;
            }
        }
        let arms = self.world.arms(measure);
        if let Some(arm) = arm.filter(|arm| !arms.iter().any(|known| known == arm)) {
            let help = match nearest(arm, arms.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{measure}.{near}`?"),
                None if arms.is_empty() => format!("`{measure}` has no arms: name it alone"),
                None => format!("its arms are {}", arms.join(", ")),
            };
            self.reader.fault(place, format!("`{measure}` has no arm `{arm}`"), help);
            return None;
        }
        Some(Subject { measure: measure.to_owned(), arm: arm.map(str::to_owned) })
    }

    fn column(&self, column: Text) -> Option<Column> {
        let text = self.rendered(column.0)?;
        if text == "plan" {
            return Some(Column::Plan);
        }
        if let Some(metric) = Metric::from_name(&text) {
            return Some(Column::Metric(metric));
        }
        if self.world.sort(&text) == Some(Sort::Number) {
            let unit = text.strip_suffix("_ms").or_else(|| text.strip_suffix("_kb"));
            let taken = unit.is_some_and(|metric| Metric::from_name(metric).is_some());
            if taken || ["measure", "arm", "point", "node", "samples"].contains(&text.as_str()) {
                let message = format!("the CSV of a table has a column `{text}` of its own");
                self.reader.fault(self.reader.tree.place(column.0), message, "name the number otherwise");
                return None;
            }
            return Some(Column::Number(text));
        }
        let metrics = Metric::ALL.iter().map(|metric| metric.name());
        let known = metrics.chain(["plan"]).chain(self.world.all(Sort::Number));
        let help = nearest(&text, known).map_or_else(
            || {
                "the columns are `plan`, the metrics of docs/notebook.md and the numbers that `check` names"
                    .to_owned()
            },
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("there is no metric or named number `{text}`");
        self.reader.fault(self.reader.tree.place(column.0), message, help);
        None
    }

    /// The metric of that name.
    pub(super) fn metric_named(&self, at: Text, name: &str) -> Option<Metric> {
        let metric = Metric::from_name(name);
        if metric.is_none() {
            let help = nearest(name, Metric::ALL.iter().map(|metric| metric.name()))
                .map_or_else(|| metric::WHICH.to_owned(), |near| format!("did you mean `{near}`?"));
            self.reader.fault(self.reader.tree.place(at.0), format!("there is no metric `{name}`"), help);
        }
        metric
    }

    /// A query whose one value or rows are wanted.
    pub(super) fn query(&self, sql: Sql, scope: Scope) -> Option<super::super::model::Template> {
        self.cut_short(sql.0);
        let template = self.template(sql.0, scope)?;
        self.must_read(sql, &template).then_some(template)
    }
}
