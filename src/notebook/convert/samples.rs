//! Percentiles that no sample can carry: `p95` of fewer samples than twenty is never measured.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::stats::{P95_SAMPLES, P99_SAMPLES};
use crate::template::check_expression;

use super::super::model::{Claim, Column, Plot, PlotKind, Step, StepKind, Subject, Table};
use super::super::scalar::locate;
use super::Convert;
use super::names::Scope;

/// How many samples a metric needs, and where the executions of its step are said.
fn needed(metric: Metric) -> Option<usize> {
    match metric {
        Metric::P95 => Some(P95_SAMPLES),
        Metric::P99 => Some(P99_SAMPLES),
        _ => None,
    }
}

/// The timed executions of every arm, by the step's id.
type Reps<'s> = BTreeMap<&'s str, usize>;

impl Convert<'_> {
    /// Refuses claims, columns and figures that would be absent whatever the server does.
    pub(super) fn few_samples(&self, steps: &[Step]) {
        let reps: Reps<'_> = steps
            .iter()
            .filter_map(|step| match &step.kind {
                StepKind::Measure(measure) => Some((measure.id.as_str(), measure.reps)),
                StepKind::Sweep(sweep) => Some((sweep.measure.id.as_str(), sweep.measure.reps)),
                StepKind::Time(time) => Some((time.id.as_str(), time.reps)),
                _ => None,
            })
            .collect();
        for step in steps {
            match &step.kind {
                StepKind::Check(claims) => claims.iter().for_each(|claim| self.few_in_claim(claim, &reps)),
                StepKind::Table(table) => self.few_in_table(step, table, &reps),
                StepKind::Plot(plot) => self.few_in_plot(step, plot, &reps),
                _ => {}
            }
        }
    }

    fn few_in_claim(&self, claim: &Claim, reps: &Reps<'_>) {
        let template = &claim.expr;
        for used in check_expression(&template.text, &self.world.names(Scope::Text)).metrics {
            let Some((message, help)) = too_few(&used.measure, used.metric, reps) else { continue };
            let source = &self.reader.tree.source;
            let at = locate(&template.text, template.at, source, used.offset, used.length);
            self.reader.fault(at, message, help);
        }
    }

    fn few_in_table(&self, step: &Step, table: &Table, reps: &Reps<'_>) {
        let metrics = table.columns.iter().filter_map(|column| match column {
            Column::Metric(metric) => Some(*metric),
            _ => None,
        });
        for metric in metrics {
            if let Some((message, help)) = all_too_few(&table.of, metric, reps) {
                self.reader.fault(step.at, format!("the table `{}`: {message}", table.id), help);
            }
        }
    }

    fn few_in_plot(&self, step: &Step, plot: &Plot, reps: &Reps<'_>) {
        let (PlotKind::Bars(value) | PlotKind::Sweep { value, .. }) = plot.kind else { return };
        if let Some((message, help)) = all_too_few(&plot.of, value, reps) {
            self.reader.fault(step.at, format!("the plot `{}`: {message}", plot.id), help);
        }
    }
}

/// The same where it is so of every subject: one that has enough fills its place, and the others stay empty.
fn all_too_few(of: &[Subject], metric: Metric, reps: &Reps<'_>) -> Option<(String, String)> {
    let mut few = of.iter().map(|subject| too_few(&subject.measure, metric, reps));
    few.next().flatten().filter(|_| few.all(|other| other.is_some()))
}

/// What is wrong where a metric needs more samples than its step takes, and what to do.
fn too_few(id: &str, metric: Metric, reps: &Reps<'_>) -> Option<(String, String)> {
    let (needed, reps) = (needed(metric)?, *reps.get(id)?);
    (reps < needed).then(|| {
        let message = format!("`{metric}` needs {needed} samples, and `{id}` takes {reps}");
        (message, format!("write `reps: {needed}` or more there, or use `{}`", Metric::Max))
    })
}
