//! The faults of a phase: they begin with it, and those of watches end when all is quiet.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    fault::{At, Fault},
    world::{Sent, World},
};

/// The time for which writes are forbidden.
const FORBIDDEN: Duration = Duration::from_secs(30);

/// Starts these faults.
pub(super) fn start(world: &World, faults: &[Fault]) {
    for &fault in faults {
        match fault {
            Fault::Missed => world.watches.send_modify(|watches| watches.muted = true),
            Fault::Late => world.watches.send_modify(|watches| watches.late = true),
            Fault::Doubled => world.watches.send_modify(|watches| watches.doubled = true),
            Fault::Forbidden => world.book().forbidden = Some(Instant::now() + FORBIDDEN),
            _ => continue,
        }
        world.tell_fault(fault);
    }
}

/// Delays the watches of the kinds that have this fault in the present phase.
pub(super) fn delay_kinds(world: &World, kinds: &[Sent]) {
    let phase = world.book().phase;
    for (n, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind.phase == phase) {
        let faults = world.book().meet(At::Kind(n));
        if !faults.is_empty() {
            world.watches.send_modify(|watches| {
                watches.late_kinds.insert(kind.text.clone());
            });
            world.tell_late(&kind.text);
        }
    }
}

/// Ends the faults of watches, and returns whether those of one kind were late.
pub(super) fn end(world: &World) -> bool {
    let was_late = !world.watches.borrow().late_kinds.is_empty();
    world.watches.send_modify(|watches| {
        (watches.late, watches.doubled) = (false, false);
        watches.late_kinds.clear();
    });
    was_late
}

/// Ends all watches with a 410.
pub(super) fn end_watches(world: &World) {
    world.watches.send_modify(|watches| {
        watches.ends += 1;
        watches.muted = false;
    });
    world.stir();
}
