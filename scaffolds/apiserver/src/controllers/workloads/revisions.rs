//! The revisions of a Deployment: the ReplicaSet of its template, the annotations that number the revisions, and the
//! limit of old ones.

use serde_json::{Value, json};

use super::{
    fields::{self, annotation, int},
    sets::{Bounds, Set, annotate, note},
    write::Write,
};
use crate::meta;

pub(super) const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The maximum length of the annotation with earlier revisions, in bytes.
const LONGEST_HISTORY: usize = 2000;
/// Annotations of a Deployment that its ReplicaSets do not get.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    super::sets::DESIRED,
    super::sets::MAXIMUM,
    "deprecated.deployment.rollback.to",
];
/// The longest name of a ReplicaSet.
const LONGEST_NAME: usize = 253;

/// Takes the ReplicaSet of the Deployment's template out of its ReplicaSets: the oldest one with that template.
pub(super) fn take_new(deployment: &Value, sets: &mut Vec<Set>) -> Option<Set> {
    sets.sort_by_key(Set::age);
    let template = &deployment["spec"]["template"];
    let at = sets
        .iter()
        .position(|set| is_same(template, &set.object["spec"]["template"]))?;
    Some(sets.remove(at))
}

/// Whether templates are the same except for the hash.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    let plain = |template: &Value| {
        let mut template = template.clone();
        if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.remove(HASH);
        }
        template
    };
    plain(one) == plain(other)
}

/// The revision of the new ReplicaSet: one more than the highest revision of the old ReplicaSets.
fn next(old: &[Set]) -> i64 {
    let last = old.iter().filter_map(|set| set.number(REVISION)).max();
    last.unwrap_or_default().max(0) + 1
}

/// The first write that brings the present new ReplicaSet, or then the Deployment, to the next revision.
pub(super) fn sync(deployment: &Value, new: &Set, old: &[Set], now: i64) -> Option<Write> {
    let mut set = new.object.clone();
    describe(deployment, &mut set, next(old));
    let ready = int(deployment, "/spec/minReadySeconds");
    if int(&set, "/spec/minReadySeconds") != ready {
        set["spec"]["minReadySeconds"] = json!(ready);
    }
    if set != new.object {
        return Some(Write::Update(set));
    }
    let mut changed = deployment.clone();
    let revision = annotation(&set, REVISION).unwrap_or_default();
    if annotation(deployment, REVISION) != Some(revision) {
        annotate(&mut changed, REVISION, revision.to_owned());
    }
    let known = fields::condition(&deployment["status"], super::progress::PROGRESSING);
    if known.is_none() && super::progress::deadline(deployment).is_some() {
        let found = format!("Found new replica set {:?}", new.name());
        super::progress::set(&mut changed["status"], ["True", "FoundNewReplicaSet", &found], now);
    }
    (changed != *deployment).then_some(Write::Status(changed))
}

/// The writes that create the ReplicaSet of the Deployment's template.
pub(super) fn create(deployment: &Value, old: &[Set], now: i64) -> Vec<Write> {
    let bounds = Bounds::of(deployment);
    let hash = hash(deployment);
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name(meta::text(deployment, "name"), &hash),
            "namespace": meta::text(deployment, "namespace"),
            "ownerReferences": [fields::reference(deployment)],
        },
        "spec": {
            "replicas": super::rollout::first_size(deployment, old),
            "selector": deployment["spec"]["selector"],
            "template": deployment["spec"]["template"],
        },
    });
    let ready = int(deployment, "/spec/minReadySeconds");
    fields::set_count(&mut set["spec"], "minReadySeconds", ready);
    set["spec"]["template"]["metadata"]["labels"][HASH] = json!(hash);
    set["spec"]["selector"]["matchLabels"][HASH] = json!(hash);
    set["metadata"]["labels"] = set["spec"]["template"]["metadata"]["labels"].clone();
    describe(deployment, &mut set, next(old));
    note(&mut set, bounds);
    let mut changed = deployment.clone();
    annotate(&mut changed, REVISION, next(old).to_string());
    if super::progress::deadline(deployment).is_some() {
        let created = format!("Created new replica set {:?}", meta::text(&set, "name"));
        super::progress::set(&mut changed["status"], ["True", "NewReplicaSetCreated", &created], now);
    }
    vec![Write::Create(set), Write::Status(changed)]
}

/// The write after the ReplicaSet could not be created. If another object has its name, the hash gets another seed.
pub(super) fn not_created(deployment: &Value, is_taken: bool, message: &str, now: i64) -> Option<Write> {
    let mut changed = deployment.clone();
    if is_taken {
        changed["status"]["collisionCount"] = json!(int(deployment, "/status/collisionCount") + 1);
    } else if super::progress::deadline(deployment).is_some() {
        let status = ["False", "ReplicaSetCreateError", message];
        super::progress::set(&mut changed["status"], status, now);
    }
    (changed != *deployment).then_some(Write::Status(changed))
}

/// The deletions of the oldest ReplicaSets beyond the limit, as far as they are empty.
pub(super) fn clean(deployment: &Value, mut old: Vec<Set>) -> Vec<Write> {
    let limit = int(deployment, "/spec/revisionHistoryLimit");
    old.retain(|set| !meta::is_deleting(&set.object));
    let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
    old.sort_by_key(|set| (set.number(REVISION).unwrap_or_default(), set.age()));
    let is_empty = |set: &&Set| {
        let is_observed = int(&set.object, "/metadata/generation") <= int(&set.object, "/status/observedGeneration");
        set.replicas() == 0 && int(&set.object, "/status/replicas") == 0 && is_observed
    };
    let empty = old.iter().take(surplus).filter(is_empty);
    empty.map(|set| Write::Delete(set.object.clone(), None)).collect()
}

/// Copies the Deployment's annotations, and raises the revision. A raised revision is a rollback: the earlier one is
/// recorded.
fn describe(deployment: &Value, set: &mut Value, revision: i64) {
    let annotations = meta::of(deployment).get("annotations").and_then(Value::as_object);
    for (name, value) in annotations.into_iter().flatten() {
        if !OWN.contains(&name.as_str()) {
            set["metadata"]["annotations"][name] = value.clone();
        }
    }
    let before = annotation(set, REVISION).map(str::to_owned);
    let number = before.as_deref().unwrap_or("0").parse::<i64>();
    if number.is_ok_and(|number| number < revision) {
        annotate(set, REVISION, revision.to_string());
        if let Some(before) = before {
            let history = annotation(set, HISTORY).filter(|history| !history.is_empty());
            let mut all = history.map_or(before.clone(), |history| format!("{history},{before}"));
            while all.len() > LONGEST_HISTORY {
                let Some((_, rest)) = all.split_once(',') else { break };
                all = rest.to_owned();
            }
            annotate(set, HISTORY, all);
        }
    }
}

/// The hash of the template of a Deployment or a DaemonSet and the number of collisions. Upstream hashes a dump of Go's
/// struct, so its values differ.
pub(super) fn hash(owner: &Value) -> String {
    let text = owner["spec"]["template"].to_string();
    let collisions = int(owner, "/status/collisionCount").to_le_bytes();
    let bytes = text.bytes().chain(collisions);
    // FNV-1a.
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    encode(hash)
}

/// A hash as part of a name: its digits as consonants and digits, which make no words.
pub(super) fn encode(hash: u32) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let digits = hash.to_string().into_bytes().into_iter();
    digits
        .map(|digit| char::from(ALPHABET[usize::from(digit) % 27]))
        .collect()
}

fn name(deployment: &str, hash: &str) -> String {
    let most = LONGEST_NAME - 1 - hash.len();
    format!("{}-{hash}", &deployment[..deployment.len().min(most)])
}
