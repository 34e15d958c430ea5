//! Splitting SQL at its semicolons.

use sqlparser::tokenizer::{Location, Token};

use super::{is_blank, is_space, tokens, word};

/// One statement of a longer text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement as written, without its semicolon, comments before it included.
    pub text: String,
    /// Where the text starts, in bytes from the start of the whole.
    pub offset: usize,
    /// The leading run of unquoted words, upper-cased; see [`super::leading_keywords`].
    pub keywords: Vec<String>,
}

/// A text whose statements cannot be told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SplitError {
    /// What is wrong.
    pub message: String,
    /// Where the tokenizer stopped, in bytes from the start of the text.
    pub offset: usize,
}

/// Splits `sql` into its statements, in order.
///
/// Semicolons in strings, dollar quotes, quoted identifiers, comments (nested ones too), parentheses and the
/// `BEGIN ATOMIC … END` body of a function or procedure do not end a statement. Pieces that hold nothing but
/// comments are dropped.
///
/// # Errors
/// An unterminated string, dollar quote, quoted identifier or comment.
pub fn split_statements(sql: &str) -> Result<Vec<Statement>, SplitError> {
    let (tokens, error) = tokens(sql);
    let mut cursor = Cursor::new(sql);
    if let Some(error) = error {
        return Err(SplitError {
            message: error.message.to_lowercase(),
            offset: cursor.offset_of(error.location),
        });
    }
    let mut statements = Vec::new();
    let mut piece = Piece::default();
    for token in &tokens {
        let start = cursor.offset_of(token.span.start);
        if token.token == Token::SemiColon && piece.nesting.is_outside() {
            if !sql[start..].starts_with(';') {
                return Err(SplitError {
                    message: "the statements cannot be told apart".to_owned(),
                    offset: start,
                });
            }
            statements.extend(std::mem::take(&mut piece).finish(sql));
            continue;
        }
        let end = cursor.offset_of(token.span.end);
        piece.add(&token.token, start, end);
    }
    statements.extend(piece.finish(sql));
    Ok(statements)
}

/// The tokens since the last semicolon.
#[derive(Default)]
struct Piece {
    /// The first byte that is no white space.
    start: Option<usize>,
    /// The byte after the last token that is neither white space nor comment.
    end: Option<usize>,
    keywords: Vec<String>,
    /// Whether the leading run of words has ended.
    past_keywords: bool,
    nesting: Nesting,
}

impl Piece {
    fn add(&mut self, token: &Token, start: usize, end: usize) {
        if is_space(token) {
            return;
        }
        self.start.get_or_insert(start);
        if is_blank(token) {
            return;
        }
        self.end = Some(end);
        self.nesting.see(token, &self.keywords);
        match word(token) {
            Some(word) if !self.past_keywords => self.keywords.push(word),
            None if *token == Token::LParen && self.keywords.is_empty() => {}
            _ => self.past_keywords = true,
        }
    }

    fn finish(self, sql: &str) -> Option<Statement> {
        let (start, end) = (self.start?, self.end?);
        Some(Statement { text: sql[start..end].to_owned(), offset: start, keywords: self.keywords })
    }
}

/// What a semicolon may stand inside of, as psql tells it.
#[derive(Default)]
struct Nesting {
    parentheses: usize,
    /// Open `BEGIN` and `CASE` of a function's body.
    blocks: usize,
}

impl Nesting {
    fn is_outside(&self) -> bool {
        self.parentheses == 0 && self.blocks == 0
    }

    fn see(&mut self, token: &Token, keywords: &[String]) {
        match token {
            Token::LParen => self.parentheses += 1,
            Token::RParen => self.parentheses = self.parentheses.saturating_sub(1),
            Token::Word(_) if self.parentheses == 0 && creates_routine(keywords) => {
                match word(token).as_deref() {
                    Some("BEGIN") => self.blocks += 1,
                    Some("CASE") if self.blocks > 0 => self.blocks += 1,
                    Some("END") => self.blocks = self.blocks.saturating_sub(1),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Whether a statement that starts so creates a function or procedure.
fn creates_routine(keywords: &[String]) -> bool {
    let rest = match keywords {
        [create, or, replace, rest @ ..] if create == "CREATE" && or == "OR" && replace == "REPLACE" => rest,
        [create, rest @ ..] if create == "CREATE" => rest,
        _ => return false,
    };
    matches!(rest.first().map(String::as_str), Some("FUNCTION" | "PROCEDURE"))
}

/// Turns the tokenizer's lines and columns, which count characters, into byte offsets. It only walks forward,
/// so that a long text is walked once.
struct Cursor<'a> {
    sql: &'a str,
    offset: usize,
    at: Location,
}

impl<'a> Cursor<'a> {
    fn new(sql: &'a str) -> Self {
        Self { sql, offset: 0, at: Location::new(1, 1) }
    }

    fn offset_of(&mut self, target: Location) -> usize {
        for character in self.sql[self.offset..].chars() {
            if self.at >= target {
                break;
            }
            self.offset += character.len_utf8();
            self.at = if character == '\n' {
                Location::new(self.at.line + 1, 1)
            } else {
                Location::new(self.at.line, self.at.column + 1)
            };
        }
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<String> {
        let statements = split_statements(sql).unwrap();
        for statement in &statements {
            assert!(sql[statement.offset..].starts_with(&statement.text));
        }
        statements.into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn semicolons_split_and_comments_alone_do_not_count() {
        assert_eq!(texts("SELECT 1; -- one\n ;; SELECT 2 /* two */ ;\n-- end"), ["SELECT 1", "SELECT 2"]);
        assert!(texts(" /* nothing */ -- here").is_empty());
        assert!(texts("").is_empty());
    }

    #[test]
    fn a_comment_before_a_statement_stays_with_it() {
        assert_eq!(
            texts("/*+ SeqScan(t) */ SELECT 1 -- why\n; SELECT 2"),
            ["/*+ SeqScan(t) */ SELECT 1", "SELECT 2"]
        );
    }

    #[test]
    fn quoting_hides_semicolons() {
        for sql in [
            "SELECT 'a;b'",
            "SELECT E'a\\';b'",
            "SELECT 'a\\'",
            "SELECT \"a;b\" FROM t",
            "SELECT $$a;b$$",
            "SELECT $x$a;$$;b$x$",
            "SELECT /* a; /* b; */ c; */ 1",
            "SELECT U&'d\\0061t\\+000061; x'",
            "SELECT 'ü;ö' AS \"é;\"",
            "SELECT '{\"a\": 1}'::jsonb @> '{\"a\": 1}' AND x #>> '{a,b}' = ';'",
            "SELECT B'101', X'1F', 1_000, 0x1F, 1.5e10, .5, $1, a.b, x ?| y, 2 ^ 3 |/ 4",
            "CREATE RULE r AS ON INSERT TO t DO ALSO (INSERT INTO u VALUES (1); SELECT 1)",
        ] {
            assert_eq!(texts(&format!("{sql};SELECT 2")), [sql, "SELECT 2"], "{sql}");
        }
    }

    #[test]
    fn a_function_body_is_one_statement() {
        let body = "CREATE OR REPLACE FUNCTION f(x int) RETURNS int LANGUAGE sql\nBEGIN ATOMIC\n  \
                    SELECT CASE WHEN x > 1 THEN 1 ELSE 2 END; SELECT 3;\nEND";
        assert_eq!(texts(&format!("{body}; SELECT 2")), [body, "SELECT 2"]);
        assert_eq!(texts("BEGIN; SELECT 1; END; SELECT 2").len(), 4);
    }

    #[test]
    fn offsets_count_bytes_over_lines_and_wide_characters() {
        let statements = split_statements("SELECT 'ü'\r\n;\n\n  SELECT 2").unwrap();
        assert_eq!(statements[0].text, "SELECT 'ü'");
        assert_eq!(statements[1].offset, 18);
        assert_eq!(statements[1].keywords, ["SELECT"]);
    }

    #[test]
    fn what_is_not_terminated_is_an_error_with_its_place() {
        for sql in ["SELECT 'a", "SELECT $$a", "SELECT \"a", "SELECT /* a", "SELECT $x$ a $y$"] {
            let error = split_statements(sql).unwrap_err();
            assert!(error.offset <= sql.len() && !error.message.is_empty(), "{sql}");
        }
    }

    #[test]
    fn a_long_text_is_split_in_linear_time() {
        let sql = "INSERT INTO t VALUES (1, 'x;y');\n".repeat(20_000);
        let started = std::time::Instant::now();
        assert_eq!(split_statements(&sql).unwrap().len(), 20_000);
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_pieces_in_order_or_an_error_in_bounds(
            sql in "([a-zü]|[;'\"$()/*\\n -]|BEGIN|CREATE FUNCTION|ATOMIC|END|[$][$]|--|E'|/[*]|[*]/){0,40}"
        ) {
            match split_statements(&sql) {
                Ok(statements) => {
                    let mut last = 0;
                    for statement in statements {
                        proptest::prop_assert!(statement.offset >= last && !statement.text.is_empty());
                        last = statement.offset + statement.text.len();
                        proptest::prop_assert_eq!(&sql[statement.offset..last], statement.text);
                    }
                }
                Err(error) => proptest::prop_assert!(sql.is_char_boundary(error.offset)),
            }
        }
    }
}
