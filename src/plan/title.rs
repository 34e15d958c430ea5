//! A node's title line: its words, the index and the relation, with identifiers quoted as PostgreSQL quotes.

use super::Node;
use super::label::Label;

/// The properties that can name what a node scans or changes.
pub(super) const TARGET_NAMES: [&str; 5] =
    ["Relation Name", "CTE Name", "Function Name", "Table Function Name", "Tuplestore Name"];

/// Keywords that PostgreSQL 18 quotes as identifiers (all but the unreserved), sorted.
const KEYWORDS: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "json",
    "json_array",
    "json_arrayagg",
    "json_exists",
    "json_object",
    "json_objectagg",
    "json_query",
    "json_scalar",
    "json_serialize",
    "json_table",
    "json_value",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "merge_action",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// The properties behind a node's words.
pub(super) fn label_of(node: &Node) -> Label<'_> {
    let text = |name| node.properties.text(name);
    Label {
        node_type: node.node_type(),
        parallel: node.properties.flag("Parallel Aware"),
        asynchronous: node.properties.flag("Async Capable"),
        backward: text("Scan Direction") == Some("Backward"),
        strategy: text("Strategy"),
        partial: text("Partial Mode"),
        join: text("Join Type"),
        command: text("Command"),
        operation: text("Operation"),
        provider: text("Custom Plan Provider"),
    }
}

/// The words before `using` and `on`.
pub(super) fn label(node: &Node) -> String {
    let mut label = label_of(node);
    // JSON reports Async Capable for what could run so; text prints the word only on foreign scans.
    label.asynchronous &= node.node_type() == "Foreign Scan";
    label.words()
}

/// The whole title; without the schema where `schema` is false.
pub(super) fn title(node: &Node, schema: bool) -> String {
    let mut out = label(node);
    if let Some(index) = node.index() {
        out.push_str(if node.node_type() == "Bitmap Index Scan" { " on " } else { " using " });
        out.push_str(&quoted(index));
    }
    push_target(&mut out, node.properties(), schema);
    out
}

/// ` on schema.name alias`, of a node or of one target of a change.
pub(super) fn push_target(out: &mut String, properties: &super::Properties, schema: bool) {
    let name = TARGET_NAMES.iter().find_map(|name| properties.text(name));
    let alias = properties.text("Alias").filter(|alias| Some(*alias) != name);
    if name.is_none() && alias.is_none() {
        return;
    }
    out.push_str(" on");
    if let Some(name) = name {
        out.push(' ');
        if let Some(schema) = properties.text("Schema").filter(|_| schema) {
            out.push_str(&quoted(schema));
            out.push('.');
        }
        out.push_str(&quoted(name));
    }
    if let Some(alias) = alias {
        out.push(' ');
        out.push_str(&quoted(alias));
    }
}

/// An identifier as PostgreSQL prints it: in double quotes unless it is a plain lower-case word.
pub(super) fn quoted(name: &str) -> String {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let plain = name.chars().all(word) && name.starts_with(|c: char| !c.is_ascii_digit());
    if plain && KEYWORDS.binary_search(&name).is_err() {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Takes one identifier, quoted or bare, from the start of `text`.
pub(super) fn take_identifier(text: &str) -> Option<(String, &str)> {
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.bytes().position(|byte| matches!(byte, b' ' | b'.' | b'\t')).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        return (!name.is_empty() && !name.bytes().any(|byte| byte == b'"')).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    let mut rest = inside;
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_quoted_as_postgresql_quotes() {
        for (name, printed) in [
            ("t", "t"),
            ("t_1", "t_1"),
            ("T", "\"T\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("1t", "\"1t\""),
            ("user", "\"user\""),
            ("name", "name"),
            ("größe", "\"größe\""),
            ("", "\"\""),
            ("*VALUES*", "\"*VALUES*\""),
        ] {
            assert_eq!(quoted(name), printed);
            assert_eq!(take_identifier(printed), Some((name.to_owned(), "")));
        }
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }
}
