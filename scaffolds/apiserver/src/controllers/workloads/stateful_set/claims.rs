//! The PersistentVolumeClaims of a StatefulSet's members: created before the Pod, and owned as the retention policy says.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::member::claim_name;
use crate::{
    controllers::workloads::{
        fields::{self, items, text},
        write::Write,
    },
    meta,
};

/// The claims of a set, by name.
pub(super) type Claims = HashMap<String, Value>;

/// The names of a member's claims, with their templates.
pub(super) fn wanted(set: &Value, ordinal: i64) -> impl Iterator<Item = (String, &Value)> {
    let templates = items(set, "/spec/volumeClaimTemplates").iter();
    templates.map(move |template| (claim_name(set, template, ordinal), template))
}

/// The claims of a member that do not exist; `None` while one of its claims is being deleted.
pub(super) fn missing(set: &Value, claims: &Claims, ordinal: i64) -> Option<Vec<Write>> {
    let all = || wanted(set, ordinal);
    if all().filter_map(|(name, _)| claims.get(&name)).any(meta::is_deleting) {
        return None;
    }
    let new = all().filter(|(name, _)| !claims.contains_key(name));
    Some(
        new.map(|(name, template)| Write::Create(create(set, template, &name)))
            .collect(),
    )
}

fn create(set: &Value, template: &Value, name: &str) -> Value {
    let mut claim = template.clone();
    claim["metadata"]["name"] = json!(name);
    claim["metadata"]["namespace"] = json!(meta::text(set, "namespace"));
    let selected = set["spec"]["selector"]["matchLabels"].as_object();
    for (label, value) in selected.into_iter().flatten() {
        claim["metadata"]["labels"][label] = value.clone();
    }
    claim
}

/// Whether a claim of a Pod that does not exist belongs to a former Pod of that name, and will be deleted with it.
pub(super) fn is_stale(set: &Value, claims: &Claims, pod: &Value, ordinal: i64) -> bool {
    let mut own = wanted(set, ordinal).filter_map(|(name, _)| claims.get(&name));
    deletes(set, "whenScaled") && own.any(|claim| has_namesake(claim, pod))
}

/// The updates of a member's claims whose owners are not those of the retention policy.
pub(super) fn retained(set: &Value, claims: &Claims, pod: &Value, ordinal: i64) -> Vec<Write> {
    let owners = Owners {
        set,
        pod,
        is_member: super::range(set).contains(&ordinal),
    };
    let own = wanted(set, ordinal).filter_map(|(name, _)| claims.get(&name));
    own.filter_map(|claim| owners.change(claim))
        .map(Write::Update)
        .collect()
}

fn deletes(set: &Value, when: &str) -> bool {
    set["spec"]["persistentVolumeClaimRetentionPolicy"][when] == "Delete"
}

/// Whether an owner of the claim has the kind and the name of `owner`, but another uid.
fn has_namesake(claim: &Value, owner: &Value) -> bool {
    let mut named = owners(claim).iter().filter(|it| is_named(it, owner));
    named.any(|it| it["uid"] != owner["metadata"]["uid"])
}

fn owners(claim: &Value) -> &[Value] {
    items(claim, "/metadata/ownerReferences")
}

fn is_named(reference: &Value, owner: &Value) -> bool {
    let is_kind = ["apiVersion", "kind"].iter().all(|it| reference[it] == owner[it]);
    is_kind && text(reference, "/name") == meta::text(owner, "name")
}

/// The objects that may own a claim.
struct Owners<'a> {
    set: &'a Value,
    pod: &'a Value,
    /// Whether the Pod is within the replicas of the set.
    is_member: bool,
}

impl Owners<'_> {
    /// The claim with the owners of the retention policy, if it has others. A claim of former namesakes is left alone.
    fn change(&self, claim: &Value) -> Option<Value> {
        let own = [self.set, self.pod];
        if own.iter().any(|owner| has_namesake(claim, owner)) {
            return None;
        }
        let (others, ours): (Vec<&Value>, Vec<&Value>) = owners(claim)
            .iter()
            .partition(|it| !own.iter().any(|owner| is_named(it, owner)));
        let [deleted, scaled] = ["whenDeleted", "whenScaled"].map(|when| deletes(self.set, when));
        let is_foreign = (deleted || scaled) && others.iter().any(|it| it["controller"] == true);
        let wanted = [
            deleted && !is_foreign && (self.is_member || !scaled),
            scaled && !is_foreign && !self.is_member,
        ];
        let has = |owner: &Value, is_wanted: bool| {
            let mut named = ours.iter().filter(|it| is_named(it, owner));
            match is_wanted {
                true => named.any(|it| it["controller"] == true),
                false => named.next().is_none(),
            }
        };
        if own.iter().zip(wanted).all(|(owner, is_wanted)| has(owner, is_wanted)) {
            return None;
        }
        let added = own.iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted);
        let added = added.map(|(owner, _)| fields::reference(owner));
        let all: Vec<Value> = others.into_iter().cloned().chain(added).collect();
        let mut changed = claim.clone();
        meta::set(&mut changed, "ownerReferences", (!all.is_empty()).then(|| all.into()));
        Some(changed)
    }
}
