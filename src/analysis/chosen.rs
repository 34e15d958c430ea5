//! Which node of a plan answers "what did the planner choose?" in one line.

use crate::plan::{Node, Plan};

/// The node that a one-line summary names.
///
/// Nodes with one input that only pass on, count or order rows say little of the choice (Aggregate, Gather, Sort,
/// Limit …): the walk goes down through them to the first scan, join or append. A Bitmap Heap Scan stands for the
/// index scans that feed it.
#[must_use]
pub fn chosen_node(plan: &Plan) -> &Node {
    let mut node = &plan.root;
    loop {
        if node.relation().is_some() || node.index().is_some() {
            return node;
        }
        let mut inputs = node.children().iter().filter(|child| is_input(child));
        match (inputs.next(), inputs.next()) {
            (Some(only), None) => node = only,
            _ => return node,
        }
    }
}

/// Init-plans and sub-plans are computed beside the node, they are not its input.
fn is_input(node: &Node) -> bool {
    !matches!(node.parent_relationship(), Some("InitPlan" | "SubPlan"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(json: &str) -> String {
        chosen_node(&Plan::from_json(json).expect("a plan")).title()
    }

    #[test]
    fn goes_through_aggregates_to_the_scan() {
        let json = r#"[{"Plan": {"Node Type": "Aggregate", "Strategy": "Plain", "Plans": [
            {"Node Type": "Bitmap Heap Scan", "Parent Relationship": "Outer", "Relation Name": "t", "Alias": "t", "Plans": [
                {"Node Type": "Bitmap Index Scan", "Parent Relationship": "Outer", "Index Name": "i"}]}]}}]"#;
        assert_eq!(chosen(json), "Bitmap Heap Scan on t");
    }

    #[test]
    fn stops_at_a_join() {
        let json = r#"[{"Plan": {"Node Type": "Limit", "Plans": [
            {"Node Type": "Hash Join", "Join Type": "Inner", "Parent Relationship": "Outer", "Plans": [
                {"Node Type": "Seq Scan", "Parent Relationship": "Outer", "Relation Name": "a", "Alias": "a"},
                {"Node Type": "Hash", "Parent Relationship": "Inner", "Plans": [
                    {"Node Type": "Seq Scan", "Parent Relationship": "Outer", "Relation Name": "b", "Alias": "b"}]}]}]}}]"#;
        assert_eq!(chosen(json), "Hash Join");
    }

    #[test]
    fn an_init_plan_is_not_the_choice() {
        let json = r#"[{"Plan": {"Node Type": "Aggregate", "Strategy": "Plain", "Plans": [
            {"Node Type": "Result", "Parent Relationship": "InitPlan", "Subplan Name": "InitPlan 1"},
            {"Node Type": "Seq Scan", "Parent Relationship": "Outer", "Relation Name": "t", "Alias": "t"}]}}]"#;
        assert_eq!(chosen(json), "Seq Scan on t");
    }
}
