//! Plans from EXPLAIN's JSON, and back.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::error::{MAX_BYTES, MAX_DEPTH};
use super::properties::KeySeed;
use super::{Node, Plan, PlanError, Properties};

/// Levels of JSON that the reader takes on the caller's own stack; a plan's level is two of JSON.
const SHALLOW: usize = 120;

/// Enough for [`MAX_DEPTH`] levels in an unoptimised build, with a wide margin.
const DEEP_STACK: usize = 64 << 20;

/// Every plan of a JSON text: an array of them, one object, or a bare node.
pub(super) fn read_all(text: &str) -> Result<Vec<Plan>, PlanError> {
    if text.len() > MAX_BYTES {
        return Err(PlanError::TooLarge);
    }
    let depth = depth(text);
    if depth > 2 * MAX_DEPTH + 8 {
        return Err(PlanError::TooDeep);
    }
    let plans = if depth < SHALLOW { parse(text)? } else { on_deep_stack(|| parse(text))? };
    check_depth(plans)
}

/// The same from a parsed value.
pub(super) fn read_value(value: Value) -> Result<Vec<Plan>, PlanError> {
    let found = kind(&value);
    let plans = if value.is_array() {
        Vec::<Plan>::deserialize(value)
    } else {
        Plan::deserialize(value).map(|p| vec![p])
    };
    check_depth(plans.map_err(|error| PlanError::NoPlan { found: format!("{found}: {error}") })?)
}

fn parse(text: &str) -> Result<Vec<Plan>, PlanError> {
    let Some(first) = text.bytes().find(|byte| !byte.is_ascii_whitespace()) else {
        return Err(PlanError::Empty);
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let plans = if first == b'[' {
        Vec::<Plan>::deserialize(&mut reader)
    } else {
        Plan::deserialize(&mut reader).map(|plan| vec![plan])
    };
    plans.and_then(|plans| reader.end().map(|()| plans)).map_err(|error| json_error(&error))
}

fn json_error(error: &serde_json::Error) -> PlanError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    PlanError::Json { line: error.line(), column: error.column(), message }
}

/// How deep brackets nest outside strings.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Runs `work` where the recursion of a deep plan fits.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> Result<T, PlanError> + Send) -> Result<T, PlanError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work);
        thread.ok().and_then(|thread| thread.join().ok()).unwrap_or(Err(PlanError::TooDeep))
    })
}

fn check_depth(plans: Vec<Plan>) -> Result<Vec<Plan>, PlanError> {
    let mut level: Vec<&Node> = plans.iter().map(|plan| &plan.root).collect();
    for _ in 0..MAX_DEPTH {
        level = level.into_iter().flat_map(|node| &node.children).collect();
        if level.is_empty() {
            return Ok(plans);
        }
    }
    Err(PlanError::TooDeep)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plan node")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut properties = Properties::with_capacity(40);
                let mut children = Vec::new();
                while let Some(key) = map.next_key_seed(KeySeed)? {
                    if key == "Plans" {
                        children = map.next_value()?;
                    } else {
                        properties.push(key, map.next_value::<Value>()?);
                    }
                }
                if properties.text("Node Type").is_none() {
                    return Err(A::Error::custom("a plan node has no \"Node Type\""));
                }
                Ok(Node { properties, children })
            }
        }
        deserializer.deserialize_map(NodeVisitor)
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlanVisitor;
        impl<'de> Visitor<'de> for PlanVisitor {
            type Value = Plan;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a \"Plan\"")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plan, A::Error> {
                let mut top = Properties::with_capacity(8);
                let (mut root, mut children) = (None, None);
                while let Some(key) = map.next_key_seed(KeySeed)? {
                    match key.as_ref() {
                        "Plan" => root = Some(map.next_value::<Node>()?),
                        "Plans" => children = Some(map.next_value::<Vec<Node>>()?),
                        _ => top.push(key, map.next_value::<Value>()?),
                    }
                }
                match (root, children) {
                    (Some(root), _) => Ok(Plan { root, top }),
                    (None, children) if top.text("Node Type").is_some() => {
                        let root = Node { properties: top, children: children.unwrap_or_default() };
                        Ok(Plan { root, top: Properties::default() })
                    }
                    (None, _) => Err(A::Error::custom("the object has no \"Plan\"")),
                }
            }
        }
        deserializer.deserialize_map(PlanVisitor)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.properties.iter() {
            map.serialize_entry(key, value)?;
        }
        if !self.children.is_empty() {
            map.serialize_entry("Plans", &self.children)?;
        }
        map.end()
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // `auto_explain` tells the statement before the plan.
        let leads = |(key, _): &(&str, &Value)| matches!(*key, "Query Text" | "Query Parameters");
        let leading = self.top.iter().take_while(leads).count();
        for (key, value) in self.top.iter().take(leading) {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("Plan", &self.root)?;
        for (key, value) in self.top.iter().skip(leading) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_explain_arrays_auto_explain_objects_and_bare_nodes() {
        let node = r#"{"Node Type": "Result", "Blorp": [1, {"a": null}]}"#;
        for text in [
            format!("[{{\"Plan\": {node}}}]"),
            format!("{{\"Query Text\": \"q\", \"Plan\": {node}}}"),
            node.to_owned(),
        ] {
            let plan = Plan::from_json(&text).expect(&text);
            assert_eq!(plan.root.node_type(), "Result");
            assert_eq!(
                plan.root.property("Blorp"),
                Some(&serde_json::json!([1, {"a": null}])),
                "unknown is kept"
            );
            let value: Value = serde_json::from_str(&text).expect("json");
            assert_eq!(Plan::from_value(value).expect("value"), plan);
        }
    }

    #[test]
    fn says_where_json_breaks() {
        let error = Plan::from_json("[\n  {\"Plan\": {\"Node Type\": }}]").expect_err("broken");
        assert_eq!(
            error.to_string(),
            "line 2, column 26: expected value: paste the whole output of EXPLAIN (FORMAT JSON)"
        );
        let error = Plan::from_json("[{\"Plan\": {\"Alias\": \"x\"}}]").expect_err("no type");
        assert!(error.to_string().contains("has no \"Node Type\""), "{error}");
        assert_eq!(Plan::from_json(" \n"), Err(PlanError::Empty));
        assert!(matches!(Plan::from_json("[]"), Err(PlanError::NoPlan { .. })));
        assert!(matches!(Plan::from_value(Value::from(5)), Err(PlanError::NoPlan { .. })));
    }

    fn nested(levels: usize) -> String {
        let mut text = "[{\"Plan\": ".to_owned();
        for _ in 1..levels {
            text.push_str("{\"Node Type\": \"Limit\", \"Plans\": [");
        }
        text.push_str("{\"Node Type\": \"Result\"}");
        text.push_str(&"]}".repeat(levels - 1));
        text.push_str("}]");
        text
    }

    #[test]
    fn deep_plans_are_read_and_deeper_ones_refused() {
        for levels in [1, 63, 64, 200, MAX_DEPTH] {
            let plan = Plan::from_json(&nested(levels)).expect("read");
            assert_eq!(plan.nodes().count(), levels);
        }
        assert_eq!(Plan::from_json(&nested(MAX_DEPTH + 1)), Err(PlanError::TooDeep));
        assert_eq!(Plan::from_json(&nested(10_000)), Err(PlanError::TooDeep));
        assert_eq!(Plan::from_json(&"[".repeat(1_000_000)), Err(PlanError::TooDeep));
    }
}
