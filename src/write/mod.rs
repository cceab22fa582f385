//! Onto the disk, all or nothing: lock the project, compare what should stand there with what does, refuse every conflict before the
//! first byte, then write through a journal that the next command completes if this one is killed.

mod change;
mod compare;
mod diff;
mod disk;
mod journal;
mod lock;
mod root;
mod workspace;

pub use change::Change;
pub use compare::{ByHand, Intent, Intents, Outcome, State, compare, leftovers, state, vendored_state};
pub use diff::diff;
pub use disk::{Disk, RealDisk};
pub use root::Root;
pub use workspace::parent_line;
