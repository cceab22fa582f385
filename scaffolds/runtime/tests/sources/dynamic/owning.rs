//! Children of kinds without Rust types: owned, pruned and claimed; and the permissions for them.

use std::{collections::BTreeMap, sync::Arc};

use clap::Parser;
use kube::core::DynamicObject;
use kubewright_runtime::{Action, Applied, Context, Controller, Kind, Manager, Operator, Options, Reconciler, Result};
use kubewright_schema::yaml;
use serde_json::{Value, json};

use super::{kind, maps, object, path, reconciling::Own, resource, world};
use crate::support::{
    kinds::{FooBar, Running, at, condition, foobar, seconds},
    notes::{Seen, child, manager, taken},
};

/// Owns a Gear and a Wheel of the same name, and a ConfigMap both with a type and without.
struct Owner {
    gears: Kind<DynamicObject>,
    wheels: Kind<DynamicObject>,
    seen: Seen,
}

impl Owner {
    fn new(seen: &Seen) -> Self {
        Self {
            gears: kind("Gear"),
            wheels: kind("Wheel"),
            seen: seen.clone(),
        }
    }

    fn controller(&self) -> Controller<FooBar> {
        Controller::new("foobar")
            .uses(&self.gears, |gears| gears.owns().prunes())
            .uses(&self.wheels, |wheels| wheels.owns().optional())
    }
}

impl Reconciler<FooBar> for Owner {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = cx.key().name();
        let wanted =
            || child::<DynamicObject>(json!({"metadata": {"name": name}, "spec": {"target": foobar.spec.target}}));
        let gear = cx.of(&self.gears).apply_child(wanted()).await?;
        let wheel = cx.of(&self.wheels).apply_child(wanted()).await?;
        let pruned = cx.of(&self.gears).prune_children(&[name]).await?;
        let both = [gear, wheel].map(|applied| match applied {
            Applied::Created(_) => "created",
            Applied::Updated(_) => "updated",
            Applied::Unchanged => "unchanged",
        });
        let counts = [&self.gears, &self.wheels].map(|kind| cx.of(kind).children().map(|children| children.len()));
        let [gears, wheels] = counts.map(|count| count.unwrap());
        assert!(cx.of(&self.wheels).child(name)?.is_some());
        self.seen
            .lock()
            .unwrap()
            .push(format!("{} {} {pruned} {gears} {wheels}", both[0], both[1]));
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn two_owned_kinds_without_types_have_caches_and_children_of_their_own() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    let owner = Owner::new(&seen);
    let gears = manager.informer_of(&owner.gears).store();
    owner.controller().register(&manager, owner).unwrap();
    let running = Running::start(manager);
    world.put(&at("a"), foobar("x"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["created created 0 1 1"]);
    for plural in ["gears", "wheels"] {
        let made = world.object(&path("v1", plural, "a")).unwrap();
        assert_eq!(made["spec"]["target"], "x");
        assert_eq!(made["metadata"]["ownerReferences"][0]["kind"], "FooBar");
    }
    let before = world.writes("").len();
    world.edit(&at("a"), |foobar| {
        foobar["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(5).await;
    assert_eq!(taken(&seen), ["unchanged unchanged 0 1 1"]);
    assert_eq!(world.writes("").len(), before, "nothing is written if nothing differs");

    world.edit(&path("v1", "wheels", "a"), |wheel| wheel["spec"]["target"] = json!("y"));
    seconds(5).await;
    assert_eq!(world.object(&path("v1", "wheels", "a")).unwrap()["spec"]["target"], "x");
    world.delete(&path("v1", "gears", "a"));
    seconds(5).await;
    assert!(world.object(&path("v1", "gears", "a")).is_some(), "it is created again");

    // A child of an earlier spec.
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    for (kind, plural) in [("Gear", "gears"), ("Wheel", "wheels")] {
        let owned = json!({"metadata": {"ownerReferences": [
            {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true}]}});
        world.put_as(&path("v1", plural, "old"), "test/foobar", object(kind, owned));
    }
    seconds(30).await;
    let old = ["gears", "wheels"].map(|plural| world.object(&path("v1", plural, "old")).is_some());
    assert_eq!(old, [false, true], "only Gears are pruned");
    assert_eq!(gears.len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_with_a_childs_name_in_another_kind_is_not_in_its_way() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    let owner = Owner::new(&seen);
    owner.controller().register(&manager, owner).unwrap();
    // Somebody else's Wheel; there is no such Gear.
    world.put(&path("v1", "wheels", "a"), object("Wheel", json!({})));
    world.put(&at("a"), foobar("x"));
    let running = Running::start(manager);
    seconds(5).await;
    assert!(world.object(&path("v1", "gears", "a")).is_some());
    let [status, reason, message] = condition(&world, "a");
    assert_eq!((status, reason), (json!("False"), json!("ChildNotOwned")));
    assert!(
        message.as_str().unwrap().starts_with("Wheel `default/a` exists"),
        "{message}"
    );
    world.delete(&path("v1", "wheels", "a"));
    seconds(5).await;
    assert_eq!(condition(&world, "a")[0], "True", "its deletion wakes the owner");
    running.stop().await.unwrap();
}

/// Claims the Wheels that have the FooBar's name as a label.
struct Claims(Seen);

impl Reconciler<FooBar> for Claims {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let claimed = cx.of(&kind("Wheel")).claim().await?;
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {}", cx.key().name(), claimed.len()));
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_kind_without_a_type_are_adopted_and_released() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    world.put(&at("a"), foobar("x"));
    let selects =
        |foobar: &FooBar| BTreeMap::from([("of".to_owned(), foobar.metadata.name.clone().unwrap_or_default())]);
    Controller::<FooBar>::new("foobar")
        .uses(&kind("Wheel"), |wheels| wheels.claims(selects))
        .register(&manager, Claims(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    taken(&seen);
    let wheel = path("v1", "wheels", "one");
    world.put(&wheel, object("Wheel", json!({"metadata": {"labels": {"of": "a"}}})));
    seconds(5).await;
    assert_eq!(taken(&seen).last().map(String::as_str), Some("a 1"));
    assert_eq!(
        world.object(&wheel).unwrap()["metadata"]["ownerReferences"][0]["name"],
        "a"
    );
    world.edit(&wheel, |wheel| wheel["metadata"]["labels"] = json!({"of": "b"}));
    seconds(5).await;
    assert_eq!(taken(&seen).last().map(String::as_str), Some("a 0"));
    assert!(world.object(&wheel).unwrap()["metadata"]["ownerReferences"].is_null());
    running.stop().await.unwrap();
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

#[test]
fn the_role_has_the_rules_of_every_kind_without_a_type() {
    let folder = std::env::temp_dir().join(format!("kubewright-dynamic-role-{}", std::process::id()));
    let flags = [
        "operator".as_ref(),
        "manifests".as_ref(),
        "--out".as_ref(),
        folder.as_os_str(),
    ];
    let flags = Flags::parse_from(flags);
    _ = Operator::new("dynamic", flags.options).run(async |manager: &Manager| {
        let owner = Owner::new(&Seen::default());
        owner.controller().register(manager, owner)?;
        Controller::of("track", Kind::<DynamicObject>::cluster_scoped(resource("v1", "Track")))
            .uses(&maps(), |maps| maps.watches(|_| Vec::new()))
            .register(manager, Own(Seen::default()))
    });
    let role = std::fs::read_to_string(folder.join("role.yaml")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let role = yaml::documents(&role).unwrap().remove(0);
    let rules = role["rules"].as_array().unwrap();
    let verbs = |resource: &str| -> Vec<&Value> {
        let of = rules
            .iter()
            .find(|rule| rule["resources"].as_array().unwrap().contains(&json!(resource)));
        of.unwrap_or_else(|| panic!("{resource} in {role}"))["verbs"]
            .as_array()
            .unwrap()
            .iter()
            .collect()
    };
    assert_eq!(verbs("gears"), ["create", "delete", "get", "list", "patch", "watch"]);
    assert_eq!(verbs("wheels"), ["create", "get", "list", "patch", "watch"]);
    assert_eq!(verbs("tracks"), ["get", "list", "patch", "watch"]);
    assert_eq!(verbs("tracks/status"), ["get", "patch", "update"]);
    assert_eq!(verbs("configmaps"), ["get", "list", "watch"]);
}
