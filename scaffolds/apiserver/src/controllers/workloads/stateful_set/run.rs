//! Reads what a decision about a StatefulSet needs, and sends its writes.

use std::sync::Arc;

use serde_json::Value;

use super::{Observed, claims, decide, member, range};
use crate::{
    controllers::workloads::{Workloads, replica_set::Pod, write::CLAIMS},
    effects::Cluster,
    status::Status,
    store::Key,
};

impl Workloads {
    pub(in crate::controllers::workloads) async fn stateful_set(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        set: &Value,
    ) -> Result<(), Status> {
        let revisions = self.revisions(cluster, key, set).await?;
        let pods = self.claim(cluster, key, set).await?;
        let past = pods.iter().filter_map(|pod| member::ordinal(set, &pod.key.name));
        let past = past.filter(|ordinal| !range(set).contains(ordinal));
        let names = range(set).chain(past).flat_map(|ordinal| claims::wanted(set, ordinal));
        let claim = |(name, _): (String, &Value)| {
            let record = cluster.core.store.get(&Key::new(CLAIMS, &key.namespace, &name))?;
            Some((name, record.value()))
        };
        let observed = Observed {
            set,
            claims: names.filter_map(claim).collect(),
            pods: pods.iter().map(|record| Pod::of(record.value())).collect(),
            revisions,
        };
        let decision = decide(observed, cluster.core.now());
        self.revise(cluster, key, set, decision).await
    }
}
