//! Kinds whose name a generated file imports from elsewhere: the file imports them under another name.
//!
//! Unlike a kind in [`rust::RESERVED`], such a kind keeps its name in all other files.

use crate::project::pattern::Name;
use crate::project::{Controller, Project, rust};

/// The import of all tests of controllers.
const OF_TESTS: &[&str] = &["Program"];

/// The imports and the types of controllers that keep Pods, Jobs or StatefulSets, and of their tests.
const OF_RUNS: &[&str] = &[
    "BackupJob",
    "Backups",
    "Bound",
    "Completion",
    "ConcurrencyPolicy",
    "DeserializeOwned",
    "Job",
    "JobCondition",
    "JobSpec",
    "JobStatus",
    "ListParams",
    "Member",
    "Members",
    "Observed",
    "PersistentVolumeClaim",
    "Plan",
    "PodDisruptionBudget",
    "Preconditions",
    "Program",
    "Quantity",
    "ReadyPods",
    "Rehearsal",
    "Rehearsed",
    "Reverse",
    "Run",
    "RunningOperator",
    "Schedule",
    "Secret",
    "Seen",
    "Service",
    "Set",
    "Shape",
    "SignedDuration",
    "StatefulSet",
    "StatefulSetStatus",
    "Step",
    "Timestamp",
    "Volume",
    "Work",
    "World",
];

/// The names that the tests of webhooks import.
pub fn of_webhook_tests(project: &Project) -> &'static [&'static str] {
    match project.version.starts_with("0.1.") {
        // The templates of 0.1 have no other names.
        true => &[],
        false => OF_TESTS,
    }
}

/// The names that the files of a controller import or define.
pub fn of_controller(project: &Project, controller: &Controller) -> &'static [&'static str] {
    // The templates of 0.1 have no other names.
    if project.version.starts_with("0.1.") {
        return &[];
    }
    match controller.pattern.name() {
        Name::Backup | Name::Job | Name::Replicas | Name::Restore | Name::Schedule | Name::Stateful => OF_RUNS,
        Name::Beside | Name::Child | Name::Deployment | Name::Internal | Name::Minimal => OF_TESTS,
    }
}

/// A type as a generated file names it, and in a `use`: a type of a name that the file imports otherwise gets another one there.
pub fn imported(name: &str, others: &[&str]) -> [String; 2] {
    if !others.contains(&name) {
        return [name.to_owned(), name.to_owned()];
    }
    let other = format!("{name}Resource");
    let import = format!("{name} as {other}");
    [other, import]
}

/// The same for the type of a spec, which may also be named like a type that is reserved.
pub fn imported_spec(name: &str, others: &[&str]) -> [String; 2] {
    match rust::RESERVED.contains(&name) && others.len() > OF_TESTS.len() {
        true => imported(name, &[name]),
        false => imported(name, others),
    }
}
