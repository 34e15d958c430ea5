//! What each type of node does, in plain language: data, one entry per type, put together by a node's properties.

use crate::plan::Node;

/// What a type of node does, and what its work grows with.
struct Entry {
    /// The type as EXPLAIN's JSON names it; with a strategy or an operation after a colon where those differ.
    key: &'static str,
    does: &'static str,
    grows: &'static str,
}

const fn entry(key: &'static str, does: &'static str, grows: &'static str) -> Entry {
    Entry { key, does, grows }
}

/// Every type of PostgreSQL 13 to 18, sorted by key.
const ENTRIES: &[Entry] = &[
    entry(
        "Aggregate:Hashed",
        "Keeps one running result per group in a hash table, and returns the groups when all its input is read.",
        "It needs no order, and memory for every group; past work_mem × hash_mem_multiplier it works through temporary \
         files.",
    ),
    entry(
        "Aggregate:Mixed",
        "Computes several groupings at once, some by hash table, some from sorted input.",
        "It serves GROUPING SETS, ROLLUP and CUBE, and reads its input once.",
    ),
    entry(
        "Aggregate:Plain",
        "Reads all its input and returns one row: a count, a sum, a maximum.",
        "Its own work is small for each row; what it waits for is the input.",
    ),
    entry(
        "Aggregate:Sorted",
        "Reads rows that come in the order of their groups, and returns a group as soon as the next one begins.",
        "It needs sorted input and hardly any memory.",
    ),
    entry(
        "Append",
        "Returns the rows of one input after the other: the partitions of a table, or the parts of a UNION ALL.",
        "It does nothing by itself. Partitions that the conditions exclude are left out before it starts, or while it \
         runs.",
    ),
    entry(
        "Bitmap Heap Scan",
        "Takes a bitmap of places from the index scans below it, and reads the table's pages in the order of the file, \
         each page once.",
        "Between the two other scans: it reads fewer pages than a sequential scan, and jumps less than an index scan. A \
         bitmap that is larger than work_mem forgets rows and remembers whole pages, whose rows are checked again.",
    ),
    entry(
        "Bitmap Index Scan",
        "Reads an index and notes where the matching rows are, as a bitmap; it does not visit the table.",
        "Its work grows with the number of matching index entries.",
    ),
    entry(
        "BitmapAnd",
        "Keeps the places that all its bitmaps have: several indexes, one for each condition.",
        "It costs little beside the index scans below it. PostgreSQL does not count its rows, and prints 0.",
    ),
    entry(
        "BitmapOr",
        "Joins its bitmaps: the places that at least one of them has.",
        "It costs little beside the index scans below it. PostgreSQL does not count its rows, and prints 0.",
    ),
    entry(
        "CTE Scan",
        "Reads the result of a WITH query, which is computed once and kept.",
        "The planner has no statistics on those rows, and no index helps here. NOT MATERIALIZED lets it be planned as \
         part of the query.",
    ),
    entry(
        "Custom Scan",
        "Is done by an extension, in a way that PostgreSQL itself does not know.",
        "Ask the extension.",
    ),
    entry(
        "Foreign Scan",
        "Asks another server, or a file, through a foreign-data wrapper.",
        "It waits for the other side; conditions that are not sent there are checked here, on rows that had to travel.",
    ),
    entry(
        "Function Scan",
        "Calls a function that returns rows, and reads them.",
        "Unless the function says otherwise, the planner guesses its number of rows.",
    ),
    entry(
        "Gather",
        "Starts worker processes, which run the plan below it together with this one, and passes on their rows as they \
         come.",
        "Starting workers takes time, and every row is copied between processes: it pays where little comes out of much \
         work.",
    ),
    entry(
        "Gather Merge",
        "Starts worker processes, and merges their sorted rows so that the order is kept.",
        "As a Gather, and a comparison more for each row.",
    ),
    entry(
        "Group",
        "Returns one row per group of its sorted input, without computing anything over it.",
        "It needs sorted input and hardly any memory.",
    ),
    entry(
        "Hash",
        "Builds the hash table of the hash join above it from the rows below.",
        "Its size grows with the rows of this side; past work_mem × hash_mem_multiplier both sides are split into \
         batches that pass through temporary files.",
    ),
    entry(
        "Hash Join",
        "Puts the rows of its second input into a hash table, then looks up each row of the first one there.",
        "It reads each side once, whatever their order, and shines where large sets meet on an equality. It returns \
         nothing before the whole hash table is built.",
    ),
    entry(
        "Incremental Sort",
        "Sorts input that is sorted by its first keys already, one group of equal first keys at a time.",
        "It needs memory for a group only, and returns its first rows early.",
    ),
    entry(
        "Index Only Scan",
        "Answers from the index alone, where the visibility map says that every row on the page is visible to all; for \
         other pages it visits the table.",
        "VACUUM keeps the map up to date. Heap Fetches counts the visits that it did not spare.",
    ),
    entry(
        "Index Scan",
        "Walks down an index to the first match, reads the matching entries in order, and fetches each row from the \
         table at once.",
        "It is best for few rows, or for rows whose order in the table is that of the index. Otherwise nearly every row \
         costs a page of its own, and the same page may be read many times.",
    ),
    entry(
        "Limit",
        "Passes on a number of rows, then stops everything below it.",
        "What stands below is planned to return its first rows early, and its estimates are of all the rows that it \
         would have returned.",
    ),
    entry(
        "LockRows",
        "Locks the rows that it passes on (SELECT … FOR UPDATE).",
        "Every lock changes the row's page.",
    ),
    entry(
        "Materialize",
        "Keeps the rows of its input, so that they can be read again without being computed again.",
        "It pays where what stands above reads it many times; past work_mem it uses a temporary file.",
    ),
    entry(
        "Memoize",
        "Remembers what the plan below it returned for a value, and answers the same value from memory.",
        "It pays where values come again: compare its hits with its misses. Where memory ends it forgets what was not \
         asked for the longest.",
    ),
    entry(
        "Merge Append",
        "Merges inputs that are sorted alike, so that the whole is sorted: partitions read by index, say.",
        "It returns its first rows early, and keeps the order without a sort.",
    ),
    entry(
        "Merge Join",
        "Walks through two sorted inputs side by side and pairs what is equal.",
        "It needs both sides in order, by a sort or an index, and may stop early when one side ends.",
    ),
    entry(
        "ModifyTable:Delete",
        "Marks the rows below as deleted. Their space is free only after VACUUM.",
        "Foreign keys that refer to the table are checked by triggers, whose time stands outside the tree.",
    ),
    entry(
        "ModifyTable:Insert",
        "Writes the rows below into a table, and an entry into each of its indexes.",
        "Every index adds to it; ON CONFLICT looks for rivals first.",
    ),
    entry(
        "ModifyTable:Merge",
        "Inserts, updates or deletes, as each row of its input matches or not (MERGE).",
        "The join below decides what matches, and is usually what takes time.",
    ),
    entry(
        "ModifyTable:Update",
        "Writes a new version of each row below, and leaves the old one to VACUUM.",
        "Where the page has room and no indexed column changes, the indexes need no new entry (HOT); else each one gets \
         one.",
    ),
    entry(
        "Named Tuplestore Scan",
        "Reads the transition table of a trigger: the rows that the statement changed.",
        "No index and no statistics exist on it.",
    ),
    entry(
        "Nested Loop",
        "Runs its second input once for each row of the first.",
        "It is best where the first input is small and the second finds its rows by an index. Twice as many rows on the \
         first side are twice the work: an estimate that is far too low hurts here most.",
    ),
    entry(
        "ProjectSet",
        "Calls functions that return sets in the list of columns, and makes a row of each result.",
        "The planner guesses how many rows a function returns.",
    ),
    entry(
        "Recursive Union",
        "Runs a recursive WITH query: first the start, then the second part over and over on the rows that were new.",
        "It ends when a round finds nothing new; how many rounds there will be the planner cannot know.",
    ),
    entry(
        "Result",
        "Computes a row without reading a table, or passes on rows under a condition that is checked once.",
        "It costs next to nothing.",
    ),
    entry(
        "Sample Scan",
        "Reads a share of a table (TABLESAMPLE).",
        "SYSTEM picks whole pages, BERNOULLI reads every page and picks rows.",
    ),
    entry(
        "Seq Scan",
        "Reads the whole table, page after page, and keeps the rows that pass the filter.",
        "Its work is that of the table's size, however few rows are wanted. For most of the rows little is faster.",
    ),
    entry(
        "SetOp:Hashed",
        "Compares two sets by a hash table (INTERSECT, EXCEPT).",
        "It needs memory for one row of each kind.",
    ),
    entry(
        "SetOp:Sorted",
        "Compares two sets by their sorted rows (INTERSECT, EXCEPT).",
        "It needs sorted input and hardly any memory.",
    ),
    entry(
        "Sort",
        "Reads all its input and returns it in order.",
        "What does not fit into work_mem is sorted through temporary files. Below a LIMIT it keeps the best rows only.",
    ),
    entry(
        "Subquery Scan",
        "Passes on the rows of a sub-query, with other columns or a filter of its own.",
        "It costs next to nothing by itself.",
    ),
    entry(
        "Table Function Scan",
        "Reads the rows of XMLTABLE or JSON_TABLE.",
        "The planner guesses how many there are.",
    ),
    entry(
        "Tid Range Scan",
        "Reads a range of the table's pages, given by row addresses (ctid).",
        "Its work is that of the range.",
    ),
    entry(
        "Tid Scan",
        "Reads rows by their address in the table (ctid).",
        "Each row costs its page, and no index is read.",
    ),
    entry(
        "Unique",
        "Passes on the first of each run of equal rows.",
        "It needs sorted input and hardly any memory.",
    ),
    entry("Values Scan", "Reads the rows of a VALUES list.", "They stand in the query itself."),
    entry(
        "WindowAgg",
        "Computes window functions over rows that come sorted by their partitions.",
        "It needs sorted input, and keeps the rows of the window; a run condition lets it stop early.",
    ),
    entry(
        "WorkTable Scan",
        "Reads the rows that the last round of a recursive query found.",
        "How many there are the planner can only guess.",
    ),
];

/// What a join does with rows that find no partner, or more than one.
const JOINS: &[(&str, &str)] = &[
    (
        "Anti",
        "Anti: it keeps the first side's rows that have no partner, and stops at the first one found (NOT EXISTS).",
    ),
    ("Full", "Full: rows of either side that have no partner are kept, with NULLs beside them."),
    ("Left", "Left: rows of the first side that have no partner are kept, with NULLs beside them."),
    ("Right", "Right: rows of the second side that have no partner are kept, with NULLs beside them."),
    ("Right Anti", "Right Anti: it keeps the second side's rows that have no partner (NOT EXISTS)."),
    (
        "Right Semi",
        "Right Semi: it keeps the second side's rows that have a partner, each once (EXISTS, IN).",
    ),
    (
        "Semi",
        "Semi: it keeps the first side's rows that have a partner, each once, and looks for no second one (EXISTS, IN).",
    ),
];

/// What else a node's words say.
const PARTIAL: &[(&str, &str)] = &[
    ("Finalize", "Finalize: it puts together what the processes below aggregated each for itself."),
    (
        "Partial",
        "Partial: it aggregates the share of one process; what stands above puts the shares together.",
    ),
];

const PARALLEL: &str = "Parallel: leader and workers divide the work among them, each taking the next piece.";
const BACKWARD: &str = "Backward: it reads the index from its end, for an order that is turned round.";

/// What the node does, in sentences; none for a type that no PostgreSQL up to 18 has.
pub(super) fn of(node: &Node) -> Option<String> {
    let word = |name: &str| node.property(name).and_then(|value| value.as_str());
    let node_type = node.node_type();
    let key = match node_type {
        "Aggregate" => format!("Aggregate:{}", word("Strategy").unwrap_or("Plain")),
        "SetOp" => format!("SetOp:{}", word("Strategy").unwrap_or("Sorted")),
        "ModifyTable" => format!("ModifyTable:{}", word("Operation")?),
        other => other.to_owned(),
    };
    let entry = ENTRIES.iter().find(|entry| entry.key == key)?;
    let mut sentences = vec![entry.does, entry.grows];
    let more = |list: &[(&str, &'static str)], name: &str| {
        let said = word(name)?;
        list.iter().find(|(word, _)| *word == said).map(|(_, sentence)| *sentence)
    };
    sentences.extend(more(JOINS, "Join Type"));
    sentences.extend(more(PARTIAL, "Partial Mode"));
    sentences.extend(node.properties().flag("Parallel Aware").then_some(PARALLEL));
    sentences.extend((word("Scan Direction") == Some("Backward")).then_some(BACKWARD));
    Some(sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, node_types};

    #[test]
    fn every_type_of_node_is_explained_once() {
        let keys: Vec<&str> = ENTRIES.iter().map(|entry| entry.key).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(keys, sorted, "sorted by key, each once");
        for node_type in node_types() {
            let explained = keys.iter().any(|key| key.split(':').next() == Some(node_type));
            assert!(explained, "{node_type} is not explained");
        }
    }

    #[test]
    fn the_words_of_a_node_add_to_what_it_does() {
        let said = |text: &str| {
            of(&Plan::from_text(&format!("{text}  (cost=0.00..1.00 rows=1 width=1)")).unwrap().root)
        };
        for (text, parts) in [
            ("Hash Anti Join", &["hash table", "NOT EXISTS"][..]),
            ("Parallel Seq Scan on t", &["whole table", "leader and workers"]),
            ("Finalize HashAggregate", &["one running result per group", "puts together"]),
            ("GroupAggregate", &["in the order of their groups"]),
            ("HashSetOp Except", &["by a hash table"]),
            ("Update on t", &["a new version"]),
            ("Index Scan Backward using i on t", &["from its end"]),
        ] {
            let said = said(text).unwrap_or_else(|| panic!("{text}"));
            assert!(parts.iter().all(|part| said.contains(part)), "{text}: {said}");
        }
        assert_eq!(said("Blorp Scan on t"), None);
    }
}
