//! The life of an object with webhooks, on the in-process API server and on a real one.

use kube::{Client, CustomResource, CustomResourceExt};
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use kubewright_runtime::{Result, testing::TestCluster};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::{
    scope::Operation,
    webhook::{Admission, Change, Defaulter, Validator, Verdict, Webhook},
};

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
struct FooBarSpec {
    size: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

struct Rules;

impl Validator<FooBar> for Rules {
    async fn validate(&self, cx: &Admission, change: Change<'_, FooBar>) -> Result<Verdict> {
        let mut verdict = Verdict::allowed();
        match change {
            Change::Delete(_) if !cx.is_dry_run() && cx.name() != "leaving" => {
                return Ok(Verdict::forbidden("FooBars stay"));
            }
            _ => {}
        }
        let Some(new) = change.new_object() else {
            return Ok(verdict);
        };
        if new.spec.size % 2 != 0 {
            verdict.invalid("spec.size", new.spec.size, "must be even");
        }
        if new.spec.mode.as_deref() == Some("none") {
            verdict.unsupported("spec.mode", "none", &["fast", "slow"]);
        }
        cx.warn("FooBars are watched");
        Ok(verdict)
    }
}

struct Defaults;

impl Defaulter<FooBar> for Defaults {
    async fn default(&self, _: &Admission, object: &mut FooBar) -> Result<()> {
        object.spec.mode.get_or_insert_with(|| "slow".to_owned());
        Ok(())
    }
}

/// FooBars, with a field in their schema that the type does not know, and sizes that it cannot hold.
fn definition() -> Value {
    let mut definition = json!(FooBar::crd());
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    definition.pointer_mut(properties).unwrap()["unknown"] = json!({"type": "integer"});
    definition.pointer_mut(properties).unwrap()["size"] = json!({"type": "integer"});
    definition
}

async fn story(client: Client, namespace: &str) {
    assert!(apply(&client, DEFINITIONS, &definition()).await.0 < 300);
    let manager = Manager::builder(client.clone()).name(OPERATOR).build();
    Webhook::defaulting(Defaults).register(&manager).unwrap();
    Webhook::validating(Rules)
        .operations([Operation::Create, Operation::Update, Operation::Delete])
        .when("not-exempt", "request.userInfo.username != 'exempt'")
        .register(&manager)
        .unwrap();
    let replica = Replica::start_here(&manager, namespace);
    deploy(&client, namespace, &manager, Some(&replica.url())).await;
    replica.ready().await;

    let foobars = format!("/apis/test.example.com/v1/namespaces/{namespace}/foobars");
    let create = async |spec: Value| {
        let object = json!({
            "apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {"name": "a"}, "spec": spec,
        });
        let request = http::Request::post(&foobars).header("content-type", "application/json");
        send(&client, request, &object).await
    };
    // The API server may not have seen the configurations yet.
    until("a refusal with all causes", async || {
        create(json!({"size": 3, "mode": "none"})).await.0 == 422
    })
    .await;
    let (_, refused) = create(json!({"size": 3, "mode": "none"})).await;
    let by = r#"admission webhook "vfoobar-v1.test.example.com" denied the request: "#;
    let causes = r#"[spec.size: Invalid value: 3: must be even, spec.mode: Unsupported value: "none": supported values: "fast", "slow"]"#;
    assert_eq!(
        refused["message"],
        format!(r#"{by}FooBar.test.example.com "a" is invalid: {causes}"#)
    );
    assert_eq!(refused["reason"], "Invalid");
    assert_eq!(
        refused["details"],
        json!({"name": "a", "group": "test.example.com", "kind": "FooBar", "causes": [
            {"reason": "FieldValueInvalid", "message": "Invalid value: 3: must be even", "field": "spec.size"},
            {"reason": "FieldValueNotSupported", "field": "spec.mode",
                "message": "Unsupported value: \"none\": supported values: \"fast\", \"slow\""},
        ]})
    );
    // API servers validate against the schema only after the mutating webhooks.
    let (code, unfit) = create(json!({"size": "big"})).await;
    let words =
        "the FooBar does not fit its type, so mfoobar-v1.test.example.com cannot check it: invalid type: string";
    assert!(unfit["message"].as_str().unwrap().contains(words), "{unfit}");
    assert_eq!(code, 400);
    let (code, unfit) = create(json!({"size": 3_000_000_000_i64})).await;
    assert_eq!(code, 400, "the schema admits it, and it is refused: {unfit}");

    let (code, created) = create(json!({"size": 2, "unknown": 7})).await;
    assert_eq!(
        (code, &created["spec"]),
        (201, &json!({"size": 2, "unknown": 7, "mode": "slow"}))
    );
    let patch = async |patch: Value| {
        let request = http::Request::patch(format!("{foobars}/leaving"));
        let request = request.header("content-type", "application/merge-patch+json");
        send(&client, request, &patch).await
    };
    // `cleanup` reads the spec of an object that is being deleted, so it is checked to the end.
    let object = json!({
        "apiVersion": "test.example.com/v1", "kind": "FooBar", "spec": {"size": 2},
        "metadata": {"name": "leaving", "finalizers": ["example.com/cleanup"]},
    });
    let request = http::Request::post(&foobars).header("content-type", "application/json");
    assert_eq!(send(&client, request, &object).await.0, 201);
    let delete = http::Request::delete(format!("{foobars}/leaving"));
    assert_eq!(send(&client, delete, &Value::Null).await.0, 200);
    assert_eq!(patch(json!({"metadata": {"labels": {"a": "b"}}})).await.0, 200);
    let (code, refused) = patch(json!({"spec": {"size": 3}})).await;
    assert_eq!(code, 422, "{refused}");
    assert_eq!(patch(json!({"metadata": {"finalizers": null}})).await.0, 200);
    // `make deploy` leaves the bundle alone.
    deploy(&client, namespace, &manager, Some(&replica.url())).await;
    let delete = http::Request::delete(format!("{foobars}/a"));
    let (code, kept) = send(&client, delete, &Value::Null).await;
    assert_eq!(
        (code, kept["message"].as_str().unwrap()),
        (403, &*format!("{by}FooBars stay"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_object_is_refused_with_its_causes_and_a_valid_one_gets_its_default() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    story(Client::new(server.service(), "default"), "default").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn the_same_on_a_real_api_server() {
    let cluster = TestCluster::start().await.unwrap();
    story(cluster.client(), cluster.namespace()).await;
}
