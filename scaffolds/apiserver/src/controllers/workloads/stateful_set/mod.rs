//! StatefulSets: the next step, from the present state of the members, their claims and the revisions.

mod claims;
mod member;
mod run;

use std::{cmp::Reverse, ops::Range};

use serde_json::{Value, json};

use super::{
    Decision,
    family::Relation,
    fields::{self, int, text},
    history,
    replica_set::Pod,
    sets,
    write::Write,
};
use crate::meta;
use claims::Claims;

/// A StatefulSet and what belongs to it.
struct Observed<'a> {
    set: &'a Value,
    /// The Pods with the name of a member.
    pods: Vec<Pod>,
    revisions: Vec<Value>,
    claims: Claims,
}

/// The relation of a Pod that a set owns or selects: it belongs to the set only with the name of a member.
pub(super) fn relation(set: &Value, pod: &str, relation: Relation) -> Option<Relation> {
    match member::ordinal(set, pod) {
        Some(_) => Some(relation),
        None => (relation != Relation::Orphan).then_some(Relation::Strayed),
    }
}

/// The ordinals of the members that a set is to have.
fn range(set: &Value) -> Range<i64> {
    let start = int(set, "/spec/ordinals/start");
    start..start + int(set, "/spec/replicas")
}

/// The writes of the next step. Their effects cause the step after it.
fn decide(observed: Observed<'_>, now: i64) -> Decision {
    let set = observed.set;
    let revisions = history::sorted(observed.revisions);
    let update = match history::present(set, &revisions) {
        Ok(update) => update,
        Err(_) if meta::is_deleting(set) => return Decision::default(),
        Err(write) => return write.into(),
    };
    let named = revisions
        .iter()
        .find(|it| meta::text(it, "name") == text(set, "/status/currentRevision"));
    let ordinal = |pod: &Pod| member::ordinal(set, meta::text(&pod.object, "name"));
    let is_member = |pod: &&Pod| ordinal(pod).is_some_and(|it| range(set).contains(&it));
    let pods = &observed.pods;
    let mut condemned: Vec<&Pod> = pods.iter().filter(|pod| !is_member(pod)).collect();
    condemned.sort_by_key(|pod| Reverse(ordinal(pod)));
    let replica = |number: i64| pods.iter().find(|pod| ordinal(pod) == Some(number));
    let members = Members {
        set,
        current: named.unwrap_or(update),
        update,
        replicas: range(set).map(|number| (number, replica(number))).collect(),
        condemned,
        claims: &observed.claims,
        is_ordered: set["spec"]["podManagementPolicy"] != "Parallel",
        now,
    };
    let mut writes = Vec::new();
    if !meta::is_deleting(set) {
        writes = members.steps();
        let used = pods.iter().map(revision).chain([members.current, update].map(name));
        writes.extend(history::clean(set, &revisions, &used.collect()));
    }
    let seconds = int(set, "/spec/minReadySeconds");
    let ready = pods.iter().filter_map(|pod| pod.ready);
    let again = ready.map(|ready| ready + seconds).filter(|at| *at > now).min();
    // The status first: it is written even if a later write is refused.
    let mut decision = Decision::about_status(set, members.status(pods), again);
    decision.writes.extend(writes);
    decision
}

fn name(revision: &Value) -> &str {
    meta::text(revision, "name")
}

/// The name of the revision of a Pod.
fn revision(pod: &Pod) -> &str {
    text(&pod.object, "/metadata/labels/controller-revision-hash")
}

struct Members<'a> {
    set: &'a Value,
    /// The revision before the update in progress.
    current: &'a Value,
    update: &'a Value,
    /// The Pods that are to exist, by ordinal.
    replicas: Vec<(i64, Option<&'a Pod>)>,
    /// The other Pods, the highest ordinal first.
    condemned: Vec<&'a Pod>,
    claims: &'a Claims,
    is_ordered: bool,
    now: i64,
}

/// The next step for one Pod.
#[derive(Default)]
struct Step {
    writes: Vec<Write>,
    /// Whether ordered Pod management waits for this Pod.
    blocks: bool,
}

impl Step {
    fn blocks(writes: Vec<Write>) -> Self {
        Self { writes, blocks: true }
    }
}

impl Members<'_> {
    fn steps(&self) -> Vec<Write> {
        let mut writes = Vec::new();
        for (ordinal, pod) in &self.replicas {
            let step = match pod {
                Some(pod) => self.keep(*ordinal, pod),
                None => self.create(*ordinal),
            };
            writes.extend(step.writes);
            if step.blocks && self.is_ordered {
                return writes;
            }
        }
        for pod in &self.condemned {
            let ordinal = member::ordinal(self.set, meta::text(&pod.object, "name")).unwrap_or_default();
            writes.extend(claims::retained(self.set, self.claims, &pod.object, ordinal));
        }
        for pod in &self.condemned {
            let step = self.remove(pod);
            writes.extend(step.writes);
            if step.blocks && self.is_ordered {
                return writes;
            }
        }
        writes.extend(self.replace());
        writes
    }

    fn create(&self, ordinal: i64) -> Step {
        let rolling = &self.set["spec"]["updateStrategy"]["rollingUpdate"];
        let is_rolling = self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate";
        let before = match rolling.is_object() {
            true => int(rolling, "/partition"),
            false if is_rolling => int(self.set, "/status/currentReplicas"),
            false => 0,
        };
        let is_former = ordinal < range(self.set).start + before;
        let revision = if is_former { self.current } else { self.update };
        let pod = member::create(self.set, revision, ordinal);
        if claims::is_stale(self.set, self.claims, &pod, ordinal) {
            return Step::blocks(Vec::new());
        }
        let claims = claims::missing(self.set, self.claims, ordinal);
        let writes = claims.map(|claims| [claims, vec![Write::Create(pod)]].concat());
        Step::blocks(writes.unwrap_or_default())
    }

    fn keep(&self, ordinal: i64, pod: &Pod) -> Step {
        if pod.is_finished() {
            let is_deleting = meta::is_deleting(&pod.object);
            let deletion = (!is_deleting).then(|| Write::Delete(pod.object.clone(), None));
            return Step::blocks(deletion.into_iter().collect());
        }
        let mut step = Step {
            blocks: self.is_unavailable(pod),
            ..Step::default()
        };
        let is_pending = text(&pod.object, "/status/phase") == "Pending";
        if is_pending {
            let missing = claims::missing(self.set, self.claims, ordinal);
            step.writes.extend(missing.into_iter().flatten());
        }
        let waits = step.blocks && self.is_ordered;
        if is_pending || !waits {
            step.writes
                .extend(claims::retained(self.set, self.claims, &pod.object, ordinal));
        }
        if !waits {
            let corrected = member::corrected(self.set, &pod.object, ordinal);
            step.writes.extend(corrected.map(Write::Update));
        }
        step
    }

    fn remove(&self, pod: &Pod) -> Step {
        if meta::is_deleting(&pod.object) {
            return Step::blocks(Vec::new());
        }
        let mut unavailable = self.condemned.iter().rev().filter(|pod| self.is_unavailable(pod));
        let is_first = unavailable
            .next()
            .is_some_and(|first| first.object["metadata"]["uid"] == pod.object["metadata"]["uid"]);
        if self.is_ordered && self.is_unavailable(pod) && !is_first {
            return Step::blocks(Vec::new());
        }
        Step::blocks(vec![Write::Delete(pod.object.clone(), None)])
    }

    /// Deletes Pods that are not of the update revision, the highest ordinals first, until `maxUnavailable` Pods are
    /// unavailable. With parallel Pod management those that are unavailable in any case are deleted at once.
    fn replace(&self) -> Vec<Write> {
        if self.set["spec"]["updateStrategy"]["type"] == "OnDelete" {
            return Vec::new();
        }
        let rolling = &self.set["spec"]["updateStrategy"]["rollingUpdate"];
        let total = i64::try_from(self.replicas.len()).unwrap_or(i64::MAX);
        let most = usize::try_from(sets::amount(&rolling["maxUnavailable"], total, false)).unwrap_or_default();
        let is_unavailable = |pod: &Option<&Pod>| pod.is_none_or(|pod| self.is_unavailable(pod));
        let unavailable = self.replicas.iter().filter(|(_, pod)| is_unavailable(pod)).count();
        let left = most.max(1).saturating_sub(unavailable);
        let partition = usize::try_from(int(rolling, "/partition")).unwrap_or(usize::MAX);
        let updated = self.replicas.iter().skip(partition).rev().filter_map(|(_, pod)| *pod);
        let former: Vec<&Pod> = updated
            .filter(|pod| revision(pod) != name(self.update) && !meta::is_deleting(&pod.object))
            .collect();
        let deleted: Vec<&Pod> = match self.is_ordered {
            true => former.into_iter().take(left).collect(),
            false => {
                let (broken, whole): (Vec<&Pod>, Vec<&Pod>) =
                    former.into_iter().partition(|pod| self.is_unavailable(pod));
                broken.into_iter().chain(whole.into_iter().take(left)).collect()
            }
        };
        deleted
            .into_iter()
            .map(|pod| Write::Delete(pod.object.clone(), None))
            .collect()
    }

    fn is_unavailable(&self, pod: &Pod) -> bool {
        let seconds = int(self.set, "/spec/minReadySeconds");
        let is_running = text(&pod.object, "/status/phase") == "Running";
        !is_running || !pod.is_available(seconds, self.now) || meta::is_deleting(&pod.object)
    }

    fn status(&self, pods: &[Pod]) -> Value {
        let count = |is: &dyn Fn(&Pod) -> bool| pods.iter().filter(|pod| is(pod)).count();
        let is_of = |pod: &Pod, it: &Value| !meta::is_deleting(&pod.object) && revision(pod) == name(it);
        let is_ready = |pod: &Pod| text(&pod.object, "/status/phase") == "Running" && pod.ready.is_some();
        let seconds = int(self.set, "/spec/minReadySeconds");
        let wanted = self.replicas.len();
        let (ready, updated) = (count(&is_ready), count(&|pod| is_of(pod, self.update)));
        let is_complete = [pods.len(), ready, updated] == [wanted; 3];
        let current = if is_complete { self.update } else { self.current };
        let mut status = self.set["status"].clone();
        if !status.is_object() {
            status = json!({});
        }
        let available = count(&|pod| is_ready(pod) && pod.is_available(seconds, self.now));
        for (field, value) in [
            ("replicas", json!(pods.len())),
            ("availableReplicas", json!(available)),
            ("collisionCount", json!(int(self.set, "/status/collisionCount"))),
            ("currentRevision", json!(name(current))),
            ("updateRevision", json!(name(self.update))),
        ] {
            status[field] = value;
        }
        for (field, number) in [
            ("readyReplicas", ready),
            ("updatedReplicas", updated),
            ("currentReplicas", count(&|pod| is_of(pod, current))),
        ] {
            fields::set_count(&mut status, field, i64::try_from(number).unwrap_or(i64::MAX));
        }
        let generation = meta::number(self.set, "generation").unwrap_or_default();
        fields::set_count(&mut status, "observedGeneration", generation);
        status
    }
}
