//! A conversion webhook that goes and comes back while objects exist, which probes cannot do without changing the definition.

use std::time::Duration;

use fidelity::Hook;
use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, PostParams, WatchEvent, WatchParams,
    },
};
use kubewright_apiserver::{ApiServer, Options};
use kubewright_runtime::{Migrated, StorageMigration};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

const GONE: &str = "conversion webhook for example.com/v1, Kind=Thing failed: Post \
                    \"https://kubernetes.default.svc:443/convert?timeout=30s\": no endpoints available for service \"kubernetes\"";

/// A server with the kind Thing, whose converter is behind the Service `default/kubernetes`: v1 is stored, and its `one` is
/// the `two` of v2.
struct World {
    server: ApiServer,
    client: Client,
}

impl World {
    async fn new() -> Self {
        let server = ApiServer::new(Options::default());
        let client = Client::new(server.service(), "default");
        let world = Self { server, client };
        world.goes(false);
        let version = |name: &str, field: &str, storage: bool| {
            let spec = json!({"type": "object", "properties": {field: {"type": "string"}}});
            let schema = json!({"type": "object", "properties": {"spec": spec}});
            json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}})
        };
        let service = json!({"namespace": "default", "name": "kubernetes", "path": "/convert"});
        let config = json!({"service": service, "caBundle": word("$ca")});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"},
                "versions": [version("v1", "one", true), version("v2", "two", false)],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]},
                },
            },
        });
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let api: Api<DynamicObject> = Api::all_with(world.client.clone(), &ApiResource::from_gvk(&kind));
        create(&api, definition).await;
        world
    }

    /// Whether the converter is there.
    fn goes(&self, is_gone: bool) {
        let address = word("$hook").strip_prefix("https://").unwrap().parse().unwrap();
        self.server
            .set_backend("default", "kubernetes", (!is_gone).then_some(address));
    }

    fn things(&self, version: &str, namespace: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("example.com", version, "Thing");
        let resource = ApiResource::from_gvk_with_plural(&kind, "things");
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }
}

fn word(name: &str) -> String {
    let words = &Hook::get().unwrap().words;
    words.iter().find(|(word, _)| *word == name).unwrap().1.clone()
}

fn thing(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"one": name}})
}

async fn create(api: &Api<DynamicObject>, object: Value) {
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

fn message<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> String {
    match result.unwrap_err() {
        kube::Error::Api(status) => status.message,
        other => panic!("{other}"),
    }
}

/// Whether an object could not be read, for this reason; the message contains the revision of the store.
fn is_corrupt(message: &str, reason: &str) -> bool {
    message.starts_with("Internal error occurred: StorageError: corrupt object, Code: 7") && message.ends_with(reason)
}

#[tokio::test(start_paused = true)]
async fn lists_need_no_converter_for_what_was_converted_before() {
    let world = World::new().await;
    let (old, new) = (world.things("v1", "default"), world.things("v2", "default"));
    create(&old, thing("a")).await;
    let listed = new.list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items[0].data["spec"], json!({"two": "a"}));
    world.goes(true);
    assert_eq!(new.list(&ListParams::default()).await.unwrap().items.len(), 1);
    assert!(is_corrupt(&message(new.get("a").await), GONE));
    create(&old, thing("b")).await;
    let unread = message(new.list(&ListParams::default()).await);
    assert!(unread.starts_with("failed to read one or more things.example.com") && unread.ends_with(GONE));
    world.goes(false);
    assert_eq!(new.list(&ListParams::default()).await.unwrap().items.len(), 2);
    old.delete("b", &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_migration_of_stored_objects_waits_for_the_converter_and_then_needs_it_no_more() {
    let world = World::new().await;
    let (old, new) = (world.things("v1", "default"), world.things("v2", "default"));
    for number in 0..30 {
        create(&old, thing(&format!("t{number}"))).await;
    }
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let definitions: Api<DynamicObject> = Api::all_with(world.client.clone(), &ApiResource::from_gvk(&kind));
    let mut definition = definitions.get("things.example.com").await.unwrap();
    for version in definition.data["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = json!(version["name"] == "v2");
    }
    definitions
        .replace("things.example.com", &PostParams::default(), &definition)
        .await
        .unwrap();

    let migration = StorageMigration::new(world.client.clone()).settle(Duration::ZERO);
    world.goes(true);
    let running = migration.run("things.example.com", "v2");
    let comes_back = async {
        sleep(Duration::from_secs(30)).await;
        assert!(is_corrupt(&message(new.get("t7").await), GONE));
        world.goes(false);
    };
    let (done, ()) = tokio::join!(running, comes_back);
    assert!(matches!(done, Ok(Migrated::Done { objects: 30, .. })), "{done:?}");
    world.goes(true);
    for number in 0..30 {
        let name = format!("t{number}");
        assert_eq!(new.get(&name).await.unwrap().data["spec"], json!({"two": name}));
        let gone = GONE.replace("example.com/v1,", "example.com/v2,");
        assert!(is_corrupt(&message(old.get(&name).await), &gone));
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_waits_for_its_converter() {
    let world = World::new().await;
    let (old, new) = (world.things("v1", "default"), world.things("v2", "default"));
    let revision = new
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version;
    let events = new.watch(&WatchParams::default(), &revision.unwrap()).await.unwrap();
    let mut events = events.boxed();
    world.goes(true);
    create(&old, thing("a")).await;
    assert!(timeout(Duration::from_secs(60), events.try_next()).await.is_err());
    world.goes(false);
    match events.try_next().await.unwrap() {
        Some(WatchEvent::Added(object)) => assert_eq!(object.data["spec"], json!({"two": "a"})),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_ends_without_a_converter() {
    let world = World::new().await;
    let kind = GroupVersionKind::gvk("", "v1", "Namespace");
    let namespaces: Api<DynamicObject> = Api::all_with(world.client.clone(), &ApiResource::from_gvk(&kind));
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "there"}}),
    )
    .await;
    create(&world.things("v1", "there"), thing("a")).await;
    world.goes(true);
    namespaces.delete("there", &DeleteParams::default()).await.unwrap();
    for _ in 0..100 {
        sleep(Duration::from_millis(100)).await;
        if namespaces.get_opt("there").await.unwrap().is_none() {
            return;
        }
    }
    panic!("the namespace is still there");
}
