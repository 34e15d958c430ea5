//! Properties that text puts several of on one line, split on two spaces.

use serde_json::{Map, Value};

use super::lex::{self, number, object};
use super::title::push_number;
use crate::plan::Properties;

/// Reads a composite line. `None` where `name` is not one; `false` where its value does not read as it should.
pub(super) fn take(name: &str, value: &str, out: &mut Properties) -> Option<bool> {
    let taken = match name {
        "Buffers" => scoped(value, false, out),
        "I/O Timings" => scoped(value, true, out),
        "WAL" => wal(value, out),
        "Sort Method" => sort(value, out),
        "Heap Blocks" => pairs(value, &[("exact", "Exact Heap Blocks"), ("lossy", "Lossy Heap Blocks")], out),
        "Buckets" => hash(value, out),
        "Planned Partitions" | "Batches" => hash_aggregate(name, value, out),
        "Hits" => memoize(value, out),
        "Full-sort Groups" => sort_groups("Full-sort Groups", value, out),
        "Pre-sorted Groups" => sort_groups("Pre-sorted Groups", value, out),
        "Tuples" => pairs(value, TUPLES, out),
        "Storage" => storage(value, out),
        "Sampling" => sampling(value, out),
        "Foreign File Size" => with_unit("Foreign File Size", value, " b", out),
        "Memory" => memory(value, out),
        _ => return None,
    };
    Some(taken.is_some())
}

const TUPLES: &[(&str, &str)] = &[
    ("inserted", "Tuples Inserted"),
    ("updated", "Tuples Updated"),
    ("deleted", "Tuples Deleted"),
    ("skipped", "Tuples Skipped"),
];

/// `shared hit=1 read=2, temp read=3 written=4`: a scope holds until the next one. 13 and 14 print times
/// without a scope.
fn scoped(text: &str, times: bool, out: &mut Properties) -> Option<()> {
    let mut scope = 0;
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        match word {
            "shared" => scope = 1,
            "local" => scope = 2,
            "temp" => scope = 3,
            _ => {
                let (what, amount) = word.split_once('=')?;
                out.push(counter(scope, what, times)?, number(amount)?);
            }
        }
    }
    Some(())
}

fn counter(scope: usize, what: &str, times: bool) -> Option<&'static str> {
    const BLOCKS: [[&str; 4]; 4] = [
        [""; 4],
        ["Shared Hit Blocks", "Shared Read Blocks", "Shared Dirtied Blocks", "Shared Written Blocks"],
        ["Local Hit Blocks", "Local Read Blocks", "Local Dirtied Blocks", "Local Written Blocks"],
        ["", "Temp Read Blocks", "", "Temp Written Blocks"],
    ];
    const TIMES: [[&str; 2]; 4] = [
        ["I/O Read Time", "I/O Write Time"],
        ["Shared I/O Read Time", "Shared I/O Write Time"],
        ["Local I/O Read Time", "Local I/O Write Time"],
        ["Temp I/O Read Time", "Temp I/O Write Time"],
    ];
    let name = match (what, times) {
        ("hit", false) => BLOCKS[scope][0],
        ("read", false) => BLOCKS[scope][1],
        ("dirtied", false) => BLOCKS[scope][2],
        ("written", false) => BLOCKS[scope][3],
        ("read", true) => TIMES[scope][0],
        ("write", true) => TIMES[scope][1],
        _ => "",
    };
    (!name.is_empty()).then_some(name)
}

/// `records=1 fpi=1 bytes=98 buffers full=1`
fn wal(text: &str, out: &mut Properties) -> Option<()> {
    let text = text.replace("buffers full=", "full=");
    let names = [
        ("records", "WAL Records"),
        ("fpi", "WAL FPI"),
        ("bytes", "WAL Bytes"),
        ("full", "WAL Buffers Full"),
    ];
    pairs(&text, &names, out)
}

/// `a=1 b=2`, under other names.
fn pairs(text: &str, names: &[(&str, &'static str)], out: &mut Properties) -> Option<()> {
    for word in text.split_whitespace() {
        let (what, amount) = word.split_once('=')?;
        let (_, name) = names.iter().find(|(short, _)| *short == what)?;
        out.push(*name, number(amount)?);
    }
    Some(())
}

/// `quicksort  Memory: 25kB`
fn sort(text: &str, out: &mut Properties) -> Option<()> {
    let (method, space) = text.split_once("  ")?;
    let (kind, used) = space.split_once(": ")?;
    out.push("Sort Method", method);
    with_unit("Sort Space Used", used, "kB", out)?;
    out.push("Sort Space Type", kind);
    Some(())
}

/// `4096 (originally 1024)  Batches: 8 (originally 1)  Memory Usage: 111kB`
fn hash(text: &str, out: &mut Properties) -> Option<()> {
    let mut parts = text.split("  ");
    let mut sized = |name: &'static str, original: &'static str, text: &str| {
        let (now, first) = text.split_once(" (originally ").unwrap_or((text, text));
        out.push(name, number(now)?);
        out.push(original, number(first.trim_end_matches(')'))?);
        Some(())
    };
    sized("Hash Buckets", "Original Hash Buckets", parts.next()?)?;
    sized("Hash Batches", "Original Hash Batches", parts.next()?.strip_prefix("Batches: ")?)?;
    with_unit("Peak Memory Usage", parts.next()?.strip_prefix("Memory Usage: ")?, "kB", out)
}

/// `Planned Partitions: 4  Batches: 5  Memory Usage: 4145kB  Disk Usage: 456kB`, any of them missing.
fn hash_aggregate(name: &str, value: &str, out: &mut Properties) -> Option<()> {
    let mut parts = value.split("  ");
    let first = parts.next()?;
    for part in std::iter::once(Some((name, first))).chain(parts.map(|part| part.split_once(": "))) {
        let (name, value) = part?;
        match (name, value) {
            ("Planned Partitions", value) => out.push("Planned Partitions", number(value)?),
            ("Batches", value) => out.push("HashAgg Batches", number(value)?),
            ("Memory Usage", value) => with_unit("Peak Memory Usage", value, "kB", out)?,
            ("Disk Usage", value) => with_unit("Disk Usage", value, "kB", out)?,
            _ => return None,
        }
    }
    Some(())
}

/// `10  Misses: 2  Evictions: 0  Overflows: 0  Memory Usage: 3kB`
fn memoize(text: &str, out: &mut Properties) -> Option<()> {
    let mut parts = text.split("  ");
    out.push("Cache Hits", number(parts.next()?)?);
    for part in parts {
        match part.split_once(": ")? {
            ("Misses", value) => out.push("Cache Misses", number(value)?),
            ("Evictions", value) => out.push("Cache Evictions", number(value)?),
            ("Overflows", value) => out.push("Cache Overflows", number(value)?),
            ("Memory Usage", value) => with_unit("Peak Memory Usage", value, "kB", out)?,
            _ => return None,
        }
    }
    Some(())
}

/// `12  Sort Methods: quicksort, top-N heapsort  Average Memory: 26kB  Peak Memory: 26kB  Average Disk: …`
fn sort_groups(name: &'static str, text: &str, out: &mut Properties) -> Option<()> {
    let mut parts = text.split("  ");
    let mut group = Map::new();
    group.insert("Group Count".to_owned(), number(parts.next()?)?);
    for part in parts {
        let (what, value) = part.split_once(": ")?;
        if let "Sort Method" | "Sort Methods" = what {
            group.insert("Sort Methods Used".to_owned(), lex::list(value));
            continue;
        }
        let (which, kind) = what.split_once(' ')?;
        let space = match kind {
            "Memory" => "Sort Space Memory",
            "Disk" => "Sort Space Disk",
            _ => return None,
        };
        let field = match which {
            "Average" => "Average Sort Space Used",
            "Peak" => "Peak Sort Space Used",
            _ => return None,
        };
        let used = number(value.strip_suffix("kB")?)?;
        if let Value::Object(space) = group.entry(space).or_insert_with(|| Value::Object(Map::new())) {
            space.insert(field.to_owned(), used);
        }
    }
    out.push(name, Value::Object(group));
    Some(())
}

/// `Memory  Maximum Storage: 17kB`
fn storage(text: &str, out: &mut Properties) -> Option<()> {
    let (kind, most) = text.split_once("  Maximum Storage: ")?;
    out.push("Storage", kind);
    with_unit("Maximum Storage", most, "kB", out)
}

/// `bernoulli ('10'::real) REPEATABLE ('42'::double precision)`
fn sampling(text: &str, out: &mut Properties) -> Option<()> {
    let (method, rest) = text.split_once(" (")?;
    let (parameters, seed) = match rest.split_once(") REPEATABLE (") {
        Some((parameters, seed)) => (parameters, Some(seed.strip_suffix(')')?)),
        None => (rest.strip_suffix(')')?, None),
    };
    out.push("Sampling Method", method);
    out.push("Sampling Parameters", lex::list(parameters));
    if let Some(seed) = seed {
        out.push("Repeatable Seed", seed);
    }
    Some(())
}

/// `used=9kB  allocated=16kB`
fn memory(text: &str, out: &mut Properties) -> Option<()> {
    for part in text.split("  ") {
        match part.split_once('=')? {
            ("used", value) => with_unit("Memory Used", value, "kB", out)?,
            ("allocated", value) => with_unit("Memory Allocated", value, "kB", out)?,
            _ => return None,
        }
    }
    Some(())
}

fn with_unit(name: &'static str, text: &str, unit: &str, out: &mut Properties) -> Option<()> {
    push_number(out, name, text.strip_suffix(unit)?);
    out.number(name).map(|_| ())
}

/// A line of a `JIT:` block; false where the line is none.
pub(super) fn jit(content: &str, out: &mut Properties) -> bool {
    read_jit(content, out).is_some()
}

fn read_jit(content: &str, out: &mut Properties) -> Option<()> {
    match content.split_once(": ")? {
        ("Functions", count) => out.push("Functions", number(count)?),
        ("Options", list) => {
            let mut options = Map::new();
            for option in list.split(", ") {
                let (name, on) = option.rsplit_once(' ')?;
                options.insert(name.to_owned(), Value::from(on == "true"));
            }
            out.push("Options", Value::Object(options));
        }
        ("Timing", list) => out.push("Timing", jit_timing(list)?),
        _ => return None,
    }
    Some(())
}

/// `Generation 0.513 ms (Deform 0.1 ms), Inlining 0.000 ms, …`; from 17 generation is a group of two.
fn jit_timing(list: &str) -> Option<Value> {
    let ms = |text: &str| number(text.strip_suffix(" ms")?);
    let mut timing = Properties::default();
    for part in list.split(", ") {
        let (name, rest) = part.split_once(' ')?;
        let value = match rest.split_once(" (Deform ") {
            Some((total, deform)) => {
                let mut generation = Properties::default();
                generation.push("Deform", ms(deform.strip_suffix(')')?)?);
                generation.push("Total", ms(total)?);
                object(generation)
            }
            None => ms(rest)?,
        };
        timing.push(name.to_owned(), value);
    }
    Some(object(timing))
}
