//! Webhooks behind Services, whose addresses nothing routes: with kube-apiserver they cannot be compared. And the prices of
//! conditions, beside what kube-apiserver did with them.

use std::net::SocketAddr;

use fidelity::{Hook, recording::probes::read};
use http::Request;
use kube::{Client, client::Body};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use kubewright_schema::condition::{BUDGET, Condition, LIMIT};
use serde_json::{Value, json};

/// A server with a validating webhook behind the Service `default/kubernetes`, which exists from the start and for which the
/// certificate of the webhook is valid.
async fn server() -> (ApiServer, Client) {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    let client = Client::new(server.service(), "default");
    let hook = json!({
        "name": "a.hooks.example.com",
        "clientConfig": {
            "service": {"name": "kubernetes", "namespace": "default", "path": "/deny"},
            "caBundle": word("$ca"),
        },
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    let configuration = json!({"metadata": {"name": "a"}, "webhooks": [hook]});
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    assert_eq!(
        post(&client, path, &configuration).await["kind"],
        "ValidatingWebhookConfiguration"
    );
    (server, client)
}

fn word(name: &str) -> String {
    let words = &Hook::get().unwrap().words;
    words.iter().find(|(word, _)| *word == name).unwrap().1.clone()
}

fn address() -> SocketAddr {
    word("$hook").strip_prefix("https://").unwrap().parse().unwrap()
}

async fn post(client: &Client, path: &str, body: &Value) -> Value {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
    let response = client.send(request).await.unwrap();
    let body = response.into_body().collect_bytes().await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

async fn refusal(client: &Client) -> String {
    let answer = post(
        client,
        "/api/v1/namespaces/default/configmaps",
        &json!({"metadata": {"name": "a"}}),
    )
    .await;
    answer["message"].as_str().unwrap_or_default().to_owned()
}

const NOT_CALLED: &str = "Internal error occurred: failed calling webhook \"a.hooks.example.com\": failed to call webhook: \
                          Post \"https://kubernetes.default.svc:443/deny?timeout=10s\": ";
const DENIED: &str = "admission webhook \"a.hooks.example.com\" denied the request: no";

#[tokio::test(start_paused = true)]
async fn the_service_of_a_webhook_leads_to_the_registered_process() {
    let (server, client) = server().await;
    server.set_backend("default", "kubernetes", Some(address()));
    assert_eq!(refusal(&client).await, DENIED);
    server.set_backend("default", "kubernetes", None);
    assert_eq!(
        refusal(&client).await,
        format!("{NOT_CALLED}no endpoints available for service \"kubernetes\"")
    );
}

#[test]
fn conditions_are_too_expensive_where_kube_apiserver_does_not_run_them_to_their_end() {
    let recordings = read("webhooks").unwrap();
    let name = "conditions of webhooks that are too expensive";
    let recording = recordings.iter().find(|it| it.asked.name == name).unwrap();
    let configuration = recording.asked.steps[0].body.as_ref().unwrap();
    // A webhook whose conditions have no value is not called, and does not warn.
    let warnings = recording.answered[2].headers["warning"].join("\n");
    let hooks = configuration["webhooks"].as_array().unwrap();
    for (nth, hook) in hooks.iter().enumerate() {
        let conditions = hook["matchConditions"].as_array().unwrap().iter();
        let price = |it: &Value| Condition::compile(it["expression"].as_str().unwrap()).unwrap().price();
        let prices: Vec<u64> = conditions.map(price).collect();
        let affordable = prices.iter().all(|price| *price <= LIMIT) && prices.iter().sum::<u64>() <= BUDGET;
        assert_eq!(
            affordable,
            warnings.contains(&format!("\"c{nth}\"")),
            "{prices:?}: {hook}"
        );
    }
}
