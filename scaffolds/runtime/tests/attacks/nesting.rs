//! Objects whose fields nest deeper than decoders go: kube-apiserver stores 10,000 levels, also in `managedFields`. The server of these
//! tests stores 120, so a response with such an object stands in for it.

use std::collections::BTreeMap;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, CustomResourceExt};
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, config_map, foobar, seconds},
    notes::{Seen, taken},
};

/// A kind whose specs may have any fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Open",
    plural = "opens",
    namespaced
)]
pub struct OpenSpec {
    #[schemars(schema_with = "anything")]
    any: Map<String, Value>,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

const OPENS: &str = "/apis/test.example.com/v1/namespaces/default/opens";

struct Owns;

impl Reconciler<FooBar> for Owns {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_nests_deep_keeps_no_operator_from_starting() {
    let world = World::new(&[FooBar::crd(), Open::crd()]);
    world.put(&at("a"), foobar("x"));
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!([{"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true}]);
    let child = json!({"apiVersion": "test.example.com/v1", "kind": "Open", "metadata": {"ownerReferences": owner}, "spec": {"any": {}}});
    world.put_as(&format!("{OPENS}/child"), "test/foobar", child);
    let mut list = json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "1"}});
    list["items"] = json!([world.object(&format!("{OPENS}/child")).unwrap(), {"metadata": {"name": "deep", "namespace": "default"}}]);
    let fields = (0..200).fold(json!({}), |inner, _| json!({"f:a": inner}));
    list["items"][1]["metadata"]["managedFields"] = json!([{"manager": "tenant", "fieldsV1": fields}]);
    // The search for children without the operator's label.
    let searched = Arc::new(AtomicUsize::new(0));
    let counted = searched.clone();
    world.intercept(move |method, path| {
        let searches = method == "GET" && path.ends_with("/opens");
        searches.then(|| {
            counted.fetch_add(1, Relaxed);
            (200, list.clone())
        })
    });

    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<FooBar>::new("foobar")
        .owns::<Open>()
        .register(&manager, Owns)
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    let child = world.object(&format!("{OPENS}/child")).unwrap();
    assert_eq!(child["metadata"]["labels"]["kubewright.dev/operator"], "test");
    assert_ne!(searched.load(Relaxed), 0);
    running.stop().await.unwrap();
}

/// Claims ConfigMaps with a label, and notes why it cannot.
struct Claims(Seen);

impl Reconciler<FooBar> for Claims {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let claimed = cx.claim::<ConfigMap>().await;
        self.0
            .lock()
            .unwrap()
            .extend(claimed.as_ref().err().map(ToString::to_string));
        claimed.map(|_| Action::Done)
    }
}

/// Objects `a` and `b`, which claim a ConfigMap each; the response to a read of one of them has this change.
fn claiming(read: &'static str, seen: &Seen, change: fn(&mut Value)) -> (World, Running) {
    let world = World::new(&[FooBar::crd()]);
    for name in ["a", "b"] {
        world.put(&at(name), foobar("x"));
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"of": name}}});
        world.put(&config_map(name), map);
    }
    let mut answer = world.object(&at(read)).unwrap();
    change(&mut answer);
    world.intercept(move |method, path| (method == "GET" && path == at(read)).then(|| (200, answer.clone())));
    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<FooBar>::new("foobar")
        .claims::<ConfigMap>(|foobar| {
            let name = foobar.metadata.name.clone().unwrap_or_default();
            BTreeMap::from([("of".to_owned(), name)])
        })
        .register(&manager, Claims(seen.clone()))
        .unwrap();
    (world, Running::start(manager))
}

fn owner(world: &World, name: &str) -> Value {
    world.object(&config_map(name)).unwrap()["metadata"]["ownerReferences"][0]["name"].clone()
}

#[tokio::test(start_paused = true)]
async fn managed_fields_that_nest_deep_keep_no_object_from_being_read() {
    let (world, running) = claiming("a", &Seen::default(), |object| {
        let fields = (0..200).fold(json!({}), |inner, _| json!({"f:a": inner}));
        object["metadata"]["managedFields"] = json!([{"manager": "tenant", "fieldsV1": fields}]);
    });
    seconds(5).await;
    assert_eq!([owner(&world, "a"), owner(&world, "b")], ["a", "b"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_named_and_stops_no_other() {
    let seen = Seen::default();
    let (world, running) = claiming("a", &seen, |object| object["spec"] = json!({"target": {"deep": 1}}));
    seconds(60).await;
    assert_eq!([owner(&world, "a"), owner(&world, "b")], [Value::Null, json!("b")]);
    let errors = taken(&seen);
    let named = "the FooBar `a` cannot be decoded: invalid type: map";
    assert!(
        errors.len() > 1 && errors.iter().all(|it| it.contains(named)),
        "{errors:?}"
    );
    running.stop().await.unwrap();
}
