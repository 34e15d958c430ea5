//! `planbook cache …`: the clusters and volumes that hold datasets between runs.

use serde_json::{Value, json};

use crate::cli::{CacheArgs, CacheVerb, Format};
use crate::number;
use crate::server::{self, Kept};

use super::{CommandError, talk};

/// Lists what stays, or removes it.
pub(super) fn run(args: &CacheArgs) -> Result<u8, CommandError> {
    match args.verb {
        CacheVerb::Ls { format } => show(&server::kept()?, format, "no dataset is cached"),
        CacheVerb::Prune { format } => show(&server::forget()?, format, "nothing was cached"),
    }
    Ok(0)
}

/// Entries go to stdout; that there are none is talk.
fn show(entries: &[Kept], format: Format, none: &str) {
    match format {
        Format::Json => talk::print(format_args!("{}\n", entries.iter().map(as_json).collect::<Value>())),
        Format::Human if entries.is_empty() => talk::say(none),
        Format::Human => entries.iter().for_each(|entry| talk::print(line(entry))),
    }
}

fn line(entry: &Kept) -> String {
    let version = if entry.version.is_empty() { String::new() } else { format!("  {}", entry.version) };
    let size = entry.bytes.map(|bytes| format!("  {}", number::bytes(bytes as f64))).unwrap_or_default();
    let datasets =
        if entry.datasets.is_empty() { String::new() } else { format!("  {}", entry.datasets.join("; ")) };
    let used = if entry.used.is_empty() { String::new() } else { format!("  used {}", entry.used) };
    format!("{}  {}{version}{size}{datasets}{used}\n", entry.id, entry.kind)
}

fn as_json(entry: &Kept) -> Value {
    json!({
        "id": entry.id,
        "kind": entry.kind.to_string(),
        "version": entry.version,
        "used": entry.used,
        "datasets": entry.datasets,
        "bytes": entry.bytes,
    })
}
