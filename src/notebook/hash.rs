//! What a recording depends on, in two parts: what runs, and what is only shown.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::model::{
    Arm, BindingValue, Column, Compare, Dataset, Ending, Expected, Isolation, Measure, Notebook, Part,
    PlotKind, ServerNeeds, Settings, SetupKind, SetupStep, Sides, Statistics, Step, StepKind, Subject, Sweep,
    Template,
};

impl Notebook {
    /// SHA-256, in hexadecimal, of what runs: the dataset, parameters, settings, queries and steps that act, and
    /// what expectations need from the server. A recording with another hash is stale.
    #[must_use]
    pub fn runs_hash(&self) -> String {
        let steps: Vec<Value> = self.steps.iter().filter_map(runs).collect();
        let mut whole = json!({
            "dataset": self.dataset.as_ref().map(dataset),
            "params": self.params,
            "settings": settings(&self.settings),
            "steps": steps,
        });
        if self.server != ServerNeeds::default() {
            let ServerNeeds { service, settings, memory, fresh } = &self.server;
            whole["server"] =
                json!({ "service": service, "settings": settings, "memory": memory, "fresh": fresh });
        }
        hash(&whole)
    }

    /// SHA-256, in hexadecimal, of what is only shown: title, text, labels, expectations, claims, tables, plots. A
    /// recording with another hash can be rendered and judged again without a server.
    #[must_use]
    pub fn shown_hash(&self) -> String {
        let steps: Vec<Value> = self.steps.iter().map(shown).collect();
        hash(&json!({ "title": self.title, "summary": self.summary, "tags": self.tags, "steps": steps }))
    }
}

impl Step {
    /// Whether the step does something on the server. The others only show or judge what was recorded.
    #[must_use]
    pub fn acts(&self) -> bool {
        runs(self).is_some()
    }
}

fn hash(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(template: &Template) -> &str {
    &template.text
}

fn settings(settings: &Settings) -> Value {
    settings.iter().map(|(name, value)| (name.clone(), Value::from(text(value)))).collect()
}

fn dataset(dataset: &Dataset) -> Value {
    let parts = dataset.parts.iter().map(|part| match part {
        Part::Sql(sql) => json!(["sql", text(sql)]),
        Part::File(file) => json!(["file", file.written, file.hash]),
        Part::Copy(copy) => json!(["copy", copy.into, copy.from.written, copy.from.hash, copy.options]),
    });
    json!({
        "params": dataset.params,
        "parts": parts.collect::<Vec<_>>(),
        "verify": dataset.verify.iter().map(text).collect::<Vec<_>>(),
        "pinned": dataset.statistics == Statistics::Pinned,
    })
}

/// A step that acts on the server; the others are left out, so that adding one changes nothing.
fn runs(step: &Step) -> Option<Value> {
    Some(match &step.kind {
        StepKind::Text(_)
        | StepKind::Check(_)
        | StepKind::Table(_)
        | StepKind::Plan(_)
        | StepKind::Plot(_) => return None,
        StepKind::Let(bindings) => {
            let bound = bindings.iter().map(|binding| match &binding.value {
                BindingValue::Sql(sql) => json!([binding.name, "sql", text(sql)]),
                BindingValue::Expr(expr) => json!([binding.name, "expr", text(expr)]),
            });
            json!({ "let": bound.collect::<Vec<_>>() })
        }
        StepKind::Sql(sql) => json!({ "sql": text(sql) }),
        StepKind::Analyze(tables) => json!({ "analyze": tables }),
        StepKind::Vacuum(vacuum) => json!({ "vacuum": vacuum.tables, "options": vacuum.options }),
        StepKind::Measure(measure) => measure_runs(measure),
        StepKind::Sweep(sweep) => sweep_runs(sweep),
        StepKind::Session(session) => json!({
            "session": session.name,
            "begin": session.begin.map(Isolation::name),
            "sql": session.sql.as_ref().map(text),
            "end": session.end.map(|end| end == Ending::Commit),
        }),
        StepKind::Time(time) => json!({
            "time": time.id,
            "arms": time.arms.iter().map(arm_runs).collect::<Vec<_>>(),
            "warm": time.warm.as_ref().map(text),
            "of": time.of,
            "reps": time.reps,
        }),
        StepKind::Storage(storage) => json!({ "storage": storage.id, "of": storage.of }),
        StepKind::Compare(compare) => compare_runs(compare),
    })
}

fn measure_runs(measure: &Measure) -> Value {
    let arms: Vec<Value> = measure.arms.iter().map(arm_runs).collect();
    json!({
        "measure": measure.id,
        "arms": arms,
        "reps": measure.reps,
        "turns": measure.turns,
        "min_reps": measure.min_reps,
        "budget_ms": u64::try_from(measure.budget.as_millis()).unwrap_or(u64::MAX),
        "explain": [measure.explain.timing, measure.explain.verbose, measure.explain.wal],
    })
}

fn sweep_runs(sweep: &Sweep) -> Value {
    let points = sweep.points.iter().map(|point| {
        // Of the arms, their expectations' names alone can differ from point to point.
        let names: Vec<Vec<String>> = point.arms.iter().map(names).collect();
        json!([point.point.to_string(), names, point.dataset.as_ref().map(dataset)])
    });
    let probes: Vec<Value> = sweep.probes.iter().map(|(name, sql)| json!([name, text(sql)])).collect();
    json!({
        "sweep": measure_runs(&sweep.measure),
        "points": points.collect::<Vec<_>>(),
        "setup": sweep.setup.iter().map(setup_runs).collect::<Vec<_>>(),
        "fresh": sweep.fresh,
        "probes": probes,
        "crossing": sweep.crossing.as_ref().map(|crossing| json!([crossing.of, crossing.metric.name()])),
    })
}

fn arm_runs(arm: &Arm) -> Value {
    json!({
        "id": arm.id,
        "query": text(&arm.query),
        "settings": settings(&arm.settings),
        "within": arm.within.as_ref().map(text),
        "setup": arm.setup.iter().map(setup_runs).collect::<Vec<_>>(),
        "fresh": arm.fresh,
        "names": names(arm),
    })
}

fn setup_runs(step: &SetupStep) -> Value {
    match &step.kind {
        SetupKind::Sql(sql) => json!({ "sql": text(sql) }),
        SetupKind::Analyze(tables) => json!({ "analyze": tables }),
        SetupKind::Vacuum(vacuum) => json!({ "vacuum": vacuum.tables, "options": vacuum.options }),
    }
}

fn compare_runs(compare: &Compare) -> Value {
    let sides = match &compare.sides {
        Sides::Arms(subjects) => subjects.iter().map(|one| json!([one.measure, one.arm])).collect::<Vec<_>>(),
        Sides::Queries(queries) => queries.iter().map(|query| json!(text(query))).collect(),
    };
    json!({ "compare": sides, "tolerance": compare.tolerance, "ordered": compare.ordered })
}

/// The tables and indexes whose existence is looked up while the measure runs.
fn names(arm: &Arm) -> Vec<String> {
    let patterns = arm.expect.iter().flat_map(|expectation| match &expectation.what {
        Expected::Plan(pattern) | Expected::Never(pattern) => std::slice::from_ref(pattern),
        Expected::Any(patterns) => patterns,
        Expected::Metric(..) => &[],
    });
    let mut names: Vec<String> = patterns
        .flat_map(|pattern| {
            pattern.relations().into_iter().chain(pattern.indexes()).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn shown(step: &Step) -> Value {
    match &step.kind {
        StepKind::Text(markdown) => json!({ "text": text(markdown) }),
        StepKind::Vacuum(vacuum) => json!({ "vacuum": vacuum.complete }),
        StepKind::Measure(measure) => {
            json!({ "label": measure.label, "arms": arms_shown(&measure.arms) })
        }
        StepKind::Sweep(sweep) => {
            let points = sweep.points.iter().map(|point| arms_shown(&point.arms));
            let x = sweep.x.as_ref().map(|x| json!([x.label, text(&x.expr), x.format.name()]));
            json!({
                "label": sweep.measure.label,
                "x": x,
                "added": arms_shown(&sweep.measure.arms),
                "points": points.collect::<Vec<_>>(),
                "setup": vacuums_shown(&sweep.setup),
            })
        }
        StepKind::Time(time) => {
            let arms = time.arms.iter().map(|arm| json!([arm.label, setup_shown(arm)]));
            json!({ "label": time.label, "arms": arms.collect::<Vec<_>>() })
        }
        StepKind::Storage(storage) => json!({ "title": storage.title }),
        StepKind::Compare(compare) => json!({ "compare": compare.empty }),
        StepKind::Check(claims) => {
            claims.iter().map(|claim| json!([claim.name, text(&claim.expr)])).collect::<Vec<_>>().into()
        }
        StepKind::Plot(plot) => json!({
            "plot": plot.id,
            "title": plot.title,
            "caption": plot.caption.as_ref().map(text),
            "of": subjects(&plot.of),
            "kind": plot_kind(plot.kind),
            "scale": plot.scale.name(),
        }),
        StepKind::Table(table) => {
            let columns: Vec<&str> = table
                .columns
                .iter()
                .map(|column| match column {
                    Column::Plan => "plan",
                    Column::Metric(metric) => metric.name(),
                    Column::Number(name) => name,
                })
                .collect();
            json!({ "table": table.id, "title": table.title, "of": subjects(&table.of), "columns": columns })
        }
        StepKind::Plan(plan) => {
            let of = plan.of.iter().map(|planned| {
                let point = planned.point.as_ref().map(ToString::to_string);
                json!([planned.subject.measure, planned.subject.arm, point])
            });
            json!({ "plan": of.collect::<Vec<_>>(), "title": plan.title })
        }
        other => Value::from(other.key()),
    }
}

fn arms_shown(arms: &[Arm]) -> Vec<Value> {
    let shown = |arm: &Arm| {
        let expect: Vec<String> =
            arm.expect.iter().map(|expect| format!("{} {:?}", expect.written, expect.when)).collect();
        json!([arm.label, expect, setup_shown(arm)])
    };
    arms.iter().map(shown).collect()
}

fn subjects(of: &[Subject]) -> Vec<Value> {
    of.iter().map(|subject| json!([subject.measure, subject.arm])).collect()
}

fn plot_kind(kind: PlotKind) -> Value {
    match kind {
        PlotKind::Bars(value) => json!([kind.name(), value.name()]),
        PlotKind::Sweep { value, x } => json!([kind.name(), value.name(), x.name()]),
        PlotKind::Distribution | PlotKind::Timeline => json!([kind.name()]),
    }
}

/// What the VACUUMs of an arm's setup are expected to leave.
fn setup_shown(arm: &Arm) -> Vec<bool> {
    vacuums_shown(&arm.setup)
}

fn vacuums_shown(setup: &[SetupStep]) -> Vec<bool> {
    let vacuums = setup.iter().filter_map(|step| match &step.kind {
        SetupKind::Vacuum(vacuum) => Some(vacuum.complete),
        _ => None,
    });
    vacuums.collect()
}
