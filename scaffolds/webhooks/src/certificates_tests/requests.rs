//! Calls of webhooks for a request: which, in which version, how often, and the outcome while no webhook responds; on the
//! in-process API server and on a real one.

use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use kubewright_runtime::{Result, testing::TestCluster};
use serde_json::json;

use super::{foobars::FooBars, *};
use crate::{
    conversion::tests::kinds::{self, v1, v2},
    webhook::{Admission, Change, Defaulter, Validator, Verdict, Webhook},
};

/// In v1: a FooBar whose target has been renamed gets a colour.
struct Colours;

impl Defaulter<v1::FooBar> for Colours {
    async fn default(&self, cx: &Admission, object: &mut v1::FooBar) -> Result<()> {
        if object.spec.target.starts_with("new:") {
            let colour = if cx.is_dry_run() { "grey" } else { "blue" };
            object.spec.colour.get_or_insert_with(|| colour.to_owned());
        }
        Ok(())
    }
}

/// In v2: renames a host. Its name comes after that of [`Colours`], and so do its calls.
struct Hosts;

impl Defaulter<v2::FooBar> for Hosts {
    async fn default(&self, _: &Admission, object: &mut v2::FooBar) -> Result<()> {
        if object.spec.host == "old" {
            "new".clone_into(&mut object.spec.host);
            object.spec.tries.get_or_insert(3);
        }
        Ok(())
    }
}

/// In v1.
struct Ports;

impl Validator<v1::FooBar> for Ports {
    async fn validate(&self, _: &Admission, change: Change<'_, v1::FooBar>) -> Result<Verdict> {
        let mut verdict = Verdict::allowed();
        if let Some(new) = change.new_object().filter(|new| new.spec.target.ends_with(":13")) {
            verdict.invalid("spec.target", new.spec.target.clone(), "port 13 is taken");
        }
        Ok(verdict)
    }
}

/// An operator with the webhooks of v1, and with that of v2 as well.
fn manager(client: &Client, has_hosts: bool) -> Manager {
    let manager = Manager::builder(client.clone()).name(OPERATOR).build();
    kinds::hub().register(&manager).unwrap();
    Webhook::defaulting(Colours).reinvoked().register(&manager).unwrap();
    Webhook::validating(Ports).register(&manager).unwrap();
    if has_hosts {
        Webhook::defaulting(Hosts).register(&manager).unwrap();
    }
    manager
}

/// FooBars, with a field in their schemas that the types do not know.
fn definition() -> Value {
    let mut definition = kinds::definition();
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["unknown"] =
            json!({"type": "integer"});
    }
    definition
}

async fn story(client: Client, namespace: &str) {
    let foobars = FooBars {
        client: &client,
        namespace,
    };
    assert!(apply(&client, DEFINITIONS, &definition()).await.0 < 300);
    let first = manager(&client, true);
    let replica = Replica::start_here(&first, namespace);
    deploy(&client, namespace, &first, Some(&replica.url())).await;
    replica.ready().await;
    asked_again(&foobars).await;
    asked_in_another_version(&foobars).await;
    counted(&first);

    // For the webhook of v2 an object of v1 is converted, also to find out whether its conditions hold.
    leaving(&foobars, "waiting").await;
    drop(replica);
    until("webhooks that are down", async || {
        rehearsed(&foobars, "a:1").await.0 == 500
    })
    .await;
    assert_eq!(released(&foobars, "waiting").await, (500, 200));

    // The next release of the operator has a webhook less.
    let second = manager(&client, false);
    let next = Replica::start_here(&second, namespace);
    deploy(&client, namespace, &second, Some(&next.url())).await;
    next.ready().await;
    until("a FooBar that is not renamed", async || {
        let (code, kept) = rehearsed(&foobars, "old:5").await;
        code == 201 && kept["spec"]["target"] == "old:5"
    })
    .await;
    assert_eq!(released(&foobars, "waiting").await, (200, 404));
    down(&foobars, next).await;
}

/// Creates an object with a finalizer, and deletes it.
async fn leaving(foobars: &FooBars<'_>, name: &str) {
    let mut object = FooBars::object("v1", name, &json!({"target": "a:1"}));
    object["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    let (code, created) = foobars.post("v1", "", &object).await;
    assert_eq!(code, 201, "{created}");
    assert_eq!(foobars.delete("v1", name).await.0, 200);
}

/// Removes the finalizer. Returns the code of the answer, and that of a request for the object after it.
async fn released(foobars: &FooBars<'_>, name: &str) -> (u16, u16) {
    let patch = json!({"metadata": {"finalizers": null}});
    let (code, _) = foobars.patch("v1", name, &patch).await;
    (code, foobars.read("v1", name).await.0)
}

async fn rehearsed(foobars: &FooBars<'_>, target: &str) -> (u16, Value) {
    let object = FooBars::object("v1", "rehearsed", &json!({"target": target}));
    foobars.post("v1", "?dryRun=All", &object).await
}

/// The webhook of v1 is asked again, because that of v2 has changed the object.
async fn asked_again(foobars: &FooBars<'_>) {
    // The API server may not have seen the configurations yet.
    until("a rehearsal that is defaulted", async || {
        rehearsed(foobars, "old:1").await.1["spec"] == json!({"target": "new:1", "colour": "grey"})
    })
    .await;
    assert_eq!(foobars.read("v1", "rehearsed").await.0, 404, "nothing is stored");
    let (code, created) = foobars.create("v1", json!({"target": "old:1", "unknown": 7})).await;
    let spec = json!({"target": "new:1", "colour": "blue", "unknown": 7});
    assert_eq!((code, &created["spec"]), (201, &spec), "{created}");
    // Each version still has the fields that only it can hold, whoever has set them.
    let (_, new) = foobars.get("v2").await;
    assert_eq!(new["spec"], json!({"host": "new", "port": 1, "tries": 3}), "{new}");
    assert_eq!(foobars.replace("v2", &new).await.0, 200);
    assert_eq!(foobars.get("v1").await.1["spec"], spec);
}

/// A FooBar that is written in v2 is shown to the webhooks of v1.
async fn asked_in_another_version(foobars: &FooBars<'_>) {
    let (code, refused) = foobars
        .post("v2", "", &FooBars::object("v2", "b", &json!({"host": "a", "port": 13})))
        .await;
    assert_eq!((code, &refused["reason"]), (422, &json!("Invalid")), "{refused}");
    let why = r#"Invalid value: "a:13": port 13 is taken"#;
    let cause = json!([{"reason": "FieldValueInvalid", "message": why, "field": "spec.target"}]);
    assert_eq!(refused["details"]["causes"], cause);
    let (code, patched) = foobars.patch("v2", "a", &json!({"spec": {"port": 13}})).await;
    assert_eq!(code, 422, "{patched}");
}

/// controller-runtime's metrics, and the time that is left.
fn counted(manager: &Manager) {
    let text = manager.metrics().encode();
    let of = |line: &str| {
        let value = text.lines().find_map(|it| it.strip_prefix(line));
        value
            .and_then(|value| value.trim().parse::<f64>().ok())
            .unwrap_or_default()
    };
    let validated = "/validate-test-example-com-v1-foobar";
    for path in [
        validated,
        "/mutate-test-example-com-v1-foobar",
        "/mutate-test-example-com-v2-foobar",
        "/convert-test-example-com-foobar",
    ] {
        let answered = format!(r#"controller_runtime_webhook_requests_total{{code="200",webhook="{path}"}}"#);
        assert!(of(&answered) > 1.0, "{path}: {text}");
        let timed = format!(r#"controller_runtime_webhook_latency_seconds_count{{webhook="{path}"}}"#);
        assert!(of(&timed) > 1.0, "{path}: {text}");
        let now = format!(r#"controller_runtime_webhook_requests_in_flight{{webhook="{path}"}}"#);
        assert!(text.contains(&format!("{now} 0")), "{path}: {text}");
    }
    assert!(
        of(&format!(r#"kubewright_webhook_denied_total{{webhook="{validated}"}}"#)) >= 2.0,
        "{text}"
    );
    let left = of("kubewright_webhook_certificate_expiry_seconds");
    let life = Lifetimes::DEFAULT.leaf as f64;
    assert!((life - 600.0..=life).contains(&left), "{left}");
}

/// No replica is left: objects are neither created nor changed, and those that are being deleted can go.
async fn down(foobars: &FooBars<'_>, replica: Replica) {
    leaving(foobars, "leaving").await;
    drop(replica);
    until("webhooks that are down", async || {
        rehearsed(foobars, "a:1").await.0 == 500
    })
    .await;
    let (code, kept) = foobars.patch("v1", "a", &json!({"spec": {"target": "a:2"}})).await;
    let why = kept["message"].as_str().unwrap_or_default();
    assert!(code == 500 && why.contains("failed calling webhook"), "{kept}");
    assert_eq!(released(foobars, "leaving").await, (200, 404));
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_asked_in_their_version_and_again_and_when_they_are_down_finalizers_can_be_removed() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    story(Client::new(server.service(), "default"), "default").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn webhooks_are_asked_so_by_a_real_api_server_too() {
    let cluster = TestCluster::start().await.unwrap();
    story(cluster.client(), cluster.namespace()).await;
}
