//! What is wrong in any operator, whatever it is for.

use std::{collections::BTreeSet, fmt, sync::PoisonError};

use serde_json::Value;
use tokio::sync::broadcast::error::TryRecvError;

use super::{
    reconciles,
    setup::Setup,
    state::{Live, MARK, State, text},
    users::Marked,
    world::World,
};
use crate::{
    dev::{account, refusals},
    server::ApiServer,
};

/// A rule that a run broke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Oracle {
    /// The state differs from that of the run without faults, or after the same spec was reached another way.
    State,
    /// Something is left after the samples were deleted.
    Leftover,
    /// A deleted sample keeps a finalizer.
    Finalizer,
    /// `observedGeneration` in a status is not that of the spec.
    Generation,
    /// It still writes when nothing has happened for long.
    Quiet,
    /// It sends the same request hundreds of times a minute.
    HotLoop,
    /// A panic.
    Panic,
    /// An object, an annotation or a condition that belongs to somebody else was changed or removed.
    Foreign,
    /// The process ends by itself.
    Exit,
    /// A reconcile still fails when nothing has happened for long.
    Failing,
    /// It sends a request that its role does not grant.
    Permission,
    /// An invariant of the author does not hold.
    Invariant,
}

/// What a run has found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub oracle: Oracle,
    /// The phase after which it was broken.
    pub(super) phase: usize,
    /// What exactly is wrong, a sentence in each.
    pub lines: Vec<String>,
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "the state is not the one that the same spec gives without faults",
            Self::Leftover => "objects are left after the samples were deleted",
            Self::Finalizer => "a deleted object keeps its finalizer",
            Self::Generation => "a status claims another generation than that of the spec",
            Self::Quiet => "the operator keeps writing although nothing happens",
            Self::HotLoop => "the operator sends one request, or reconciles one object, in a loop",
            Self::Panic => "the operator panics",
            Self::Foreign => "the operator changes what belongs to somebody else",
            Self::Exit => "the process ends by itself",
            Self::Failing => "a reconcile keeps failing although nothing happens",
            Self::Permission => "the operator's role does not grant what it asks for",
            Self::Invariant => "an invariant does not hold",
        })
    }
}

impl Finding {
    /// Whether reconciles keep failing, as with a spec that the operator refuses.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self.oracle, Oracle::Failing | Oracle::Quiet)
    }
}

impl Oracle {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Leftover => "leftover",
            Self::Finalizer => "finalizer",
            Self::Generation => "generation",
            Self::Quiet => "quiet",
            Self::HotLoop => "hot-loop",
            Self::Panic => "panic",
            Self::Foreign => "foreign",
            Self::Exit => "exit",
            Self::Failing => "failing",
            Self::Permission => "permission",
            Self::Invariant => "invariant",
        }
    }
}

/// The generations in statuses that are not those of their objects.
pub(super) fn generations(lives: &[Live]) -> Vec<String> {
    let mut lines = Vec::new();
    // To ask for a deletion raises the generation, but is no change of the spec.
    let is_kept = |live: &&Live| live.is_custom() && live.object["metadata"]["deletionTimestamp"].is_null();
    for live in lives.iter().filter(is_kept) {
        let (status, generation) = (&live.object["status"], &live.object["metadata"]["generation"]);
        let conditions = status["conditions"].as_array().into_iter().flatten();
        for place in conditions.chain([status]).filter(|place| place["type"] != MARK) {
            let observed = &place["observedGeneration"];
            if observed.is_number() && observed != generation {
                lines.push(format!(
                    "{} has generation {generation}, but observedGeneration {observed}",
                    live.key()
                ));
            }
        }
    }
    lines
}

/// The objects of others that are gone, or were changed since the operator began.
pub(super) fn foreign(server: &ApiServer, bystanders: &[Live], changed: &[Live]) -> Vec<String> {
    let mut lines = Vec::new();
    for bystander in bystanders {
        if !bystander.exists(server) {
            lines.push(format!("{} was deleted", bystander.key()));
        } else if changed.iter().any(|live| live.uid() == bystander.uid()) {
            lines.push(format!("{} was changed", bystander.key()));
        }
    }
    lines
}

/// The marked objects that still exist, without their mark.
pub(super) fn unmarked(lives: &[Live], marked: &Marked) -> Vec<String> {
    let mut lines = Vec::new();
    for live in lives {
        let metadata = &live.object["metadata"];
        for (field, name) in [("annotations", "annotation"), ("labels", "label")] {
            if marked.annotated.contains(live.uid()) && metadata[field][MARK].is_null() {
                lines.push(format!("{}: the {name} `{MARK}` of a user is gone", live.key()));
            }
        }
        let finalizers = metadata["finalizers"].as_array();
        let mut finalizers = finalizers.into_iter().flatten();
        if marked.held.contains(live.uid()) && !finalizers.any(|finalizer| finalizer == MARK) {
            lines.push(format!(
                "{}: the finalizer `{MARK}` of another controller is gone",
                live.key()
            ));
        }
        let conditions = live.object["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        if marked.conditioned.contains(live.uid()) && !conditions.any(|condition| condition["type"] == MARK) {
            lines.push(format!(
                "{}: the condition `{MARK}` of another writer is gone",
                live.key()
            ));
        }
    }
    lines
}

/// The existing objects whose reconciles failed the last time.
pub(super) fn failing(lives: &[Live]) -> Vec<String> {
    let mut lines = Vec::new();
    for (reconcile, error) in reconciles::failing() {
        let (controller, object) = reconcile.split_once(' ').unwrap_or_default();
        if lives
            .iter()
            .any(|live| live.key().split_once(' ').is_some_and(|(_, name)| name == object))
        {
            lines.push(format!("controller `{controller}`, object `{object}`: {error}"));
        }
    }
    lines
}

/// The requests that no role grants, with the declarations that do.
pub(super) fn refused(world: &World, setup: &Setup) -> Vec<String> {
    let is_namespaced = account::is_namespaced(&setup.roles);
    let mut refusals = world.refusals.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut known, mut lines) = (BTreeSet::new(), Vec::new());
    loop {
        match refusals.try_recv() {
            Ok(refusal) => {
                let described = refusals::describe(&refusal, is_namespaced, "make sim", &mut known);
                lines.extend(described.map(|[error, hint]| format!("{error}; hint: {hint}")));
            }
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return lines,
        }
    }
}

/// Names the objects from before the siblings of the samples that are gone.
pub(super) fn displaced(before: &State, now: &State) -> Vec<String> {
    let gone = before.keys().filter(|key| !now.contains_key(*key));
    gone.map(|key| format!("{key} is gone since siblings of the samples exist"))
        .collect()
}

/// Names the objects that deleted siblings have left behind.
pub(super) fn surplus(before: &State, now: &State) -> Vec<String> {
    let surplus = now.keys().filter(|key| !before.contains_key(*key));
    surplus
        .map(|key| format!("{key} exists after the siblings of the samples were deleted"))
        .collect()
}

/// Names the objects of samples whose namesakes in another namespace are missing, or have no status.
pub(super) fn lacking(setup: &Setup, before: &State, now: &State) -> Vec<String> {
    let mut lines = Vec::new();
    // The sibling beside a sample, and its children, have no namesakes: only earlier objects are compared.
    for (key, object) in before {
        let Some(namesake) = setup.in_other_namespace(key) else {
            continue;
        };
        if is_of_cluster_scoped(before, object) {
            continue;
        }
        let is_it = |other: &Value| setup.is_sample(key) && object["status"].is_object() && other["status"].is_null();
        match now.get(&namesake) {
            None => lines.push(format!("{namesake} is missing, and {key} exists")),
            Some(other) if is_it(other) => lines.push(format!("{namesake} has no status, and {key} has one")),
            Some(_) => {}
        }
    }
    lines
}

/// Whether a cluster-scoped object owns this one, directly or through its owners: siblings of a cluster-scoped sample have no namespace.
fn is_of_cluster_scoped(state: &State, object: &Value) -> bool {
    let (mut pending, mut seen) = (vec![object], BTreeSet::new());
    while let Some(object) = pending.pop() {
        let owners = object["metadata"]["ownerReferences"].as_array();
        for owner in owners.into_iter().flatten() {
            let key = text(&owner["uid"]).strip_prefix("<uid of ");
            let key = key.and_then(|key| key.strip_suffix('>')).unwrap_or("/");
            if !key.contains('/') {
                return true;
            }
            if seen.insert(key) {
                pending.extend(state.get(key));
            }
        }
    }
    false
}

/// The samples whose deletion does not end.
pub(super) fn held(setup: &Setup, lives: &[Live]) -> Vec<String> {
    let metadata = |live: &Live| live.object["metadata"].clone();
    let is_held = |live: &&Live| setup.is_sample(&live.key()) && metadata(live)["deletionTimestamp"].is_string();
    let line = |live: &Live| {
        format!(
            "{} was deleted, and has the finalizers {}",
            live.key(),
            metadata(live)["finalizers"]
        )
    };
    lives.iter().filter(is_held).map(line).collect()
}

/// What is left after all samples were deleted.
pub(super) fn left(lives: &[Live]) -> Vec<String> {
    let line = |live: &Live| {
        let owners = &live.object["metadata"]["ownerReferences"];
        let owners = if *owners == Value::Null { "no owner" } else { "an owner" };
        format!("{} exists; it has {owners}", live.key())
    };
    lives.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn children_of_cluster_scoped_objects_have_no_namesakes_in_another_namespace() {
        let child = |owner: &str| json!({"metadata": {"ownerReferences": [{"uid": format!("<uid of {owner}>")}]}});
        let state = State::from([
            ("Crew.a.b c".to_owned(), json!({})),
            ("Worker.a.b default/c".to_owned(), child("Crew.a.b c")),
            ("FooBar.a.b default/f".to_owned(), child("FooBar.a.b default/f")),
        ]);
        for (owner, expected) in [
            ("Crew.a.b c", true),
            ("Worker.a.b default/c", true),
            ("FooBar.a.b default/f", false),
            ("Gone.a.b default/g", false),
        ] {
            assert_eq!(is_of_cluster_scoped(&state, &child(owner)), expected, "{owner}");
        }
        assert!(!is_of_cluster_scoped(&state, &json!({})));
    }
}
