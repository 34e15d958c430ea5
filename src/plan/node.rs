//! One node of a plan: its properties as the server wrote them, typed readings of them, and its children.

use serde_json::Value;

use super::{Properties, key, title};

/// One node of a plan.
///
/// Readings are per loop where EXPLAIN prints them so: rows, times and rows removed are averages over the
/// loops (and, under a Gather, over leader and workers); blocks, heap fetches and searches are totals.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub(super) properties: Properties,
    pub(super) children: Vec<Node>,
}

impl Node {
    /// The words that EXPLAIN's text prints for the node, such as `Index Scan using i on t a`.
    #[must_use]
    pub fn title(&self) -> String {
        title::title(self, true)
    }

    /// The title's words before `using` and `on`, such as `Partial HashAggregate`.
    #[must_use]
    pub fn label(&self) -> String {
        title::label(self)
    }

    /// The type as EXPLAIN's JSON names it (`Hash Join`, `Aggregate`, `ModifyTable`).
    #[must_use]
    pub fn node_type(&self) -> &str {
        self.properties.text("Node Type").unwrap_or_default()
    }

    /// What the node scans or changes: a table, or the name of a CTE, function or tuplestore.
    #[must_use]
    pub fn relation(&self) -> Option<&str> {
        title::TARGET_NAMES.iter().find_map(|name| self.properties.text(name))
    }

    /// The schema of what it scans (VERBOSE only).
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.properties.text("Schema")
    }

    /// The alias under which the query knows what it scans.
    #[must_use]
    pub fn alias(&self) -> Option<&str> {
        self.properties.text("Alias")
    }

    /// The index that it reads.
    #[must_use]
    pub fn index(&self) -> Option<&str> {
        self.properties.text("Index Name")
    }

    /// `SubPlan 1`, `InitPlan 1 (returns $0)`, `CTE x`: the header above the node.
    #[must_use]
    pub fn subplan_name(&self) -> Option<&str> {
        self.properties.text("Subplan Name")
    }

    /// What the node is to its parent: `Outer`, `Inner`, `Member`, `Subquery`, `InitPlan`, `SubPlan`.
    #[must_use]
    pub fn parent_relationship(&self) -> Option<&str> {
        self.properties.text("Parent Relationship")
    }

    /// Rows that the planner expected, per loop.
    #[must_use]
    pub fn plan_rows(&self) -> Option<f64> {
        self.number("Plan Rows")
    }

    /// The planner's cost of all rows.
    #[must_use]
    pub fn total_cost(&self) -> Option<f64> {
        self.number("Total Cost")
    }

    /// The planner's cost before the first row.
    #[must_use]
    pub fn startup_cost(&self) -> Option<f64> {
        self.number("Startup Cost")
    }

    /// Rows that the node returned, on average per loop.
    #[must_use]
    pub fn actual_rows(&self) -> Option<f64> {
        self.number("Actual Rows")
    }

    /// How often the node ran; 0 where it never did; absent without ANALYZE.
    #[must_use]
    pub fn loops(&self) -> Option<f64> {
        self.number("Actual Loops")
    }

    /// Milliseconds until the last row, on average per loop, children included.
    #[must_use]
    pub fn actual_total_time(&self) -> Option<f64> {
        self.number("Actual Total Time")
    }

    /// Whether the node ran; absent without ANALYZE.
    #[must_use]
    pub fn executed(&self) -> Option<bool> {
        self.loops().map(|loops| loops > 0.0)
    }

    /// Rows that the node returned over all its loops.
    #[must_use]
    pub fn rows(&self) -> Option<f64> {
        Some(self.actual_rows()? * self.loops()?)
    }

    /// Rows read and thrown away by filters, join filters and rechecks, over all loops.
    #[must_use]
    pub fn rows_removed(&self) -> Option<f64> {
        let per_loop = self.sum(&[
            "Rows Removed by Filter",
            "Rows Removed by Join Filter",
            "Rows Removed by Index Recheck",
        ])?;
        Some(per_loop * self.loops()?)
    }

    /// Shared and local blocks hit or read, by the node and its children; absent without BUFFERS.
    #[must_use]
    pub fn blocks(&self) -> Option<f64> {
        self.sum(&["Shared Hit Blocks", "Shared Read Blocks", "Local Hit Blocks", "Local Read Blocks"])
    }

    /// The children, in the server's order.
    #[must_use]
    pub fn children(&self) -> &[Node] {
        &self.children
    }

    /// A property by EXPLAIN's own JSON name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.properties.get(name)
    }

    /// A property that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.properties.number(name)
    }

    /// Every property, in the server's order, unknown ones too.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Properties that no PostgreSQL up to 18 prints: an extension's, or a newer version's.
    pub fn unknown_properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.properties.iter().filter(|(name, _)| !key::is_known(name))
    }

    /// The node and all below it, depth first.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// Sum of the named numbers; absent where the node has none of them.
    pub(crate) fn sum(&self, names: &[&str]) -> Option<f64> {
        names.iter().filter_map(|name| self.number(name)).reduce(|a, b| a + b)
    }
}
