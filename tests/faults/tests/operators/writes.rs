//! A fault at each write of the operator, one write in each run: the process dies there, or the connection fails; the
//! write was carried out, or not. The final state is as without a fault.

use std::collections::BTreeMap;

use faults::{Fault, FooBar, Line, World, settle};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::Value;

/// Creates, changes and deletes objects and their children; meanwhile one process runs on this connection, and then
/// another one on a connection without faults.
async fn story(line: &Line) -> BTreeMap<String, Value> {
    let world = World::new().await;
    let first = world.start(line);
    for name in ["a", "b", "c"] {
        world.create(name, "one").await;
    }
    settle().await;
    world.edit("b", "two").await;
    world.delete::<FooBar>("c").await;
    settle().await;
    // Whatever its name: the operator may have died before it was created.
    let children = world.api::<ConfigMap>();
    _ = children.delete("a-one", &kube::api::DeleteParams::default()).await;
    settle().await;
    assert!(!first.has_ended(), "a process ended by itself");
    drop(first);
    let _second = world.start(&Line::default());
    settle().await;
    world.state().await
}

/// Runs the story with a fault at its first write, its second, and so on; returns how many writes there are.
async fn at_every_write(fault: Fault) -> usize {
    let expected = story(&Line::default()).await;
    let names: Vec<_> = expected.keys().map(String::as_str).collect();
    let whole = [
        "ConfigMap a-one",
        "ConfigMap b-two",
        "FooBar a",
        "FooBar b",
        "Secret a-fixed",
        "Secret b-fixed",
    ];
    assert_eq!(names, whole);
    for n in 0.. {
        let line = Line::default();
        line.fail_at(n, fault);
        let ended = story(&line).await;
        if !line.has_failed() {
            return n;
        }
        assert_eq!(ended, expected, "{fault:?} at write {n}: {:?}", line.writes().get(n));
    }
    0
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_before_any_write_is_carried_out_the_next_process_reaches_the_same_state() {
    assert!(at_every_write(Fault::Dies { stored: false }).await >= 18);
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_after_any_write_was_carried_out_the_next_process_reaches_the_same_state() {
    assert!(at_every_write(Fault::Dies { stored: true }).await >= 18);
}

#[tokio::test(start_paused = true)]
async fn a_failed_write_is_retried() {
    assert!(at_every_write(Fault::Fails { stored: false }).await >= 18);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_response_is_lost_has_no_second_effect() {
    assert!(at_every_write(Fault::Fails { stored: true }).await >= 18);
}
