//! Writes all files or none: locks the project, compares the wanted files with the disk, reports every conflict before
//! the first byte, then writes through a journal, which the next command completes if this one is killed. No symbolic
//! link is followed.

mod beneath;
mod change;
mod compare;
mod concurrent;
mod diff;
mod disk;
mod journal;
mod lock;
mod merge;
mod record;
mod relicense;
mod root;
mod state;
mod union;
mod used;
mod vendored;
mod workspace;
mod writer;

pub use beneath::{Beneath, EntryType, MAX_FILE};
pub use change::{Change, Swap, swaps};
pub use compare::{ByHand, Intent, Intents, Outcome, compare};
pub use diff::{diff, text_diff};
pub use disk::{Disk, NewFile, RealDisk};
pub use journal::is_interrupted;
pub use merge::{Succession, has_conflicts, has_extension_line, lost_lines};
pub use record::Records;
pub use root::{Access, Root, around, quoted};
pub use state::{State, leftovers, state};
pub use used::{path_lines, used_crates};
pub use vendored::{Origin, is_left_behind, vendored_files, vendored_origin, vendored_stamp, vendored_state};
pub use workspace::parent_line;
