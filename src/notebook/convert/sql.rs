//! SQL in a notebook: what YAML may have done to it, and statements that have no place in it.

use std::ops::Range;

use crate::sql::{Statement, modifies_data, split_statements};

use super::super::model::Template;
use super::super::node::NodeId;
use super::super::scalar::locate;
use super::super::wire::Sql;
use super::Convert;
use super::names::Scope;

impl Convert<'_> {
    /// Statements, each in its own transaction.
    pub(super) fn statements(&self, sql: Sql, scope: Scope) -> Option<Template> {
        self.cut_short(sql.0);
        let template = self.template(sql.0, scope)?;
        let statements = self.split(sql, &template)?;
        let mut allowed = true;
        for statement in &statements {
            if let Some((message, help)) = refusal(statement, self.server.fresh) {
                self.statement_fault(&template, statement, message, help);
                allowed = false;
            }
        }
        allowed.then_some(template)
    }

    /// Whether the template is one statement that reads.
    pub(super) fn must_read(&self, sql: Sql, template: &Template) -> bool {
        let Some(statements) = self.split(sql, template) else { return false };
        let [statement] = statements.as_slice() else {
            let second = &statements[1];
            self.statement_fault(
                template,
                second,
                "a query is one statement, and a second begins here".to_owned(),
                "move it to a `sql` step",
            );
            return false;
        };
        if statement.offset < template.text.len() && template.text[statement.offset..].starts_with("{{") {
            return true;
        }
        let first = statement.keywords.first().map_or("", String::as_str);
        let (message, help) = match first {
            "EXPLAIN" => ("Planbook explains the query itself", "write the query without EXPLAIN"),
            "PREPARE" | "EXECUTE" => ("a prepared statement is no query", "write the query itself"),
            _ if modifies_data(&statement.text) => {
                let help = "write it in a `sql` step, or in a `time` step, where every execution has a clone of its own";
                ("this changes data, and a query here is executed many times", help)
            }
            "SELECT" | "WITH" | "VALUES" | "TABLE" => return true,
            _ => ("this is no query", "begin it with SELECT, WITH, VALUES or TABLE"),
        };
        self.statement_fault(template, statement, message.to_owned(), help);
        false
    }

    /// The statements of a template, at least one. What stands between braces is masked.
    pub(super) fn split(&self, sql: Sql, template: &Template) -> Option<Vec<Statement>> {
        let tree = self.reader.tree;
        match split_statements(&masked(&template.text)) {
            Ok(statements) if statements.is_empty() => {
                self.reader.fault(
                    tree.place(sql.0),
                    "there is no statement here",
                    "write SQL, or leave the step out",
                );
                None
            }
            Ok(statements) => Some(statements),
            Err(error) => {
                let place = locate(&template.text, template.at, &tree.source, error.offset, 1);
                self.reader.fault(
                    place,
                    format!("this is not SQL: {}", error.message),
                    "close the quote or the comment",
                );
                None
            }
        }
    }

    pub(super) fn statement_fault(
        &self,
        template: &Template,
        statement: &Statement,
        message: String,
        help: &str,
    ) {
        let tree = self.reader.tree;
        let skipped = comments(&statement.text);
        let first_line = statement.text[skipped..].lines().next().map_or(0, |line| line.trim_end().len());
        let place = locate(&template.text, template.at, &tree.source, statement.offset + skipped, first_line);
        self.reader.fault(place, message, help);
    }

    /// Refuses an unquoted value that YAML cut at ` #`: the rest would be a comment, and another query would
    /// run.
    pub(super) fn cut_short(&self, id: NodeId) {
        let tree = self.reader.tree;
        if !tree.is_plain(id) {
            return;
        }
        let place = tree.place(id);
        let end = place.offset + place.length;
        let rest = tree.source.text[end..].split('\n').next().unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if blank > 0 && rest[blank..].starts_with('#') {
            let place = tree.source.place(end + blank, rest[blank..].trim_end().len());
            let message = "YAML cuts an unquoted value at ` #`, and reads the rest as a comment";
            self.reader.fault(
                place,
                message,
                "quote the value, write it in a `|` block, or put the comment above it",
            );
        }
    }

    /// Refuses unquoted items of a `[…]` where a comma inside one split it. Items that all begin a query were meant so.
    pub(super) fn split_at_commas(&self, items: &[Sql]) {
        let tree = self.reader.tree;
        if items.len() < 2 {
            return;
        }
        let in_brackets = |id: NodeId| {
            let before = tree.source.text[..tree.place(id).offset].trim_end();
            before.ends_with(['[', ',']) && tree.is_plain(id)
        };
        let Some(first) = items.iter().map(|sql| sql.0).find(|id| in_brackets(*id)) else { return };
        let Some(piece) = items.iter().map(|sql| tree.text(sql.0)).find(|text| !begins_query(text)) else {
            return;
        };
        let message = format!(
            "YAML splits unquoted SQL in `[…]` at every comma, and reads {} items here, one of them `{piece}`",
            items.len()
        );
        self.reader.fault(
            tree.place(first),
            message,
            "quote each item, or write each on a line of its own after a dash",
        );
    }
}

/// Whether a text can be a query by itself, and cannot be what a comma left of one.
fn begins_query(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match first.as_str() {
        "SELECT" | "WITH" | "TABLE" => true,
        // Also the name of a column, where no row follows.
        "VALUES" => words.next().is_some_and(|row| row.starts_with('(')),
        _ => first.starts_with("VALUES("),
    }
}

/// The text with what stands between braces masked, byte for byte: `{{ n }}` is a word, `{% if %}` a blank.
fn masked(text: &str) -> String {
    let mut masked = text.to_owned();
    for (open, close, with) in [("{{", "}}", "x"), ("{%", "%}", " "), ("{#", "#}", " ")] {
        for range in braces(text, open, close) {
            masked.replace_range(range.clone(), &with.repeat(range.len()));
        }
    }
    masked
}

fn braces(text: &str, open: &str, close: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(open).map(|found| at + found) {
        let Some(end) = text[start..].find(close).map(|found| start + found + close.len()) else { break };
        ranges.push(start..end);
        at = end;
    }
    ranges
}

/// The length of the comments and blanks that a statement begins with.
fn comments(statement: &str) -> usize {
    let mut rest = statement.trim_start();
    loop {
        let next = if rest.starts_with("--") {
            rest.split_once('\n').map_or("", |(_, rest)| rest)
        } else if rest.starts_with("/*") {
            rest.split_once("*/").map_or("", |(_, rest)| rest)
        } else {
            return statement.len() - rest.len();
        };
        rest = next.trim_start();
    }
}

/// Why a statement has no place in a notebook, and what to write instead.
pub(super) fn refusal(statement: &Statement, fresh: bool) -> Option<(String, &'static str)> {
    let words: Vec<&str> = statement.keywords.iter().map(String::as_str).take(3).collect();
    let first = words.first().copied().unwrap_or_default();
    let refused = |what: &str, help: &'static str| Some((format!("{what} has no place in `sql`"), help));
    match first {
        "SET" | "RESET" | "DISCARD" => {
            refused(first, "use `settings` of the notebook, the measure or the arm")
        }
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE" => {
            refused(first, "each statement is a transaction of its own: write the statements alone")
        }
        "PREPARE" | "EXECUTE" | "DEALLOCATE" => {
            refused(first, "write the query itself, as the `query` of a measure")
        }
        "LOAD" => refused(first, "leave it out: a measure loads auto_explain by itself"),
        "COPY" if statement.text.to_uppercase().split_whitespace().any(|word| word == "STDIN") => Some((
            "COPY FROM STDIN has no input in a notebook".to_owned(),
            "generate the rows in SQL: INSERT INTO … SELECT … FROM generate_series(…), or keep them in a file that the \
             dataset names under `copy`",
        )),
        _ if fresh => None,
        _ => outliving(statement),
    }
}

/// Why a statement would be felt beyond the database that it runs in, where it would.
pub(in super::super) fn outliving(statement: &Statement) -> Option<(String, &'static str)> {
    let words: Vec<&str> = statement.keywords.iter().map(String::as_str).take(3).collect();
    match words.as_slice() {
        ["ALTER", "SYSTEM", ..] => Some(outlives("ALTER SYSTEM")),
        ["CREATE" | "DROP" | "ALTER", "USER", "MAPPING"] => None,
        [
            first @ ("CREATE" | "DROP" | "ALTER"),
            what @ ("ROLE" | "USER" | "GROUP" | "TABLESPACE" | "DATABASE" | "SUBSCRIPTION"),
            ..,
        ] => Some(outlives(&format!("{first} {what}"))),
        _ => None,
    }
}

fn outlives(what: &str) -> (String, &'static str) {
    (
        format!("{what} outlives the notebook: it changes the whole server"),
        "keep to the notebook's own database, or ask for a server of its own: `server: {fresh: true}`",
    )
}

#[cfg(test)]
mod tests {
    use super::begins_query;

    #[test]
    fn a_query_is_told_from_what_a_comma_left_of_one() {
        for whole in ["SELECT 1.0 AS a", "with x AS (SELECT 1) SELECT", "TABLE t", "VALUES (1)", "VALUES(1)"]
        {
            assert!(begins_query(whole), "{whole}");
        }
        for piece in ["b)", "b FROM t", "values FROM t", "CREATE INDEX i ON t (a", "2)", ""] {
            assert!(!begins_query(piece), "{piece}");
        }
    }
}
