//! Memory and disk that a node used for sorting and hashing, by leader and workers.

use serde_json::Value;

use super::Node;

impl Node {
    /// Kilobytes of memory or disk that a sort used, over leader and workers; absent where nothing was sorted.
    #[must_use]
    pub fn sort_space(&self) -> Option<f64> {
        let plain = self.sort_shares().reduce(|a, b| a + b);
        let incremental = self.sort_groups().filter_map(|(_, kilobytes)| kilobytes).reduce(f64::max);
        plain.into_iter().chain(incremental).reduce(|a, b| a + b)
    }

    /// Kilobytes of memory or disk that leader and workers used to sort, each for its share.
    pub fn sort_shares(&self) -> impl Iterator<Item = f64> {
        self.everyone("Sort Space Used")
    }

    /// Batches of a hash or of a hashed aggregate; the most that the leader or a worker had.
    #[must_use]
    pub fn hash_batches(&self) -> Option<f64> {
        self.everyone("Hash Batches").chain(self.everyone("HashAgg Batches")).reduce(f64::max)
    }

    /// Kilobytes that the node put on disk, given the kilobytes of a block; absent where it neither sorted nor
    /// hashed. The disk of a hash join's batches is known only as temporary blocks of the join itself.
    #[must_use]
    pub fn spilled_kilobytes(&self, block: f64) -> Option<f64> {
        let sorted = self.sort_on_disk();
        let aggregated = self.everyone("Disk Usage").reduce(|a, b| a + b);
        let joined =
            (self.node_type() == "Hash Join").then(|| self.own_temp_written()).flatten().map(|b| b * block);
        sorted.into_iter().chain(aggregated).chain(joined).reduce(|a, b| a + b)
    }

    fn sort_on_disk(&self) -> Option<f64> {
        let one = |kind: Option<&Value>, used: Option<&Value>| {
            Some(if kind?.as_str()? == "Disk" { used?.as_f64()? } else { 0.0 })
        };
        let leader = one(self.property("Sort Space Type"), self.property("Sort Space Used"));
        let workers = self.workers().filter_map(|w| one(w.get("Sort Space Type"), w.get("Sort Space Used")));
        let groups =
            self.sort_groups().map(|(disk, kilobytes)| if disk { kilobytes.unwrap_or(0.0) } else { 0.0 });
        leader.into_iter().chain(workers).chain(groups.reduce(f64::max)).reduce(|a, b| a + b)
    }

    /// Peaks of an incremental sort's groups: whether on disk, and kilobytes.
    fn sort_groups(&self) -> impl Iterator<Item = (bool, Option<f64>)> {
        let groups =
            ["Full-sort Groups", "Pre-sorted Groups"].into_iter().filter_map(|name| self.property(name));
        groups.flat_map(|group| {
            [("Sort Space Memory", false), ("Sort Space Disk", true)].into_iter().filter_map(
                move |(name, disk)| {
                    Some((disk, group.get(name)?.get("Peak Sort Space Used").and_then(Value::as_f64)))
                },
            )
        })
    }

    /// Temporary blocks written by a hash join and its hash, less what the inputs below them wrote.
    fn own_temp_written(&self) -> Option<f64> {
        let written = |node: &Node| node.number("Temp Written Blocks");
        let inputs = self.children.iter().flat_map(|child| match child.node_type() {
            "Hash" => child.children.iter().collect(),
            _ => vec![child],
        });
        Some((written(self)? - inputs.filter_map(written).sum::<f64>()).max(0.0))
    }

    /// What each worker said of itself (VERBOSE, and sorts and hashes always).
    pub fn workers(&self) -> impl Iterator<Item = &Value> {
        self.property("Workers").and_then(Value::as_array).into_iter().flatten()
    }

    /// A number of the leader and of every worker.
    fn everyone(&self, name: &str) -> impl Iterator<Item = f64> {
        let leader = self.number(name);
        leader.into_iter().chain(self.workers().filter_map(move |worker| worker.get(name)?.as_f64()))
    }
}
