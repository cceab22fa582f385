//! Ways to the same wish that differ: what there is in the end depends on the wish alone.

use std::time::Duration;

use faults::{FooBar, Line, World, settle};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn there_and_back_again_is_as_never_left() {
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
async fn nothing_is_written_once_all_is_as_it_should_be() {
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

    // Whoever creates an object owns what the server adds to it, a Secret's type here, and what it adds is no wish of ours.
    drop(process);
    let second = restart(&world).await;
    assert!(second.is_empty(), "{second:?}");

    // A change that was missed is found, and after it there is nothing to do either.
    world.edit("a", "two").await;
    assert!(restart(&world).await.iter().any(|write| write.contains("/secrets/")));
    let last = restart(&world).await;
    assert!(last.is_empty(), "{last:?}");
}

/// What a new process writes.
async fn restart(world: &World) -> Vec<String> {
    let line = Line::default();
    let _process = world.start(&line);
    settle().await;
    line.writes()
}

#[tokio::test(start_paused = true)]
async fn what_happened_while_nobody_watched_is_found_though_its_history_is_gone() {
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
    // Past the end of what the server remembers.
    for n in 0..40 {
        world.edit("b", if n % 2 == 0 { "two" } else { "one" }).await;
    }
    let writes = line.writes().len();
    settle().await;
    assert_eq!(line.writes().len(), writes, "it was not to see anything");
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
