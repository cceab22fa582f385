//! The objects in a new namespace, compared with kube-controller-manager 1.37.2.

use crate::common::Wire;
use kubewright_apiserver::{ApiServer, Controllers, Options};
use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};
use std::time::Duration;

fn wire() -> Wire {
    let controllers = Controllers {
        service_accounts: true,
        ..Controllers::default()
    };
    crate::common::to(ApiServer::new(Options {
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
async fn the_objects_of_a_namespace_are_created_after_a_refusal() {
    let wire = wire();
    read(&wire, "/api/v1/namespaces").await;
    wire.refuse("CREATE", "/serviceaccounts").await;
    wire.post("/api/v1/namespaces", r#"{"metadata":{"name":"new"}}"#).await;
    let account = "/api/v1/namespaces/new/serviceaccounts/default";
    assert_eq!(read(&wire, account).await["code"], 404);
    tokio::time::sleep(Duration::from_secs(30)).await;
    wire.allow().await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(read(&wire, account).await["metadata"]["name"], "default");
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

#[tokio::test(start_paused = true)]
async fn a_secret_gets_a_token_of_its_service_account_and_ends_with_it() {
    let wire = wire();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = wire.post(accounts, r#"{"metadata":{"name":"robot"}}"#).await.json();
    let secret = |name: &str, account: &str| {
        json!({"metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": account}},
            "type": "kubernetes.io/service-account-token"})
    };
    let secrets = "/api/v1/namespaces/default/secrets";
    for body in [secret("token", "robot"), secret("orphan", "nobody")] {
        assert_eq!(wire.post(secrets, body.to_string()).await.code, 201);
    }
    let path = format!("{secrets}/token");
    let filled = read(&wire, &path).await;
    let text = |field: &str| {
        let data = filled["data"][field].as_str().unwrap_or_default();
        String::from_utf8(base64::decode(data, Encoding::Standard).unwrap()).unwrap()
    };
    assert_eq!([text("ca.crt"), text("namespace")], ["PEM", "default"]);
    let uid = &filled["metadata"]["annotations"]["kubernetes.io/service-account.uid"];
    assert_eq!(*uid, account["metadata"]["uid"]);
    let robot = wire.with("authorization", &format!("Bearer {}", text("token")));
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let user = robot.post(who, "{}").await.json()["status"]["userInfo"]["username"].clone();
    assert_eq!(user, "system:serviceaccount:default:robot");
    assert_eq!(read(&wire, &format!("{secrets}/orphan")).await["code"], 404);

    let patch = wire.with("content-type", "application/merge-patch+json");
    patch.send("PATCH", &path, r#"{"data":{"token":"eA=="}}"#).await;
    assert_ne!(read(&wire, &path).await["data"]["token"], "eA==");
    // A copy of the Secret has the token of the deleted one.
    wire.send("DELETE", &path, "").await;
    let mut copy = secret("token", "robot");
    copy["data"] = filled["data"].clone();
    assert_eq!(wire.post(secrets, copy.to_string()).await.code, 201);
    assert_ne!(read(&wire, &path).await["data"]["token"], filled["data"]["token"]);
    wire.send("DELETE", &format!("{accounts}/robot"), "").await;
    assert_eq!(read(&wire, &path).await["code"], 404);
    assert_eq!(robot.post(who, "{}").await.code, 401);
}

#[tokio::test(start_paused = true)]
async fn an_answer_names_the_flow_schema_and_the_priority_level_of_its_request() {
    const FLOWS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let wire = wire();
    let uid = async |path: &str| {
        let object = wire.get(&format!("{FLOWS}/{path}")).await.json();
        object["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
    };
    let flow = async |wire: &Wire, path: &str| {
        let answer = wire.get(path).await;
        ["flowschema", "prioritylevel"].map(|kind| answer.header(&format!("x-kubernetes-pf-{kind}-uid")))
    };
    let wanted = async |schema: &str, level: &str| {
        [
            uid(&format!("flowschemas/{schema}")).await,
            uid(&format!("prioritylevelconfigurations/{level}")).await,
        ]
    };
    let user = wire
        .with("impersonate-user", "someone")
        .with("impersonate-group", "system:authenticated");
    let node = wire
        .with("impersonate-user", "n")
        .with("impersonate-group", "system:nodes");
    assert_eq!(flow(&wire, "/api/v1/nodes").await, wanted("exempt", "exempt").await);
    assert_eq!(
        flow(&user, "/api/v1/pods").await,
        wanted("global-default", "global-default").await
    );
    assert_eq!(flow(&user, "/healthz").await, wanted("probes", "exempt").await);
    assert_eq!(
        flow(&node, "/api/v1/nodes/n").await,
        wanted("system-node-high", "node-high").await
    );
    assert_eq!(
        flow(&node, "/api/v1/pods").await,
        wanted("system-nodes", "system").await
    );

    let schema = json!({
        "metadata": {"name": "mine"},
        "spec": {"priorityLevelConfiguration": {"name": "late"}, "matchingPrecedence": 900, "rules": [{
            "subjects": [{"kind": "User", "user": {"name": "someone"}}],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/version", "/openapi/*"]}],
        }]},
    });
    assert_eq!(
        wire.post(&format!("{FLOWS}/flowschemas"), schema.to_string())
            .await
            .code,
        201
    );
    let dangling = async || {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let schema = wire.get(&format!("{FLOWS}/flowschemas/mine")).await.json();
        schema["status"]["conditions"][0]["status"].clone()
    };
    assert_eq!(dangling().await, "True");
    assert_eq!(
        flow(&user, "/version").await,
        wanted("global-default", "global-default").await
    );
    let level = json!({"metadata": {"name": "late"}, "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}});
    let made = wire
        .post(&format!("{FLOWS}/prioritylevelconfigurations"), level.to_string())
        .await;
    assert_eq!(made.code, 201, "{}", made.text);
    assert_eq!(dangling().await, "False");
    for path in ["/version", "/openapi/v3"] {
        assert_eq!(flow(&user, path).await, wanted("mine", "late").await);
    }
    assert_eq!(
        flow(&user, "/apis").await,
        wanted("global-default", "global-default").await
    );
}
