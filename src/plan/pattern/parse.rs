//! Patterns from text. Errors say what is wrong and give the nearest right form.

use regex::Regex;

use super::{Link, Name, NodeName, Step, Target};
use crate::plan::label::{self, Label};
use crate::plan::title::take_identifier;

/// Links are kept as bits of a word while matching.
const MOST_STEPS: usize = 64;

const INDEXED: [&str; 2] = ["Index Scan", "Index Only Scan"];

/// Nodes that EXPLAIN prints with `on NAME`.
const WITH_TARGET: &[&str] = &[
    "Seq Scan",
    "Sample Scan",
    "Index Scan",
    "Index Only Scan",
    "Bitmap Index Scan",
    "Bitmap Heap Scan",
    "Tid Scan",
    "Tid Range Scan",
    "Subquery Scan",
    "Function Scan",
    "Table Function Scan",
    "Values Scan",
    "CTE Scan",
    "Named Tuplestore Scan",
    "WorkTable Scan",
    "Foreign Scan",
    "Custom Scan",
    "ModifyTable",
];

/// What other systems, and people, call PostgreSQL's nodes.
const FOREIGN_WORDS: &[(&str, &str)] = &[
    ("Sequential Scan", "Seq Scan"),
    ("Table Scan", "Seq Scan"),
    ("Full Table Scan", "Seq Scan"),
    ("Index Seek", "Index Scan"),
    ("Bitmap Scan", "Bitmap Heap Scan"),
    ("Hash Match", "Hash Join"),
];

/// A name as a pattern prints it: quoted only where it would not be read back bare.
pub(super) fn printed(name: &str) -> String {
    let bare = !name.is_empty() && !name.contains([' ', '.', '\t', '\n', '\r', '"', '>', '/']);
    if bare && name == name.trim() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("write a node as EXPLAIN prints it, such as `Seq Scan on events`".to_owned());
    }
    if let Some(after) = rest.strip_prefix("->") {
        return Err(format!("leave EXPLAIN's arrow out: `{}`", after.trim()));
    }
    let mut steps = vec![];
    let mut link = Link::First;
    loop {
        let (step, after) = step(rest, link)?;
        steps.push(step);
        rest = after.trim_start();
        (link, rest) = match rest
            .strip_prefix(">>")
            .map(|r| (Link::Descendant, r))
            .or(rest.strip_prefix('>').map(|r| (Link::Child, r)))
        {
            Some(next) => next,
            None if rest.is_empty() => return Ok(steps),
            None => return Err(unexpected(text, rest)),
        };
        if steps.len() == MOST_STEPS {
            return Err(format!("more than {MOST_STEPS} nodes in one pattern: use `tree`"));
        }
    }
}

fn unexpected(text: &str, rest: &str) -> String {
    let before = text.trim().strip_suffix(rest).unwrap_or_default().trim_end();
    if rest.starts_with('(') {
        return format!("leave the numbers in parentheses out: `{before}`");
    }
    format!(
        "`{rest}` was not expected: a node is `NODE [using INDEX] [on NAME [ALIAS]]`, then `>` or `>>`; as far as it is right: `{before}`"
    )
}

fn step(text: &str, link: Link) -> Result<(Step, &str), String> {
    let text = text.trim_start();
    let (exact, text) = match text.strip_prefix('=') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    if let Some((kind, name, rest)) = header(text)? {
        return Ok((
            Step { link, exact, node: NodeName::Header(kind, name), index: None, target: None },
            rest,
        ));
    }
    let more_words = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_uppercase());
    let read = Label::read(text).filter(|(_, rest)| !more_words(rest));
    let (label, mut rest) = read.ok_or_else(|| unknown(text))?;
    let words = label.words();
    let (mut index, mut target) = (None, None);
    if let Some(after) = keyword(rest, "using") {
        if !INDEXED.contains(&label.node_type) {
            return Err(no_index(label.node_type, &words, after));
        }
        let (name, after) = name(after)?;
        (index, rest) = (Some(name), after);
    }
    if let Some(after) = keyword(rest, "on") {
        if !WITH_TARGET.contains(&label.node_type) {
            return Err(no_target(&words, after));
        }
        let (on, after) = read_target(after)?;
        (target, rest) = (Some(on), after);
    }
    if index.is_none() && keyword(rest, "using").is_some() && INDEXED.contains(&label.node_type) {
        let (index, _) = name(keyword(rest, "using").unwrap_or_default())?;
        let on = target.map_or_else(String::new, |target| format!(" on {}", target.name));
        return Err(format!("the index stands before the table: `{words} using {index}{on}`"));
    }
    Ok((Step { link, exact, node: NodeName::Words(words), index, target }, rest))
}

type Header<'a> = Option<(&'static str, Option<Name>, &'a str)>;

fn header(text: &str) -> Result<Header<'_>, String> {
    for kind in ["SubPlan", "InitPlan", "CTE"] {
        let Some(rest) =
            text.strip_prefix(kind).filter(|rest| rest.is_empty() || rest.starts_with([' ', '>']))
        else {
            continue;
        };
        if Label::read(text).is_some() {
            return Ok(None);
        }
        let after = rest.trim_start();
        if after.is_empty() || after.starts_with('>') {
            if kind == "CTE" {
                return Err("name the CTE, such as `CTE recent`, or write `CTE Scan`".to_owned());
            }
            return Ok(Some((kind, None, rest)));
        }
        let (name, rest) = name(after)?;
        return Ok(Some((kind, Some(name), rest)));
    }
    Ok(None)
}

/// What stands after a keyword, where `text` continues with it.
fn keyword<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    text.strip_prefix(word)?.strip_prefix([' ', '\t']).map(str::trim_start)
}

fn read_target(text: &str) -> Result<(Target, &str), String> {
    let (first, rest) = name(text)?;
    let (schema, name_, rest) = match (rest.strip_prefix('.'), first) {
        (Some(after), Name::Plain(schema)) => {
            let (name, rest) = name(after)?;
            (Some(schema), name, rest)
        }
        (_, first) => (None, first, rest),
    };
    let after = rest.trim_start();
    let ends = after.is_empty() || after.starts_with(['>', '(']) || keyword(after, "using").is_some();
    if ends {
        return Ok((Target { schema, name: name_, alias: None }, rest));
    }
    let (alias, rest) = name(after)?;
    Ok((Target { schema, name: name_, alias: Some(alias) }, rest))
}

/// A plain name, a quoted one, or a regular expression between slashes.
fn name(text: &str) -> Result<(Name, &str), String> {
    if let Some(inside) = text.strip_prefix('/') {
        let end = end_of_regex(inside)
            .ok_or_else(|| format!("the regular expression has no closing slash: `/{inside}/`"))?;
        let source = inside[..end].replace("\\/", "/");
        let regex = Regex::new(&source).map_err(|error| {
            let error = error.to_string();
            let why =
                error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            format!("`/{source}/` is not a regular expression: {why}")
        })?;
        return Ok((Name::Regex(regex), &inside[end + 1..]));
    }
    let stop = text.find(['>', '/']).filter(|_| !text.starts_with('"')).unwrap_or(text.len());
    let (head, tail) = text.split_at(stop);
    match take_identifier(head) {
        Some((name, rest)) => {
            Ok((Name::Plain(name), &text[head.len() - rest.len()..][..rest.len() + tail.len()]))
        }
        None if text.starts_with('"') => Err(format!("the quoted name has no closing quote: `{text}\"`")),
        None => Err(format!("a name is missing before `{}`: write `on NAME`, `using INDEX`", text.trim())),
    }
}

fn end_of_regex(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| match c {
        _ if escaped => {
            escaped = false;
            None
        }
        '\\' => {
            escaped = true;
            None
        }
        '/' => Some(at),
        _ => None,
    })
}

fn no_index(node_type: &str, words: &str, after: &str) -> String {
    let index = after.split([' ', '>']).next().unwrap_or_default();
    match node_type {
        "Bitmap Heap Scan" => {
            let table =
                after.split_once(" on ").map_or("t", |(_, t)| t.split([' ', '>']).next().unwrap_or("t"));
            format!(
                "the index stands on the node below: `Bitmap Heap Scan on {table} >> Bitmap Index Scan on {index}`"
            )
        }
        "Bitmap Index Scan" => format!("EXPLAIN prints its index with `on`: `Bitmap Index Scan on {index}`"),
        _ => format!("{words} uses no index: `Index Scan using {index}`, or `{words}` alone"),
    }
}

fn no_target(words: &str, after: &str) -> String {
    let name = after.split([' ', '>']).next().unwrap_or_default();
    format!("EXPLAIN prints no relation on {words}: `{words}` alone, or `{words} >> Seq Scan on {name}`")
}

fn unknown(text: &str) -> String {
    if text.is_empty() || text.starts_with('>') {
        return "a node is missing beside `>`: write `A > B`".to_owned();
    }
    let words = [" using ", " on ", " >", ">", " ("].iter().filter_map(|stop| text.find(stop)).min();
    let words = text[..words.unwrap_or(text.len())].trim();
    let rest = &text[words.len()..];
    let like = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &words.to_lowercase());
    if let Some((_, ours)) = FOREIGN_WORDS.iter().find(|(theirs, _)| words.eq_ignore_ascii_case(theirs)) {
        return format!("no PostgreSQL prints a node `{words}`: nearest is `{ours}{}`", rest.trim_end());
    }
    let nearest =
        label::known_words().into_iter().max_by(|a, b| like(a).total_cmp(&like(b))).unwrap_or_default();
    if like(&nearest) < 0.75 {
        return format!(
            "no PostgreSQL prints a node `{words}`: write one as EXPLAIN prints it, such as `Seq Scan on t`"
        );
    }
    format!("no PostgreSQL prints a node `{words}`: nearest is `{nearest}{}`", rest.trim_end())
}
