//! DaemonSets: one Pod on each node that they fit, replaced node by node when the template changes.

mod backoff;
mod decide;
mod pod;
mod rollout;
mod run;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    fields::{self, created, text},
    placement::{self, NodeFit, NodeView},
    replica_set::Pod,
};
use crate::meta;
pub(super) use backoff::FailedDaemons;

/// The nodes, by name.
pub(super) type Nodes = BTreeMap<String, NodeView>;

/// A DaemonSet, its Pods by the node for which they were created, and how it fits the nodes.
struct Daemons<'a> {
    set: &'a Value,
    /// The hash of the present revision.
    hash: &'a str,
    /// The Pods of a node, the oldest first, those on the node before those that have yet to be assigned to it.
    pods: BTreeMap<&'a str, Vec<&'a Pod>>,
    fits: BTreeMap<&'a str, NodeFit>,
    now: i64,
}

/// The Pods to create, by node, and those to delete.
#[derive(Debug, Default)]
struct DaemonChanges<'a> {
    created: Vec<&'a str>,
    deleted: Vec<&'a Pod>,
}

impl DaemonChanges<'_> {
    fn is_empty(&self) -> bool {
        self.created.is_empty() && self.deleted.is_empty()
    }
}

impl<'a> Daemons<'a> {
    fn of([set, revision]: [&'a Value; 2], nodes: &'a Nodes, pods: &'a [Pod], now: i64) -> Self {
        let mut by_node: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        for pod in pods.iter().filter(|pod| !(pod.is_finished() && is_going(pod))) {
            if let Some(node) = placement::target(&pod.object) {
                by_node.entry(node).or_default().push(pod);
            }
        }
        for pods in by_node.values_mut() {
            pods.sort_by_key(|pod| (!is_assigned(pod), created(&pod.object), name(pod)));
        }
        let spec = pod::tolerant(&set["spec"]["template"]["spec"]);
        Self {
            set,
            hash: text(revision, "/metadata/labels/controller-revision-hash"),
            pods: by_node,
            fits: nodes
                .iter()
                .map(|(name, node)| (name.as_str(), node.fit(&spec)))
                .collect(),
            now,
        }
    }

    /// The nodes on which a Pod is to run.
    fn wanted(&self) -> impl Iterator<Item = &'a str> {
        self.fits.iter().filter(|(_, fit)| fit.runs).map(|(name, _)| *name)
    }

    fn is_updated(&self, pod: &Pod) -> bool {
        pod::is_updated(self.set, self.hash, &pod.object)
    }

    fn is_available(&self, pod: &Pod) -> bool {
        pod.is_available(fields::int(self.set, "/spec/minReadySeconds"), self.now)
    }

    /// A limit of the rolling update, in Pods of this many.
    fn limit(&self, field: &str, all: usize) -> usize {
        let strategy = &self.set["spec"]["updateStrategy"];
        let all = i64::try_from(all).unwrap_or(i64::MAX);
        let limit = fields::part(&strategy["rollingUpdate"][field], all);
        match strategy["type"] == "RollingUpdate" {
            true => usize::try_from(limit).unwrap_or_default(),
            false => 0,
        }
    }
}

fn is_going(pod: &Pod) -> bool {
    meta::is_deleting(&pod.object)
}

fn is_assigned(pod: &Pod) -> bool {
    !text(&pod.object, "/spec/nodeName").is_empty()
}

fn name(pod: &Pod) -> &str {
    meta::text(&pod.object, "name")
}
