//! A node's words in EXPLAIN's text, before `using` and `on`: read and written.
//!
//! Text says `Parallel Hash Left Join` where JSON says `"Node Type": "Hash Join"`, `"Join Type": "Left"` and
//! `"Parallel Aware": true`. This is the one table of that correspondence.

/// Every node type of PostgreSQL 13 to 18, as EXPLAIN's JSON names it, save joins, aggregates, set
/// operations and changes of data, whose words are put together from several properties.
const PLAIN: &[&str] = &[
    "Append",
    "Bitmap Heap Scan",
    "Bitmap Index Scan",
    "BitmapAnd",
    "BitmapOr",
    "CTE Scan",
    "Custom Scan",
    "Foreign Scan",
    "Function Scan",
    "Gather Merge",
    "Gather",
    "Group",
    "Hash",
    "Incremental Sort",
    "Index Only Scan",
    "Index Scan",
    "Limit",
    "LockRows",
    "Materialize",
    "Memoize",
    "Merge Append",
    "Named Tuplestore Scan",
    "ProjectSet",
    "Recursive Union",
    "Result",
    "Sample Scan",
    "Seq Scan",
    "Sort",
    "Subquery Scan",
    "Table Function Scan",
    "Tid Range Scan",
    "Tid Scan",
    "Unique",
    "Values Scan",
    "WindowAgg",
    "WorkTable Scan",
];

const JOIN_TYPES: &[&str] = &["Left", "Full", "Right Semi", "Right Anti", "Right", "Semi", "Anti"];
const AGGREGATES: &[(&str, &str)] = &[
    ("Aggregate", "Plain"),
    ("GroupAggregate", "Sorted"),
    ("HashAggregate", "Hashed"),
    ("MixedAggregate", "Mixed"),
];
const SET_COMMANDS: &[&str] = &["Intersect All", "Intersect", "Except All", "Except"];
const OPERATIONS: &[&str] = &["Insert", "Update", "Delete", "Merge"];

/// The properties behind a node's words. `None` is what the words do not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Label<'a> {
    pub(super) node_type: &'a str,
    pub(super) parallel: bool,
    pub(super) asynchronous: bool,
    pub(super) backward: bool,
    pub(super) strategy: Option<&'a str>,
    pub(super) partial: Option<&'a str>,
    pub(super) join: Option<&'a str>,
    pub(super) command: Option<&'a str>,
    pub(super) operation: Option<&'a str>,
    pub(super) provider: Option<&'a str>,
}

impl<'a> Label<'a> {
    /// Reads the words at the start of `text`; gives what stands after them.
    pub(super) fn read(text: &'a str) -> Option<(Self, &'a str)> {
        let mut label = Self::default();
        let mut rest = text;
        (label.parallel, rest) = flag(rest, "Parallel ");
        (label.asynchronous, rest) = flag(rest, "Async ");
        let rest = match rest.as_bytes().first()? {
            b'N' if rest.starts_with("Nested Loop") => label.read_join(rest, "Nested Loop", "Nested Loop"),
            b'H' => label.read_join(rest, "Hash", "Hash Join"),
            b'M' => label.read_join(rest, "Merge", "Merge Join"),
            _ => None,
        }
        .or_else(|| label.read_plain(rest))
        .or_else(|| label.read_aggregate(rest))
        .or_else(|| label.read_set_operation(rest))
        .or_else(|| label.read_operation(rest))?;
        Some((label, rest))
    }

    fn read_join(&mut self, text: &'a str, words: &str, node_type: &'static str) -> Option<&'a str> {
        let rest = text.strip_prefix(words)?;
        let found = rest.strip_prefix(' ').and_then(|after| {
            let kind =
                JOIN_TYPES.iter().find_map(|kind| Some((*kind, word(after, kind)?.strip_prefix(' ')?)));
            kind.and_then(|(kind, rest)| Some((kind, word(rest, "Join")?))).or_else(|| {
                (words != "Nested Loop").then(|| word(after, "Join")).flatten().map(|rest| ("Inner", rest))
            })
        });
        let (kind, rest) = match found {
            Some(found) => found,
            None if words == "Nested Loop" => ("Inner", word(text, words)?),
            None => return None,
        };
        (self.node_type, self.join) = (node_type, Some(kind));
        Some(rest)
    }

    fn read_aggregate(&mut self, text: &'a str) -> Option<&'a str> {
        let mut rest = text;
        let mut partial = "Simple";
        for mode in ["Partial", "Finalize"] {
            if let Some(after) = text.strip_prefix(mode).and_then(|after| after.strip_prefix(' ')) {
                (partial, rest) = (mode, after);
            }
        }
        let (words, strategy) = AGGREGATES.iter().find(|(words, _)| word(rest, words).is_some())?;
        (self.node_type, self.strategy, self.partial) = ("Aggregate", Some(*strategy), Some(partial));
        word(rest, words)
    }

    fn read_set_operation(&mut self, text: &'a str) -> Option<&'a str> {
        let (rest, strategy) = match (word(text, "SetOp"), word(text, "HashSetOp")) {
            (Some(rest), _) => (rest, "Sorted"),
            (_, Some(rest)) => (rest, "Hashed"),
            _ => return None,
        };
        (self.node_type, self.strategy) = ("SetOp", Some(strategy));
        let command = rest.strip_prefix(' ').and_then(|after| {
            SET_COMMANDS.iter().find_map(|command| Some((*command, word(after, command)?)))
        });
        self.command = command.map(|(command, _)| command);
        Some(command.map_or(rest, |(_, rest)| rest))
    }

    fn read_operation(&mut self, text: &'a str) -> Option<&'a str> {
        if let Some(after) = text.strip_prefix("Foreign ") {
            let operation = OPERATIONS.iter().copied().find(|operation| word(after, operation).is_some())?;
            (self.node_type, self.operation) = ("Foreign Scan", Some(operation));
            return word(after, operation);
        }
        if let Some(rest) = word(text, "ModifyTable") {
            self.node_type = "ModifyTable";
            return Some(rest);
        }
        let operation = OPERATIONS.iter().copied().find(|operation| word(text, operation).is_some())?;
        (self.node_type, self.operation) = ("ModifyTable", Some(operation));
        word(text, operation)
    }

    fn read_plain(&mut self, text: &'a str) -> Option<&'a str> {
        let first = text.as_bytes().first()?;
        let alike = PLAIN.iter().filter(|words| words.as_bytes().first() == Some(first));
        let (words, mut rest) = alike.into_iter().find_map(|words| Some((*words, word(text, words)?)))?;
        self.node_type = words;
        match words {
            "Index Scan" | "Index Only Scan" => (self.backward, rest) = flag(rest, " Backward"),
            "Foreign Scan" => self.operation = Some("Select"),
            "Custom Scan" => {
                if let Some((provider, after)) =
                    rest.strip_prefix(" (").and_then(|after| after.split_once(')'))
                {
                    (self.provider, rest) = (Some(provider), after);
                }
            }
            _ => {}
        }
        Some(rest)
    }

    /// The words as EXPLAIN prints them.
    pub(super) fn words(&self) -> String {
        let mut out = String::new();
        for (on, word) in [(self.parallel, "Parallel "), (self.asynchronous, "Async ")] {
            out.push_str(if on { word } else { "" });
        }
        match (self.node_type, self.operation) {
            ("ModifyTable", Some(operation)) => out.push_str(operation),
            ("Foreign Scan", Some(operation)) if operation != "Select" => {
                out.push_str("Foreign ");
                out.push_str(operation);
            }
            _ => self.push_plain_words(&mut out),
        }
        out
    }

    fn push_plain_words(&self, out: &mut String) {
        if let Some(partial) = self.partial.filter(|partial| *partial != "Simple") {
            out.push_str(partial);
            out.push(' ');
        }
        let aggregate = AGGREGATES.iter().find(|(_, strategy)| Some(*strategy) == self.strategy);
        match (self.node_type, self.join.unwrap_or("Inner")) {
            ("Hash Join" | "Merge Join", join) if join != "Inner" => {
                out.push_str(self.node_type.trim_end_matches("Join"));
                out.push_str(join);
                out.push_str(" Join");
            }
            ("Nested Loop", join) if join != "Inner" => {
                out.push_str("Nested Loop ");
                out.push_str(join);
                out.push_str(" Join");
            }
            ("Aggregate", _) => out.push_str(aggregate.map_or("Aggregate", |(words, _)| words)),
            ("SetOp", _) if self.strategy == Some("Hashed") => out.push_str("HashSetOp"),
            (node_type, _) => out.push_str(node_type),
        }
        if let Some(command) = self.command {
            out.push(' ');
            out.push_str(command);
        }
        if let Some(provider) = self.provider {
            out.push_str(" (");
            out.push_str(provider);
            out.push(')');
        }
        out.push_str(if self.backward { " Backward" } else { "" });
    }
}

/// Every type of node of PostgreSQL 13 to 18, as EXPLAIN's JSON names it.
pub fn node_types() -> impl Iterator<Item = &'static str> {
    let composed = ["Aggregate", "Hash Join", "Merge Join", "ModifyTable", "Nested Loop", "SetOp"];
    PLAIN.iter().copied().chain(composed)
}

/// Every spelling a pattern can begin with, for the nearest right form.
pub(super) fn known_words() -> Vec<String> {
    let mut all: Vec<String> = PLAIN.iter().map(|words| (*words).to_owned()).collect();
    all.extend(
        ["Nested Loop", "Hash Join", "Merge Join", "SetOp", "HashSetOp", "ModifyTable"].map(str::to_owned),
    );
    all.extend(AGGREGATES.iter().map(|(words, _)| (*words).to_owned()));
    all.extend(OPERATIONS.iter().map(|words| (*words).to_owned()));
    all.extend(["SubPlan", "InitPlan"].map(str::to_owned));
    for join in JOIN_TYPES {
        all.extend(["Nested Loop", "Hash", "Merge"].map(|base| format!("{base} {join} Join")));
    }
    all.extend(["Index Scan Backward", "Index Only Scan Backward"].map(str::to_owned));
    all
}

/// What stands after `words` where they end at a word's end.
fn word<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(words)?;
    (rest.is_empty() || rest.starts_with([' ', '\t', '(', '>'])).then_some(rest)
}

fn flag<'a>(text: &'a str, words: &str) -> (bool, &'a str) {
    text.strip_prefix(words).map_or((false, text), |rest| (true, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_back() {
        for text in [
            "Seq Scan",
            "Parallel Seq Scan",
            "Async Foreign Scan",
            "Index Scan Backward",
            "Index Only Scan",
            "Nested Loop",
            "Nested Loop Left Join",
            "Hash",
            "Hash Join",
            "Parallel Hash Right Anti Join",
            "Merge Full Join",
            "Merge Append",
            "Merge",
            "Insert",
            "Foreign Update",
            "Partial HashAggregate",
            "Finalize GroupAggregate",
            "MixedAggregate",
            "HashSetOp Except All",
            "SetOp Intersect",
            "Custom Scan (Columnar)",
            "Group",
            "Gather Merge",
            "BitmapAnd",
            "Parallel Bitmap Heap Scan",
            "Nested Loop Semi Join",
            "Merge Join",
            "Result",
            "Incremental Sort",
        ] {
            let (label, rest) = Label::read(text).expect(text);
            assert_eq!((label.words().as_str(), rest), (text, ""), "{label:?}");
        }
    }

    #[test]
    fn what_no_postgresql_prints_is_not_read() {
        for text in ["", "Sequential Scan", "SortX", "Join", "index scan", "Partial Sort"] {
            assert_eq!(Label::read(text), None, "{text}");
        }
    }

    #[test]
    fn what_follows_is_given_back() {
        let (label, rest) = Label::read("Index Scan using i on t a").expect("read");
        assert_eq!((label.node_type, rest), ("Index Scan", " using i on t a"));
    }
}
