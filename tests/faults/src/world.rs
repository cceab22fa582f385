//! The API server, the actions of users, and the final state.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{FooBar, FooBarSpec, Line, Process};

/// An API server with its garbage collector, and the kind FooBar.
pub struct World {
    server: ApiServer,
    client: Client,
}

impl World {
    /// Without objects, with the server's default history.
    pub async fn new() -> Self {
        Self::with_history(None).await
    }

    /// Without objects; lists and watches reach back for this many changes only.
    pub async fn with_history(history: impl Into<Option<usize>>) -> Self {
        let server = ApiServer::new(Options {
            controllers: Controllers {
                garbage_collector: true,
                ..Controllers::NONE
            },
            history: history.into(),
            ..Options::default()
        });
        let client = Client::new(server.service(), "default");
        let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
        must(crds.create(&PostParams::default(), &FooBar::crd()).await);
        settle().await;
        Self { server, client }
    }

    /// Starts a process of the operator on this connection.
    pub fn start(&self, line: &Line) -> Process {
        Process::start(line.client(&self.server))
    }

    /// The users' client, which has no faults.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Creates a FooBar, as a user.
    pub async fn create(&self, name: &str, target: &str) {
        let spec = FooBarSpec {
            target: target.to_owned(),
        };
        must(
            self.api()
                .create(&PostParams::default(), &FooBar::new(name, spec))
                .await,
        );
    }

    /// Changes a FooBar's target, as a user.
    pub async fn edit(&self, name: &str, target: &str) {
        let patch = Patch::Merge(json!({"spec": {"target": target}}));
        must(self.api::<FooBar>().patch(name, &PatchParams::default(), &patch).await);
    }

    /// Deletes an object, as a user.
    pub async fn delete<K>(&self, name: &str)
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        must(self.api::<K>().delete(name, &DeleteParams::default()).await);
    }

    /// The current version of a list.
    pub async fn version(&self) -> u64 {
        let list = must(self.api::<FooBar>().list(&ListParams::default()).await);
        let version = list.metadata.resource_version.unwrap_or_default();
        version.parse().expect("a version of this server is a number")
    }

    /// All relevant objects, by kind and name, without fields that differ from run to run.
    pub async fn state(&self) -> BTreeMap<String, Value> {
        let mut state = BTreeMap::new();
        self.gather::<FooBar>(&mut state).await;
        self.gather::<ConfigMap>(&mut state).await;
        self.gather::<Secret>(&mut state).await;
        for object in state.values_mut() {
            make_comparable(object);
        }
        state
    }

    /// The uids of the same objects.
    pub async fn uids(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        self.gather::<FooBar>(&mut state).await;
        self.gather::<ConfigMap>(&mut state).await;
        self.gather::<Secret>(&mut state).await;
        let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        state.iter().map(|(name, object)| (name.clone(), uid(object))).collect()
    }

    async fn gather<K>(&self, into: &mut BTreeMap<String, Value>)
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Serialize,
    {
        let list = must(self.api::<K>().list(&ListParams::default()).await);
        for object in list.items {
            let name = format!("{} {}", K::kind(&()), object.name_any());
            into.insert(name, json!(object));
        }
    }
}

/// Waits long enough for all delays and retries.
pub async fn settle() {
    sleep(Duration::from_secs(120)).await;
}

fn make_comparable(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
        ] {
            metadata.remove(field);
        }
    }
    for owner in object["metadata"]["ownerReferences"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        owner["uid"] = Value::Null;
    }
    for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastTransitionTime"] = Value::Null;
        condition["observedGeneration"] = Value::Null;
    }
}

/// The users' connection has no faults: an error there is a mistake of the test.
fn must<T>(answer: kube::Result<T>) -> T {
    answer.expect("a user's request is a good one")
}
