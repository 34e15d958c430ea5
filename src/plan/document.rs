//! A whole plan: the tree and what EXPLAIN prints around it.

use serde_json::Value;

use super::{Node, PlanError, Properties, Shape, json, print, text};

/// One plan as the server reported it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The topmost node.
    pub root: Node,
    /// What stands beside the tree (`Planning Time`, `Settings`, `Query Text`, …), in the server's order.
    pub(super) top: Properties,
}

impl Plan {
    /// Reads EXPLAIN's JSON array, `auto_explain`'s JSON object, or a bare node.
    ///
    /// # Errors
    /// Where the text is not JSON, holds no plan or several, or nests too deep.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        single(json::read_all(text)?)
    }

    /// The same from JSON that is parsed already.
    ///
    /// # Errors
    /// Where the value holds no plan or several, or nests too deep.
    pub fn from_value(value: Value) -> Result<Self, PlanError> {
        single(json::read_value(value)?)
    }

    /// Reads EXPLAIN's text, as the server sent it.
    ///
    /// # Errors
    /// Where a line makes no sense; the error names it.
    pub fn from_text(text: &str) -> Result<Self, PlanError> {
        single(text::read_all(text)?)
    }

    /// The statement, where `auto_explain` told it.
    #[must_use]
    pub fn query_text(&self) -> Option<&str> {
        self.top.text("Query Text")
    }

    /// Milliseconds of planning.
    #[must_use]
    pub fn planning_time(&self) -> Option<f64> {
        self.top.number("Planning Time")
    }

    /// Milliseconds of execution, with EXPLAIN's own cost.
    #[must_use]
    pub fn execution_time(&self) -> Option<f64> {
        self.top.number("Execution Time")
    }

    /// Shared and local blocks hit or read while planning; absent where the server did not say.
    #[must_use]
    pub fn planning_blocks(&self) -> Option<f64> {
        let planning = self.top.get("Planning")?;
        ["Shared Hit Blocks", "Shared Read Blocks", "Local Hit Blocks", "Local Read Blocks"]
            .iter()
            .filter_map(|name| planning.get(name)?.as_f64())
            .reduce(|a, b| a + b)
    }

    /// Planner settings that differ from their defaults (EXPLAIN's SETTINGS), as the server printed them.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let map = self.top.get("Settings").and_then(Value::as_object);
        map.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }

    /// A property that stands beside the tree, by EXPLAIN's own name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.top.get(name)
    }

    /// Everything that stands beside the tree.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.top
    }

    /// Takes from EXPLAIN's text what `auto_explain`'s JSON of the same execution lacks: planning and
    /// execution time, planning buffers and memory, serialization.
    ///
    /// # Errors
    /// Where the text does not end as EXPLAIN ANALYZE's text ends.
    pub fn adopt_summary(&mut self, explained: &str) -> Result<(), PlanError> {
        // A text that shows buffers somewhere hides only zeros; one that shows none may not have been asked.
        let buffers = self.root.blocks().is_some() && text::shows_buffers(explained);
        for (name, value) in text::adopted(explained, buffers)? {
            self.top.set(name, value);
        }
        Ok(())
    }

    /// Every node, depth first.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.root.nodes()
    }

    /// The tree as EXPLAIN (COSTS OFF) prints it, conditions included.
    #[must_use]
    pub fn tree(&self) -> String {
        print::tree(&self.root)
    }

    /// The tree's node lines alone.
    #[must_use]
    pub fn skeleton(&self) -> String {
        print::skeleton(&self.root)
    }

    /// What two executions of one plan have in common: no numbers.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape::of(&self.root)
    }
}

fn single(mut plans: Vec<Plan>) -> Result<Plan, PlanError> {
    match (plans.len(), plans.pop()) {
        (1, Some(plan)) => Ok(plan),
        (0, _) | (_, None) => Err(PlanError::NoPlan { found: "an empty array".to_owned() }),
        (n, _) => Err(PlanError::Several(n)),
    }
}
