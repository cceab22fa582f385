//! Children of an earlier spec are found by observation, not from memory.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, foobar},
    notes::child,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Context, Controller, Manager, ObjectKey, Reconciler, Result, testing::Rehearsal};
use serde_json::json;
use tokio::task::JoinHandle;

const FOOBAR: &str = "/apis/test.example.com/v1/namespaces/default/foobars/a";

/// Names its child after the target.
struct Named;

impl Reconciler<FooBar> for Named {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = format!("{}-{}", cx.key().name(), foobar.spec.target);
        let child = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_child(child).await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        Ok(Action::Done)
    }
}

fn controller() -> Controller<FooBar> {
    Controller::<FooBar>::new("foobar").owns::<ConfigMap>()
}

fn operator(world: &World, controller: Controller<FooBar>) -> JoinHandle<Result<()>> {
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, Named).unwrap();
    tokio::spawn(async move { manager.run(std::future::pending(), None).await })
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

fn children(world: &World) -> Vec<String> {
    let paths = world.end_state().into_keys();
    paths
        .filter_map(|path| path.strip_prefix(CONFIG_MAPS).map(str::to_owned))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn after_a_kill_between_the_new_child_and_pruning_the_next_process_prunes() {
    // The first write creates the old child, the second one the new child, the third one deletes the old child.
    for (write, stored) in [(1, true), (2, false), (2, true)] {
        let world = World::new(&[FooBar::crd()]);
        world.crash_at(write, stored);
        let first = operator(&world, controller().prunes::<ConfigMap>());
        world.put(FOOBAR, foobar("old"));
        settle().await;
        assert_eq!(children(&world), ["/a-old"]);
        world.edit(FOOBAR, |object| object["spec"]["target"] = json!("new"));
        settle().await;
        first.abort();
        assert!(world.restart(), "the process died");
        let second = operator(&world, controller().prunes::<ConfigMap>());
        settle().await;
        second.abort();
        assert_eq!(children(&world), ["/a-new"], "died at write {write}, stored: {stored}");
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_other_controllers_are_not_pruned_and_no_needless_request_is_sent() {
    let world = World::uncollected(&[FooBar::crd()]);
    let foreign = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
        {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": "an earlier a", "controller": true}]}});
    world.put_as(&format!("{CONFIG_MAPS}/foreign"), "test/foobar", foreign);
    let running = operator(&world, controller().prunes::<ConfigMap>());
    world.put(FOOBAR, foobar("one"));
    settle().await;
    running.abort();
    assert_eq!(children(&world), ["/a-one", "/foreign"]);
    assert_eq!(world.requests("DELETE").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_does_not_declare_prunes_may_not_prune() {
    let world = World::new(&[FooBar::crd()]);
    let running = operator(&world, controller());
    world.put(FOOBAR, foobar("one"));
    settle().await;
    world.edit(FOOBAR, |object| object["spec"]["target"] = json!("two"));
    settle().await;
    running.abort();
    assert_eq!(children(&world), ["/a-one", "/a-two"]);
    assert_eq!(world.requests("DELETE").len(), 0);
}

/// Deletes the ConfigMap `victim`, whoever owns it.
struct Deletes;

impl Reconciler<FooBar> for Deletes {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let victims: Vec<_> = cx.get::<ConfigMap>("victim")?.into_iter().collect();
        cx.delete_children(&victims).await?;
        Ok(Action::Done)
    }
}

#[tokio::test]
async fn one_child_is_deleted_by_its_uid_and_an_object_of_another_owner_never() {
    let mut victim = ConfigMap::default();
    victim.metadata.name = Some("victim".to_owned());
    let object = || {
        let spec = serde_json::from_value(foobar("x")["spec"].clone()).unwrap();
        FooBar::new("a", spec)
    };
    let controller = || controller().prunes::<ConfigMap>();
    let ours = Rehearsal::new().with_child(victim.clone());
    let played = ours.reconcile(controller(), Deletes, object()).await.unwrap();
    assert!(played.result.is_ok());
    let write = &played.writes()[0];
    assert_eq!(write.verb, "delete");
    assert!(write.body["preconditions"]["uid"].is_string(), "{}", write.body);
    assert!(played.object::<ConfigMap>("victim").is_none());

    let theirs = Rehearsal::new().with(victim);
    let all = controller().caches_all::<ConfigMap>();
    let played = theirs.reconcile(all, Deletes, object()).await.unwrap();
    let error = played.result.as_ref().unwrap_err().to_string();
    assert_eq!(error, "ConfigMap `default/victim` is not a child of this object");
    assert!(played.writes().is_empty() && played.object::<ConfigMap>("victim").is_some());
}

/// Has objects of its own, with each form of ownership, and removes its other ones.
struct Parts(&'static str);

impl Reconciler<FooBar> for Parts {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let name = |form: &str| format!("{form}-{}", self.0);
        let map = |form: &str| child::<ConfigMap>(json!({"metadata": {"name": name(form)}}));
        cx.apply_child(map("owned")).await?;
        cx.prune_children::<ConfigMap>(&[&name("owned")]).await?;
        cx.apply_shared(map("shared")).await?;
        cx.release_shared::<ConfigMap>(&[&name("shared")]).await?;
        cx.apply_unowned(map("unowned")).await?;
        let kept = ObjectKey::new(Some("default"), &name("unowned"));
        cx.delete_unowned::<ConfigMap>(&[kept]).await?;
        // Otherwise a paused clock would not advance while both controllers keep running.
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn two_controllers_of_one_kind_leave_each_others_objects_alone() {
    let world = World::new(&[FooBar::crd()]);
    let manager = Manager::builder(world.client()).name("test").build();
    for name in ["foobar", "foobar-two"] {
        let controller = Controller::<FooBar>::new(name)
            .owns::<ConfigMap>()
            .prunes::<ConfigMap>();
        let controller = controller.shares::<ConfigMap>().applies_unowned::<ConfigMap>();
        controller.register(&manager, Parts(name)).unwrap();
    }
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    world.put(FOOBAR, foobar("x"));
    let uid = world.object(FOOBAR).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true});
    let labels = json!({"kubewright.dev/operator": "test"});
    let former =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": labels, "ownerReferences": [owner]}});
    world.put_as(&format!("{CONFIG_MAPS}/former"), "test/of-a-former-name", former);
    settle().await;
    running.abort();
    let deleted = world.requests("DELETE");
    assert!(deleted.len() == 1 && deleted[0].contains("/former"), "{deleted:?}");
    assert_eq!(
        world.writes("/api/v1").len(),
        7,
        "each object is created, and the former one deleted"
    );
}

/// Shares nothing any more.
struct Leaves;

impl Reconciler<FooBar> for Leaves {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        cx.release_shared::<ConfigMap>(&[]).await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_to_which_a_user_gave_the_owner_is_not_released() {
    let world = World::new(&[FooBar::crd()]);
    world.put(FOOBAR, foobar("x"));
    let uid = world.object(FOOBAR).unwrap()["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [owner]}});
    world.put(&format!("{CONFIG_MAPS}/theirs"), map);
    let manager = Manager::builder(world.client()).name("test").build();
    let controller = Controller::<FooBar>::new("foobar")
        .shares::<ConfigMap>()
        .prunes::<ConfigMap>();
    let controller = controller.watches::<ConfigMap>(|_| Vec::new());
    controller.register(&manager, Leaves).unwrap();
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    settle().await;
    running.abort();
    assert_eq!(world.writes("/api/v1"), [""; 0]);
}
