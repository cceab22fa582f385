//! The reference from an applied object to the object that it is applied for: as its controller, as one of its owners, or in an
//! annotation. This decides which existing objects an apply may change.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, api::ObjectMeta};
use serde_json::{Value, json};

use super::controller_of;
use crate::{
    key::{ObjectKey, check_name, check_namespace},
    kind::Kind,
};

/// The annotation of an object without an owner: the object that it is applied for, as [`mark`] writes it.
const APPLIED_FOR: &str = "kubewright.dev/applied-for";

/// The reference from an object to the object that it is applied for.
#[derive(Clone, Debug)]
pub(crate) enum Ownership {
    /// As its controller: the owner reference with `controller: true`.
    Controller(OwnerReference),
    /// As one of its owners, none of which is its controller.
    Shared(OwnerReference),
    /// In an annotation, with this value.
    Unowned(String),
}

impl Ownership {
    /// Adds the name to an intent.
    pub(crate) fn set(&self, metadata: &mut ObjectMeta) {
        match self {
            Self::Controller(owner) | Self::Shared(owner) => {
                metadata.owner_references.get_or_insert_default().push(owner.clone());
            }
            Self::Unowned(mark) => {
                let annotations = metadata.annotations.get_or_insert_default();
                annotations.insert(APPLIED_FOR.to_owned(), mark.clone());
            }
        }
    }

    /// Whether an existing object may be changed: it is applied for this object, or, if `adopts`, for no object.
    /// A shared object may also be joined by an owner of the same kind as its others.
    pub(super) fn permits<C: Resource>(&self, observed: &C, adopts: bool) -> bool {
        let (controller, mark) = (controller_of(observed), mark_of(observed));
        let adoptable = adopts && mark.is_none();
        match self {
            Self::Controller(owner) => controller.map_or(adoptable, |found| found.uid == owner.uid),
            Self::Shared(owner) => match controller {
                Some(found) => found.uid == owner.uid,
                None => adoptable || owners_of(observed).any(|other| is_of_kind(other, owner)),
            },
            Self::Unowned(ours) => controller.is_none() && mark.map_or(adopts, |found| found == ours),
        }
    }

    /// Whether an existing object already names the object that it is applied for.
    pub(super) fn is_on<C: Resource>(&self, observed: &C) -> bool {
        match self {
            Self::Shared(owner) => owners_of(observed).any(|other| other.uid == owner.uid),
            Self::Controller(_) | Self::Unowned(_) => self.permits(observed, false),
        }
    }

    /// Whether a change must name the observed version: it depends on who else the object names.
    pub(super) fn depends_on_version<C: Resource>(&self, observed: &C) -> bool {
        match self {
            Self::Controller(_) => controller_of(observed).is_none(),
            Self::Shared(_) => true,
            Self::Unowned(_) => mark_of(observed).is_none(),
        }
    }

    /// The intent with the references to all owners of a shared object; `None` for other ownership. All owners use one
    /// field manager, and an apply removes what an earlier one has set and the intent does not name.
    pub(super) fn joined<C: Resource>(&self, intent: &Value, observed: &C) -> Option<Value> {
        let Self::Shared(_) = self else { return None };
        let mut owners: Vec<_> = observed
            .meta()
            .owner_references
            .iter()
            .flatten()
            .map(|owner| json!(owner))
            .collect();
        for own in intent["metadata"]["ownerReferences"].as_array().into_iter().flatten() {
            match owners.iter_mut().find(|owner| owner["uid"] == own["uid"]) {
                Some(known) => known.clone_from(own),
                None => owners.push(own.clone()),
            }
        }
        let mut joined = intent.clone();
        joined["metadata"]["ownerReferences"] = Value::Array(owners);
        Some(joined)
    }
}

/// The owners of an object that are not its controller.
pub(crate) fn owners_of<C: Resource>(object: &C) -> impl Iterator<Item = &OwnerReference> {
    let owners = object.meta().owner_references.iter().flatten();
    owners.filter(|owner| owner.controller != Some(true))
}

/// Group and kind are compared, the version is not: an owner reference may name any served version.
fn is_of_kind(one: &OwnerReference, other: &OwnerReference) -> bool {
    one.kind == other.kind && group_of(one) == group_of(other)
}

/// The group of an owner; empty for the core group.
pub(crate) fn group_of(owner: &OwnerReference) -> &str {
    owner.api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// The value of the annotation for an object: `FooBar.test.example.com/default/sample`.
pub(crate) fn mark<K>(kind: &Kind<K>, key: &ObjectKey) -> String {
    format!("{}/{key}", kind.full_name())
}

/// The value of the annotation of an object.
pub(crate) fn mark_of<C: Resource>(object: &C) -> Option<&str> {
    let annotations = object.meta().annotations.as_ref()?;
    annotations.get(APPLIED_FOR).map(String::as_str)
}

/// The object of this kind that the annotation of `object` names. Anybody may write annotations, so only valid names
/// count.
pub(crate) fn applied_for<K, C: Resource>(kind: &Kind<K>, object: &C) -> Option<ObjectKey> {
    let key = mark_of(object)?.strip_prefix(&kind.full_name())?.strip_prefix('/')?;
    let (namespace, name) = match key.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, key),
    };
    let is_valid = check_name(name).is_ok() && namespace.is_none_or(|namespace| check_namespace(namespace).is_ok());
    (is_valid && namespace.is_some() == kind.is_namespaced()).then(|| ObjectKey::new(namespace, name))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        apps::v1::ReplicaSet,
        core::v1::{ConfigMap, Node},
    };

    use super::*;

    fn owner(kind: &str, uid: &str, controller: bool) -> OwnerReference {
        OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: kind.to_owned(),
            name: uid.to_owned(),
            uid: uid.to_owned(),
            controller: Some(controller),
            block_owner_deletion: None,
        }
    }

    fn with(owners: &[OwnerReference], mark: Option<&str>) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.owner_references = (!owners.is_empty()).then(|| owners.to_vec());
        map.metadata.annotations = mark.map(|mark| [(APPLIED_FOR.to_owned(), mark.to_owned())].into());
        map
    }

    #[test]
    fn each_ownership_permits_its_own_objects_and_adopts_those_of_nobody() {
        let (nobody, ours, other) = (with(&[], None), owner("ReplicaSet", "a", true), owner("Job", "b", true));
        let mark = "ReplicaSet.apps/default/a".to_owned();
        let objects = [
            (&nobody, [[false, true]; 3]),
            (
                &with(std::slice::from_ref(&ours), None),
                [[true; 2], [true; 2], [false; 2]],
            ),
            (&with(&[other], None), [[false; 2]; 3]),
            (&with(&[], Some(&mark)), [[false; 2], [false; 2], [true; 2]]),
            (&with(&[], Some("ReplicaSet.apps/default/b")), [[false; 2]; 3]),
            (&with(&[owner("Job", "c", false)], None), [[false, true]; 3]),
            (
                &with(&[owner("ReplicaSet", "c", false)], None),
                [[false, true], [true; 2], [false, true]],
            ),
        ];
        let shared = Ownership::Shared(owner("ReplicaSet", "a", false));
        let all = [Ownership::Controller(ours), shared, Ownership::Unowned(mark)];
        for (object, expected) in objects {
            let permitted = [0, 1, 2].map(|at| [false, true].map(|adopts| all[at].permits(object, adopts)));
            assert_eq!(permitted, expected, "{:?}", object.metadata);
        }
    }

    #[test]
    fn the_intent_for_a_shared_object_names_all_of_its_owners_once() {
        let observed = with(&[owner("ReplicaSet", "b", false), owner("ReplicaSet", "a", true)], None);
        let ours = owner("ReplicaSet", "a", false);
        let shared = Ownership::Shared(ours.clone());
        let mut intent = ConfigMap::default();
        shared.set(&mut intent.metadata);
        let joined = shared.joined(&json!(intent), &observed).unwrap();
        let expected = json!([owner("ReplicaSet", "b", false), ours]);
        assert_eq!(joined["metadata"]["ownerReferences"], expected);
        assert!(Ownership::Controller(ours).joined(&json!(intent), &observed).is_none());
    }

    #[test]
    fn an_annotation_names_an_object_only_if_its_names_are_valid() {
        let (sets, nodes) = (Kind::<ReplicaSet>::of(), Kind::<Node>::of());
        let (key, node) = (ObjectKey::new(Some("default"), "a"), ObjectKey::new(None, "n"));
        let marked = |text: &str| with(&[], Some(text));
        assert_eq!(applied_for(&sets, &marked(&mark(&sets, &key))), Some(key));
        assert_eq!(applied_for(&nodes, &marked(&mark(&nodes, &node))), Some(node));
        for text in [
            "",
            "ReplicaSet.apps",
            "ReplicaSet.apps/a",
            "ReplicaSet.apps/x/y/z",
            "ReplicaSet.apps/X/a",
            "Job.batch/x/a",
        ] {
            assert_eq!(applied_for(&sets, &marked(text)), None, "{text}");
        }
        assert_eq!(applied_for(&nodes, &marked("Node/x/y")), None);
    }
}
