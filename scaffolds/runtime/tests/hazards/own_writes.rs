//! The operator's own writes: a reconcile sees them, is not woken by them, and does not repeat them.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    script::{FINALIZER, Script, controller, run},
    support::{
        World,
        kinds::{CONFIG_MAPS, at, foobar, seconds, world},
    },
};

#[tokio::test(start_paused = true)]
async fn its_own_status_does_not_wake_a_controller_and_a_foreign_one_is_repaired_at_once() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;
    assert_eq!(script.runs("works-a").len(), 1);
    assert_eq!(world.requests(&format!("PATCH {}/status", at("works-a"))).len(), 1);
    assert_eq!(
        world.object(&at("works-a")).unwrap()["metadata"]["generation"],
        json!(1)
    );

    world.edit_status(&at("works-a"), |object| object["status"] = json!({"conditions": []}));
    seconds(1).await;
    assert_eq!(script.runs("works-a").len(), 2);
    let object = world.object(&at("works-a")).unwrap();
    assert_eq!(object["status"]["conditions"][0]["status"], json!("True"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_own_status_is_recognised_even_if_the_watch_event_arrives_before_the_response() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.delay_replies(Duration::from_secs(2));
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;
    assert_eq!(script.runs("works-a").len(), 1);

    world.edit(&at("works-a"), |object| object["spec"]["target"] = json!("y"));
    seconds(1).await;
    world.edit(&at("works-a"), |object| {
        object["metadata"]["labels"] = json!({"foreign": "yes"})
    });
    seconds(60).await;
    assert!(
        script.runs("works-a").len() >= 3,
        "a concurrent foreign change is not taken for its own"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_own_finalizer_is_recognised_even_if_the_watch_event_arrives_before_the_response() {
    let world = world();
    let script = Arc::new(Script {
        finalizer: Some(FINALIZER),
        ..Script::default()
    });
    world.delay_replies(Duration::from_secs(2));
    world.put(&at("works-a"), foobar("x"));
    world.put(&at("works-b"), foobar("x"));
    let running = run(&world, &script, controller().concurrency(2));
    seconds(1).await;
    assert_eq!(
        world.object(&at("works-a")).unwrap()["metadata"]["finalizers"],
        json!([FINALIZER]),
        "the response to this write is on its way"
    );
    world.edit_status(&at("works-a"), |object| object["status"] = json!({"conditions": []}));
    seconds(60).await;
    assert_eq!(script.runs("works-b").len(), 1);
    assert!(
        script.runs("works-a").len() >= 2,
        "a concurrent foreign change is not taken for its own"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_always_sees_the_operators_own_writes() {
    let (world, script) = (world(), Arc::<Script>::default());
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.delay_watches("configmaps", Duration::from_secs(30));
    world.put(&at("child-a"), foobar("x"));
    seconds(1).await;
    world.edit(&at("child-a"), |object| {
        object["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(1).await;

    assert_eq!(script.runs("child-a").len(), 2);
    let about_child = [world.requests("POST /api/"), world.requests("PATCH /api/")].concat();
    assert_eq!(
        about_child,
        [format!("POST {CONFIG_MAPS}")],
        "the second run saw the child before any watch event"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_when_nothing_changed_and_drift_is_repaired() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    assert_eq!(world.requests(&format!("POST {CONFIG_MAPS}")).len(), 1);
    let child = format!("{CONFIG_MAPS}/child-a-foobar");

    let writes = |world: &World| world.requests("PATCH").len() + world.requests("POST /api").len();
    let before = writes(&world);
    world.edit(&at("child-a"), |object| {
        object["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(1).await;
    assert_eq!(
        (script.runs("child-a").len(), writes(&world)),
        (2, before),
        "it was reconciled without a write"
    );

    world.edit(&child, |child| child["data"]["target"] = json!("drifted"));
    seconds(1).await;
    assert_eq!(world.object(&child).unwrap()["data"]["target"], json!("x"));
    world.delete(&child);
    seconds(1).await;
    assert!(world.object(&child).is_some(), "a deleted child is created again");
    running.stop().await.unwrap();
}

/// The watch event of the foreign change is older than the response to the apply, and is dropped.
#[tokio::test(start_paused = true)]
async fn a_foreign_change_that_the_response_to_an_apply_contains_wakes_the_owner() {
    for foreign in [false, true] {
        let (world, script) = (world(), Arc::<Script>::default());
        world.put(&at("child-a"), foobar("x"));
        let running = run(&world, &script, controller());
        seconds(1).await;
        let child = format!("{CONFIG_MAPS}/child-a-foobar");
        for target in ["y", "z"] {
            let before = script.runs("child-a").len();
            world.delay_watches("configmaps", Duration::from_secs(5));
            if foreign {
                world.edit(&child, |child| child["data"]["theirs"] = json!(target));
            }
            world.edit(&at("child-a"), |object| object["spec"]["target"] = json!(target));
            seconds(60).await;
            let runs = script.runs("child-a").len() - before;
            assert_eq!(
                runs,
                if foreign { 2 } else { 1 },
                "target: {target}, foreign change: {foreign}"
            );
        }
        running.stop().await.unwrap();
    }
}
