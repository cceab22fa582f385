//! Nothing that a reconcile writes of Pods and of objects with several owners is forgotten: each write fails once, or the process ends
//! there; the end state is as without a fault, and no Pod is made twice.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

use super::forgotten::{Fault, all_writes, end_state};
use crate::support::{
    World,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// Keeps as many Pods as the target's first word says, and owns two ConfigMaps with others, unless its second word is `leave`.
struct Keeper;

impl Reconciler<FooBar> for Keeper {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let (wanted, leaves) = foobar.spec.target.split_once(' ').unwrap_or((&foobar.spec.target, ""));
        if leaves == "leave" {
            cx.release_shared::<ConfigMap>(&[]).await?;
        } else {
            let map = |name: &str| child(json!({"metadata": {"name": name}, "data": {"value": "x"}}));
            cx.apply_shared::<ConfigMap>(map("common")).await?;
            cx.adopt_shared::<ConfigMap>(map("given")).await?;
        }
        let name = cx.key().name();
        cx.keep_pods(wanted.parse().unwrap_or_default(), &child(pod(name, name)))
            .await?;
        Ok(Action::Done)
    }
}

fn pod(name: &str, of: &str) -> Value {
    let spec = json!({"containers": [{"name": "main", "image": "image"}]});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"of": of}}, "spec": spec})
}

fn start(world: &World) -> Running {
    let manager = manager(world);
    Controller::new("foobar")
        .shares::<ConfigMap>()
        .prunes::<ConfigMap>()
        .claims::<Pod>(|foobar: &FooBar| {
            let name = foobar.metadata.name.clone().unwrap_or_default();
            BTreeMap::from([("of".to_owned(), name)])
        })
        .register(&manager, Keeper)
        .unwrap();
    Running::start(manager)
}

/// The world's Pods by their label and controller, without those of which a deletion has begun.
fn pods(world: &World) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in world.list(PODS) {
        let meta = &pod["metadata"];
        if meta["deletionTimestamp"].is_null() {
            let owner = meta["ownerReferences"][0]["name"].as_str().unwrap_or("nobody");
            *counts
                .entry(format!("{} of {owner}", meta["labels"]["of"]))
                .or_default() += 1;
        }
    }
    counts
}

/// The end state, its Pods, and the writes.
async fn story(fault: Option<(usize, Fault)>) -> (BTreeMap<String, Value>, BTreeMap<String, usize>, Vec<String>) {
    let world = world();
    for (name, of) in [("stray", "b"), ("foreign", "z")] {
        world.put(&format!("{PODS}/{name}"), pod(name, of));
    }
    let given = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"own": "1"}});
    world.put(&config_map("given"), given);
    if let Some((n, fault)) = fault {
        fault.inject(&world, n);
    }
    let most = Arc::new(AtomicUsize::new(0));
    let mut running = start(&world);
    let steps: [&dyn Fn(); 4] = [
        &|| {
            world.put(&at("a"), foobar("3"));
            world.put(&at("b"), foobar("1"));
        },
        // One of the Pods is taken out of service.
        &|| {
            world.edit(&format!("{PODS}/a-0"), |pod| {
                pod["metadata"]["labels"]["of"] = json!("debug")
            })
        },
        &|| world.edit(&at("a"), |object| object["spec"]["target"] = json!("1 leave")),
        &|| world.edit(&at("b"), |object| object["spec"]["target"] = json!("2 leave")),
    ];
    for step in steps {
        step();
        seconds(400).await;
        if world.restart() {
            running.done.abort();
            running = start(&world);
            seconds(400).await;
        }
        let of_a = pods(&world).get("\"a\" of a").copied().unwrap_or_default();
        most.fetch_max(of_a, Ordering::SeqCst);
    }
    let ended = running.stop().await;
    assert!(ended.is_ok(), "{fault:?}: {ended:?}");
    assert_eq!(most.load(Ordering::SeqCst), 3, "{fault:?}");
    let writes = all_writes(&world);
    (end_state(&world), pods(&world), writes)
}

/// Runs the story with this fault at each write of the one without.
async fn at_each_write(fault: Fault) {
    let (expected, counts, writes) = story(None).await;
    let names: Vec<_> = expected.keys().filter_map(|path| path.rsplit('/').next()).collect();
    assert_eq!(names, ["a", "b"]);
    let wanted = [
        ("\"a\" of a", 1),
        ("\"b\" of b", 2),
        ("\"debug\" of nobody", 1),
        ("\"z\" of nobody", 1),
    ];
    assert_eq!(counts, wanted.map(|(name, count)| (name.to_owned(), count)).into());
    for verb in [
        "POST /api/v1/namespaces/default/pods",
        "PATCH /api/v1/namespaces/default/pods",
        "DELETE ",
    ] {
        assert!(writes.iter().any(|write| write.starts_with(verb)), "{verb}: {writes:?}");
    }
    for (n, write) in writes.iter().enumerate() {
        let (ended, pods, _) = story(Some((n, fault))).await;
        assert_eq!(
            (ended, pods),
            (expected.clone(), counts.clone()),
            "{fault:?} at {n}: {write}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_or_share_that_is_unavailable_once_is_written_in_the_end() {
    at_each_write(Fault::UNAVAILABLE).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_or_share_that_is_a_conflict_once_is_written_in_the_end() {
    at_each_write(Fault::Refused(409, "Conflict")).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_or_share_that_is_forbidden_once_is_written_in_the_end() {
    at_each_write(Fault::Refused(403, "Forbidden")).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_process_did_not_claim_before_it_died_the_next_one_claims() {
    at_each_write(Fault::Dies { stored: false }).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_process_claimed_last_before_it_died_is_not_claimed_twice() {
    at_each_write(Fault::Dies { stored: true }).await;
}

/// A policy that removes this field of each new Pod.
fn remove_of_new_pods(world: &World, path: &str) {
    const GROUP: &str = "admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]});
    let expression = format!("[JSONPatch{{op: \"remove\", path: \"{path}\"}}]");
    let policy = json!({
        "apiVersion": GROUP, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "remove"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
            "reinvocationPolicy": "Never",
        },
    });
    world.post(&format!("/apis/{GROUP}/mutatingadmissionpolicies"), &policy);
    let binding = json!({
        "apiVersion": GROUP, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "remove"},
        "spec": {"policyName": "remove"},
    });
    world.post(&format!("/apis/{GROUP}/mutatingadmissionpolicybindings"), &binding);
}

/// Each Pod that is created and deleted wakes its owner.
#[tokio::test(start_paused = true)]
async fn pods_that_admission_changes_are_not_created_again_and_again() {
    for path in ["/metadata/labels/of", "/metadata/ownerReferences"] {
        let world = world();
        remove_of_new_pods(&world, path);
        world.put(&at("a"), foobar("2"));
        let running = start(&world);
        seconds(3600).await;
        assert_eq!(world.list(PODS), Vec::<Value>::new(), "{path}");
        assert_eq!(world.requests(&format!("DELETE {PODS}")).len(), 1, "{path}");
        let tried = world.requests(&format!("POST {PODS}")).len();
        assert!(
            (2..=20).contains(&tried),
            "{path}: at most one in five minutes, not {tried}"
        );
        let ready = world.object(&at("a")).unwrap()["status"]["conditions"][0].clone();
        assert_eq!(ready["reason"], "PodChanged", "{path}: {ready}");

        world.delete("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/remove");
        world.edit(&at("a"), |object| object["spec"]["target"] = json!("2 leave"));
        seconds(400).await;
        assert_eq!(
            pods(&world).into_iter().collect::<Vec<_>>(),
            [("\"a\" of a".to_owned(), 2)]
        );
        assert!(running.stop().await.is_ok());
    }
}
