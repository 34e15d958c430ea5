//! A plan's tree as the templates of pages see it: a flat list of nodes in the tree's order, numbers printed, bars in percent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::metric::Metric;
use crate::number;
use crate::plan::{Node, Plan};

use super::diff::{Compared, Mark, Marks};
use super::rows::{Row, Rows, Weight};
use super::{glossary, notes};

/// One plan.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "tree")]
pub struct TreeView {
    /// What the plan as a whole took, in a few words each.
    pub facts: Vec<String>,
    /// Which columns have something to show.
    pub columns: ColumnsView,
    /// The nodes, depth first.
    pub nodes: Vec<NodeView>,
    /// What to notice of the plan as a whole.
    pub notes: Vec<NoteView>,
}

/// Which columns have something to show.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "columns")]
pub struct ColumnsView {
    /// The nodes' own times.
    pub time: bool,
    /// The nodes' own blocks.
    pub blocks: bool,
    /// Rows expected, and rows that came where the plan was executed.
    pub rows: bool,
    /// The planner's costs; only where the plan was not executed.
    pub cost: bool,
}

/// One node of a plan.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "node")]
pub struct NodeView {
    /// What stands before its words, such as `InitPlan 1`.
    pub header: Option<String>,
    /// Its words, such as `Bitmap Heap Scan`.
    pub label: String,
    /// What follows them, such as `on events`.
    pub target: String,
    /// How often it ran, where that is more than once.
    pub times: Option<String>,
    /// How deep it stands; the root at 0.
    pub depth: usize,
    /// Whether nodes stand below it.
    pub children: bool,
    /// How many levels of the tree end after it.
    pub closes: usize,
    /// Its own time.
    pub own_time: Option<String>,
    /// The length of its bar: its own time as a share of the plan's, or of the slower plan's of two, in percent.
    pub time_percent: Option<String>,
    /// Its own blocks.
    pub own_blocks: Option<String>,
    /// The same of its own blocks.
    pub blocks_percent: Option<String>,
    /// Rows that the planner expected, per execution of the node.
    pub expected: Option<String>,
    /// Rows that came, counted alike.
    pub actual: Option<String>,
    /// How far the estimate was off, where that is twice or more, and which way.
    pub factor: Option<String>,
    /// Whether it was off tenfold or more.
    pub far_off: bool,
    /// The length of the bar of expected rows, in percent of the longest, on a logarithmic scale.
    pub expected_percent: Option<String>,
    /// The length of the bar of actual rows.
    pub actual_percent: Option<String>,
    /// The planner's cost, where the plan was not executed.
    pub cost: Option<String>,
    /// 1 to 3 for the places that take most.
    pub rank: Option<usize>,
    /// Conditions, and what the node says of its work.
    pub details: Vec<String>,
    /// What to notice of this node.
    pub notes: Vec<NoteView>,
    /// What a node of this type does, in plain language; none for a type that no PostgreSQL has.
    pub what: Option<String>,
    /// Everything that the server said of it: name and value.
    pub numbers: Vec<(String, String)>,
    /// What changed of it, where two plans stand side by side.
    pub change: Option<Mark>,
}

/// One thing to notice.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "note")]
pub struct NoteView {
    /// What the plan shows.
    pub seen: String,
    /// What to look at next.
    pub next: String,
}

impl TreeView {
    /// The view of a plan.
    pub fn of(plan: &Plan) -> Self {
        let rows = Rows::of(plan);
        Self::drawn(plan, &rows, &Scale::of(&rows), &Marks::new())
    }

    /// Two plans with what changed marked, and bars that can be held against each other.
    pub fn pair(old: &Plan, new: &Plan, compared: &Compared) -> [Self; 2] {
        let (old_rows, new_rows) = (Rows::of(old), Rows::of(new));
        let scale = Scale::of(&old_rows).and(&Scale::of(&new_rows));
        [
            Self::drawn(old, &old_rows, &scale, &compared.old),
            Self::drawn(new, &new_rows, &scale, &compared.new),
        ]
    }

    fn drawn(plan: &Plan, rows: &Rows, scale: &Scale, marks: &Marks) -> Self {
        let mut notes: BTreeMap<Option<usize>, Vec<NoteView>> = BTreeMap::new();
        for note in notes::of(plan, rows) {
            let view = NoteView { seen: note.seen, next: note.next };
            notes.entry(note.row).or_default().push(view);
        }
        let executed = plan.root.loops().is_some();
        let several = rows.rows.len() > 1;
        let mut nodes: Vec<NodeView> = rows
            .rows
            .iter()
            .enumerate()
            .map(|(at, row)| NodeView {
                notes: notes.remove(&Some(at)).unwrap_or_default(),
                change: marks.get(&std::ptr::from_ref(row.own.node)).cloned(),
                cost: row.own.node.total_cost().filter(|_| !executed).map(number::significant),
                rank: row.rank.filter(|_| several),
                ..node_view(row, scale)
            })
            .collect();
        hang(&mut nodes);
        let any = |shown: fn(&NodeView) -> bool| nodes.iter().any(shown);
        let columns = ColumnsView {
            time: any(|node| node.own_time.is_some()),
            blocks: any(|node| node.own_blocks.is_some()),
            rows: any(|node| node.expected.is_some()),
            cost: any(|node| node.cost.is_some()),
        };
        Self { facts: facts(plan, rows), columns, nodes, notes: notes.remove(&None).unwrap_or_default() }
    }
}

/// What the plan as a whole took.
pub(super) fn facts(plan: &Plan, rows: &Rows) -> Vec<String> {
    let mut facts = vec![];
    facts.extend(plan.execution_time().map(|ms| format!("execution {}", number::milliseconds(ms))));
    facts.extend(plan.planning_time().map(|ms| format!("planning {}", number::milliseconds(ms))));
    facts.extend(plan.root.rows().map(|rows| number::plural(rows, "row")));
    facts.extend(plan.root.blocks().map(|blocks| number::plural(blocks, "block")));
    if rows.weight == Weight::Unknown && plan.root.loops().is_none() {
        facts.push("estimates only: EXPLAIN (ANALYZE, BUFFERS) tells where the time goes".to_owned());
    }
    facts
}

/// What the bars are measured by.
struct Scale {
    blocks: f64,
    time: f64,
    /// log(1 + the most rows that were expected or came anywhere).
    rows: f64,
}

impl Scale {
    fn of(rows: &Rows) -> Self {
        let sum = |read: fn(&Row) -> Option<f64>| rows.rows.iter().filter_map(read).sum::<f64>();
        let most = rows.rows.iter().flat_map(|row| {
            let (expected, actual) = row.expected_and_actual();
            [expected, actual]
        });
        Self {
            blocks: sum(|row| row.own.blocks),
            time: sum(|row| row.own.milliseconds),
            rows: most.flatten().map(f64::ln_1p).fold(0.0, f64::max),
        }
    }
}

impl Scale {
    /// One scale for two plans.
    fn and(&self, other: &Self) -> Self {
        Self {
            blocks: self.blocks.max(other.blocks),
            time: self.time.max(other.time),
            rows: self.rows.max(other.rows),
        }
    }
}

/// A share in percent with one decimal, as CSS takes it.
fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    format!("{:.1}", share * 100.0)
}

fn node_view(row: &Row, scale: &Scale) -> NodeView {
    let node = row.own.node;
    let (expected, actual) = row.expected_and_actual();
    let label = node.label();
    let title = node.title();
    let far = row.estimate.map_or(1.0, |estimate| estimate.factor());
    NodeView {
        header: row.header(),
        target: title.strip_prefix(&label).unwrap_or_default().trim().to_owned(),
        label,
        times: row.times(),
        depth: row.own.depth,
        children: !node.children().is_empty(),
        closes: 0,
        own_time: row.own.milliseconds.map(number::milliseconds),
        time_percent: row.own.milliseconds.map(|ms| percent(ms, scale.time)),
        own_blocks: row.own.blocks.map(number::count),
        blocks_percent: row.own.blocks.map(|blocks| percent(blocks, scale.blocks)),
        expected: expected.map(number::count),
        actual: actual.map(number::count),
        factor: row.estimate.filter(|_| far >= 2.0).map(|estimate| {
            let way = if estimate.actual > estimate.expected { "more" } else { "fewer" };
            format!("{} times {way}", number::significant(far))
        }),
        far_off: far >= notes::MISESTIMATE,
        expected_percent: expected.map(|rows| percent(rows.ln_1p(), scale.rows)),
        actual_percent: actual.map(|rows| percent(rows.ln_1p(), scale.rows)),
        cost: None,
        rank: None,
        details: row.details.clone(),
        notes: vec![],
        what: glossary::of(node),
        numbers: numbers(node),
        change: None,
    }
}

/// Says after which node how many levels end.
fn hang(nodes: &mut [NodeView]) {
    for at in 0..nodes.len() {
        let next = nodes.get(at + 1).map_or(0, |next| next.depth);
        nodes[at].closes = nodes[at].depth.saturating_sub(next);
    }
}

/// What the title, the details and the columns say already.
const SAID: &[&str] = &[
    "Node Type",
    "Parent Relationship",
    "Subplan Name",
    "Relation Name",
    "Index Name",
    "Strategy",
    "Partial Mode",
    "Operation",
    "Join Type",
    "Command",
    "Scan Direction",
    "CTE Name",
    "Function Name",
];

/// What the server said of a node and is not shown elsewhere. Zeros and flags that are off are left out, as
/// EXPLAIN's text leaves them out.
fn numbers(node: &Node) -> Vec<(String, String)> {
    let value = |name: &str, value: &Value| match value {
        Value::Bool(false) | Value::Null => None,
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Number(number) => {
            number.as_f64().filter(|number| *number != 0.0).map(|number| with_unit(name, number))
        }
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            (texts.len() == items.len() && !texts.is_empty()).then(|| texts.join(", "))
        }
        Value::Object(_) => None,
    };
    let own_name = |name: &str, said: &Value| name == "Alias" && said.as_str() == node.relation();
    let shown = node
        .properties()
        .iter()
        .filter(|(name, said)| !SAID.contains(name) && !is_condition(name) && !own_name(name, said));
    shown.filter_map(|(name, said)| Some((name.to_owned(), value(name, said)?))).collect()
}

/// A number as EXPLAIN counts what bears that name.
fn with_unit(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with(" Time") => number::milliseconds(value),
        _ if name.ends_with(" Cost") => number::metric(Metric::Cost, value),
        "Plan Width" | "WAL Bytes" => number::bytes(value),
        "Sort Space Used" | "Peak Memory Usage" | "Disk Usage" | "Maximum Storage" => {
            number::bytes(value * 1024.0)
        }
        _ => number::count(value),
    }
}

/// Conditions stand among the details.
fn is_condition(name: &str) -> bool {
    super::rows::CONDITIONS.iter().any(|(condition, _)| *condition == name)
}
