//! Different histories with the same final spec: the final state depends on the spec alone.

use std::time::Duration;

use faults::{FooBar, Line, World, settle};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn after_a_change_and_its_reversal_the_state_is_unchanged() {
    let stayed = World::new().await;
    let _process = stayed.start(&Line::default());
    stayed.create("a", "one").await;
    settle().await;
    let expected = stayed.state().await;

    // In seconds: before anything is done, in the middle of it, and after all is done.
    for pause in [0, 1, 120] {
        for restarts in [false, true] {
            let world = World::new().await;
            let mut process = world.start(&Line::default());
            world.create("a", "one").await;
            for target in ["two", "three", "two", "one"] {
                sleep(Duration::from_secs(pause)).await;
                if restarts {
                    drop(process);
                    process = world.start(&Line::default());
                }
                world.edit("a", target).await;
            }
            settle().await;
            assert_eq!(world.state().await, expected, "{pause} s apart, restarts: {restarts}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_once_the_desired_state_is_reached() {
    let (world, line) = (World::new().await, Line::default());
    let process = world.start(&line);
    for name in ["a", "b", "c"] {
        world.create(name, "one").await;
    }
    settle().await;
    let before = line.writes();
    assert!(before.len() > 9, "{before:?}");
    // Two resyncs, and hundreds of watches that end by themselves.
    sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(line.writes(), before);
    assert!(!process.has_ended());

    // The creator of an object owns fields that the server adds, here a Secret's type; added fields are not part of our
    // intent.
    drop(process);
    let second = restart(&world).await;
    assert!(second.is_empty(), "{second:?}");

    // A missed change is found, and after it there is nothing to write either.
    world.edit("a", "two").await;
    assert!(restart(&world).await.iter().any(|write| write.contains("/secrets/")));
    let last = restart(&world).await;
    assert!(last.is_empty(), "{last:?}");
}

/// The writes of a new process.
async fn restart(world: &World) -> Vec<String> {
    let line = Line::default();
    let _process = world.start(&line);
    settle().await;
    line.writes()
}

#[tokio::test(start_paused = true)]
async fn changes_missed_during_a_muted_watch_are_found_after_compaction() {
    let world = World::with_history(16).await;
    let line = Line::default();
    let _process = world.start(&line);
    for name in ["a", "b", "c", "d"] {
        world.create(name, "one").await;
    }
    settle().await;
    let expected = world.state().await;

    line.mute_watches();
    world.delete::<ConfigMap>("a-one").await;
    world.delete::<Secret>("b-fixed").await;
    world.delete::<FooBar>("c").await;
    world.edit("d", "two").await;
    // Past the end of the server's history.
    for n in 0..40 {
        world.edit("b", if n % 2 == 0 { "two" } else { "one" }).await;
    }
    let writes = line.writes().len();
    settle().await;
    assert_eq!(line.writes().len(), writes, "it did not get any change");
    line.end_watches();
    settle().await;
    let ended = world.state().await;
    assert!(
        !ended.contains_key("FooBar c") && !ended.contains_key("Secret c-fixed"),
        "{ended:#?}"
    );
    for same in [
        "ConfigMap a-one",
        "Secret a-fixed",
        "Secret b-fixed",
        "ConfigMap b-one",
        "FooBar a",
        "FooBar b",
    ] {
        assert_eq!(ended.get(same), expected.get(same), "{same}");
    }
    assert!(ended.contains_key("ConfigMap d-two") && !ended.contains_key("ConfigMap d-one"));
}
