//! Messages of a trial equal an API server's.

use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, client::Body};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use serde_json::{Value, json};

use super::{about, config_map};
use crate::{
    policy::{Params, Policy, PolicyForm, Validating, Validation, documents},
    scope::FailurePolicy,
    testing::Trial,
};

pub(super) async fn create(client: &Client, path: &str, object: &Value) -> Value {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Body::from(object.to_string().into_bytes())).unwrap();
    let answer = client.send(request).await.unwrap().into_body();
    serde_json::from_slice(&answer.collect_bytes().await.unwrap()).unwrap()
}

/// Creates a policy and its binding.
pub(super) async fn state<F: PolicyForm>(client: &Client, policy: &Policy<F>) {
    for document in documents(policy, "x") {
        let kind = document["kind"].as_str().unwrap().to_lowercase();
        let plural = match kind.strip_suffix("policy") {
            Some(stem) => format!("{stem}policies"),
            None => format!("{kind}s"),
        };
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        let created = create(client, &path, &document).await;
        assert!(created["metadata"]["uid"].is_string(), "{created}");
    }
}

/// An in-process server.
pub(super) fn in_process() -> Client {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    Client::new(server.service(), "default")
}

/// A server that has the policy, and the namespace `a` with these parameters.
async fn server(policy: &Policy<Validating>, params: &Value) -> Client {
    let client = in_process();
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"prefix": "team"}}});
    create(&client, "/api/v1/namespaces", &namespace).await;
    create(&client, "/api/v1/namespaces/a/configmaps", params).await;
    state(&client, policy).await;
    client
}

/// A server's message about a refused object, after the words about policy and binding; empty for an accepted one.
pub(super) fn told(answer: &Value) -> String {
    let message = answer["message"].as_str().unwrap_or_default();
    // Without a message, it is the object.
    let told = message.split_once(" denied request: ");
    told.map_or(message, |(_, told)| told).to_owned()
}

#[tokio::test]
async fn a_trial_tells_what_the_api_server_tells() {
    let with_prefix = |validation| {
        about("true")
            .variable("prefix", "namespaceObject.metadata.?labels[?'prefix'].orValue('')")
            .validation(validation)
    };
    let starts = || Validation::new("object.metadata.name.startsWith(variables.prefix)");
    let limits = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "limits", "namespace": "a"},
        "data": {"forbidden": "sample"},
    });
    let of_params = about("object.metadata.name != params.data.forbidden").params(Params::named::<ConfigMap>("limits"));
    for policy in [
        with_prefix(starts()),
        with_prefix(starts().message("plain")),
        with_prefix(starts().message_expression("'begin with ' + variables.prefix + ', not ' + request.name")),
        with_prefix(starts().message("plain").message_expression("string(object.data.x)")),
        about("object.data.x == 'a'"),
        about("object.data.x == 'a'").failure_policy(FailurePolicy::Ignore),
        about("false").when("never", "request.operation == 'DELETE'"),
        about("request.namespace == namespaceObject.metadata.name && request.kind.kind == 'ConfigMap'"),
        of_params,
    ] {
        let object = config_map("sample", json!({}));
        let mut write = Trial::create(&{
            let mut object = object.clone();
            object.metadata.namespace = Some("a".to_owned());
            object
        });
        write = write.namespace_labels([("prefix", "team")]);
        if policy.declared.params.is_some() {
            write = write.params(&limits);
        }
        let client = server(&policy, &limits).await;
        let answer = create(&client, "/api/v1/namespaces/a/configmaps", &json!(object)).await;
        assert_eq!(write.refusals(&policy).concat(), told(&answer));
    }
}
