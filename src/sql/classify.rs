//! What a statement is, as far as its tokens tell.

use sqlparser::tokenizer::Token;

use super::{is_blank, tokens, word};

/// The leading run of unquoted words of a statement, upper-cased, comments and opening parentheses skipped:
/// `CREATE UNIQUE INDEX i ON t (a)` gives `CREATE UNIQUE INDEX I ON T`.
#[must_use]
pub fn leading_keywords(statement: &str) -> Vec<String> {
    let (tokens, _) = tokens(statement);
    tokens
        .iter()
        .map(|token| &token.token)
        .filter(|token| !is_blank(token))
        .skip_while(|token| **token == Token::LParen)
        .map_while(word)
        .collect()
}

/// Whether a statement changes data, as far as its tokens tell: `INSERT`, `UPDATE`, `DELETE`, `MERGE`,
/// `TRUNCATE`, `COPY … FROM`, `SELECT … INTO`, `CREATE … AS`, `REFRESH`, a CTE that writes, and `DO` and
/// `CALL`, which may. Row locks (`FOR UPDATE`) do not count, and what a function does inside cannot be seen.
#[must_use]
pub fn modifies_data(statement: &str) -> bool {
    let (tokens, _) = tokens(statement);
    let tokens: Vec<&Token> =
        tokens.iter().map(|token| &token.token).filter(|token| !is_blank(token)).collect();
    let words: Vec<Option<String>> = tokens.iter().map(|token| word(token)).collect();
    let at = |index: usize| words.get(index).and_then(Option::as_deref);
    let lead = words.iter().flatten().next().map(String::as_str);
    match lead {
        Some("TRUNCATE" | "REFRESH" | "DO" | "CALL") => return true,
        Some("COPY") if outside(&tokens, &words, "FROM").is_some() => return true,
        Some("CREATE") if outside(&tokens, &words, "AS").is_some() && creates_relation(&words) => {
            return true;
        }
        Some("SELECT" | "WITH") => {
            if let Some(index) = outside(&tokens, &words, "INTO")
                && !matches!(at(index.wrapping_sub(1)), Some("INSERT" | "MERGE"))
            {
                return true;
            }
        }
        _ => {}
    }
    (0..tokens.len()).any(|index| {
        let verb = match at(index) {
            Some("INSERT" | "MERGE") => at(index + 1) == Some("INTO"),
            Some("DELETE") => at(index + 1) == Some("FROM"),
            Some("UPDATE") => matches!(tokens.get(index + 1), Some(Token::Word(_))),
            _ => false,
        };
        verb && may_precede_a_statement(index.checked_sub(1).map(|i| (tokens[i], at(i))))
    })
}

/// The first place, outside parentheses, of a word.
fn outside(tokens: &[&Token], words: &[Option<String>], wanted: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth == 0 && words[index].as_deref() == Some(wanted) => return Some(index),
            _ => {}
        }
    }
    None
}

/// `CREATE [TEMP | UNLOGGED | …] TABLE` or `CREATE MATERIALIZED VIEW`.
fn creates_relation(words: &[Option<String>]) -> bool {
    words.iter().map_while(Option::as_deref).take(4).any(|word| word == "TABLE" || word == "MATERIALIZED")
}

/// Whether a data-changing statement can follow: the start, a parenthesis (a CTE, or what stands after the
/// CTEs), or the words of `EXPLAIN` and `PREPARE`.
fn may_precede_a_statement(previous: Option<(&Token, Option<&str>)>) -> bool {
    match previous {
        None | Some((Token::LParen | Token::RParen, _)) => true,
        Some((_, word)) => matches!(word, Some("EXPLAIN" | "ANALYZE" | "VERBOSE" | "AS")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_skip_comments_and_stop_at_the_first_other_token() {
        assert_eq!(
            leading_keywords("/* a */ create -- b\n unique index \"I\" on t"),
            ["CREATE", "UNIQUE", "INDEX"]
        );
        assert_eq!(leading_keywords("(SELECT 1) UNION SELECT 2"), ["SELECT"]);
        assert!(leading_keywords("-- nothing").is_empty());
    }

    #[test]
    fn statements_that_change_data_are_told() {
        for sql in [
            "INSERT INTO t VALUES (1)",
            "/* x */ update t SET a = 1",
            "DELETE FROM t",
            "MERGE INTO t USING s ON true WHEN MATCHED THEN DO NOTHING",
            "TRUNCATE t",
            "COPY t FROM STDIN",
            "COPY t (a, b) FROM '/tmp/x' (FORMAT csv)",
            "SELECT * INTO u FROM t",
            "CREATE TEMP TABLE u AS SELECT 1",
            "CREATE MATERIALIZED VIEW v AS SELECT 1",
            "REFRESH MATERIALIZED VIEW v",
            "WITH gone AS (DELETE FROM t RETURNING *) SELECT count(*) FROM gone",
            "WITH gone AS MATERIALIZED (UPDATE \"T\" SET a = 1 RETURNING *) SELECT 1",
            "WITH s AS (SELECT 1) INSERT INTO t SELECT * FROM s",
            "EXPLAIN ANALYZE DELETE FROM t",
            "EXPLAIN (ANALYZE, BUFFERS) UPDATE t SET a = 1",
            "DO $$ BEGIN NULL; END $$",
            "CALL p()",
        ] {
            assert!(modifies_data(sql), "{sql}");
        }
    }

    #[test]
    fn reading_is_not_changing() {
        for sql in [
            "SELECT 1",
            "SELECT * FROM t FOR UPDATE",
            "SELECT * FROM t FOR NO KEY UPDATE OF t",
            "SELECT 'DELETE FROM t', \"insert\" FROM t",
            "SELECT update, t.delete FROM t WHERE insert = 1",
            "COPY t TO STDOUT",
            "COPY (SELECT a FROM t) TO STDOUT",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "SELECT $$ INSERT INTO t $$",
            "CREATE INDEX i ON t (a)",
            "CREATE VIEW v AS SELECT 1",
            "VACUUM t",
            "-- DELETE FROM t\nTABLE t",
        ] {
            assert!(!modifies_data(sql), "{sql}");
        }
    }
}
