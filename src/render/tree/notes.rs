//! What a reader should know of a plan, in plain language, each with what to look at next.
//!
//! A note says what the plan shows and where to look; it never says what the plan cannot know: whether an index
//! would be used, whether statistics are old, what else ran at the time.

use std::sync::LazyLock;

use regex::Regex;

use crate::number;
use crate::plan::{Node, Plan};

use super::rows::{Row, Rows};

/// One thing to know of a node, or of the plan as a whole.
pub(super) struct Note {
    /// The line of the tree that it is about; none for the plan as a whole.
    pub(super) row: Option<usize>,
    /// What the plan shows.
    pub(super) seen: String,
    /// What to look at.
    pub(super) next: String,
}

/// An estimate wrong by less than this is usual.
pub(super) const MISESTIMATE: f64 = 10.0;

/// Rows thrown away are noted from this share, and from this many, on.
const THROWN_AWAY: (f64, f64) = (0.9, 1000.0);

/// Visits of an index-only scan to the heap are noted from this share of its rows, and from this many, on.
const FETCHED: (f64, f64) = (0.1, 100.0);

/// Loops are noted from this many on.
const MANY_LOOPS: f64 = 100.0;

/// Every note: those of the places that matter most first, then in the order of the tree.
pub(super) fn of(plan: &Plan, rows: &Rows) -> Vec<Note> {
    let mut out = vec![];
    let forced = keeps_from_indexes(plan);
    for (at, row) in rows.rows.iter().enumerate() {
        let note = |(seen, next): (String, String)| Note { row: Some(at), seen, next };
        out.extend(misestimate(rows, at).map(note));
        out.extend(thrown_away(row, forced).map(note));
        out.extend(spilled(row).map(note));
        out.extend(lossy(row).map(note));
        out.extend(heap_fetches(row).map(note));
        out.extend(workers(row).map(note));
        out.extend(repeated(rows, at).map(note));
    }
    out.sort_by_key(|note| note.row.and_then(|at| rows.rows[at].rank).unwrap_or(usize::MAX));
    out.extend(whole(plan));
    out
}

type Found = Option<(String, String)>;

fn count(value: f64) -> String {
    number::count(value.round())
}

fn factor(row: &Row) -> Option<f64> {
    row.estimate.map(|estimate| estimate.factor())
}

/// The lowest nodes at which an estimate goes wrong: what stands above follows from them.
fn misestimate(rows: &Rows, at: usize) -> Found {
    let row = &rows.rows[at];
    let estimate = row.estimate.filter(|estimate| estimate.factor() >= MISESTIMATE)?;
    let under = rows.rows[at + 1..].iter().take_while(|other| other.own.depth > row.own.depth);
    let below = under.filter(|child| child.own.parent == Some(at));
    if below.filter_map(factor).any(|factor| factor >= MISESTIMATE) {
        return None;
    }
    let times = number::significant(estimate.factor());
    let seen = format!(
        "expected {} row{}, got {}: off by ×{times}",
        count(estimate.expected),
        if estimate.expected.round() == 1.0 { "" } else { "s" },
        count(estimate.actual)
    );
    let node = row.own.node;
    let next = match (node.node_type(), node.relation()) {
        ("Function Scan", _) => "a function's rows are a fixed guess: CREATE FUNCTION … ROWS sets it".to_owned(),
        ("CTE Scan" | "WorkTable Scan" | "Recursive Union" | "Values Scan" | "Subquery Scan", _) => {
            "the planner has no statistics on intermediate results: see where its input is estimated".to_owned()
        }
        ("Nested Loop" | "Hash Join" | "Merge Join", _) => {
            "compare n_distinct and most common values of the join's columns in pg_stats; how two tables' values go \
             together no statistics tell"
                .to_owned()
        }
        ("Aggregate" | "Group" | "Unique" | "SetOp", _) => {
            "the number of groups is a guess from n_distinct in pg_stats; CREATE STATISTICS (ndistinct) for several columns"
                .to_owned()
        }
        _ if asks_for_later_value(row) => {
            "its condition compares with a value that is known only when the plan runs, so the planner took a fixed \
             share: a literal, or the value asked for beforehand, would be estimated"
                .to_owned()
        }
        _ if let Some(cast) = converted(row) => {
            format!("there are no statistics of {cast}, only of the column as it is: convert the value instead")
        }
        (_, Some(relation)) => format!(
            "run ANALYZE {relation} and see whether the estimate moves; if the conditions name several columns that \
             go together, CREATE STATISTICS on them"
        ),
        ("Bitmap Index Scan", None) => {
            "run ANALYZE on the table and see whether the estimate moves".to_owned()
        }
        _ => "see how its input is estimated".to_owned(),
    };
    Some((seen, next))
}

/// Whether a condition names an init-plan's value or a parameter of a generic plan: `$0`, `(InitPlan 1).col1`.
fn asks_for_later_value(row: &Row) -> bool {
    let later = |text: &str| {
        let parameter =
            text.match_indices('$').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        parameter || text.contains("(InitPlan ")
    };
    let conditions = ["Index Cond", "Recheck Cond", "Filter", "TID Cond"].into_iter();
    conditions.filter_map(|name| row.own.node.property(name)?.as_str()).any(later)
}

/// The first column that a filter converts before it compares, with its cast: `(user_id)::numeric`.
///
/// A cast to text is left out: of a varchar it changes nothing, and an index serves it.
fn converted(row: &Row) -> Option<String> {
    static CAST: LazyLock<Regex> = LazyLock::new(|| {
        let name = r#"(?:[a-z_][a-z0-9_$]*|"(?:[^"]|"")+")"#;
        Regex::new(&format!(r"\({name}(?:\.{name})?\)::[a-z][a-z0-9 ]*[a-z0-9]")).expect("a pattern")
    });
    let filter = row.own.node.property("Filter")?.as_str()?;
    let mut casts = CAST.find_iter(filter).map(|found| found.as_str());
    casts.find(|cast| !cast.ends_with("::text")).map(str::to_owned)
}

/// Whether settings keep the planner from using indexes, so that a plan without one says nothing of those there are.
fn keeps_from_indexes(plan: &Plan) -> bool {
    const WAYS: [&str; 2] = ["enable_indexscan", "enable_bitmapscan"];
    WAYS.iter().all(|way| plan.settings().any(|(name, value)| name == *way && value == "off"))
}

fn thrown_away(row: &Row, forced: bool) -> Found {
    let node = row.own.node;
    let (removed, kept) = (node.rows_removed()?, node.rows()?);
    let share = removed / (removed + kept);
    if share < THROWN_AWAY.0 || removed < THROWN_AWAY.1 {
        return None;
    }
    let seen = format!("read {} rows to keep {}", count(removed + kept), count(kept));
    let by = |name: &str| node.number(name).unwrap_or(0.0);
    let recheck = by("Rows Removed by Index Recheck");
    let next = if by("Rows Removed by Join Filter") > by("Rows Removed by Filter").max(recheck) {
        "its join filter is no condition that a hash, a merge or an index could use: see whether an equality can be written"
    } else if recheck > by("Rows Removed by Filter") {
        "its index finds more than the condition asks for: lossy bitmap pages, or an index that is only a first sieve"
    } else if node.index().is_some() || node.node_type() == "Bitmap Heap Scan" {
        "an index that also has the filter's columns would leave these rows unread; whether the planner takes it, try"
    } else if node.node_type() == "Seq Scan" && forced {
        "settings keep the planner from indexes here: see what it takes without them"
    } else if let Some(cast) = converted(row).filter(|_| node.node_type() == "Seq Scan") {
        return Some((
            seen,
            format!(
                "its filter compares {cast}, which an index on the column itself does not serve: convert the value instead"
            ),
        ));
    } else if node.node_type() == "Seq Scan" {
        "an index on the filter's columns would leave these rows unread; whether the planner takes it, try"
    } else {
        "see whether the filter can be applied further down"
    };
    Some((seen, next.to_owned()))
}

fn spilled(row: &Row) -> Found {
    let node = row.own.node;
    let kilobytes = node.spilled_kilobytes(8.0).filter(|kilobytes| *kilobytes > 0.0)?;
    let size = number::bytes(kilobytes * 1024.0);
    let (what, next) = match node.node_type() {
        "Sort" | "Incremental Sort" => return Some(sorted_on_disk(node, &size)),
        "Aggregate" => {
            ("grouped through temporary files", "work_mem × hash_mem_multiplier is what a hash may use")
        }
        _ => ("hashed through temporary files", "work_mem × hash_mem_multiplier is what a hash may use"),
    };
    Some((format!("{what}, {size}"), next.to_owned()))
}

/// Of a sort by several processes each has `work_mem` for its share: the largest share says how much would do.
fn sorted_on_disk(node: &Node, size: &str) -> (String, String) {
    let shares: Vec<f64> = node.sort_shares().collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let (seen, what) = match shares.len() {
        0 | 1 => (format!("sorted on disk, {size}"), "that size"),
        _ => (
            format!(
                "sorted on disk, {size}, of it {} by the process with the most",
                number::bytes(most * 1024.0)
            ),
            "that share, of which each process has its own,",
        ),
    };
    (seen, format!("work_mem well above {what} keeps it in memory; an index in this order needs no sort"))
}

fn lossy(row: &Row) -> Found {
    let node = row.own.node;
    let lossy = node.number("Lossy Heap Blocks").filter(|n| *n > 0.0)?;
    let all = lossy + node.number("Exact Heap Blocks").unwrap_or(0.0);
    let seen = format!(
        "its bitmap was too large for work_mem: {} of {} pages were read and rechecked whole",
        count(lossy),
        count(all)
    );
    Some((seen, "a larger work_mem keeps the bitmap exact".to_owned()))
}

fn heap_fetches(row: &Row) -> Found {
    let node = row.own.node;
    let (fetches, rows) = (node.number("Heap Fetches")?, node.rows()?);
    if fetches < FETCHED.1 || fetches < FETCHED.0 * rows {
        return None;
    }
    let seen = format!(
        "index-only, yet went to the table {} times: those pages are not marked all-visible",
        count(fetches)
    );
    let relation = node.relation().unwrap_or("the table");
    Some((
        seen,
        format!(
            "VACUUM {relation}; if the number stays, an old transaction may keep VACUUM from marking pages"
        ),
    ))
}

fn workers(row: &Row) -> Found {
    let node = row.own.node;
    let (planned, launched) = (node.number("Workers Planned")?, node.number("Workers Launched")?);
    (launched < planned).then(|| {
        let seen = format!("{} of {} planned workers came", count(launched), count(planned));
        (seen, "max_parallel_workers and max_worker_processes, and what else ran at the time".to_owned())
    })
}

/// A place that matters because it ran so often.
fn repeated(rows: &Rows, at: usize) -> Found {
    let row = &rows.rows[at];
    row.rank?;
    let loops = row.own.node.loops()?;
    if loops / row.own.processes < MANY_LOOPS {
        return None;
    }
    let each = row
        .own
        .node
        .blocks()
        .map(|blocks| format!(", {} blocks each time", number::significant(blocks / loops)));
    let seen = format!("ran {} times{}", count(loops), each.unwrap_or_default());
    let outer = rows.rows.iter().enumerate().find(|(other, sibling)| {
        *other != at
            && row.own.parent.is_some()
            && sibling.own.parent == row.own.parent
            && sibling.own.node.subplan_name().is_none()
    });
    let next = match outer {
        Some((_, outer)) if factor(outer).is_some_and(|factor| factor >= MISESTIMATE) => format!(
            "follows from the rows of {}, which the planner expected to be {}",
            outer.own.node.title(),
            outer.estimate.map(|estimate| count(estimate.expected)).unwrap_or_default()
        ),
        Some((_, outer)) => format!(
            "once for each row of {}: fewer rows there, or a join that reads this side once",
            outer.own.node.title()
        ),
        None => "once for each row of what asks for it: see whether it can be written as a join".to_owned(),
    };
    Some((seen, next))
}

/// What takes time outside the nodes.
fn whole(plan: &Plan) -> Vec<Note> {
    let mut out = vec![];
    let mut note = |seen: String, next: &str| out.push(Note { row: None, seen, next: next.to_owned() });
    let execution = plan.execution_time().filter(|ms| *ms > 0.0);
    let jit = plan.property("JIT").and_then(|jit| jit.get("Timing")?.get("Total")?.as_f64());
    if let (Some(jit), Some(execution)) = (jit, execution)
        && jit >= execution / 5.0
    {
        let seen = format!(
            "compiling (JIT) took {} of {}",
            number::milliseconds(jit),
            number::milliseconds(execution)
        );
        note(seen, "jit_above_cost, or jit = off for such statements");
    }
    if let (Some(planning), Some(execution)) = (plan.planning_time(), execution)
        && planning > execution
        && planning >= 1.0
    {
        let seen = format!("planning took {}, longer than the execution", number::milliseconds(planning));
        note(
            seen,
            "the first plan of a session reads catalogs; else many partitions, joins or a high statistics target",
        );
    }
    for trigger in plan.property("Triggers").and_then(|list| list.as_array()).into_iter().flatten() {
        let time = trigger.get("Time").and_then(|ms| ms.as_f64());
        let name = ["Constraint Name", "Trigger Name"].iter().find_map(|name| trigger.get(name)?.as_str());
        let calls = trigger.get("Calls").and_then(|calls| calls.as_f64());
        if let (Some(time), Some(name), Some(calls), Some(execution)) = (time, name, calls, execution)
            && time >= execution / 10.0
        {
            let seen =
                format!("the trigger {name} took {} in {} calls", number::milliseconds(time), count(calls));
            note(
                seen,
                "of a foreign key: an index on the column that refers; the plan shows nothing of what it ran",
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(filter: &str) -> Vec<Note> {
        let text = format!(
            "Seq Scan on events  (cost=0.00..9.00 rows=25000 width=4) (actual time=1.000..2.000 rows=5 loops=1)\n  \
             Filter: {filter}\n  Rows Removed by Filter: 4999995\n"
        );
        let plan = Plan::from_text(&text).expect("a plan");
        of(&plan, &Rows::of(&plan))
    }

    fn next(filter: &str) -> String {
        scan(filter).into_iter().map(|note| note.next).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_column_that_is_converted_is_what_keeps_index_and_statistics_out() {
        let said = next("((user_id)::numeric = 500001.0)");
        assert_eq!(said.matches("(user_id)::numeric").count(), 2, "{said}");
        assert!(!said.contains("ANALYZE") && !said.contains("an index on the filter"), "{said}");
        let said = next(r#"((e."User Id")::double precision = '1'::double precision)"#);
        assert!(said.contains(r#"(e."User Id")::double precision"#), "{said}");
    }

    #[test]
    fn values_may_be_converted_and_varchar_is_read_as_text() {
        for filter in
            ["(user_id = '500001'::bigint)", "((name)::text = 'x'::text)", "(user_id = (1)::bigint)"]
        {
            let said = next(filter);
            assert!(said.contains("ANALYZE events") && said.contains("an index on the filter"), "{said}");
        }
    }
}
