//! What one line of the annotated tree says: computed once, printed by each format.

use std::collections::BTreeMap;

use crate::number;
use crate::plan::{Estimate, Node, Own, Plan};

/// One node of the tree.
pub(super) struct Row<'p> {
    pub(super) own: Own<'p>,
    /// Branches of the tree before the title.
    pub(super) branches: String,
    /// Branches before the lines under the title.
    pub(super) trunk: String,
    pub(super) title: String,
    /// Own share of the plan's time, or of its blocks where no times were taken.
    pub(super) share: Option<f64>,
    /// Estimate against fact, where they can be held against each other.
    pub(super) estimate: Option<Estimate<'p>>,
    /// 1 to 3 for the places that matter most.
    pub(super) rank: Option<usize>,
    pub(super) details: Vec<String>,
}

/// What shares are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Time,
    Blocks,
    /// The plan was not analyzed: nothing tells where the work goes.
    Unknown,
}

/// Every line of a plan.
pub(super) struct Rows<'p> {
    pub(super) weight: Weight,
    pub(super) rows: Vec<Row<'p>>,
}

/// How many places are named.
const PLACES: usize = 3;

/// A place that takes less than this is not worth a look.
const LEAST_SHARE: f64 = 0.03;

impl<'p> Rows<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let owns = plan.exclusive();
        let total = |read: fn(&Own) -> Option<f64>| owns.iter().filter_map(read).sum::<f64>();
        let (time, blocks) = (total(|own| own.milliseconds), total(|own| own.blocks));
        let (weight, whole, read): (_, _, fn(&Own) -> Option<f64>) = match (time > 0.0, blocks > 0.0) {
            (true, _) => (Weight::Time, time, |own| own.milliseconds),
            (false, true) => (Weight::Blocks, blocks, |own| own.blocks),
            (false, false) => (Weight::Unknown, 1.0, |_| None),
        };
        let estimates: BTreeMap<*const Node, Estimate> = plan
            .estimates()
            .into_iter()
            .map(|estimate| (std::ptr::from_ref(estimate.node), estimate))
            .collect();
        let drawn = branches(&owns);
        let rows = owns.into_iter().zip(drawn).map(|(own, (branches, trunk))| {
            let estimate = estimates.get(&std::ptr::from_ref(own.node)).copied();
            Row {
                share: read(&own).map(|amount| amount / whole),
                title: title(&own),
                details: details(&own, estimate),
                rank: None,
                estimate,
                branches,
                trunk,
                own,
            }
        });
        let mut rows: Vec<Row> = rows.collect();
        rank(&mut rows);
        Self { weight, rows }
    }

    /// The places that matter most, the first of them first.
    pub(super) fn places(&self) -> Vec<&Row<'p>> {
        let mut places: Vec<_> = self.rows.iter().filter(|row| row.rank.is_some()).collect();
        places.sort_by_key(|row| row.rank);
        places
    }
}

fn rank(rows: &mut [Row]) {
    let mut order: Vec<(usize, f64)> =
        rows.iter().enumerate().filter_map(|(at, row)| Some((at, row.share?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let worth = order.into_iter().filter(|(_, share)| *share >= LEAST_SHARE).take(PLACES);
    for (place, (at, _)) in worth.enumerate() {
        rows[at].rank = Some(place + 1);
    }
}

/// The lines of the tree, drawn: before each title, and before what stands under it.
fn branches(owns: &[Own]) -> Vec<(String, String)> {
    let mut last_child: BTreeMap<usize, usize> = BTreeMap::new();
    let mut has_children = vec![false; owns.len()];
    for (at, own) in owns.iter().enumerate() {
        if let Some(parent) = own.parent {
            last_child.insert(parent, at);
            has_children[parent] = true;
        }
    }
    let mut trunks: Vec<String> = vec![];
    let mut out = vec![];
    for (at, own) in owns.iter().enumerate() {
        let (branch, stem) = match own.parent {
            None => (String::new(), String::new()),
            Some(parent) if last_child.get(&parent) == Some(&at) => {
                (format!("{}└ ", trunks[parent]), format!("{}  ", trunks[parent]))
            }
            Some(parent) => (format!("{}├ ", trunks[parent]), format!("{}│ ", trunks[parent])),
        };
        let under = format!("{stem}{}", if has_children[at] { "│ " } else { "  " });
        trunks.push(stem);
        out.push((branch, under));
    }
    out
}

impl Row<'_> {
    /// `InitPlan 1`, without what it returns.
    pub(super) fn header(&self) -> Option<String> {
        header(&self.own)
    }

    /// How often each process ran it, where that is more than once.
    pub(super) fn times(&self) -> Option<String> {
        times(&self.own)
    }

    /// Rows expected and rows that came, counted alike.
    pub(super) fn pair(&self) -> Option<(f64, f64)> {
        let node = self.own.node;
        match (self.estimate, node.plan_rows(), node.actual_rows()) {
            (Some(estimate), ..) => Some((estimate.expected, estimate.actual)),
            // What a bitmap of several others comes to is counted nowhere: EXPLAIN prints 0.
            (None, ..) if matches!(node.node_type(), "BitmapAnd" | "BitmapOr") => None,
            (None, Some(expected), Some(actual)) if node.executed() == Some(true) => Some((expected, actual)),
            _ => None,
        }
    }

    /// The same where one of the two may be missing.
    pub(super) fn expected_and_actual(&self) -> (Option<f64>, Option<f64>) {
        match self.pair() {
            Some((expected, actual)) => (Some(expected), Some(actual)),
            None => (self.own.node.plan_rows(), None),
        }
    }
}

fn header(own: &Own) -> Option<String> {
    let name = own.node.subplan_name()?;
    Some(name.split(" (returns").next().unwrap_or(name).to_owned())
}

fn times(own: &Own) -> Option<String> {
    let loops = own.node.loops().map(|loops| loops / own.processes)?;
    (loops >= 1.5).then(|| number::count(loops.round()))
}

fn title(own: &Own) -> String {
    let header = header(own).map(|header| format!("{header} · ")).unwrap_or_default();
    let times = times(own).map(|times| format!(" (×{times})")).unwrap_or_default();
    format!("{header}{}{times}", own.node.title())
}

/// Conditions, and what the node says of its work.
fn details(own: &Own, estimate: Option<Estimate>) -> Vec<String> {
    let node = own.node;
    let mut out = vec![];
    if node.executed() == Some(false) {
        out.push("never executed".to_owned());
    }
    let text = |name: &str| node.property(name).and_then(|value| value.as_str());
    for (name, removed) in CONDITIONS {
        if let Some(condition) = text(name) {
            let loops = node.loops().unwrap_or(1.0);
            let away =
                removed.and_then(|removed| node.number(removed)).map(|n| n * loops).filter(|n| *n > 0.0);
            let away = away.map(|n| format!(" removed {}", number::count(n.round())));
            out.push(format!("{name}: {condition}{}", away.unwrap_or_default()));
        }
    }
    for name in ["Sort Key", "Group Key"] {
        if let Some(keys) = node.property(name).and_then(|value| value.as_array()) {
            let keys: Vec<_> = keys.iter().filter_map(|key| key.as_str()).collect();
            out.push(format!("{name}: {}", keys.join(", ")));
        }
    }
    out.extend(
        processes(own, estimate).into_iter().chain(work(own)).reduce(|all, one| format!("{all} · {one}")),
    );
    out.extend(node.unknown_properties().map(|(name, value)| {
        format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }));
    out
}

/// Conditions, each with what counts the rows that it removed.
pub(super) const CONDITIONS: [(&str, Option<&str>); 10] = [
    ("Index Cond", None),
    ("Recheck Cond", Some("Rows Removed by Index Recheck")),
    ("TID Cond", None),
    ("Hash Cond", None),
    ("Merge Cond", None),
    ("Join Filter", Some("Rows Removed by Join Filter")),
    ("Filter", Some("Rows Removed by Filter")),
    ("One-Time Filter", None),
    ("Run Condition", None),
    ("Cache Key", None),
];

/// How many processes ran it, and what its numbers are of them.
fn processes(own: &Own, estimate: Option<Estimate>) -> Option<String> {
    if own.processes < 1.5 || own.node.loops().is_none() {
        return None;
    }
    // Rows are those of all where each process produces a share of them, and of one where each produces its own.
    let shares = estimate.is_some_and(|estimate| Some(estimate.expected) != own.node.plan_rows());
    let numbers = if shares {
        "rows and blocks are of all, time is of one on average"
    } else {
        "blocks are of all, rows and time of one on average"
    };
    Some(format!("by {} processes: {numbers}", number::count(own.processes.round())))
}

/// What a node did besides returning rows, in words.
fn work(own: &Own) -> Vec<String> {
    let node = own.node;
    let count = |name: &str| node.number(name);
    let shown = number::count;
    let mut out = vec![];
    if let (Some(planned), Some(launched)) = (count("Workers Planned"), count("Workers Launched")) {
        out.push(format!("{} of {} workers came", shown(launched), shown(planned)));
    }
    if let (Some(method), Some(kind), Some(space)) = (
        node.property("Sort Method").and_then(|value| value.as_str()),
        node.property("Sort Space Type").and_then(|value| value.as_str()),
        node.sort_space(),
    ) {
        out.push(format!("{method} in {} of {}", number::bytes(space * 1024.0), kind.to_lowercase()));
    }
    if let Some(batches) = node.hash_batches().filter(|batches| *batches > 1.0) {
        out.push(format!("in {} batches, through temporary files", shown(batches)));
    }
    if let Some(fetches) = count("Heap Fetches") {
        let visits = if fetches == 0.0 { "no visit".to_owned() } else { number::plural(fetches, "visit") };
        out.push(format!("{visits} to the table"));
    }
    if let Some(searches) = count("Index Searches").filter(|n| *n > node.loops().unwrap_or(1.0).max(1.0)) {
        out.push(format!("{} descents into the index", shown(searches)));
    }
    if let Some(lossy) = count("Lossy Heap Blocks").filter(|n| *n > 0.0) {
        let exact = count("Exact Heap Blocks").unwrap_or(0.0);
        out.push(format!("{} of {} pages known only as whole pages", shown(lossy), shown(lossy + exact)));
    }
    if let (Some(hits), Some(misses)) = (count("Cache Hits"), count("Cache Misses")) {
        out.push(format!("answered {} of {} times from its cache", shown(hits), shown(hits + misses)));
    }
    if let Some(removed) = count("Subplans Removed").filter(|n| *n > 0.0) {
        out.push(format!("{} partitions left out before they were read", shown(removed)));
    }
    if node.properties().flag("Disabled") {
        out.push("disabled by a setting, and chosen for want of another way".to_owned());
    }
    out
}
