//! Statements, and the steps `time`, `storage` and `compare`, as the report's templates see them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::{ArmResult, way_to_chosen};
use crate::metric::Metric;
use crate::notebook::{Step, Storage, TimeStep};
use crate::number;
use crate::recording::{ArmKey, ComparedEvent, Event, ExecutedEvent, StatementEvent, VacuumEvent};

use super::Subject;
use super::arms::{time_name, was_not_run};
use super::cells::{HeadView, metric_cell};
use super::gathered::gathered;
use super::judged::VerdictView;

/// A statement that ran.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "statement")]
pub(super) struct StatementView {
    /// The statement, without a semicolon.
    pub sql: String,
    /// The server's command tag.
    pub result: String,
    /// How long it took.
    pub duration: String,
    /// What the server said meanwhile; of a VACUUM, what it left.
    pub notices: Vec<String>,
}

/// A statement that was timed under one or more arms.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "time")]
pub(super) struct TimeView {
    /// Its name in expressions and files.
    pub id: String,
    /// What a reader calls it, where the notebook says.
    pub label: Option<String>,
    /// Whether the run ended before it.
    pub not_run: bool,
    /// One statement, where all arms share it.
    pub statement: Option<String>,
    /// The heads of the table's columns.
    pub header: Vec<HeadView>,
    /// The table's rows, one per arm; the first cell is the arm's name.
    pub rows: Vec<Vec<String>>,
    /// The arms that were executed.
    pub arms: Vec<TimeArmView>,
    /// What was expected of it, and what came out.
    pub verdicts: Vec<VerdictView>,
}

/// One arm of a timed statement.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "time arm")]
pub(super) struct TimeArmView {
    /// What a reader calls it.
    pub name: String,
    /// The statement as it was executed.
    pub statement: String,
    /// Settings of this arm: name and value.
    pub settings: Vec<(String, String)>,
    /// What prepared its database.
    pub prepared: Vec<StatementView>,
    /// EXPLAIN's text, where the statement has a plan; it was not analyzed.
    pub plan: Option<String>,
}

/// Sizes of relations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "storage")]
pub(super) struct StorageView {
    /// What stands above it.
    pub title: Option<String>,
    /// Its name in expressions.
    pub id: String,
    /// Whether the run ended before it.
    pub not_run: bool,
    /// The heads of the columns.
    pub header: Vec<HeadView>,
    /// The rows; the first cell is the relation, or one of its indexes.
    pub rows: Vec<Vec<String>>,
}

/// Queries whose rows were compared.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "compare")]
pub(super) struct CompareView {
    /// Whether the run ended before it.
    pub not_run: bool,
    /// The queries, each once: the names of what has it, the query, the number of rows.
    pub sides: Vec<(String, String, String)>,
    /// Whether the rows agree.
    pub verdicts: Vec<VerdictView>,
}

/// The statements that a step executed: those that prepared the arm, or those of the step itself.
pub(super) fn statements(subject: Subject<'_>, number: usize, arm: Option<&ArmKey>) -> Vec<StatementView> {
    let events = subject.recording.events.iter();
    let shown = events.filter_map(|event| match event {
        Event::Statement(event) if event.step == number && event.arm.as_ref() == arm => {
            Some(statement(event))
        }
        Event::Vacuum(event) if event.step == number && event.arm.as_ref() == arm => Some(vacuum(event)),
        _ => None,
    });
    shown.collect()
}

fn statement(event: &StatementEvent) -> StatementView {
    StatementView {
        sql: event.sql.trim().to_owned(),
        result: event.tag.clone(),
        duration: number::milliseconds(event.duration_ms),
        notices: few(&event.notices),
    }
}

fn vacuum(event: &VacuumEvent) -> StatementView {
    let visible = format!(
        "{} of {} pages are all-visible",
        number::count(event.all_visible as f64),
        number::count(event.pages as f64)
    );
    StatementView {
        sql: event.sql.clone(),
        result: "VACUUM".to_owned(),
        duration: number::milliseconds(event.duration_ms),
        notices: [visible].into_iter().chain(event.cause.clone()).collect(),
    }
}

/// The first execution of an arm: its statement and plan are those of all.
fn first<'a>(subject: Subject<'a>, key: &ArmKey) -> Option<&'a ExecutedEvent> {
    subject.recording.events.iter().find_map(|event| match event {
        Event::Executed(executed) if executed.key == *key => Some(&**executed),
        _ => None,
    })
}

/// What an arm did, in a word or two: the node that was chosen, or the command that was executed.
pub(super) fn deed(subject: Subject<'_>, arm: &ArmResult) -> String {
    if !arm.measured {
        return number::NOT_MEASURED.to_owned();
    }
    let command = |executed: &ExecutedEvent| {
        let words = executed.tag.split(' ').filter(|word| word.parse::<u64>().is_err());
        words.collect::<Vec<_>>().join(" ")
    };
    arm.node.clone().or_else(|| first(subject, &arm.key).map(command)).unwrap_or_default()
}

/// What each of some arms did, where they stand below each other. Where they differ in what stands above the node that was
/// chosen, the ways to it are told: `Limit > Sort > Seq Scan on t`.
pub(super) fn deeds(subject: Subject<'_>, arms: &[&ArmResult]) -> Vec<String> {
    let short: Vec<String> = arms.iter().map(|arm| deed(subject, arm)).collect();
    let captured = arms.iter().map(|arm| subject.recording.captures.get(&arm.key));
    let ways: Vec<Option<String>> =
        captured.map(|captured| captured.map(|captured| way_to_chosen(&captured.plan))).collect();
    let above = |(way, short): (&Option<String>, &String)| {
        way.as_ref()?.strip_suffix(short.as_str()).map(str::to_owned)
    };
    let above: BTreeSet<String> = ways.iter().zip(&short).filter_map(above).collect();
    if above.len() < 2 {
        return short;
    }
    ways.into_iter().zip(short).map(|(way, short)| way.unwrap_or(short)).collect()
}

pub(super) fn time(
    subject: Subject<'_>,
    step: &Step,
    time: &TimeStep,
    verdicts: Vec<VerdictView>,
) -> TimeView {
    let columns = columns(subject, &time.id);
    let mut header = vec![HeadView::words("arm")];
    header.extend(columns.iter().map(|metric| HeadView::metric(*metric)));
    let (mut rows, mut arms) = (Vec::new(), Vec::new());
    for arm in &time.arms {
        let key = ArmKey::new(&time.id, arm.id.as_deref());
        let Some(result) = subject.analysis.arm(&key) else { continue };
        let name = time_name(time, arm);
        let mut row = vec![name.clone()];
        row.extend(columns.iter().map(|metric| metric_cell(result, *metric)));
        rows.push(row);
        arms.extend(first(subject, &key).map(|executed| TimeArmView {
            name,
            statement: executed.sql.trim().to_owned(),
            settings: executed.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            prepared: statements(subject, step.number, Some(&key)),
            plan: executed.plan.clone(),
        }));
    }
    let shared = arms.first().map(|arm| arm.statement.clone());
    TimeView {
        id: time.id.clone(),
        label: time.label.clone(),
        not_run: was_not_run(subject, step.number),
        statement: shared.filter(|statement| arms.iter().all(|arm| arm.statement == *statement)),
        header,
        rows,
        arms,
        verdicts,
    }
}

/// The columns of a `time` step that some arm has a value for.
fn columns(subject: Subject<'_>, id: &str) -> Vec<Metric> {
    const SHOWN: [Metric; 9] = [
        Metric::Median,
        Metric::Rows,
        Metric::WalBytes,
        Metric::WalRecords,
        Metric::WalFpi,
        Metric::HeapBytes,
        Metric::ToastBytes,
        Metric::IndexBytes,
        Metric::GrowthBytes,
    ];
    let told = |metric: &Metric| {
        let mut arms = subject.analysis.arms.iter().filter(|arm| arm.key.measure == id);
        arms.any(|arm| arm.metrics.contains_key(metric))
    };
    SHOWN.into_iter().filter(told).collect()
}

pub(super) fn storage(subject: Subject<'_>, step: &Step, storage: &Storage) -> StorageView {
    const COLUMNS: [Metric; 4] =
        [Metric::HeapBytes, Metric::ToastBytes, Metric::IndexBytes, Metric::TotalBytes];
    let mut header = vec![HeadView::words("relation")];
    header.extend(COLUMNS.map(HeadView::metric));
    let mut rows = Vec::new();
    for relation in &storage.of {
        let key = ArmKey::new(&storage.id, Some(relation));
        let Some(result) = subject.analysis.arm(&key).filter(|result| result.measured) else { continue };
        let mut row = vec![relation.clone()];
        row.extend(COLUMNS.iter().map(|metric| metric_cell(result, *metric)));
        rows.push(row);
        let own_row = |name: &str| storage.of.iter().any(|other| other == name);
        rows.extend(each_index(subject, step.number, relation, &own_row));
    }
    StorageView {
        title: storage.title.clone(),
        id: storage.id.clone(),
        not_run: was_not_run(subject, step.number),
        header,
        rows,
    }
}

/// A row for each index of a table that has none of its own, its size in the column of the indexes.
fn each_index(
    subject: Subject<'_>,
    number: usize,
    relation: &str,
    own_row: &dyn Fn(&str) -> bool,
) -> Vec<Vec<String>> {
    let found = subject.recording.events.iter().find_map(|event| match event {
        Event::Storage(stored) if stored.step == number && stored.relation == relation => Some(stored),
        _ => None,
    });
    let indexes = found.map_or(&[][..], |stored| &stored.each_index);
    let row = |(name, bytes): &(String, u64)| {
        vec![format!("… {name}"), String::new(), String::new(), number::bytes(*bytes as f64), String::new()]
    };
    indexes.iter().filter(|(name, _)| !own_row(name)).map(row).collect()
}

pub(super) fn compare(subject: Subject<'_>, number: usize, verdicts: Vec<VerdictView>) -> CompareView {
    let found = subject.recording.events.iter().find_map(|event| match event {
        Event::Compared(compared) if compared.step == number => Some(compared),
        _ => None,
    });
    let sides = |compared: &ComparedEvent| {
        let sides = compared.sides.iter().zip(&compared.queries);
        let sides = gathered(sides.map(|((name, rows), query)| ((query.trim(), *rows), name.as_str())));
        let shown = sides
            .into_iter()
            .map(|((query, rows), names)| (names.join("; "), query.to_owned(), number::count(rows as f64)));
        shown.collect()
    };
    CompareView {
        not_run: was_not_run(subject, number),
        sides: found.map(sides).unwrap_or_default(),
        verdicts,
    }
}

/// The first notices of a statement: a loop can raise thousands, all of which stand in `events.jsonl`.
fn few(notices: &[String]) -> Vec<String> {
    const SHOWN: usize = 5;
    let mut few: Vec<String> = notices.iter().take(SHOWN).cloned().collect();
    if let Some(more) = notices.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        few.push(format!("and {} more, in events.jsonl", number::count(more as f64)));
    }
    few
}
