//! The phases of runs, and their names.

/// The phases of a run.
pub(super) const PHASES: [&str; 8] = [
    "users create the samples",
    "users change the samples, and mark what exists",
    "users change the samples back",
    "users edit the children",
    "users delete the children",
    "users wipe the status",
    "users delete the samples and create them again",
    "users delete the samples",
];
/// The further phases of a run with siblings.
pub(super) const PHASES_OF_SIBLINGS: [&str; 5] = [
    "users create the samples",
    "users create siblings of the samples: other names, and the same names in another namespace",
    "users delete the siblings",
    "users remove optional values from the samples",
    "users set the removed values again",
];
/// The phases in which siblings exist, in which they are gone, and in which values are removed.
pub(super) const SIBLINGS: usize = PHASES.len() + 1;
pub(super) const WITHOUT_SIBLINGS: usize = PHASES.len() + 2;
pub(super) const REDUCED: usize = PHASES.len() + 3;
/// The phase in which all samples are gone.
pub(super) const TEARDOWN: usize = 7;
/// The phase in which the specs are others.
pub(super) const CHANGED: usize = 1;
/// The phase in which the children are edited.
pub(super) const EDITED: usize = 3;
/// The phase in which statuses are removed.
pub(super) const WIPED: usize = 5;

/// The name of a phase.
pub(super) fn heading(phase: usize) -> &'static str {
    let mut headings = PHASES.iter().chain(&PHASES_OF_SIBLINGS);
    headings.nth(phase).unwrap_or(&"")
}
