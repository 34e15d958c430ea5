//! The steps `session`, `time`, `storage` and `compare`.

use crate::sql::modifies_data;

use super::super::model::{
    Arm, Compare, Ending, Isolation, SessionStep, Sides, Step, StepKind, Storage, Subject, Template, TimeStep,
};
use super::super::node::NodeId;
use super::super::wire::{self, Sql, Text};
use super::Convert;
use super::decoded::Decoded;
use super::identifier::identifier;
use super::names::{Scope, Sort};

/// Samples of a `time` step, each on a clone of its own.
const TIME_REPS: usize = 5;

impl Convert<'_> {
    pub(super) fn session(&self, wire: &wire::Session, scope: Scope) -> Option<SessionStep> {
        let reader = self.reader;
        let name = identifier(reader, wire.name, "a session");
        let begin = wire.begin.map(|level| self.isolation(level));
        let sql = wire.sql.map(|sql| self.statements(sql, scope));
        let end = wire.end.map(|end| self.ending(end));
        let at = reader.tree.place(wire.name.0);
        if begin.is_none() && sql.is_none() && end.is_none() {
            reader.fault(at, "this session does nothing", "add `begin`, `sql` or `end`");
        }
        let holds = matches!(begin, Some(Some(Isolation::RepeatableRead | Isolation::Serializable)));
        if let (true, None, Some(level)) = (holds, &sql, wire.begin) {
            reader.fault(
                reader.tree.place(level.0),
                "a transaction takes its snapshot with its first statement, and there is none here",
                "add `sql: SELECT …` to this step",
            );
        }
        let (begin, sql, end) = (all(begin)?, all(sql)?, all(end)?);
        Some(SessionStep { name: name?, begin, sql, end })
    }

    fn isolation(&self, level: Text) -> Option<Isolation> {
        let rendered = self.rendered(level.0)?;
        let found = Isolation::ALL.into_iter().find(|level| level.name() == rendered.trim().to_lowercase());
        if found.is_none() {
            let names = Isolation::ALL.map(Isolation::name).join(", ");
            let message = format!("`{}` is no isolation level", rendered.trim());
            self.reader.fault(self.reader.tree.place(level.0), message, format!("write one of {names}"));
        }
        found
    }

    fn ending(&self, end: Text) -> Option<Ending> {
        match self.rendered(end.0)?.trim() {
            "commit" => Some(Ending::Commit),
            "rollback" => Some(Ending::Rollback),
            other => {
                let message = format!("a session does not end with `{other}`");
                self.reader.fault(self.reader.tree.place(end.0), message, "write commit or rollback");
                None
            }
        }
    }

    pub(super) fn time(&self, wire: &wire::Time, decoded: &Decoded) -> Option<TimeStep> {
        let reader = self.reader;
        let scope = Scope::Run(decoded.at.offset);
        let mut settings = self.settings.clone();
        settings.extend(wire.settings.iter().flat_map(|own| self.settings(own, scope)));
        let setup = self.setup(wire.setup.as_ref(), wire.id.0, scope);
        let bare = |query: Template| Arm {
            id: None,
            label: None,
            query,
            settings: settings.clone(),
            within: None,
            setup: setup.clone(),
            fresh: true,
            expect: Vec::new(),
        };
        let mut arms = Vec::new();
        let named = wire.arms.as_ref().map_or(&[][..], |arms| &arms.0);
        for (name, own) in named {
            let id = identifier(reader, *name, "an arm");
            let Some(query) = self.timed(own.sql.or(wire.sql), name.0, scope) else { continue };
            let mut arm =
                Arm { id: Some(id?), label: own.label.and_then(|label| self.text(label)), ..bare(query) };
            arm.settings.extend(own.settings.iter().flat_map(|settings| self.settings(settings, scope)));
            arm.setup.extend(self.setup(own.setup.as_ref(), name.0, scope));
            arms.push(arm);
        }
        if wire.arms.is_none() {
            arms.extend(self.timed(wire.sql, wire.id.0, scope).map(bare));
        } else if named.is_empty() {
            let place = reader.tree.place(wire.id.0);
            reader.fault(place, "`arms` is empty", "name at least one arm, or leave `arms` out");
        }
        let of = wire.of.as_ref().map(|of| self.objects(&of.items, "`of`", wire.id.0)).unwrap_or_default();
        Some(TimeStep {
            id: reader.tree.text(wire.id.0).to_owned(),
            label: wire.label.and_then(|label| self.text(label)),
            at: decoded.at,
            arms,
            warm: all(wire.warm.map(|warm| self.query(warm, scope)))?,
            of,
            reps: wire.reps.map_or(Some(TIME_REPS), |reps| self.whole(reps, "`reps`", 1))?,
        })
    }

    /// The statement of an arm of `time`: one that changes something.
    fn timed(&self, sql: Option<Sql>, named: NodeId, scope: Scope) -> Option<Template> {
        let Some(sql) = sql else {
            let message = format!("`{}` has no statement", self.reader.tree.text(named));
            self.reader.fault(self.reader.tree.place(named), message, "add `sql: …`");
            return None;
        };
        let template = self.statements(sql, scope)?;
        let statements = self.split(sql, &template)?;
        if let Some(second) = statements.get(1) {
            let message = "one statement is timed, and a second begins here".to_owned();
            self.statement_fault(
                &template,
                second,
                message,
                "move it to `setup`, or to a `time` step of its own",
            );
            return None;
        }
        let statement = statements.first()?;
        let reads = matches!(
            statement.keywords.first().map(String::as_str),
            Some("SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN")
        );
        if reads && !modifies_data(&statement.text) {
            let message = "`time` is for a statement that changes something, and this one reads".to_owned();
            self.statement_fault(
                &template,
                statement,
                message,
                "write a `measure` step with it as the `query`",
            );
            return None;
        }
        Some(template)
    }

    pub(super) fn storage(&self, wire: &wire::Storage) -> Storage {
        Storage {
            id: self.reader.tree.text(wire.id.0).to_owned(),
            title: wire.title.and_then(|title| self.text(title)),
            of: self.objects(&wire.of.items, "`of`", wire.id.0),
        }
    }

    pub(super) fn compare(&self, wire: &wire::Compare, decoded: &Decoded) -> Option<Compare> {
        let scope = Scope::Run(decoded.at.offset);
        let sides = match (&wire.of, &wire.queries) {
            (Some(of), None) => {
                let subjects = of.items.iter().map(|subject| self.compared(*subject, decoded));
                Sides::Arms(subjects.collect::<Option<Vec<Subject>>>()?)
            }
            (None, Some(queries)) => {
                self.split_at_commas(&queries.items);
                let queries = queries.items.iter().map(|query| self.query(*query, scope));
                Sides::Queries(queries.collect::<Option<Vec<Template>>>()?)
            }
            _ => {
                let help = "write `of: [one, other]` for measures or arms, or `queries: […]`";
                self.reader.fault(decoded.at, "`compare` needs either `of` or `queries`", help);
                return None;
            }
        };
        let count = match &sides {
            Sides::Arms(subjects) => subjects.iter().map(|subject| self.arms_of(subject)).sum(),
            Sides::Queries(queries) => queries.len(),
        };
        if count < 2 {
            self.reader.fault(decoded.at, "there is only one thing to compare", "name two arms or queries");
        }
        Some(Compare {
            sides,
            tolerance: wire.tolerance.map_or(Some(0.0), |tolerance| self.tolerance(tolerance))?,
            ordered: self.switch(wire.ordered, false),
            empty: self.switch(wire.empty, false),
        })
    }

    /// A measure that stands above.
    fn compared(&self, text: Text, decoded: &Decoded) -> Option<Subject> {
        let subject = self.subject(text)?;
        let place = self.reader.tree.place(text.0);
        if self.world.sort(&subject.measure) != Some(Sort::Measure) {
            let message = format!("`{}` is no measure, and has no rows to compare", subject.measure);
            self.reader.fault(place, message, "name measures or their arms");
            return None;
        }
        if !self.world.is_above(&subject.measure, decoded.at.offset) {
            let message = format!("the measure `{}` stands below", subject.measure);
            self.reader.fault(place, message, "move this step below the measures that it compares");
            return None;
        }
        Some(subject)
    }

    fn arms_of(&self, subject: &Subject) -> usize {
        if subject.arm.is_some() { 1 } else { self.world.arms(&subject.measure).len().max(1) }
    }

    fn tolerance(&self, text: Text) -> Option<f64> {
        let rendered = self.rendered(text.0)?;
        let number = rendered.trim().parse::<f64>().ok().filter(|number| (0.0..1.0).contains(number));
        if number.is_none() {
            let message = format!("`{}` is no tolerance", rendered.trim());
            self.reader.fault(
                self.reader.tree.place(text.0),
                message,
                "write a share of the value, such as 1e-9",
            );
        }
        number
    }

    /// Follows the sessions through the notebook: who begins, who is open, and who would be in the way of a clone.
    pub(super) fn follow_sessions(&self, steps: &[Step]) {
        let mut open: Vec<(&str, bool)> = Vec::new();
        for step in steps {
            match &step.kind {
                StepKind::Session(session) => self.follow(step, session, &mut open),
                kind => {
                    if let Some((name, _)) = open.first().filter(|_| needs_clones(kind, steps)) {
                        let message = format!(
                            "this step clones the database, and that needs every session of it closed: `{name}` is open"
                        );
                        let help = format!("end it before: `- session: {{name: {name}, end: commit}}`");
                        self.reader.fault(step.at, message, help);
                    }
                }
            }
        }
    }

    fn follow<'s>(&self, step: &Step, session: &'s SessionStep, open: &mut Vec<(&'s str, bool)>) {
        let name = session.name.as_str();
        let at = open.iter().position(|(known, _)| *known == name);
        if session.begin.is_some() && at.is_some_and(|at| open[at].1) {
            let message = format!("the session `{name}` has begun a transaction already");
            self.reader.fault(step.at, message, "end it before, or give this one another name");
        }
        if at.is_none() && session.begin.is_none() && session.sql.is_none() {
            let message = format!("there is no session `{name}` to end here");
            let names: Vec<&str> = open.iter().map(|(name, _)| *name).collect();
            let help = if names.is_empty() {
                "begin it in a step above".to_owned()
            } else {
                format!("the sessions that are open here are {}", names.join(", "))
            };
            self.reader.fault(step.at, message, help);
        }
        let begun = session.begin.is_some() || at.is_some_and(|at| open[at].1);
        if let Some(at) = at {
            open.remove(at);
        }
        if session.end.is_none() {
            open.push((name, begun));
        }
    }
}

/// Whether a step clones the database.
fn needs_clones(kind: &StepKind, steps: &[Step]) -> bool {
    match kind {
        StepKind::Measure(measure) => measure.arms.iter().any(|arm| arm.fresh),
        StepKind::Time(_) => true,
        StepKind::Compare(Compare { sides: Sides::Arms(subjects), .. }) => steps.iter().any(|step| {
            let StepKind::Measure(measure) = &step.kind else { return false };
            let mut compared = subjects.iter().filter(|subject| subject.measure == measure.id);
            compared.any(|subject| {
                measure.arms.iter().any(|arm| arm.fresh && (subject.arm.is_none() || subject.arm == arm.id))
            })
        }),
        _ => false,
    }
}

/// Turns a key that is there and faulty into nothing, and keeps one that is not there.
pub(super) fn all<T>(given: Option<Option<T>>) -> Option<Option<T>> {
    match given {
        None => Some(None),
        Some(Some(value)) => Some(Some(value)),
        Some(None) => None,
    }
}
