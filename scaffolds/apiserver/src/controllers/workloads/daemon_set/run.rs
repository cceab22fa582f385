//! Reads what a decision about a DaemonSet needs, and sends its writes.

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;

use super::Daemons;
use crate::{
    controllers::workloads::{Workloads, fields::text, history, replica_set::Pod},
    effects::Cluster,
    meta,
    status::Status,
    store::Key,
};

impl Workloads {
    pub(in crate::controllers::workloads) async fn daemon_set(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        set: &Value,
    ) -> Result<(), Status> {
        if meta::is_deleting(set) {
            return Ok(());
        }
        let revisions = history::sorted(self.revisions(cluster, key, set).await?);
        let pods = self.claim(cluster, key, set).await?;
        let pods: Vec<Pod> = pods.iter().map(|record| Pod::of(record.value())).collect();
        let present = match history::present(set, &revisions) {
            Ok(present) => present,
            Err(write) => return self.revise(cluster, key, set, write.into()).await,
        };
        let daemons = Daemons::of([set, present], &self.nodes, &pods, cluster.core.now());
        let mut decision = daemons.decide(self.failed_daemons.entry(key.clone()).or_default());
        let hash = |object: &Value| text(object, "/metadata/labels/controller-revision-hash").to_owned();
        let used: HashSet<String> = pods.iter().map(|pod| hash(&pod.object)).collect();
        let old = revisions.iter().filter(|it| !std::ptr::eq(*it, present));
        let surplus = history::surplus(set, old.clone().count());
        let unused = old.filter(|it| !used.contains(&hash(it)));
        decision.writes.extend(unused.take(surplus).map(history::deletion));
        self.act(cluster, key, decision).await
    }
}
