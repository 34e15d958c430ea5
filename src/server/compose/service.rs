//! One service of a compose file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::ImageRef;
use super::image::is_digest;
use super::interpolate::{Lookup, interpolate};

/// Keys that Planbook replaces by its own: an ephemeral port, its own check, its own name, one life.
const REPLACED: [&str; 4] = ["ports", "healthcheck", "container_name", "restart"];

/// The platform ids of images that `docker load` may have brought, beside the pin.
const IMAGE_IDS: &str = "x-planbook-image-ids";

/// What a service says about its container.
#[derive(Debug, Clone)]
pub(in crate::server) struct Service {
    pub image: ImageRef,
    /// Platform ids that are accepted where the image has no digest.
    pub image_ids: Vec<String>,
    /// The server flags, by setting.
    pub flags: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
    pub shm_bytes: Option<i64>,
    pub memory_bytes: Option<i64>,
    pub mounts: Vec<Mounted>,
}

/// A volume, or a directory of the host, and where the container sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server) struct Mounted {
    pub source: Source,
    pub target: String,
    pub read_only: bool,
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server) enum Source {
    /// A volume that ends with the container.
    Anonymous,
    /// A volume that stays.
    Volume(String),
    /// A directory or file of the host.
    Host(PathBuf),
}

impl Service {
    /// Reads a service's mapping; an error starts with the key.
    pub(super) fn read(map: &Map<String, Value>, dir: &Path, lookup: Lookup<'_>) -> Result<Self, String> {
        let mut image = None;
        let mut service = Self {
            image: "none".parse()?,
            image_ids: Vec::new(),
            flags: BTreeMap::new(),
            environment: BTreeMap::new(),
            shm_bytes: None,
            memory_bytes: None,
            mounts: Vec::new(),
        };
        for (key, value) in map {
            let at = |problem: String| format!("{key}: {problem}");
            let value = filled(value, lookup).map_err(at)?;
            match key.as_str() {
                "image" => image = Some(text(&value).and_then(|name| name.parse()).map_err(at)?),
                "command" => service.flags = words(&value).and_then(|words| flags(&words)).map_err(at)?,
                "environment" => service.environment = environment(&value, lookup).map_err(at)?,
                "shm_size" => service.shm_bytes = Some(size(&value).map_err(at)?),
                "mem_limit" => service.memory_bytes = Some(size(&value).map_err(at)?),
                "volumes" => service.mounts = volumes(&value, dir).map_err(at)?,
                IMAGE_IDS => service.image_ids = image_ids(&value).map_err(at)?,
                key if REPLACED.contains(&key) || key.starts_with("x-") => {}
                _ => return Err(at("Planbook cannot honour it".to_owned())),
            }
        }
        service.image = image.ok_or("image: it is missing")?;
        Ok(service)
    }
}

impl Service {
    /// The flags alone.
    pub(super) fn read_flags(
        map: &Map<String, Value>,
        lookup: Lookup<'_>,
    ) -> Result<BTreeMap<String, String>, String> {
        let Some(command) = map.get("command") else { return Ok(BTreeMap::new()) };
        let read = filled(command, lookup).and_then(|value| flags(&words(&value)?));
        read.map_err(|problem| format!("command: {problem}"))
    }
}

/// Every string of a value with its variables filled in.
fn filled(value: &Value, lookup: Lookup<'_>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(interpolate(text, lookup)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| filled(item, lookup)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| Ok((key.clone(), filled(value, lookup)?)));
            Value::Object(pairs.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        other => Err(format!("`{other}` is not a word")),
    }
}

fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{value}` is not a list"))
}

/// A list of words, or one line split as a shell splits it (quotes, no more).
fn words(value: &Value) -> Result<Vec<String>, String> {
    let Value::String(line) = value else { return list(value)?.iter().map(text).collect() };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err(format!("`{line}`: a quote is not closed")) } else { Ok(words) }
}

/// `postgres -c name=value --name=value …` as settings; the image's entrypoint takes the flags alone too.
fn flags(command: &[String]) -> Result<BTreeMap<String, String>, String> {
    let refuse = |word: &str| format!("it must read postgres -c name=value …, not `{word}`");
    let mut words = command.iter().map(String::as_str).peekable();
    words.next_if_eq(&"postgres");
    let mut settings = BTreeMap::new();
    while let Some(word) = words.next() {
        let pair = match word {
            "-c" => words.next().unwrap_or_default(),
            _ => word.strip_prefix("-c").or_else(|| word.strip_prefix("--")).unwrap_or_default(),
        };
        let (name, value) = pair.split_once('=').ok_or_else(|| refuse(word))?;
        settings.insert(name.replace('-', "_").to_lowercase(), value.to_owned());
    }
    Ok(settings)
}

/// A mapping, or a list of `NAME=value`; a name alone takes its value from outside, where there is one.
fn environment(value: &Value, lookup: Lookup<'_>) -> Result<BTreeMap<String, String>, String> {
    let outside = |name: &str| lookup(name).map(|value| (name.to_owned(), value));
    if let Value::Object(map) = value {
        let pairs = map.iter().filter_map(|(name, value)| match value {
            Value::Null => outside(name).map(Ok),
            value => Some(text(value).map(|value| (name.clone(), value))),
        });
        return pairs.collect();
    }
    let pairs = list(value)?.iter().map(|item| {
        let item = text(item)?;
        Ok(match item.split_once('=') {
            Some((name, value)) => Some((name.to_owned(), value.to_owned())),
            None => outside(&item),
        })
    });
    pairs.filter_map(Result::transpose).collect()
}

/// `1gb`, `512m`, `64k`, or a number of bytes.
pub(in crate::server) fn parse_size(text: &str) -> Option<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: i64 = match lower[digits.len()..].trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    digits.trim().parse::<i64>().ok().filter(|bytes| *bytes > 0)?.checked_mul(unit)
}

fn size(value: &Value) -> Result<i64, String> {
    let text = text(value)?;
    parse_size(&text).ok_or_else(|| format!("`{text}` is not a size (1gb, 512m, 64k)"))
}

fn image_ids(value: &Value) -> Result<Vec<String>, String> {
    let ids = list(value)?.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    // A variable that is not set leaves an empty item.
    let ids: Vec<String> = ids.into_iter().filter(|id| !id.is_empty()).collect();
    match ids.iter().find(|id| !is_digest(id)) {
        Some(id) => Err(format!("`{id}` is not an image's id (sha256: and 64 hexadecimal digits)")),
        None => Ok(ids),
    }
}

fn volumes(value: &Value, dir: &Path) -> Result<Vec<Mounted>, String> {
    list(value)?
        .iter()
        .map(|item| match item {
            Value::Object(map) => long_volume(map, dir),
            item => short_volume(&text(item)?, dir),
        })
        .collect()
}

/// `[source:]target[:ro|rw]`
fn short_volume(item: &str, dir: &Path) -> Result<Mounted, String> {
    let refuse = || format!("`{item}` is not source:target[:ro]");
    let parts: Vec<&str> = item.split(':').collect();
    let (source, target, mode) = match parts[..] {
        [target] => (None, target, "rw"),
        [source, target] => (Some(source), target, "rw"),
        [source, target, mode] => (Some(source), target, mode),
        _ => return Err(refuse()),
    };
    let known = ["rw", "ro"].contains(&mode);
    if !target.starts_with('/') || target.starts_with("//") || source == Some("") || !known {
        return Err(refuse());
    }
    let source = match source {
        None => Source::Anonymous,
        Some(path) if path.starts_with('~') => return Err(format!("`{path}`: write the home directory out")),
        Some(path) if path.starts_with(['/', '.']) => {
            Source::Host(dir.join(path.strip_prefix("./").unwrap_or(path)))
        }
        Some(name) => Source::Volume(name.to_owned()),
    };
    Ok(Mounted { source, target: target.to_owned(), read_only: mode == "ro" })
}

fn long_volume(map: &Map<String, Value>, dir: &Path) -> Result<Mounted, String> {
    let known = ["type", "source", "target", "read_only"];
    if let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("`{key}`: Planbook cannot honour it"));
    }
    let get = |key: &str| map.get(key).map(text).transpose();
    let target = get("target")?.filter(|target| target.starts_with('/')).ok_or("a volume has no `target`")?;
    let source = match (get("type")?.as_deref(), get("source")?) {
        (Some("volume"), None) => Source::Anonymous,
        (Some("volume"), Some(name)) => Source::Volume(name),
        (Some("bind"), Some(path)) => Source::Host(dir.join(path)),
        _ => return Err("a volume is of the type `volume` or `bind`, the latter with a source".to_owned()),
    };
    Ok(Mounted { source, target, read_only: map.get("read_only") == Some(&Value::Bool(true)) })
}

impl fmt::Display for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Anonymous => {}
            Source::Volume(name) => write!(f, "{name}:")?,
            Source::Host(path) => write!(f, "{}:", path.display())?,
        }
        write!(f, "{}{}", self.target, if self.read_only { ":ro" } else { "" })
    }
}
