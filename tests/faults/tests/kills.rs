//! One process after the other dies at a write of chance, while objects are made, changed and deleted: in the end the world is
//! as if those that are left had been made just now, and no child had ever been made twice.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use faults::{Fault, FooBar, Line, World, settle};
use tokio::time::sleep;

/// Processes that die, one after the other.
const LIVES: usize = 30;

/// What is done in the life of one.
const DEEDS: usize = 4;

/// The targets of the FooBars that must be there, by name.
type Known = BTreeMap<String, String>;

/// One of a few names is made, changed, or deleted. One that is still on its way out is left alone.
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

/// The world in which only what is known was ever asked for.
async fn untroubled(known: &Known) -> World {
    let world = World::new().await;
    let _process = world.start(&Line::default());
    for (name, target) in known {
        world.create(name, target).await;
    }
    settle().await;
    world
}

/// The ConfigMaps that were ever seen, whose names say for which wish they were made. Each wish is another one, so a second
/// object of a name has been made twice.
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
async fn whoever_dies_whenever_the_end_is_what_was_asked_for_last() {
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
