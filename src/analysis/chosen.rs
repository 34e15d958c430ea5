//! Which node of a plan answers "what did the planner choose?" in one line.

use crate::plan::{Node, Plan};

/// The node that a one-line summary names.
///
/// Nodes with one input that only pass on, count or order rows say little of the choice (Aggregate, Gather, Sort,
/// Limit …): the walk goes down through them to the first scan, join or append. A Bitmap Heap Scan stands for the
/// index scans that feed it.
#[must_use]
pub fn chosen_node(plan: &Plan) -> &Node {
    passed(plan).last().copied().unwrap_or(&plan.root)
}

/// The chosen node after those that pass on what it returns, as patterns write it: `GroupAggregate > Sort > Seq Scan on t`.
#[must_use]
pub fn way_to_chosen(plan: &Plan) -> String {
    let passed = passed(plan);
    let above = passed.split_last().map_or(&[][..], |(_, above)| above);
    let labels = above.iter().map(|node| node.label());
    labels.chain([chosen_node(plan).title()]).collect::<Vec<_>>().join(" > ")
}

/// The nodes on the way from the root to the chosen one, which is the last.
fn passed(plan: &Plan) -> Vec<&Node> {
    let mut passed = vec![&plan.root];
    let mut node = &plan.root;
    while node.relation().is_none() && node.index().is_none() {
        let mut inputs = node.children().iter().filter(|child| is_input(child));
        let (Some(only), None) = (inputs.next(), inputs.next()) else { break };
        passed.push(only);
        node = only;
    }
    passed
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
        let way = way_to_chosen(&Plan::from_json(json).expect("a plan"));
        assert_eq!(way, "Aggregate > Bitmap Heap Scan on t");
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
