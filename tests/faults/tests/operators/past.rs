//! After a restart the API server shows the operator an older state, for each of the earlier states: its effects are
//! undone, and nothing right is lost.

use std::time::Duration;

use faults::{FooBar, Line, World, settle};

/// Creates, changes and deletes objects; returns the versions in between.
async fn live(world: &World) -> std::ops::Range<u64> {
    let process = world.start(&Line::default());
    let began = world.version().await;
    for name in ["a", "b", "c", "d"] {
        world.create(name, "one").await;
    }
    settle().await;
    world.edit("b", "two").await;
    world.delete::<FooBar>("c").await;
    // Another object of the same name.
    world.delete::<FooBar>("d").await;
    settle().await;
    world.create("d", "three").await;
    settle().await;
    drop(process);
    began..world.version().await
}

#[tokio::test(start_paused = true)]
async fn after_any_stale_state_the_final_state_is_the_same() {
    let world = World::new().await;
    let versions = live(&world).await;
    let (expected, uids) = (world.state().await, world.uids().await);
    assert!(versions.end - versions.start > 35, "{versions:?}");
    // One world is enough for all of them: damage by one past would show in the next ones.
    for version in versions {
        let line = Line::default();
        line.show_the_past(version, Duration::from_secs(30));
        let process = world.start(&line);
        settle().await;
        assert!(!process.has_ended());
        drop(process);
        assert_eq!(world.state().await, expected, "as of {version}: {:?}", line.writes());
        assert_eq!(
            world.uids().await,
            uids,
            "as of {version} something was created again: {:?}",
            line.writes()
        );
    }
}
