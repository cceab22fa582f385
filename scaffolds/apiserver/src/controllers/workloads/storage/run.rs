//! Reads what a decision about a claim or a volume needs, and sends its writes.

use std::sync::Arc;

use serde_json::Value;

use super::{
    claim::{self, ClaimView},
    volume,
};
use crate::{
    controllers::workloads::{
        Workloads,
        fields::{items, text},
        protection,
        write::{CLAIMS, CLASSES, PODS, VOLUMES},
    },
    effects::Cluster,
    state::Core,
    status::Status,
    store::Key,
};

impl Workloads {
    /// Indexes the present state of a claim, a volume or a class, and queues what depends on it.
    pub(in crate::controllers::workloads) fn look_at_storage(&mut self, core: &Core, key: &Key) {
        let object = core.store.get(key).map(|record| record.value());
        for concerned in self.storage.look(key, object.as_ref()) {
            self.queue.add(concerned);
        }
        match object.is_some_and(|object| protection::is_waiting(key, &object)) {
            true => self.protected.insert(key.clone()),
            false => self.protected.remove(key),
        };
        let waiting = self.unassigned.iter().filter(|it| it.0 == key.namespace);
        for (namespace, name) in waiting {
            self.queue.add(Key::new(PODS, namespace, name));
        }
    }

    pub(in crate::controllers::workloads) async fn storage_claim(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        claim: &Value,
    ) -> Result<(), Status> {
        if protection::is_waiting(key, claim) {
            return self.protected(cluster, key, claim).await;
        }
        let core = &cluster.core;
        let volume = |name: &String| core.store.get(&Key::new(VOLUMES, "", name)).map(|it| it.value());
        let named = self.storage.volumes.get(key).or(self.storage.reserved.get(key));
        let is_pending = named.is_none();
        let free = self.storage.free.iter().filter(|_| is_pending);
        let seen = ClaimView {
            claim,
            volume: named.and_then(volume),
            free: free.filter_map(volume).collect(),
            classes: if is_pending { classes(core) } else { Vec::new() },
        };
        let mut decision = claim::decide(&seen);
        if decision.writes.is_empty() {
            decision = self.claim_users.decide(key, claim, core.now());
        }
        self.act(cluster, key, decision).await
    }

    pub(in crate::controllers::workloads) async fn volume(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        volume: &Value,
    ) -> Result<(), Status> {
        let claim = self.storage.claims.get(&key.name);
        let claim = claim.and_then(|claim| cluster.core.store.get(claim));
        let decision = volume::decide(volume, claim.map(|it| it.value()).as_ref());
        match decision.writes.is_empty() && protection::is_waiting(key, volume) {
            true => self.protected(cluster, key, volume).await,
            false => self.act(cluster, key, decision).await,
        }
    }

    /// Only for an object that is being deleted are the Pods of its namespace read.
    async fn protected(&mut self, cluster: &Arc<Cluster>, key: &Key, object: &Value) -> Result<(), Status> {
        let (_, mut pods) = match key.namespace.is_empty() {
            true => Default::default(),
            false => cluster.core.store.contents(&key.namespace),
        };
        pods.retain(|record| &*record.key.resource == PODS);
        let pods: Vec<Value> = pods.iter().map(|record| record.value()).collect();
        self.act(cluster, key, protection::decide(key, object, &pods)).await
    }
}

fn classes(core: &Core) -> Vec<Value> {
    let records = core.store.all(CLASSES, "").into_iter();
    records.map(|record| record.value()).collect()
}

/// The reason why a Pod cannot be assigned to a node yet: a claim is missing, or not bound.
pub(in crate::controllers::workloads) fn waits(core: &Core, key: &Key, pod: &Value) -> Option<String> {
    let names = items(pod, "/spec/volumes").iter();
    let mut names = names.map(|volume| text(volume, "/persistentVolumeClaim/claimName"));
    names.find_map(|name| {
        let claim = (!name.is_empty()).then(|| core.store.get(&Key::new(CLAIMS, &key.namespace, name)));
        match claim? {
            None => Some(format!("persistentvolumeclaim {name:?} not found.")),
            Some(claim) if text(&claim.value(), "/status/phase") == "Bound" => None,
            Some(_) => Some("pod has unbound immediate PersistentVolumeClaims.".to_owned()),
        }
    })
}
