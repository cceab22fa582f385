//! Takes a step. If the operator is killed in one, the next process takes it again, so all its parts can be repeated.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::serde_json::json;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use kubewright_runtime::{EventType, Result};

use super::Work;
use super::backups;
use super::children::Shape;
use super::decide::{Observed, Step};
use super::members::Members;

impl<M: Members> Work<'_, M> {
    pub async fn take(&self, step: &Step, seen: &Observed) -> Result<()> {
        match step {
            Step::Create(members) => self.resize(*members).await?,
            Step::Grow(ordinals) => self.grow(ordinals).await?,
            Step::Release => self.release().await?,
            Step::Restart(ordinal) => self.restart(*ordinal, seen).await?,
            Step::Rebuild(ordinal) => {
                // For its peers it is a new member.
                let host = self.host(*ordinal);
                self.members.remove(&host).await?;
                self.members.add(&host).await?;
                let claim = self.claim(*ordinal);
                let params = DeleteParams::default();
                self.claims().delete(&claim, &params).await?;
                self.restart(*ordinal, seen).await?;
            }
            Step::Remove(ordinal) => {
                self.members.remove(&self.host(*ordinal)).await?;
                self.resize(*ordinal).await?;
            }
            Step::Add(ordinal) => {
                self.members.add(&self.host(*ordinal)).await?;
                self.resize(ordinal + 1).await?;
            }
            Step::BackUp(at) => {
                let backup = backups::scheduled(self.object, *at);
                backups::create(self.cx, &backup).await?;
            }
            Step::DeleteBackups(names) => backups::delete(self.cx, names).await?,
            Step::Restore(_) | Step::Wait(_) | Step::Paused | Step::Done => return Ok(()),
        }
        let text = step.to_string();
        self.cx.event(EventType::Normal, step.phase(), text);
        Ok(())
    }

    async fn resize(&self, members: i32) -> Result<()> {
        let storage = &self.object.spec.storage.size;
        let set = self.set(&Shape { members, storage })?;
        self.cx.apply_child(set).await?;
        Ok(())
    }

    async fn grow(&self, ordinals: &[i32]) -> Result<()> {
        let requests = json!({ "storage": self.object.spec.storage.size });
        let patch = json!({ "spec": { "resources": { "requests": requests } } });
        let (merge, patch) = (PatchParams::default(), Patch::Merge(patch));
        for ordinal in ordinals {
            let claim = self.claim(*ordinal);
            self.claims().patch(&claim, &merge, &patch).await?;
        }
        Ok(())
    }

    async fn release(&self) -> Result<()> {
        let client = self.cx.client().clone();
        let sets: Api<StatefulSet> = Api::namespaced(client, self.cx.namespace());
        sets.delete(&self.name, &DeleteParams::orphan()).await?;
        Ok(())
    }

    /// Deletes the Pod that was seen, and not one that has taken its place meanwhile.
    async fn restart(&self, ordinal: i32, seen: &Observed) -> Result<()> {
        let mut members = seen.members.iter();
        let member = members.find(|member| member.ordinal == ordinal);
        let Some(uid) = member.and_then(|member| member.pod.clone()) else {
            return Ok(());
        };
        let this = Preconditions {
            uid: Some(uid),
            ..Preconditions::default()
        };
        let params = DeleteParams::default().preconditions(this);
        self.pods().delete(&self.pod(ordinal), &params).await?;
        Ok(())
    }

    pub fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.cx.client().clone(), self.cx.namespace())
    }

    pub fn claims(&self) -> Api<PersistentVolumeClaim> {
        Api::namespaced(self.cx.client().clone(), self.cx.namespace())
    }
}
