//! An operator that uses all features of the runtime for a reconciler, and a life of an object in which all of them are
//! needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::api::core::v1::{
    ConfigMap, Container, Pod, PodSpec, PodTemplate, PodTemplateSpec, Secret, ServiceAccount,
};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Election, ElectionConfig, EventType, Manager, Metrics, ObjectKey,
    Reconciler, Result, child_name,
};
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};
use tracing::subscriber::DefaultGuard;

use crate::{
    account::{self, HOME, Refusals, Scope},
    role::{self, Grant},
    support::{
        World,
        kinds::{CONFIG_MAPS, FooBar, at, config_map, foobar, seconds, world},
        page::Page,
    },
};

const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/system/leases";
const ACCOUNT: &str = "/api/v1/namespaces/default/serviceaccounts/a-account";
const TEMPLATE: &str = "/api/v1/namespaces/default/podtemplates/common";
const SECRET: &str = "/api/v1/namespaces/default/secrets/a";

/// The result of a life.
pub struct Life {
    /// The first expected step that did not happen.
    pub missed: Option<&'static str>,
    /// The requests that the API server refused.
    pub refusals: BTreeSet<String>,
    pub log: String,
    /// The final message of the object's condition `Ready`, if its reason is `Forbidden`.
    pub condition: Option<String>,
}

pub struct Everything;

impl Reconciler<FooBar> for Everything {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let (main, extra) = (
            child_name(cx.key().name(), "main"),
            child_name(cx.key().name(), "extra"),
        );
        let secret = cx.get::<Secret>(cx.key().name())?.map(|secret| secret.name_any());
        cx.apply_child(child(&main, &foobar.spec.target, secret)).await?;
        let mut keep = vec![main.as_str()];
        // The second child is wanted for the first target only.
        if foobar.spec.target == "one" {
            cx.apply_child(child(&extra, "", None)).await?;
            keep.push(&extra);
        }
        cx.prune_children::<ConfigMap>(&keep).await?;
        let pods = if foobar.spec.target == "one" { 2 } else { 1 };
        cx.keep_pods(pods, &pod(&foobar)).await?;
        cx.apply_unowned(account_of(&foobar)).await?;
        if foobar.spec.target == "one" {
            cx.apply_shared(template()).await?;
        } else {
            cx.release_shared::<PodTemplate>(&[]).await?;
        }
        cx.event(EventType::Normal, "Reconciled", "as it should be");
        cx.patch_status(|status| status.conditions.set(cx.condition("Ready", true, "Applied", "")))
            .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        cx.delete_unowned::<ServiceAccount>(&[]).await?;
        Ok(Cleanup::Done)
    }
}

fn child(name: &str, target: &str, secret: Option<String>) -> ConfigMap {
    let mut data = BTreeMap::from([("target".to_owned(), target.to_owned())]);
    data.extend(secret.map(|secret| ("secret".to_owned(), secret)));
    if target == "one" {
        data.insert("first".to_owned(), "yes".to_owned());
    }
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    }
}

fn labels(foobar: &FooBar) -> BTreeMap<String, String> {
    BTreeMap::from([("foobar".to_owned(), foobar.name_any())])
}

fn pod_spec() -> PodSpec {
    let container = Container {
        name: "main".to_owned(),
        image: Some("image".to_owned()),
        ..Container::default()
    };
    PodSpec {
        containers: vec![container],
        ..PodSpec::default()
    }
}

fn pod(foobar: &FooBar) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: Some(foobar.name_any()),
            labels: Some(labels(foobar)),
            ..ObjectMeta::default()
        },
        spec: Some(pod_spec()),
        ..Pod::default()
    }
}

fn account_of(foobar: &FooBar) -> ServiceAccount {
    ServiceAccount {
        metadata: ObjectMeta {
            name: Some(child_name(&foobar.name_any(), "account")),
            ..ObjectMeta::default()
        },
        automount_service_account_token: Some(foobar.spec.target == "one"),
        ..ServiceAccount::default()
    }
}

fn template() -> PodTemplate {
    let metadata = |name: Option<&str>| ObjectMeta {
        name: name.map(str::to_owned),
        labels: Some(BTreeMap::from([("of".to_owned(), "all".to_owned())])),
        ..ObjectMeta::default()
    };
    PodTemplate {
        metadata: metadata(Some("common")),
        template: Some(PodTemplateSpec {
            metadata: Some(metadata(None)),
            spec: Some(pod_spec()),
        }),
    }
}

pub fn register(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .prunes::<ConfigMap>()
        .claims::<Pod>(labels)
        .applies_unowned::<ServiceAccount>()
        .prunes::<ServiceAccount>()
        .shares::<PodTemplate>()
        .prunes::<PodTemplate>()
        .watches::<Secret>(|secret| vec![ObjectKey::of(secret)])
        .register(manager, Everything)
}

/// A running operator in a world of its own.
pub struct Operator {
    world: World,
    pub refusals: Refusals,
    /// Its log.
    pub page: Page,
    pub running: JoinHandle<Result<()>>,
    stop: oneshot::Sender<()>,
    _log: DefaultGuard,
}

impl Operator {
    /// Starts with a role of these grants, as a candidate for the lease.
    pub fn start(grants: &[Grant], scope: &Scope) -> Self {
        let (world, refusals, page) = (world(), Refusals::default(), Page::default());
        let writer = page.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone());
        // All tasks of a test run on its thread.
        let log = tracing::subscriber::set_default(log.finish());
        let token = account::make(&world, grants, scope);
        let client = account::client(&world, &token, &refusals);
        let manager = Manager::builder(client.clone())
            .name("test")
            .namespace(HOME)
            .watch_namespaces(scope.watched().into_iter().map(str::to_owned))
            .build();
        register(&manager).unwrap();
        let election = Election::spawn(ElectionConfig::new(role::NAME, HOME), client, &Metrics::new()).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = async move { manager.run(async { _ = stopped.await }, Some(Arc::new(election))).await };
        Self {
            world,
            refusals,
            page,
            running: tokio::spawn(run),
            stop,
            _log: log,
        }
    }
}

/// Runs the story with a role of these grants.
pub async fn live(grants: &[Grant], scope: &Scope) -> Life {
    let operator = Operator::start(grants, scope);
    let world = &operator.world;
    let missed = story(world, &operator.running).await.err();
    let foobar = world.object(&at("a")).unwrap_or_default();
    let ready = &foobar["status"]["conditions"][0];
    let condition = (ready["reason"] == "Forbidden").then(|| ready["message"].as_str().unwrap_or_default().to_owned());
    _ = operator.stop.send(());
    // Its result is in its log.
    _ = operator.running.await;
    Life {
        missed,
        refusals: operator.refusals.lock().unwrap().clone(),
        log: operator.page.text(),
        condition,
    }
}

/// The expected states, step by step.
struct Story<'a> {
    world: &'a World,
    running: &'a JoinHandle<Result<()>>,
}

/// Created, repaired, changed, reported, cleaned up.
async fn story(world: &World, running: &JoinHandle<Result<()>>) -> Result<(), &'static str> {
    let story = Story { world, running };
    let orphan =
        json!({"metadata": {"labels": {"foobar": "a"}}, "spec": {"containers": [{"name": "main", "image": "image"}]}});
    world.put(&format!("{PODS}/orphan"), orphan);
    world.put(&at("a"), foobar("one"));
    story.begins().await?;
    story.is_kept().await?;
    story.changes().await?;
    story.is_told()?;
    world.delete(&at("a"));
    seconds(10).await;
    check(world.object(&at("a")).is_none(), "a deleted object stays")
}

impl Story<'_> {
    async fn begins(&self) -> Result<(), &'static str> {
        seconds(10).await;
        check(self.world.count(LEASES) == 1, "no process leads")?;
        let foobar = self.world.object(&at("a")).unwrap_or_default();
        let (held, status) = (&foobar["metadata"]["finalizers"][0], &foobar["status"]);
        check(held.is_string() || status.is_object(), "nothing is reconciled")?;
        check(held.is_string(), "nothing keeps a deleted object")?;
        check(self.child("target") == "one", "there is no child")?;
        let pods = self.world.list(PODS);
        let owned = |pod: &Value| pod["metadata"]["ownerReferences"][0].is_object();
        check(pods.iter().all(owned), "an orphan is not adopted")?;
        check(pods.len() == 2, "there is no Pod")?;
        check(
            self.world.object(ACCOUNT).is_some(),
            "there is no object without an owner",
        )?;
        check(self.world.object(TEMPLATE).is_some(), "there is no shared object")?;
        check(
            status["conditions"][0]["reason"] == "Applied",
            "the status is not written",
        )
    }

    async fn is_kept(&self) -> Result<(), &'static str> {
        seconds(30).await;
        check(!self.running.is_finished(), "the lease is lost, and the process ends")?;
        self.world.edit(&config_map("a-main"), |child| {
            child["data"]["target"] = json!("other");
            child["data"]["theirs"] = json!("1");
        });
        self.world.edit(ACCOUNT, |account| {
            account["automountServiceAccountToken"] = json!(false)
        });
        self.world.edit(TEMPLATE, |shared| {
            shared["template"]["metadata"]["labels"]["of"] = json!("none")
        });
        seconds(10).await;
        check(self.child("target") == "one", "a child that was edited is not repaired")?;
        let account = self.world.object(ACCOUNT).unwrap_or_default();
        check(
            account["automountServiceAccountToken"] == true,
            "an object without an owner that was edited is not repaired",
        )?;
        let shared = self.world.object(TEMPLATE).unwrap_or_default();
        check(
            shared["template"]["metadata"]["labels"]["of"] == "all",
            "a shared object that was edited is not repaired",
        )?;
        self.world.delete(&format!("{PODS}/orphan"));
        seconds(10).await;
        check(self.world.count(PODS) == 2, "a deleted Pod is not created again")
    }

    async fn changes(&self) -> Result<(), &'static str> {
        self.world.put(SECRET, json!({}));
        seconds(10).await;
        check(self.child("secret") == "a", "a change of a watched object is not seen")?;
        self.world
            .edit(&at("a"), |object| object["spec"]["target"] = json!("two"));
        seconds(10).await;
        check(self.child("target") == "two", "a change of the spec is not seen")?;
        check(
            self.child("first").is_null(),
            "a field that is not wanted any more stays",
        )?;
        check(self.child("theirs") == "1", "a field of another client is removed")?;
        check(
            self.world.count(CONFIG_MAPS) == 1,
            "a child that is not wanted any more stays",
        )?;
        check(self.world.count(PODS) == 1, "a surplus Pod stays")?;
        check(
            self.world.object(TEMPLATE).is_none(),
            "a shared object that nobody wants stays",
        )
    }

    fn is_told(&self) -> Result<(), &'static str> {
        let events = self.world.list(EVENTS);
        check(!events.is_empty(), "no event reports it")?;
        let counted = |event: &Value| event["series"]["count"].as_u64() > Some(1);
        check(
            events.iter().all(counted),
            "an event does not count the second occurrence",
        )?;
        assert_eq!(events.len(), 1, "a repeated event is one object");
        Ok(())
    }

    /// A value of the first child.
    fn child(&self, key: &str) -> Value {
        let mut child = self.world.object(&config_map("a-main")).unwrap_or_default();
        child["data"][key].take()
    }
}

fn check(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}
