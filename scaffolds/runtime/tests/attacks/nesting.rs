//! Objects whose fields nest deeper than decoders go: API servers store 10,000 levels, also in `managedFields`.

use std::sync::Arc;

use http::Request;
use kube::{CustomResource, CustomResourceExt, client::Body};
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tower::ServiceExt;

use crate::support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds},
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
    world.put(&format!("{OPENS}/child"), child);
    // The client of this test could not decode it either.
    let nested = [r#"{"a":"#.repeat(200), "1".to_owned(), "}".repeat(200)].concat();
    let deep = format!(
        r#"{{"apiVersion":"test.example.com/v1","kind":"Open","metadata":{{"name":"deep"}},"spec":{{"any":{nested}}}}}"#
    );
    let request = Request::post(OPENS).header("content-type", "application/json");
    let request = request.body(Body::from(deep.into_bytes())).unwrap();
    let Ok(stored) = world.server().service().oneshot(request).await;
    assert_eq!(stored.status(), 201);

    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<FooBar>::new("foobar")
        .owns::<Open>()
        .register(&manager, Owns)
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    let child = world.object(&format!("{OPENS}/child")).unwrap();
    assert_eq!(child["metadata"]["labels"]["kubewright.dev/operator"], "test");
    running.stop().await.unwrap();
}
