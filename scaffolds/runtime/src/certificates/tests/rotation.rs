//! Two rotations of the authority, under load.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{super::plan::State, *};
use crate::{
    conversion::tests::kinds::{
        self,
        v2::{FooBar, FooBarSpec},
    },
    error::Result,
    webhook::{Admission, Change, FailurePolicy, Validator, Verdict, Webhook, component},
};

const WRITERS: usize = 10;
/// A rotation of the authority each six seconds.
const PACE: Pace = Pace {
    lives: Lives { authority: 9, leaf: 6 },
    settle: Duration::from_millis(500),
    look: Duration::from_millis(200),
};

struct Allows;

impl Validator<ConfigMap> for Allows {
    async fn validate(&self, _: &Admission, _: Change<'_, ConfigMap>) -> Result<Verdict> {
        Ok(Verdict::allowed())
    }
}

fn manager(client: &Client) -> Manager {
    let manager = Manager::builder(client.clone()).name(OPERATOR).build();
    let here = serde_json::from_value(json!({"matchLabels": {"kubernetes.io/metadata.name": "default"}}));
    Webhook::validating(Allows)
        .failure_policy(FailurePolicy::Fail)
        .namespaces(here.unwrap())
        .register(&manager)
        .unwrap();
    kinds::hub().register(&manager).unwrap();
    manager
}

/// Applies `config/webhook` and the definition as `make deploy` does.
async fn deploy(client: &Client) {
    assert!(apply(client, DEFINITIONS, &kinds::definition()).await.0 < 300);
    let files = component::files(&manager(client).hooks(), OPERATOR);
    for (file, collection) in [
        ("service.yaml", "/api/v1/namespaces/default/services"),
        ("secret.yaml", "/api/v1/namespaces/default/secrets"),
        (
            "manifests.yaml",
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        ),
    ] {
        let mut object = files[file][0].clone();
        let name = format!("{PREFIX}{}", object["metadata"]["name"].as_str().unwrap());
        object["metadata"]["name"] = json!(name);
        if object["metadata"].get("namespace").is_some() {
            object["metadata"]["namespace"] = json!("default");
        }
        let hooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
        for hook in hooks.into_iter().flatten() {
            let service = &mut hook["clientConfig"]["service"];
            (service["namespace"], service["name"]) = (json!("default"), json!(format!("{PREFIX}webhook-service")));
        }
        let (code, answer) = apply(client, collection, &object).await;
        assert!(code < 300, "{answer}");
    }
}

/// What the Secret keeps.
async fn state(client: &Client) -> Option<State> {
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    secret::read(&secrets.get("foobar-operator-webhook-server-cert").await.unwrap())
}

/// Creates ConfigMaps, and FooBars in the version that is not stored, until the end. Returns what failed.
async fn write(client: Client, writer: usize, end: Arc<AtomicBool>, written: Arc<AtomicUsize>) -> Vec<String> {
    let foobars: Api<FooBar> = Api::default_namespaced(client.clone());
    let (api, mut failures) = (Api::<ConfigMap>::default_namespaced(client), Vec::new());
    while !end.load(Ordering::Relaxed) {
        let number = written.fetch_add(1, Ordering::Relaxed);
        let metadata = ObjectMeta {
            name: Some(format!("w{writer}-{number}")),
            ..ObjectMeta::default()
        };
        let object = ConfigMap {
            metadata,
            ..ConfigMap::default()
        };
        if let Err(error) = api.create(&PostParams::default(), &object).await {
            failures.push(error.to_string());
        }
        let spec = FooBarSpec {
            host: "a".to_owned(),
            port: 1,
            items: Vec::new(),
            tries: Some(3),
        };
        let foobar = FooBar::new(&format!("w{writer}-{number}"), spec);
        match foobars.create(&PostParams::default(), &foobar).await {
            Ok(foobar) if foobar.spec.tries == Some(3) => {}
            Ok(foobar) => failures.push(format!("not converted: {:?}", foobar.spec)),
            Err(error) => failures.push(error.to_string()),
        }
        sleep(Duration::from_millis(20)).await;
    }
    failures
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_writers_lose_nothing_through_two_rotations_by_two_replicas_and_their_deployments() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    let client = Client::new(server.service(), "default");
    let replicas = [(); 2].map(|()| replica(&manager(&client), "default", PACE));
    sleep(Duration::from_millis(300)).await;
    assert!(replicas[0].standing.check().is_err(), "nothing is deployed yet");
    deploy(&client).await;
    until("a certificate that API servers accept", async || {
        replicas.iter().all(|replica| replica.standing.check().is_ok())
    })
    .await;

    until("a definition that names the converter", async || {
        let request = Request::get(format!("{DEFINITIONS}/foobars.test.example.com"));
        let (_, definition) = send(&client, request, &Value::Null).await;
        definition["spec"]["conversion"]["strategy"] == "Webhook"
    })
    .await;
    let backend = |turn: usize| {
        let address = replicas[turn % 2].server.address();
        server.set_backend("default", "foobar-operator-webhook-service", Some(address));
    };
    backend(0);
    let (end, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(client.clone(), writer, end.clone(), written.clone())))
        .collect();
    let (mut turn, mut leaves) = (0, Vec::new());
    // A rotation announces an authority and forgets one: revisions 2 and 3, and then 4 and 5.
    until("two rotations", async || {
        turn += 1;
        backend(turn);
        if turn % 40 == 0 {
            deploy(&client).await;
        }
        let state = state(&client).await.unwrap();
        if leaves.last() != Some(&state.leaf) {
            leaves.push(state.leaf);
        }
        state.revision >= 5
    })
    .await;
    end.store(true, Ordering::Relaxed);
    for writer in writers {
        assert_eq!(writer.await.unwrap(), Vec::<String>::new(), "of {written:?} writes");
    }
    assert!(written.load(Ordering::Relaxed) > 100, "{written:?}");
    assert!(leaves.len() >= 4, "a leaf was renewed between the rotations too");
    assert!(replicas.iter().all(|replica| replica.standing.check().is_ok()));
}
