//! After a restart the operator is shown an older world, as an API server that is behind shows it, at every moment of its
//! life: what it does meanwhile is undone, and nothing that was right is lost.

use std::time::Duration;

use faults::{FooBar, Line, World, settle};

/// Makes, changes and deletes; the versions in between.
async fn live(world: &World) -> std::ops::Range<u64> {
    let process = world.start(&Line::default());
    let began = world.version().await;
    for name in ["a", "b", "c", "d"] {
        world.create(name, "one").await;
    }
    settle().await;
    world.edit("b", "two").await;
    world.delete::<FooBar>("c").await;
    // Another one of the same name.
    world.delete::<FooBar>("d").await;
    settle().await;
    world.create("d", "three").await;
    settle().await;
    drop(process);
    began..world.version().await
}

#[tokio::test(start_paused = true)]
async fn whatever_past_it_is_shown_the_end_is_the_same() {
    let world = World::new().await;
    let versions = live(&world).await;
    let (expected, uids) = (world.state().await, world.uids().await);
    assert!(versions.end - versions.start > 35, "{versions:?}");
    // Each on a world of its own would be no other: a past that does harm would show in those that follow.
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
            "as of {version} something was made anew: {:?}",
            line.writes()
        );
    }
}
