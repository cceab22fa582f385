//! ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had, with their numbers.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    fields::{self, created, int},
    revisions,
    write::Write,
};
use crate::meta;

/// The label of a Pod that leads to its ControllerRevision: with the name of a StatefulSet's revision, and with the hash
/// of a DaemonSet's revision, which has the label, too.
pub(super) const REVISION: &str = "controller-revision-hash";
/// The label of a StatefulSet's ControllerRevision with the hash of its data.
const HASH: &str = "controller.kubernetes.io/hash";
/// The longest part of the name of a ControllerRevision before the hash, in bytes.
const LONGEST_PREFIX: usize = 223;

/// The revisions of an owner in their order, by number, then age, then name.
pub(super) fn sorted(mut revisions: Vec<Value>) -> Vec<Value> {
    revisions.sort_by_key(|it| (int(it, "/revision"), created(it), meta::text(it, "name").to_owned()));
    revisions
}

/// The revision of the present template, of revisions in their order; otherwise the write that makes one: a former
/// revision with that template gets the next number, or a new one is created.
pub(super) fn present<'a>(owner: &Value, revisions: &'a [Value]) -> Result<&'a Value, Write> {
    let data = data(owner);
    let next = revisions.last().map_or(1, |last| int(last, "/revision") + 1);
    match revisions.iter().rfind(|it| it["data"] == data) {
        Some(same) if revisions.last() == Some(same) => Ok(same),
        Some(former) => {
            let mut renumbered = former.clone();
            renumbered["revision"] = json!(next);
            Err(Write::Update(renumbered))
        }
        None => Err(Write::Create(create(owner, data, next))),
    }
}

/// Whether a write creates a revision.
pub(super) fn is_new(write: &Write) -> bool {
    matches!(write, Write::Create(object) if object["kind"] == "ControllerRevision")
}

/// The Pod template of a revision.
pub(super) fn template(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

/// The status of an owner after another object had the name of its new revision: the next hash has another seed.
pub(super) fn collided(owner: &Value) -> Write {
    let mut owner = owner.clone();
    owner["status"]["collisionCount"] = json!(int(&owner, "/status/collisionCount") + 1);
    Write::Status(owner)
}

/// The deletions of the oldest revisions beyond the limit, apart from those in use.
pub(super) fn clean(owner: &Value, revisions: &[Value], used: &HashSet<&str>) -> Vec<Write> {
    let old = revisions.iter().filter(|it| !used.contains(meta::text(it, "name")));
    let surplus = surplus(owner, old.clone().count());
    old.take(surplus).map(deletion).collect()
}

/// The number of revisions beyond the limit.
pub(super) fn surplus(owner: &Value, count: usize) -> usize {
    let limit = usize::try_from(int(owner, "/spec/revisionHistoryLimit")).unwrap_or(usize::MAX);
    count.saturating_sub(limit)
}

/// The deletion of a revision.
pub(super) fn deletion(revision: &Value) -> Write {
    Write::Delete(revision.clone(), None)
}

/// The patch that brings the template back.
fn data(owner: &Value) -> Value {
    let mut template = owner["spec"]["template"].clone();
    template["$patch"] = json!("replace");
    json!({"spec": {"template": template}})
}

fn create(owner: &Value, data: Value, number: i64) -> Value {
    let (label, hash) = match owner["kind"] == "DaemonSet" {
        true => (REVISION, revisions::hash(owner)),
        false => (HASH, hash(&data, int(owner, "/status/collisionCount"))),
    };
    let prefix = meta::text(owner, "name");
    let prefix = prefix.get(..LONGEST_PREFIX).unwrap_or(prefix);
    let mut revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": format!("{prefix}-{hash}"), "namespace": meta::text(owner, "namespace"),
            "labels": owner["spec"]["template"]["metadata"]["labels"], "ownerReferences": [fields::reference(owner)],
        },
        "data": data, "revision": number,
    });
    revision["metadata"]["labels"][label] = json!(hash);
    if let Some(annotations) = meta::of(owner).get("annotations") {
        revision["metadata"]["annotations"] = annotations.clone();
    }
    revision
}

/// The hash of kube-controller-manager: FNV-1 of the JSON text, as Go's encoder writes it, and of the collisions.
fn hash(data: &Value, collisions: i64) -> String {
    let mut text = data.to_string();
    for character in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        text = text.replace(character, &format!("\\u{:04x}", u32::from(character)));
    }
    text.push_str(&collisions.to_string());
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        hash.wrapping_mul(0x0100_0193) ^ u32::from(byte)
    });
    revisions::encode(hash)
}
