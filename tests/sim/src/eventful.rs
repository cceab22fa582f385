//! Operators, written with kube alone, that rely on events instead of on objects, and a right one beside them.

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt, Result as KubeResult,
    api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::dev::sim::{Connection, Simulation};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{FooBar, wrong::owned};

/// How often the operators look at all objects.
const PERIOD: Duration = Duration::from_secs(20);
/// The time after an error.
const BACK_OFF: Duration = Duration::from_secs(5);
/// The time before the first look at the children: old lists and the writes of an earlier process are over then.
const GRACE: Duration = Duration::from_secs(40);

/// An operator that expects one event for each deletion.
pub fn expecting_one_deletion() -> Simulation {
    Simulation::new(|connection: Connection| async move {
        let client = Client::new(connection, "default");
        loop {
            // It lists again after an error.
            if follow(&client).await.is_err() {
                sleep(BACK_OFF).await;
            }
        }
        #[allow(unreachable_code, reason = "names the type of the error")]
        Ok::<(), String>(())
    })
}

async fn follow(client: &Client) -> KubeResult<()> {
    let foobars = Api::<FooBar>::all(client.clone());
    let list = foobars.list(&ListParams::default()).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    let mut known: BTreeMap<_, _> = list.items.into_iter().map(|it| (place(&it), it)).collect();
    let mut events = pin!(foobars.watch(&WatchParams::default(), &version).await?);
    loop {
        for object in known.values() {
            apply(client, object).await?;
        }
        let until = Instant::now() + PERIOD;
        match timeout_at(until, events.next()).await {
            Err(_) => {}
            Ok(Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)))) => {
                known.insert(place(&object), object);
            }
            Ok(Some(Ok(WatchEvent::Deleted(object)))) => {
                let place = place(&object);
                assert!(
                    known.remove(&place).is_some(),
                    "{place:?} was deleted, and is not known"
                );
            }
            Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
            Ok(Some(Ok(WatchEvent::Error(_)) | Err(_)) | None) => return Ok(()),
        }
    }
}

type ObjectPlace = [Option<String>; 2];

fn place(object: &impl ResourceExt) -> ObjectPlace {
    [object.namespace(), object.meta().name.clone()]
}

async fn apply(client: &Client, object: &FooBar) -> KubeResult<()> {
    let child = owned(object, "foobar");
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &object.namespace().unwrap_or_default());
    let apply = PatchParams::apply("eventful").force();
    maps.patch(&child.name_any(), &apply, &Patch::Apply(&child)).await?;
    Ok(())
}

/// The name of [`generating_names`] with [`Children::Cached`].
pub const TRUSTS_ITS_CACHE: &str = "trusts its cache of one kind";

/// Where an operator looks for its children.
#[derive(Clone, Copy, PartialEq)]
pub enum Children {
    /// In its cache, which may lag behind the objects of another kind.
    Cached,
    /// On the API server.
    Live,
}

/// An operator whose children have generated names, and that creates one if it finds none. With [`Children::Cached`] it relies
/// on getting the event of a child before those of its owner's status, which it writes later.
pub fn generating_names(children: Children) -> Simulation {
    Simulation::new(move |connection: Connection| async move {
        let client = Client::new(connection, "default");
        sleep(GRACE).await;
        loop {
            if keep_all(&client, children).await.is_err() {
                sleep(BACK_OFF).await;
            }
        }
        #[allow(unreachable_code, reason = "names the type of the error")]
        Ok::<(), String>(())
    })
}

/// An event of one of the two kinds.
enum Seen {
    Owner(WatchEvent<FooBar>),
    Child(WatchEvent<ConfigMap>),
}

async fn keep_all(client: &Client, children: Children) -> KubeResult<()> {
    let (all, any) = (ListParams::default(), WatchParams::default());
    let (foobars, maps) = (
        Api::<FooBar>::all(client.clone()),
        Api::<ConfigMap>::all(client.clone()),
    );
    let (owners, present) = (foobars.list(&all).await?, maps.list(&all).await?);
    let [since, other] =
        [&owners.metadata, &present.metadata].map(|it| it.resource_version.clone().unwrap_or_default());
    let of_owners = foobars.watch(&any, &since).await?.map_ok(Seen::Owner);
    let of_children = maps.watch(&any, &other).await?.map_ok(Seen::Child);
    let mut events = pin!(stream::select(of_owners, of_children));
    let mut owners: BTreeMap<_, _> = owners.items.into_iter().map(|it| (place(&it), it)).collect();
    let mut cache: BTreeMap<_, _> = present.items.into_iter().map(|it| (place(&it), it)).collect();
    loop {
        for owner in owners.values() {
            let live = match children {
                Children::Cached => None,
                Children::Live => Some(maps.list(&all).await?.items),
            };
            let present = live.unwrap_or_else(|| cache.values().cloned().collect());
            keep(client, owner, present).await?;
        }
        let mut next = timeout_at(Instant::now() + PERIOD, events.next()).await.ok();
        // All that has arrived is stored before it acts.
        while let Some(seen) = next {
            let is_stored = match seen {
                Some(Ok(Seen::Owner(event))) => store(&mut owners, event),
                Some(Ok(Seen::Child(event))) => store(&mut cache, event),
                Some(Err(_)) | None => false,
            };
            if !is_stored {
                return Ok(());
            }
            next = events.next().now_or_never();
        }
    }
}

/// Whether the watch goes on.
fn store<K: ResourceExt>(known: &mut BTreeMap<ObjectPlace, K>, event: WatchEvent<K>) -> bool {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => drop(known.insert(place(&object), object)),
        WatchEvent::Deleted(object) => drop(known.remove(&place(&object))),
        WatchEvent::Bookmark(_) => {}
        WatchEvent::Error(_) => return false,
    }
    true
}

/// Creates the child of this object if it has none, or corrects it, and reports the generation.
async fn keep(client: &Client, owner: &FooBar, mut present: Vec<ConfigMap>) -> KubeResult<()> {
    let namespace = owner.namespace().unwrap_or_default();
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    let mut wanted = owned(owner, "foobar");
    present.retain(|map| map.owner_references() == wanted.owner_references());
    match present.into_iter().next() {
        None => {
            wanted.metadata.name = None;
            wanted.metadata.generate_name = Some(format!("{}-", owner.name_any()));
            maps.create(&PostParams::default(), &wanted).await?;
        }
        Some(mut child) if child.data != wanted.data => {
            child.data = wanted.data;
            maps.replace(&child.name_any(), &PostParams::default(), &child).await?;
        }
        Some(_) => {}
    }
    let observed = owner.status.as_ref().and_then(|status| status.observed_generation);
    if observed != owner.metadata.generation {
        let status = Patch::Merge(json!({"status": {"observedGeneration": owner.metadata.generation}}));
        let foobars = Api::<FooBar>::namespaced(client.clone(), &namespace);
        foobars
            .patch_status(&owner.name_any(), &PatchParams::default(), &status)
            .await?;
    }
    Ok(())
}
