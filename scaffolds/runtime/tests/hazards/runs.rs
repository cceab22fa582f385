//! One reconcile and the next: delays, panics, workers, finalizers, permanent errors.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use kubewright_runtime::{Controller, Predicate};
use serde_json::json;

use crate::{
    script::{FINALIZER, Script, controller, run},
    support::kinds::{CONFIG_MAPS, at, foobar, seconds, world},
};

#[tokio::test(start_paused = true)]
async fn k02_each_object_has_its_own_growing_delay() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("fails-a"), foobar("x"));
    world.put(&at("works-b"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;

    let runs = script.runs("fails-a");
    let gaps: Vec<_> = runs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 10, "a retryable error is retried: {gaps:?}");
    for (n, gap) in gaps.iter().enumerate() {
        let base = Duration::from_millis(5 << n);
        assert!(
            *gap >= base && *gap <= base.mul_f64(1.1) + Duration::from_millis(2),
            "retry {n} after {gap:?}, not {base:?}"
        );
    }
    assert_eq!(script.runs("works-b").len(), 1, "the other object is not delayed");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k03_a_panic_fails_one_object_and_no_other() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("panics-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.put(&at("works-b"), foobar("x"));
    seconds(1).await;

    assert!(script.runs("panics-a").len() > 1, "a panic is retried");
    assert_eq!(script.runs("works-b").len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k04_there_is_one_worker_by_default_and_never_more_than_configured() {
    for (asked, expected) in [(None, 1), (Some(3), 3)] {
        let (world, script) = (world(), Arc::<Script>::default());
        for n in 0..10 {
            world.put(&at(&format!("slow-{n}")), foobar("x"));
        }
        let controller = asked.into_iter().fold(controller(), Controller::concurrency);
        let running = run(&world, &script, controller);
        seconds(60).await;
        assert_eq!(script.most.load(Ordering::SeqCst), expected);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn k17_with_a_generation_predicate_the_reconcile_continues_after_the_finalizer_and_a_pending_cleanup_keeps_it() {
    let world = world();
    let script = Arc::new(Script {
        finalizer: Some(FINALIZER),
        ..Script::default()
    });
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller().predicate(Predicate::generation_changed()));
    seconds(1).await;
    assert_eq!(
        world.object(&at("child-a")).unwrap()["metadata"]["finalizers"],
        json!([FINALIZER])
    );
    assert_eq!(
        world.count(CONFIG_MAPS),
        1,
        "the run that stored the finalizer continued"
    );

    world.delete(&at("child-a"));
    seconds(5).await;
    assert!(
        world.object(&at("child-a")).is_some(),
        "a cleanup that is pending keeps the object"
    );
    seconds(5).await;
    assert!(
        world.object(&at("child-a")).is_none(),
        "the object is deleted after the cleanup is done"
    );
    assert_eq!(script.cleanups.load(Ordering::SeqCst), 2);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_not_retried_and_is_reported_in_the_status() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("terminal-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(3600).await;
    assert_eq!(script.runs("terminal-a").len(), 1);
    let condition = world.object(&at("terminal-a")).unwrap()["status"]["conditions"][0].clone();
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("False"), &json!("BadTarget"))
    );
    assert_eq!(condition["observedGeneration"], 1);

    world.edit(&at("terminal-a"), |object| object["spec"]["target"] = json!("y"));
    seconds(1).await;
    assert_eq!(
        script.runs("terminal-a").len(),
        2,
        "a change of the object is reconciled"
    );
    running.stop().await.unwrap();
}
