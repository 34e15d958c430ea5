//! Lines that tell several properties.

use serde_json::{Map, Value};

use crate::plan::Properties;
use crate::plan::key::{BUFFER_COUNTERS, IO_TIMES, WAL_COUNTERS};

/// Properties of a node, or of a worker, a target or a group.
pub(super) enum Fields<'a> {
    Node(&'a Properties),
    Object(&'a Map<String, Value>),
}

impl<'a> Fields<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Node(properties) => properties.get(name),
            Self::Object(map) => map.get(name),
        }
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = (&'a str, &'a Value)> + 'a> {
        match self {
            Self::Node(properties) => Box::new(properties.iter()),
            Self::Object(map) => Box::new(map.iter().map(|(name, value)| (name.as_str(), value))),
        }
    }

    fn number(&self, name: &str) -> Option<&'a Value> {
        self.get(name).filter(|value| value.is_number())
    }

    /// A number that is not zero: text hides zeros.
    fn counted(&self, name: &str) -> Option<&'a Value> {
        self.number(name).filter(|value| value.as_f64() != Some(0.0))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }
}

const GROUPS: &[&[&str]] = &[
    &BUFFER_COUNTERS,
    &IO_TIMES,
    &WAL_COUNTERS,
    &["Memory Used", "Memory Allocated"],
    &["Sort Method", "Sort Space Used", "Sort Space Type"],
    &["Exact Heap Blocks", "Lossy Heap Blocks"],
    &["Hash Buckets", "Original Hash Buckets", "Hash Batches", "Original Hash Batches", "Peak Memory Usage"],
    &["Planned Partitions", "HashAgg Batches", "Peak Memory Usage", "Disk Usage"],
    &["Cache Hits", "Cache Misses", "Cache Evictions", "Cache Overflows", "Peak Memory Usage"],
    &["Full-sort Groups"],
    &["Pre-sorted Groups"],
    &["Tuples Inserted", "Tuples Updated", "Tuples Deleted", "Tuples Skipped"],
    &["Storage", "Maximum Storage"],
    &["Sampling Method", "Sampling Parameters", "Repeatable Seed"],
    &["Foreign File Size"],
];

/// The properties that share a line with `name`. The insertions of a MERGE share one; those of an
/// `ON CONFLICT` stand alone.
pub(super) fn group_of(name: &str, fields: &Fields) -> Option<&'static [&'static str]> {
    if name == "Tuples Inserted" && fields.get("Tuples Updated").is_none() {
        return None;
    }
    GROUPS.iter().copied().find(|group| group.contains(&name))
}

/// The line of the group that `first` belongs to; none where text prints none.
pub(super) fn line(first: &str, fields: &Fields) -> Option<String> {
    match first {
        name if BUFFER_COUNTERS.contains(&name) => buffers(fields),
        name if IO_TIMES.contains(&name) => io_times(fields),
        name if WAL_COUNTERS.contains(&name) => wal(fields),
        "Memory Used" => {
            let (used, allocated) = (fields.number("Memory Used")?, fields.number("Memory Allocated")?);
            Some(format!("Memory: used={used}kB  allocated={allocated}kB"))
        }
        "Sort Method" => {
            let (method, kind) = (fields.text("Sort Method")?, fields.text("Sort Space Type")?);
            Some(format!("Sort Method: {method}  {kind}: {}kB", fields.number("Sort Space Used")?))
        }
        "Exact Heap Blocks" | "Lossy Heap Blocks" => {
            let parts = [("exact", "Exact Heap Blocks"), ("lossy", "Lossy Heap Blocks")];
            pairs(&parts, fields).map(|pairs| format!("Heap Blocks: {pairs}"))
        }
        "Hash Buckets" => hash(fields),
        "Planned Partitions" | "HashAgg Batches" => hash_aggregate(fields),
        "Cache Hits" => memoize(fields),
        "Full-sort Groups" | "Pre-sorted Groups" => sort_groups(first, fields.get(first)?),
        "Storage" => Some(format!(
            "Storage: {}  Maximum Storage: {}kB",
            fields.text("Storage")?,
            fields.number("Maximum Storage")?
        )),
        "Sampling Method" => sampling(fields),
        "Foreign File Size" => Some(format!("Foreign File Size: {} b", fields.number(first)?)),
        "Tuples Inserted" | "Tuples Updated" => {
            let parts = [
                ("inserted", "Tuples Inserted"),
                ("updated", "Tuples Updated"),
                ("deleted", "Tuples Deleted"),
                ("skipped", "Tuples Skipped"),
            ];
            pairs(&parts, fields).map(|pairs| format!("Tuples: {pairs}"))
        }
        _ => None,
    }
}

fn pairs(parts: &[(&str, &str)], fields: &Fields) -> Option<String> {
    let shown = parts.iter().filter_map(|(short, name)| Some(format!("{short}={}", fields.counted(name)?)));
    let shown: Vec<_> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

fn buffers(fields: &Fields) -> Option<String> {
    let scopes = ["Shared", "Local", "Temp"].iter().filter_map(|scope| {
        let parts = [("hit", "Hit"), ("read", "Read"), ("dirtied", "Dirtied"), ("written", "Written")];
        let names = parts.map(|(short, word)| (short, format!("{scope} {word} Blocks")));
        let names: Vec<_> = names.iter().map(|(short, name)| (*short, name.as_str())).collect();
        Some(format!("{} {}", scope.to_lowercase(), pairs(&names, fields)?))
    });
    let scopes: Vec<_> = scopes.collect();
    (!scopes.is_empty()).then(|| format!("Buffers: {}", scopes.join(", ")))
}

/// 13 and 14 print no scope; 15 and 16 print one and name the times without it in JSON.
fn io_times(fields: &Fields) -> Option<String> {
    let unscoped = fields.get("Temp I/O Read Time").is_none() && fields.get("Temp I/O Write Time").is_none();
    let own = if unscoped { "" } else { "shared " };
    let scopes = [(own, "I/O"), ("shared ", "Shared I/O"), ("local ", "Local I/O"), ("temp ", "Temp I/O")];
    let scopes = scopes.iter().filter_map(|(scope, prefix)| {
        let part = |short: &str, word: &str| {
            let ms = fields.counted(&format!("{prefix} {word} Time"))?.as_f64()?;
            Some(format!("{short}={ms:.3}"))
        };
        let parts: Vec<_> = [part("read", "Read"), part("write", "Write")].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{scope}{}", parts.join(" ")))
    });
    let scopes: Vec<_> = scopes.collect();
    (!scopes.is_empty()).then(|| format!("I/O Timings: {}", scopes.join(", ")))
}

fn wal(fields: &Fields) -> Option<String> {
    let parts = [
        ("records", "WAL Records"),
        ("fpi", "WAL FPI"),
        ("bytes", "WAL Bytes"),
        ("buffers full", "WAL Buffers Full"),
    ];
    pairs(&parts, fields).map(|pairs| format!("WAL: {pairs}"))
}

fn hash(fields: &Fields) -> Option<String> {
    let sized = |name: &str, original: &str| {
        let (now, first) = (fields.number(name)?, fields.number(original)?);
        Some(if now == first { now.to_string() } else { format!("{now} (originally {first})") })
    };
    let buckets = sized("Hash Buckets", "Original Hash Buckets")?;
    let batches = sized("Hash Batches", "Original Hash Batches")?;
    Some(format!(
        "Buckets: {buckets}  Batches: {batches}  Memory Usage: {}kB",
        fields.number("Peak Memory Usage")?
    ))
}

fn hash_aggregate(fields: &Fields) -> Option<String> {
    let mut parts = vec![];
    if let Some(partitions) = fields.counted("Planned Partitions") {
        parts.push(format!("Planned Partitions: {partitions}"));
    }
    if let Some(batches) = fields.number("HashAgg Batches") {
        parts.push(format!("Batches: {batches}"));
        parts.push(format!("Memory Usage: {}kB", fields.number("Peak Memory Usage")?));
        if batches.as_f64().is_some_and(|batches| batches > 1.0) {
            parts.push(format!("Disk Usage: {}kB", fields.number("Disk Usage")?));
        }
    }
    (!parts.is_empty()).then(|| parts.join("  "))
}

fn memoize(fields: &Fields) -> Option<String> {
    let number = |name| fields.number(name);
    Some(format!(
        "Hits: {}  Misses: {}  Evictions: {}  Overflows: {}  Memory Usage: {}kB",
        number("Cache Hits")?,
        number("Cache Misses")?,
        number("Cache Evictions")?,
        number("Cache Overflows")?,
        number("Peak Memory Usage")?
    ))
}

fn sort_groups(name: &str, group: &Value) -> Option<String> {
    let methods: Vec<_> =
        group.get("Sort Methods Used")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let plural = if methods.len() > 1 { "s" } else { "" };
    let mut line =
        format!("{name}: {}  Sort Method{plural}: {}", group.get("Group Count")?, methods.join(", "));
    for (space, kind) in [("Sort Space Memory", "Memory"), ("Sort Space Disk", "Disk")] {
        if let Some(space) = group.get(space) {
            let (average, peak) = (space.get("Average Sort Space Used")?, space.get("Peak Sort Space Used")?);
            line.push_str(&format!("  Average {kind}: {average}kB  Peak {kind}: {peak}kB"));
        }
    }
    Some(line)
}

fn sampling(fields: &Fields) -> Option<String> {
    let parameters = fields.get("Sampling Parameters")?.as_array()?;
    let parameters: Vec<_> = parameters.iter().filter_map(Value::as_str).collect();
    let seed = fields.text("Repeatable Seed").map(|seed| format!(" REPEATABLE ({seed})"));
    Some(format!(
        "Sampling: {} ({}){}",
        fields.text("Sampling Method")?,
        parameters.join(", "),
        seed.unwrap_or_default()
    ))
}

/// The lines of a `JIT:` block.
pub(super) fn jit(jit: &Value) -> Vec<String> {
    let object = |name: &str| jit.get(name).and_then(Value::as_object);
    let mut out = vec![];
    if let Some(functions) = jit.get("Functions") {
        out.push(format!("Functions: {functions}"));
    }
    if let Some(options) = object("Options") {
        let options: Vec<_> = options.iter().map(|(name, on)| format!("{name} {on}")).collect();
        out.push(format!("Options: {}", options.join(", ")));
    }
    if let Some(timing) = object("Timing") {
        let ms =
            |value: Option<&Value>| format!("{:.3} ms", value.and_then(Value::as_f64).unwrap_or_default());
        let parts = timing.iter().map(|(name, value)| match value.as_object() {
            Some(parts) => format!("{name} {} (Deform {})", ms(parts.get("Total")), ms(parts.get("Deform"))),
            None => format!("{name} {}", ms(Some(value))),
        });
        out.push(format!("Timing: {}", parts.collect::<Vec<_>>().join(", ")));
    }
    out
}

/// Without VERBOSE a constraint's trigger is told by the constraint alone.
pub(super) fn trigger(trigger: &Value, verbose: bool) -> String {
    let text = |name: &str| trigger.get(name).and_then(Value::as_str);
    let mut out = "Trigger".to_owned();
    match (text("Trigger Name"), text("Constraint Name")) {
        (Some(name), None) => out.push_str(&format!(" {name}")),
        (name, Some(constraint)) => {
            if let Some(name) = name.filter(|_| verbose) {
                out.push_str(&format!(" {name}"));
            }
            out.push_str(&format!(" for constraint {constraint}"));
        }
        (None, None) => {}
    }
    if let Some(relation) = text("Relation") {
        out.push_str(&format!(" on {relation}"));
    }
    let time = trigger.get("Time").and_then(Value::as_f64).map(|ms| format!("time={ms:.3} "));
    let calls = trigger.get("Calls").and_then(Value::as_f64).unwrap_or_default();
    format!("{out}: {}calls={calls:.0}", time.unwrap_or_default())
}

pub(super) fn serialization(group: &Map<String, Value>) -> String {
    let mut parts = vec![];
    if let Some(ms) = group.get("Time").and_then(Value::as_f64) {
        parts.push(format!("time={ms:.3} ms"));
    }
    if let Some(size) = group.get("Output Volume") {
        parts.push(format!("output={size}kB"));
    }
    if let Some(format) = group.get("Format").and_then(Value::as_str) {
        parts.push(format!("format={format}"));
    }
    format!("Serialization: {}", parts.join("  "))
}
