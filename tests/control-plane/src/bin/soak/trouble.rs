//! The faults of a soak: one at a time, each for some seconds, chosen by the seed.

use std::time::Duration;

use anyhow::{Context, Result};
use control_plane::{
    Fault, eventually,
    foobar::{FooBar, of_any_form},
};
use fastrand::Rng;
use futures::{StreamExt, stream};
use k8s_openapi::{
    api::rbac::v1::ClusterRoleBinding, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

use crate::scene::{MALFORMED, PATIENCE, Scene};

const CRD: &str = "foobars.test.example.com";

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// kube-apiserver is killed with SIGKILL, and restarted after a while without the history of watches.
    ApiServerKilled,
    /// etcd is stopped: requests that need it are not answered.
    EtcdPaused,
    /// All connections are reset repeatedly.
    ConnectionsReset,
    /// Requests are answered with 429 and a `Retry-After`.
    TooManyRequests,
    /// Requests are answered with 500, 503 or 504.
    ServerErrors,
    /// The API server sends nothing.
    Silence,
    /// Connections are refused.
    Refusal,
    /// Writes are carried out, but their responses are lost.
    AnswersLost,
    /// Watches end with 410.
    HistoryGone,
    /// The CustomResourceDefinition is deleted with all its objects, and created again.
    CrdRemoved,
    /// The operator has no permissions for a while.
    RightsRevoked,
    /// Objects are stored that cannot be decoded.
    Malformed,
    /// The operator is stopped for a while, and continued.
    OperatorStopped,
    /// One process is killed with SIGKILL, and another one started. Not for a single process.
    OperatorKilled,
    /// One process is terminated, and another one started. Not for a single process.
    OperatorEnded,
}

impl Trouble {
    /// The faults for a single process.
    const ALL: [Self; 13] = [
        Self::ApiServerKilled,
        Self::EtcdPaused,
        Self::ConnectionsReset,
        Self::TooManyRequests,
        Self::ServerErrors,
        Self::Silence,
        Self::Refusal,
        Self::AnswersLost,
        Self::HistoryGone,
        Self::CrdRemoved,
        Self::RightsRevoked,
        Self::Malformed,
        Self::OperatorStopped,
    ];
    const OF_PAIRS: [Self; 2] = [Self::OperatorKilled, Self::OperatorEnded];

    /// All of them in an order that the seed decides.
    pub fn shuffled(chance: &mut Rng, lone: bool) -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        if !lone {
            // Pairs of processes are mainly for testing changes of the leader.
            all.extend([Self::OF_PAIRS, Self::OF_PAIRS].concat());
        }
        chance.shuffle(&mut all);
        all
    }

    /// Causes the fault, and ends it.
    pub async fn happen(self, scene: &mut Scene, chance: &mut Rng) -> Result<()> {
        let time = Duration::from_millis(chance.u64(1000..7000));
        let proxy = &scene.proxy;
        match self {
            Self::ApiServerKilled => {
                scene.plane.kill_api_server()?;
                sleep(time / 3).await;
                return scene.plane.restart_api_server().await;
            }
            Self::EtcdPaused => {
                scene.plane.pause_etcd()?;
                sleep(time).await;
                return scene.plane.resume_etcd();
            }
            Self::ConnectionsReset => {
                for _ in 0..10 {
                    proxy.reset();
                    sleep(time / 10).await;
                }
            }
            Self::TooManyRequests => {
                let retry_after = Some(chance.u32(0..3));
                let share = [30, 100][chance.usize(..2)];
                let code = 429;
                proxy.set(Fault::Answers {
                    code,
                    retry_after,
                    share,
                });
                sleep(time).await;
            }
            Self::ServerErrors => {
                let (code, share) = ([500, 503, 504][chance.usize(..3)], [30, 100][chance.usize(..2)]);
                let retry_after = None;
                proxy.set(Fault::Answers {
                    code,
                    retry_after,
                    share,
                });
                sleep(time).await;
            }
            Self::Silence | Self::Refusal | Self::AnswersLost => {
                proxy.set(match self {
                    Self::Silence => Fault::Silent,
                    Self::Refusal => Fault::Refused,
                    _ => Fault::LosesAnswers,
                });
                sleep(time).await;
            }
            Self::HistoryGone => {
                proxy.set(Fault::Expires);
                sleep(time / 2).await;
            }
            Self::CrdRemoved => return scene.remove_crd(time).await,
            Self::RightsRevoked => return scene.revoke_rights(time).await,
            Self::Malformed => return scene.store_malformed().await,
            Self::OperatorStopped => scene.crew.stop_one(chance, time).await?,
            Self::OperatorKilled => scene.crew.kill_one(chance)?,
            Self::OperatorEnded => scene.crew.terminate_one(chance).await?,
        }
        scene.proxy.set(Fault::None);
        Ok(())
    }
}

impl Scene {
    /// The operator must remove every finalizer first, so it has to work.
    async fn remove_crd(&mut self, away: Duration) -> Result<()> {
        let quiet = self.users.forget().await;
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        crds.delete(CRD, &DeleteParams::default()).await?;
        let crew = &mut self.crew;
        eventually(
            "the removed CustomResourceDefinition to be gone",
            PATIENCE,
            async || {
                crew.supervise()?;
                Ok(crds.get_opt(CRD).await?.is_none().then_some(()))
            },
        )
        .await?;
        sleep(away).await;
        self.deploy().await?;
        drop(quiet);
        self.users.fill().await;
        Ok(())
    }

    async fn revoke_rights(&self, time: Duration) -> Result<()> {
        let bindings: Api<ClusterRoleBinding> = Api::all(self.client.clone());
        let user = self.project.service_account();
        let ours = |binding: &ClusterRoleBinding| binding.subjects.iter().flatten().any(|subject| subject.name == user);
        let mut taken = bindings.list(&ListParams::default()).await?.items;
        taken.retain(ours);
        for binding in &taken {
            bindings.delete(&binding.name_any(), &DeleteParams::default()).await?;
        }
        sleep(time).await;
        for mut binding in taken {
            binding.metadata.resource_version = None;
            binding.metadata.uid = None;
            bindings.create(&PostParams::default(), &binding).await?;
        }
        Ok(())
    }

    /// Relaxes the schema, stores missing invalid objects, and restores the schema.
    async fn store_malformed(&mut self) -> Result<()> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let mut crd = serde_json::to_value(crds.get(CRD).await?)?;
        let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = anything;
        let loose = Patch::Merge(json!({"spec": crd["spec"]}));
        crds.patch(CRD, &PatchParams::default(), &loose).await?;

        let kind = ApiResource::erase::<FooBar>(&());
        let objects = of_any_form(self.client.clone(), Some(MALFORMED));
        let store = |n: usize| {
            let (objects, mut object) = (objects.clone(), DynamicObject::new(&format!("bad-{n:04}"), &kind));
            object.data = json!({"spec": {"target": {"not": "a string"}}});
            async move {
                // The API server takes a moment to apply the new schema.
                eventually("a malformed object to be stored", PATIENCE, async || {
                    match objects.create(&PostParams::default(), &object).await {
                        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Some(())),
                        stored => stored.map(|_| Some(())).context("not stored"),
                    }
                })
                .await
            }
        };
        let all: Vec<_> = (0..self.malformed).map(store).collect();
        let mut stored = stream::iter(all).buffer_unordered(8);
        while let Some(stored) = stored.next().await {
            stored?;
        }
        self.deploy().await
    }
}
