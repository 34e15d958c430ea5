//! An ordered map of EXPLAIN's properties. Names that PostgreSQL prints are static, so that reading a plan
//! allocates only for names that no PostgreSQL prints.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::key;

/// Properties in the order in which the server printed them.
///
/// Where text proves that buffers were counted, the counters that it hides are zero; they are said to be there
/// rather than put there, since they would be a third of all that a plan holds.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    list: Vec<(Cow<'static, str>, Value)>,
    /// Whether a block counter that is not in the list is zero, rather than absent.
    counted: bool,
}

static ZERO: LazyLock<Value> = LazyLock::new(|| Value::from(0));

impl Properties {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity), counted: false }
    }

    /// The value of `name`, as the server wrote it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.list.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        found.or_else(|| (self.counted && key::BUFFER_COUNTERS.contains(&name)).then(|| &*ZERO))
    }

    /// The text of `name`, where it is one.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The number of `name`, where it is one.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// Whether `name` is there and true.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let counters: &[&str] = if self.counted { &key::BUFFER_COUNTERS } else { &[] };
        let hidden = counters.iter().filter(|name| self.list.iter().all(|(key, _)| key != *name));
        self.list.iter().map(|(key, value)| (key.as_ref(), value)).chain(hidden.map(|name| (*name, &*ZERO)))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Says that the block counters which are not there are zero.
    pub(super) fn set_counted(&mut self) {
        self.counted = true;
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.list.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Replaces the property `name`, in its place, by another.
    pub(super) fn replace(&mut self, name: &str, by: &'static str, value: impl Into<Value>) {
        if let Some(at) = self.list.iter_mut().find(|(key, _)| key == name) {
            *at = (Cow::Borrowed(by), value.into());
        }
    }

    /// Puts a property before all others.
    pub(super) fn prepend(&mut self, name: &'static str, value: impl Into<Value>) {
        self.list.retain(|(key, _)| key != name);
        self.list.insert(0, (Cow::Borrowed(name), value.into()));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.list.retain(|(key, _)| key != name);
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (Cow<'static, str>, Value)> {
        self.list.into_iter()
    }

    /// Adds a property that is known not to be there yet.
    pub(super) fn push(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        self.list.push((name.into(), value.into()));
    }

    /// Sets a property, in its place if it is there.
    pub(super) fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let name = name.into();
        let value = value.into();
        match self.list.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.list.push((name, value)),
        }
    }
}

/// Reads a property's name without allocating for the known ones.
pub(super) struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'static, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Cow<'static, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a property's name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(key::intern(name))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de> serde::Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;
        impl<'de> Visitor<'de> for MapVisitor {
            type Value = Properties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
                let mut properties = Properties::with_capacity(8);
                while let Some(key) = map.next_key_seed(KeySeed)? {
                    properties.push(key, map.next_value::<Value>()?);
                }
                Ok(properties)
            }
        }
        deserializer.deserialize_map(MapVisitor)
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
