//! A tenant of namespace `b` names an object of namespace `default` as the controller of its own objects, which a
//! finalizer keeps from the garbage collector: they are not children of that object.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod},
};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::{child, manager},
};

/// The text that the last reconcile read.
type Found = Arc<Mutex<String>>;

fn names(children: &[Arc<impl kube::Resource>]) -> Vec<String> {
    let mut names: Vec<_> = children
        .iter()
        .map(|child| {
            format!(
                "{}/{}",
                child.meta().namespace.as_deref().unwrap_or_default(),
                child.meta().name.as_deref().unwrap_or_default()
            )
        })
        .collect();
    names.sort();
    names
}

/// Reads its children as the patterns do: by name, all of them, and to prune; and keeps Pods.
struct Patterns(Found);

impl Reconciler<FooBar> for Patterns {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let labels = json!({"app": "a"});
        let template =
            json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "image"}]}});
        let spec = json!({"replicas": 1, "selector": {"matchLabels": labels}, "template": template});
        cx.apply_child::<Deployment>(child(json!({"metadata": {"name": "a"}, "spec": spec})))
            .await?;
        let deployment = cx.child::<Deployment>("a")?.expect("it is in the cache");
        let ready = deployment
            .status
            .as_ref()
            .and_then(|status| status.ready_replicas)
            .unwrap_or(0);
        cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": "a"}})))
            .await?;
        let maps = names(&cx.children::<ConfigMap>()?);
        let pruned = cx.prune_children::<ConfigMap>(&["a"]).await?;
        let pod = json!({"metadata": {"name": "a", "labels": labels}, "spec": {"containers": [{"name": "c", "image": "image"}]}});
        let kept = cx.keep_pods(2, &child::<Pod>(pod)).await?;
        let pods = names(&kept.pods);
        *self.0.lock().unwrap() = format!(
            "{:?} {ready} {maps:?} {pruned} {pods:?} {}",
            names(&cx.children::<Deployment>()?),
            kept.deleted
        );
        Ok(Action::Done)
    }
}

fn labels(_: &FooBar) -> BTreeMap<String, String> {
    BTreeMap::from([("app".to_owned(), "a".to_owned())])
}

fn start(world: &World, found: &Found) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<Deployment>()
        .owns::<ConfigMap>()
        .prunes::<ConfigMap>()
        .claims::<Pod>(labels)
        .register(&manager, Patterns(found.clone()))
        .unwrap();
    Running::start(manager)
}

/// Creates objects in namespace `b` that name an object of `default` as their controller, and have the operator's
/// label.
fn claim_to_be_children(world: &World) {
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true});
    let metadata = json!({"labels": {"app": "a", "kubewright.dev/operator": "test"}, "ownerReferences": [owner],
        "finalizers": ["test.example.com/stay"]});
    let pod = json!({"containers": [{"name": "c", "image": "image"}]});
    let template = json!({"metadata": {"labels": {"app": "a"}}, "spec": pod});
    let spec = json!({"replicas": 9, "selector": {"matchLabels": {"app": "a"}}, "template": template});
    let put = |path: &str, group: &str, kind: &str, spec: Value| {
        world.put(
            path,
            json!({"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}),
        );
    };
    put(
        "/apis/apps/v1/namespaces/b/deployments/a",
        "apps/v1",
        "Deployment",
        spec,
    );
    put("/api/v1/namespaces/b/configmaps/a", "v1", "ConfigMap", Value::Null);
    for name in ["a-0", "a-1", "a-2"] {
        put(&format!("/api/v1/namespaces/b/pods/{name}"), "v1", "Pod", pod.clone());
    }
    world.edit_status("/apis/apps/v1/namespaces/b/deployments/a", |deployment| {
        deployment["status"] = json!({"replicas": 9, "readyReplicas": 9})
    });
}

#[tokio::test(start_paused = true)]
async fn an_object_of_another_namespace_is_no_child_even_if_it_names_the_owners_uid() {
    for before_the_start in [true, false] {
        let (world, found) = (world(), Found::default());
        world.put(
            "/api/v1/namespaces/b",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {}}),
        );
        world.put(&at("a"), foobar("x"));
        if before_the_start {
            claim_to_be_children(&world);
        }
        let running = start(&world, &found);
        seconds(10).await;
        if !before_the_start {
            claim_to_be_children(&world);
        }
        world.edit(&at("a"), |object| {
            object["metadata"]["labels"] = json!({"touched": "yes"})
        });
        seconds(10).await;
        let expected = r#"["default/a"] 0 ["default/a"] 0 ["default/a-0", "default/a-1"] 0"#;
        assert_eq!(*found.lock().unwrap(), expected, "{before_the_start}");
        assert_eq!(world.requests("DELETE").len(), 0);
        let theirs = |request: &&String| request.contains("/namespaces/b/");
        assert_eq!(
            world.writes("/").iter().filter(theirs).count(),
            0,
            "objects of the other namespace are not written"
        );
        assert_eq!(world.count("/api/v1/namespaces/b/pods"), 3);
        running.stop().await.unwrap();
    }
}
