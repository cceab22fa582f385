//! The objects in a new namespace, compared with kube-controller-manager 1.36.3.

mod common;

use common::Wire;
use kubewright_apiserver::{ApiServer, Controllers, Options};
use serde_json::{Value, json};
use std::time::Duration;

fn wire() -> Wire {
    let controllers = Controllers {
        service_accounts: true,
        ..Controllers::default()
    };
    common::to(ApiServer::new(Options {
        controllers,
        certificate_authority: "PEM".to_owned(),
        ..Options::default()
    }))
}

async fn read(wire: &Wire, path: &str) -> Value {
    tokio::time::sleep(Duration::from_millis(30)).await;
    wire.get(path).await.json()
}

#[tokio::test(start_paused = true)]
async fn a_new_namespace_gets_a_service_account_and_the_certificate_authority() {
    let wire = wire();
    wire.post("/api/v1/namespaces", r#"{"metadata":{"name":"new"}}"#).await;
    let account = read(&wire, "/api/v1/namespaces/new/serviceaccounts/default").await;
    assert_eq!(account["metadata"]["name"], "default");
    let path = "/api/v1/namespaces/new/configmaps/kube-root-ca.crt";
    let authority = read(&wire, path).await;
    assert_eq!(authority["data"], json!({"ca.crt": "PEM"}));
    let description = authority["metadata"]["annotations"]["kubernetes.io/description"].as_str();
    assert!(description.unwrap().starts_with("Contains a CA bundle"), "{authority}");
}

#[tokio::test(start_paused = true)]
async fn the_certificate_authority_of_a_namespace_is_restored() {
    let wire = wire();
    let path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    read(&wire, path).await;
    wire.send("DELETE", path, "").await;
    let made = read(&wire, path).await;
    assert_eq!(made["data"], json!({"ca.crt": "PEM"}));
    let patch = wire.with("content-type", "application/merge-patch+json");
    patch
        .send("PATCH", path, r#"{"data":{"ca.crt":"other","more":"x"}}"#)
        .await;
    assert_eq!(read(&wire, path).await["data"], json!({"ca.crt": "PEM"}));
}
