//! Users who create, change and delete FooBars, and modify the operator's objects, continuously and as fast as they get
//! responses.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
    time::Duration,
};

use control_plane::foobar::{FooBar, FooBarSpec, child_of};
use fastrand::Rng;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};

/// The next action of a user; all have the same probability.
const DEEDS: [&str; 9] = [
    "create",
    "edit",
    "edit",
    "delete",
    "delete child",
    "scribble on child",
    "wipe status",
    "replace",
    "squat",
];

/// The time between two actions, in milliseconds.
const PAUSE: std::ops::Range<u64> = 10..80;

/// The time limit of a user for a response.
const PATIENCE: Duration = Duration::from_secs(5);

/// The actions of users, and the state that they know for certain.
#[derive(Clone)]
pub struct Users {
    client: Client,
    namespaces: Arc<Vec<String>>,
    /// The number of names in each namespace.
    names: u64,
    known: Arc<std::sync::Mutex<Known>>,
    /// Locked during each action, and to pause all actions.
    quiet: Arc<Mutex<()>>,
}

#[derive(Default)]
struct Known {
    /// Created, with a successful response, and not deleted by any user.
    kept: BTreeSet<(String, String)>,
    deeds: BTreeMap<&'static str, u64>,
}

impl Users {
    pub fn new(client: Client, namespaces: Vec<String>, names: u64) -> Self {
        Self {
            client,
            namespaces: Arc::new(namespaces),
            names,
            known: Arc::default(),
            quiet: Arc::default(),
        }
    }

    /// The FooBars that must exist.
    pub fn kept(&self) -> BTreeSet<(String, String)> {
        self.known().kept.clone()
    }

    /// The successful actions, by kind.
    pub fn deeds(&self) -> BTreeMap<&'static str, u64> {
        self.known().deeds.clone()
    }

    /// Pauses the users, and clears what they know, for as long as the guard is held.
    pub async fn forget(&self) -> tokio::sync::OwnedMutexGuard<()> {
        let guard = self.quiet.clone().lock_owned().await;
        self.known().kept.clear();
        guard
    }

    /// Creates one FooBar under each name, so that a run starts with objects. Existing ones stay.
    pub async fn fill(&self) {
        for namespace in self.namespaces.iter() {
            for n in 0..self.names {
                self.create(namespace, &format!("soak-{n:04}"), "filled").await;
            }
        }
    }

    /// Continues until `stop` is true.
    pub async fn meddle(self, mut chance: Rng, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let deed = {
                let _quiet = self.quiet.lock().await;
                let deed = DEEDS[chance.usize(..DEEDS.len())];
                // After a time-out the result is unknown.
                let done = timeout(PATIENCE, self.perform(deed, &mut chance)).await;
                done.unwrap_or(false).then_some(deed)
            };
            if let Some(deed) = deed {
                *self.known().deeds.entry(deed).or_default() += 1;
            }
            let pause = sleep(Duration::from_millis(chance.u64(PAUSE)));
            tokio::select! {
                () = pause => {}
                _ = stop.changed() => {}
            }
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the action succeeded, as far as the response shows.
    async fn perform(&self, deed: &str, chance: &mut Rng) -> bool {
        let namespace = self.namespaces[chance.usize(..self.namespaces.len())].clone();
        let name = format!("soak-{:04}", chance.u64(0..self.names));
        let word = format!("{:08x}", chance.u32(..));
        let foobars: Api<FooBar> = Api::namespaced(self.client.clone(), &namespace);
        let children: Api<ConfigMap> = Api::namespaced(self.client.clone(), &namespace);
        let (child, how) = (child_of(&name), PatchParams::default());
        match deed {
            "create" => self.create(&namespace, &name, &word).await,
            "edit" => {
                let kind = chance.bool().then_some(&word);
                let patch = Patch::Merge(json!({"spec": {"target": word, "type": kind}}));
                foobars.patch(&name, &how, &patch).await.is_ok()
            }
            "delete" => self.delete(&foobars, &namespace, &name).await,
            "replace" => {
                self.delete(&foobars, &namespace, &name).await;
                self.create(&namespace, &name, &word).await
            }
            "delete child" => children.delete(&child, &DeleteParams::default()).await.is_ok(),
            "scribble on child" => {
                let patch = Patch::Merge(json!({"data": {"target": "drifted"}}));
                children.patch(&child, &how, &patch).await.is_ok()
            }
            "wipe status" => {
                let patch = Patch::Merge(json!({"status": null}));
                foobars.patch_status(&name, &how, &patch).await.is_ok()
            }
            // A ConfigMap of another owner under the name of a present or future child.
            _ => children.create(&PostParams::default(), &squatter(&child)).await.is_ok(),
        }
    }

    async fn create(&self, namespace: &str, name: &str, target: &str) -> bool {
        let spec = FooBarSpec {
            target: target.to_owned(),
            r#type: None,
        };
        let foobars: Api<FooBar> = Api::namespaced(self.client.clone(), namespace);
        let created = foobars
            .create(&PostParams::default(), &FooBar::new(name, spec))
            .await
            .is_ok();
        if created {
            self.known().kept.insert((namespace.to_owned(), name.to_owned()));
        }
        created
    }

    async fn delete(&self, foobars: &Api<FooBar>, namespace: &str, name: &str) -> bool {
        // Before the request: its result is unknown until the response.
        self.known().kept.remove(&(namespace.to_owned(), name.to_owned()));
        foobars.delete(name, &DeleteParams::default()).await.is_ok()
    }
}

fn squatter(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}
