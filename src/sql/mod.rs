//! SQL as text: splitting it into statements, and what can be told of a statement from its tokens.
//!
//! A leaf that needs no connection. The tokens are `sqlparser`'s, in its PostgreSQL dialect; nothing is
//! parsed, because a notebook may use any statement that its server knows.

mod classify;
mod split;

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, TokenizerError, Whitespace};

pub use classify::{leading_keywords, modifies_data};
pub use split::{SplitError, Statement, split_statements};

/// Quotes an identifier for SQL, always: `events` becomes `"events"`.
#[must_use]
pub fn quote_ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a string literal for SQL. A text with backslashes becomes an `E''` literal, which reads the same
/// whatever `standard_conforming_strings` says.
#[must_use]
pub fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

/// The tokens of `sql`, and the error at which the tokenizer stopped, if it did.
fn tokens(sql: &str) -> (Vec<TokenWithSpan>, Option<TokenizerError>) {
    let mut tokens = Vec::new();
    let error = Tokenizer::new(&PostgreSqlDialect {}, sql)
        .with_unescape(false)
        .tokenize_with_location_into_buf(&mut tokens)
        .err();
    (tokens, error)
}

/// An unquoted word, upper-cased.
fn word(token: &Token) -> Option<String> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

/// Whether the token is white space or a comment.
fn is_blank(token: &Token) -> bool {
    matches!(token, Token::Whitespace(_))
}

/// Whether the token is white space and no comment.
fn is_space(token: &Token) -> bool {
    matches!(token, Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_literals_are_quoted() {
        assert_eq!(quote_ident("a\"b"), "\"a\"\"b\"");
        assert_eq!(quote_literal("it's"), "'it''s'");
        assert_eq!(quote_literal("a\\'b"), "E'a\\\\''b'");
    }
}
