//! A watched kind whose cache cannot be filled in time ends the process, or delays it, as its declaration says.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Controller, ObjectKey};
use serde_json::json;

/// Lists of ConfigMaps are refused while the result is set.
fn refusing(world: &World) -> Arc<AtomicBool> {
    let refused = Arc::new(AtomicBool::new(true));
    let now = refused.clone();
    world.intercept(move |method, path| {
        let listed = method == "GET" && path == "/api/v1/configmaps";
        (listed && now.load(Ordering::Relaxed)).then(|| {
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
                "message": "no", "code": 403});
            (403, status)
        })
    });
    refused
}

/// Wakes the FooBar of a ConfigMap's name.
fn watching() -> Controller<FooBar> {
    Controller::new("foobar").watches::<ConfigMap>(|map| vec![ObjectKey::of(map)])
}

#[tokio::test(start_paused = true)]
async fn a_source_that_the_operator_starts_without_delays_it_and_is_read_later() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    world.put(&config_map("a"), json!({"data": {"a": "1"}}));
    let refused = refusing(&world);
    let manager = manager(&world);
    let controller = watching().starts_without::<ConfigMap>();
    controller.register(&manager, Notes(seen.clone())).unwrap();
    let running = Running::start(manager);
    seconds(100).await;
    assert!(taken(&seen).is_empty(), "until then it waits for the cache");
    seconds(60).await;
    assert_eq!(taken(&seen), ["a"]);

    refused.store(false, Ordering::Relaxed);
    seconds(60).await;
    assert_eq!(taken(&seen), ["a"], "the objects of the cache wake the controller");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_source_is_waited_for_unless_declared_or_if_a_controller_claims_it() {
    let watched = watching();
    let claimed = Controller::new("foobar")
        .claims::<ConfigMap>(|_: &FooBar| [("a".to_owned(), "b".to_owned())].into())
        .starts_without::<ConfigMap>();
    for controller in [watched, claimed] {
        let (world, seen) = (world(), Seen::default());
        _ = refusing(&world);
        let manager = manager(&world);
        controller.register(&manager, Notes(seen.clone())).unwrap();
        let error = Running::start(manager).done.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("the cache of `ConfigMap`"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_not_watched_cannot_be_late() {
    let manager = manager(&world());
    let controller = Controller::<FooBar>::new("foobar").starts_without::<PartialObjectMeta<ConfigMap>>();
    let error = controller.register(&manager, Notes(Seen::default())).unwrap_err();
    assert!(
        error.to_string().contains("hint: add `.watches::<ConfigMap>"),
        "{error}"
    );
}
