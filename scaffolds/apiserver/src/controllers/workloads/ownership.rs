//! Whom objects belong to: owners adopt the orphans that they select, and release the dependents that they no longer do.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Decision, Workloads,
    family::Relation,
    history, stateful_set,
    write::{DEPLOYMENTS, PODS, REPLICA_SETS, REVISIONS, STATEFUL_SETS, adopt, release},
};
use crate::{
    effects::Cluster,
    status::Status,
    store::{Key, Record},
};

impl Workloads {
    /// Adopts the orphans of an owner, and releases the dependents that it no longer selects; returns its dependents.
    pub(super) async fn claim(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        owner: &Value,
    ) -> Result<Vec<Arc<Record>>, Status> {
        let dependents = if &*key.resource == DEPLOYMENTS {
            REPLICA_SETS
        } else {
            PODS
        };
        let mut found = self.families.dependents(key, dependents);
        if &*key.resource == STATEFUL_SETS {
            found = found
                .into_iter()
                .filter_map(|(relation, pod)| Some((stateful_set::relation(owner, &pod.key.name, relation)?, pod)))
                .collect();
        }
        self.settle(cluster, key, owner, found).await
    }

    /// Adopts the revisions of an owner that have none; returns its revisions.
    pub(super) async fn revisions(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        owner: &Value,
    ) -> Result<Vec<Value>, Status> {
        let mut found = self.families.dependents(key, REVISIONS);
        found.retain(|(relation, _)| *relation != Relation::Strayed);
        let own = self.settle(cluster, key, owner, found).await?;
        Ok(own.iter().map(|record| record.value()).collect())
    }

    /// Sends the writes of a decision. If another object has the name of the new revision, the next hash has another seed.
    pub(super) async fn revise(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        owner: &Value,
        decision: Decision,
    ) -> Result<(), Status> {
        let revises = decision.writes.first().is_some_and(history::is_new);
        match self.act(cluster, key, decision).await {
            Err(status) if revises && status.is_taken() => {
                self.act(cluster, key, history::collided(owner).into()).await
            }
            done => done,
        }
    }

    async fn settle(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        owner: &Value,
        found: Vec<(Relation, Arc<Record>)>,
    ) -> Result<Vec<Arc<Record>>, Status> {
        cluster.core.store.look(found.len());
        let is_deleting = crate::meta::is_deleting(owner);
        let mut own = Vec::new();
        for (relation, record) in found {
            let write = match relation {
                Relation::Own => {
                    own.push(record);
                    continue;
                }
                _ if is_deleting => continue,
                Relation::Strayed => release(record.value(), owner),
                Relation::Orphan => match record.value() {
                    object if crate::meta::is_deleting(&object) => continue,
                    object => adopt(object, owner),
                },
            };
            self.act(cluster, key, write.into()).await?;
            own.extend(
                cluster
                    .core
                    .store
                    .get(&record.key)
                    .filter(|_| relation == Relation::Orphan),
            );
        }
        Ok(own)
    }
}
