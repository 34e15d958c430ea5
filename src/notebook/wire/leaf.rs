//! The leaves of the wire types, and the shapes that serde has no derive for.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, json};

use crate::metric::{Metric, Nature};

use super::super::de::{IdVisitor, ask};
use super::super::node::NodeId;

macro_rules! leaf_schema {
    (true) => {
        Schema::default()
    };
    ($schema:tt) => {
        json_schema!($schema)
    };
}

macro_rules! leaves {
    ($($name:ident $ask:expr, $schema:tt;)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in super::super) struct $name(pub(in super::super) NodeId);

        impl From<NodeId> for $name {
            fn from(id: NodeId) -> Self { Self(id) }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_newtype_struct($ask, IdVisitor(PhantomData))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut SchemaGenerator) -> Schema { leaf_schema!($schema) }
        }
    )*};
}

leaves! {
    Text "leaf:text", {
        "description": "Text; may be a template over the parameters.",
        "type": ["string", "number", "boolean"]
    };
    Sql "leaf:SQL", {
        "description": "SQL; may be a template over parameters and earlier names of `let`.",
        "type": "string"
    };
    Expr "leaf:an expression", {
        "description": "An expression.",
        "type": ["string", "number", "boolean"]
    };
    Name "leaf:a name", { "description": "A name.", "type": "string" };
    Value "leaf:a number, a truth value or text", {
        "description": "A number, a truth value or text.",
        "type": ["string", "number", "boolean"]
    };
    Whole "leaf:a whole number", {
        "description": "A whole number, or a template over the parameters that makes one.",
        "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "[{][{]|^[0-9_]+$" }]
    };
    Any "any node", true;
}

/// Names with values, in the order of the file.
#[derive(Debug)]
pub(in super::super) struct Entries<T>(pub(in super::super) Vec<(Name, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Names_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

/// One thing, or a list of them.
#[derive(Debug)]
pub(in super::super) struct OneOrMany<T> {
    pub(in super::super) items: Vec<T>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one or a list")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, one: D) -> Result<OneOrMany<T>, D::Error> {
                T::deserialize(one).map(|one| OneOrMany { items: vec![one] })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(access)).map(|items| OneOrMany { items })
            }
        }
        deserializer.deserialize_newtype_struct(ask::ONE_OR_MANY, OneOrManyVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("One_or_many_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one.clone(), { "type": "array", "items": one, "minItems": 1 }] })
    }
}

/// A mapping, or something that is none.
#[derive(Debug)]
pub(in super::super) enum Either<M, T> {
    Map(M),
    Other(T),
}

impl<'de, M: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for Either<M, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherVisitor<M, T>(PhantomData<(M, T)>);
        impl<'de, M: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for EitherVisitor<M, T> {
            type Value = Either<M, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping or something else")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, map: D) -> Result<Either<M, T>, D::Error> {
                M::deserialize(map).map(Either::Map)
            }

            fn visit_some<D: Deserializer<'de>>(self, other: D) -> Result<Either<M, T>, D::Error> {
                T::deserialize(other).map(Either::Other)
            }
        }
        deserializer.deserialize_newtype_struct(ask::EITHER, EitherVisitor(PhantomData))
    }
}

impl<M: JsonSchema, T: JsonSchema> JsonSchema for Either<M, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_or_{}", M::schema_name(), T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (map, other) = (generator.subschema_for::<M>(), generator.subschema_for::<T>());
        json_schema!({ "anyOf": [map, other] })
    }
}

/// What a capture must satisfy: keys and the nodes of their values, which the conversion decodes.
#[derive(Debug)]
pub(in super::super) struct Expect(pub(in super::super) Vec<(Name, Any)>);

/// The keys that hold patterns.
pub(in super::super) const PATTERN_KEYS: [&str; 3] = ["plan", "any", "never"];

/// The keys of `expect`: patterns, `when`, and every metric, also those that are refused with a reason.
static EXPECT_KEYS: LazyLock<&'static [&'static str]> = LazyLock::new(|| {
    let keys = PATTERN_KEYS.into_iter().chain(["when"]).chain(Metric::ALL.iter().map(|metric| metric.name()));
    Box::leak(keys.collect::<Vec<_>>().into_boxed_slice())
});

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExpectVisitor;
        impl<'de> Visitor<'de> for ExpectVisitor {
            type Value = Expect;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("expectations")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Expect, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(Expect(entries))
            }
        }
        deserializer.deserialize_struct("`expect`", *EXPECT_KEYS, ExpectVisitor)
    }
}

impl JsonSchema for Expect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = expectations(generator);
        let mut conditional = properties.clone();
        for (condition, doc) in [
            ("version", "The server's major version."),
            ("profile", "The profile in force; `default` for none."),
        ] {
            conditional
                .insert(condition.to_owned(), json!({ "description": doc, "type": ["string", "number"] }));
        }
        let when = json!({
            "type": "object",
            "description": "Conditions (`version`, `profile`, a parameter) and what holds under all of them.",
            "properties": conditional,
            "additionalProperties": { "type": ["string", "number", "boolean"] },
            "minProperties": 2,
        });
        properties.insert(
            "when".to_owned(),
            json!({ "description": "Expectations that depend on something.", "anyOf": [when, { "type": "array", "items": when }] }),
        );
        json_schema!({
            "description": "What a capture must satisfy.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

fn expectations(generator: &mut SchemaGenerator) -> Map<String, serde_json::Value> {
    let patterns = generator.subschema_for::<OneOrMany<Text>>();
    let docs =
        ["All of these nodes occur.", "At least one of these nodes occurs.", "None of these nodes occurs."];
    let mut properties = Map::new();
    for (key, doc) in PATTERN_KEYS.into_iter().zip(docs) {
        properties.insert(key.to_owned(), json!({ "description": doc, "allOf": [patterns] }));
    }
    for metric in Metric::ALL.iter().filter(|metric| metric.nature() == Nature::Counter) {
        let doc = format!("A comparison: {}.", metric.doc());
        properties
            .insert(metric.name().to_owned(), json!({ "description": doc, "type": ["number", "string"] }));
    }
    properties
}
