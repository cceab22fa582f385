//! A wrong operator that relies on events instead of on objects.

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt, Result as KubeResult,
    api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::dev::sim::{Connection, Simulation};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{FooBar, wrong::owned};

/// How often the operator that uses kube alone applies its children.
const PERIOD: Duration = Duration::from_secs(20);
/// The time after an error.
const BACK_OFF: Duration = Duration::from_secs(5);

/// An operator, written with kube alone, that expects one event for each deletion.
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

fn place(object: &FooBar) -> [Option<String>; 2] {
    [object.namespace(), object.metadata.name.clone()]
}

async fn apply(client: &Client, object: &FooBar) -> KubeResult<()> {
    let child = owned(object, "foobar");
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &object.namespace().unwrap_or_default());
    let apply = PatchParams::apply("eventful").force();
    maps.patch(&child.name_any(), &apply, &Patch::Apply(&child)).await?;
    Ok(())
}
