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
pub(super) const PHASES_OF_SIBLINGS: [&str; 3] = [
    "users create the samples",
    "users create siblings of the samples: other names, and the same names in another namespace",
    "users delete the siblings",
];
/// The further phases of a run with other specs.
pub(super) const PHASES_OF_ALTERATIONS: [&str; 3] = [
    "users create the samples",
    "users change the samples",
    "users change the samples back",
];
/// The phases in which siblings exist, and in which they are gone.
pub(super) const SIBLINGS: usize = PHASES.len() + 1;
pub(super) const WITHOUT_SIBLINGS: usize = PHASES.len() + 2;
/// The first phase of a run with other specs, and the one in which the specs are others.
pub(super) const BEFORE_ALTERATION: usize = PHASES.len() + PHASES_OF_SIBLINGS.len();
pub(super) const ALTERED: usize = BEFORE_ALTERATION + 1;
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
    let mut headings = PHASES.iter().chain(&PHASES_OF_SIBLINGS).chain(&PHASES_OF_ALTERATIONS);
    headings.nth(phase).unwrap_or(&"")
}
