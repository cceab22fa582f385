//! Processes die one after the other at random writes, while objects are created, changed and deleted: the final state
//! is as if the remaining objects had just been created, and no child was created twice.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use faults::{Fault, FooBar, Line, World, settle};
use tokio::time::sleep;

/// Processes that die, one after the other.
const LIVES: usize = 30;

/// The number of user actions in the life of one process.
const DEEDS: usize = 4;

/// The targets of the expected FooBars, by name.
type Known = BTreeMap<String, String>;

/// Creates, changes, or deletes one of a few names. An object that is still being deleted is not changed.
async fn meddle(world: &World, known: &mut Known, chance: &mut Rng) {
    let name = format!("foobar-{}", chance.u8(..12));
    let target = format!("{:04x}", chance.u16(..));
    if !known.contains_key(&name) {
        if world.uids().await.contains_key(&format!("FooBar {name}")) {
            return;
        }
        world.create(&name, &target).await;
    } else if chance.u8(..3) == 0 {
        known.remove(&name);
        return world.delete::<FooBar>(&name).await;
    } else {
        world.edit(&name, &target).await;
    }
    known.insert(name, target);
}

/// A world in which only the expected objects were created.
async fn untroubled(known: &Known) -> World {
    let world = World::new().await;
    let _process = world.start(&Line::default());
    for (name, target) in known {
        world.create(name, target).await;
    }
    settle().await;
    world
}

/// The ConfigMaps that have existed. Their names identify the spec, and each spec is different, so a second object of a
/// name was created twice.
#[derive(Default)]
struct Seen(BTreeMap<String, String>);

impl Seen {
    async fn look(&mut self, world: &World) {
        for (name, uid) in world.uids().await {
            if name.starts_with("ConfigMap") {
                let first = self.0.entry(name.clone()).or_insert_with(|| uid.clone());
                assert_eq!(*first, uid, "{name} was made twice");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_crashes_at_random_writes_the_state_matches_the_last_spec() {
    for seed in 0..2 {
        let mut chance = Rng::with_seed(seed);
        let (world, mut known, mut seen) = (World::new().await, Known::new(), Seen::default());
        let mut deaths = 0;
        for _ in 0..LIVES {
            let line = Line::default();
            let stored = chance.bool();
            line.fail_at(chance.usize(..12), Fault::Dies { stored });
            let process = world.start(&line);
            for _ in 0..DEEDS {
                meddle(&world, &mut known, &mut chance).await;
                sleep(Duration::from_millis(chance.u64(..2000))).await;
                seen.look(&world).await;
            }
            assert!(!process.has_ended(), "seed {seed}: a process ended by itself");
            deaths += usize::from(line.has_failed());
        }
        assert!(deaths > LIVES / 3, "seed {seed}: {deaths} deaths");
        let _process = world.start(&Line::default());
        settle().await;
        seen.look(&world).await;
        let expected = untroubled(&known).await.state().await;
        assert_eq!(world.state().await, expected, "seed {seed}, {deaths} deaths");
    }
}
