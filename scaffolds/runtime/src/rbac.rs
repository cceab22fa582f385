//! The permissions that an operator needs, inferred from what its controllers declare.

mod roles;
mod rule;

use std::collections::BTreeSet;

use kubewright_schema::rbac::PolicyRule;
use serde_json::Value;

#[cfg(feature = "testing")]
pub(crate) use self::roles::NAMESPACE;
pub use self::rule::Rule;

use crate::{error::Result, kind::Kind};

/// One kind and what a controller does with it.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    group: String,
    plural: String,
    role: Role,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    /// Reconciled: watched, its status written unless the kind is foreign, and its finalizer if there is one.
    Main { finalizer: bool, foreign: bool },
    /// Created and repaired, with an owner.
    Owned,
    /// Created and repaired.
    Unowned,
    /// Deleted when it is not wanted any more.
    Pruned,
    /// Read.
    Watched,
}

/// The declarations of a registered controller.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) controller: String,
    pub(crate) main: Use,
    pub(crate) others: Vec<Use>,
    pub(crate) rules: Vec<Rule>,
}

impl Use {
    pub(crate) fn main<K>(kind: &Kind<K>, finalizer: bool, foreign: bool) -> Self {
        Self::new(kind, Role::Main { finalizer, foreign })
    }

    pub(crate) fn owned<K>(kind: &Kind<K>) -> Self {
        Self::new(kind, Role::Owned)
    }

    pub(crate) fn unowned<K>(kind: &Kind<K>) -> Self {
        Self::new(kind, Role::Unowned)
    }

    pub(crate) fn pruned<K>(kind: &Kind<K>) -> Self {
        Self::new(kind, Role::Pruned)
    }

    pub(crate) fn watched<K>(kind: &Kind<K>) -> Self {
        Self::new(kind, Role::Watched)
    }

    fn new<K>(kind: &Kind<K>, role: Role) -> Self {
        Self {
            group: kind.group().to_owned(),
            plural: kind.plural().to_owned(),
            role,
        }
    }

    fn rules(&self) -> Vec<PolicyRule> {
        const READ: [&str; 3] = ["get", "list", "watch"];
        let on = |part: &str, verbs: &[&str]| rule(&self.group, &format!("{}{part}", self.plural), verbs);
        match self.role {
            Role::Watched => vec![on("", &READ)],
            // A create, and a patch for every later change. The garbage collector deletes, or `Pruned`.
            Role::Owned | Role::Unowned => vec![on("", &READ), on("", &["create", "patch"])],
            Role::Pruned => vec![on("", &["delete"])],
            Role::Main { finalizer, foreign } => {
                let mut rules = vec![on("", &READ)];
                if !foreign {
                    rules.push(on("/status", &["get", "patch", "update"]));
                }
                // Owner references that block the owner's deletion need this if the admission plugin
                // OwnerReferencesPermissionEnforcement is enabled, as on OpenShift.
                rules.push(on("/finalizers", &["update"]));
                if finalizer {
                    rules.push(on("", &["patch"]));
                }
                rules
            }
        }
    }
}

/// Further rules for controllers of kinds with several versions: a child's owner reference contains the owner's version, and gets the version that
/// its controller uses now. API servers with the admission plugin OwnerReferencesPermissionEnforcement, as on OpenShift, allow a change
/// of owner references only to those who may delete the child. `kinds` has group and plural of these kinds.
pub(crate) fn of_versions(registrations: &[Registration], kinds: &BTreeSet<[String; 2]>) -> Vec<Rule> {
    let has_versions = |main: &Use| kinds.contains(&[main.group.clone(), main.plural.clone()]);
    let moved = registrations.iter().filter(|it| has_versions(&it.main));
    let children = moved.flat_map(|it| &it.others);
    let children = children.filter(|child| matches!(child.role, Role::Owned));
    children
        .map(|child| Rule::new(&[&child.group], &[&child.plural], &["delete"]))
        .collect()
}

/// The documents of `config/rbac/role.yaml`: what these controllers need, and these further rules. Rules are merged and
/// sorted as by controller-gen.
///
/// # Errors
///
/// As [`roles::roles`].
pub(crate) fn documents(registrations: &[Registration], granted: &[Rule], namespaced: bool) -> Result<Vec<Value>> {
    let mut inferred = Vec::new();
    let mut declared = granted.to_vec();
    for registration in registrations {
        inferred.extend(registration.main.rules());
        inferred.extend(registration.others.iter().flat_map(Use::rules));
        declared.extend(registration.rules.iter().cloned());
    }
    if !registrations.is_empty() {
        inferred.push(rule("events.k8s.io", "events", &["create", "patch"]));
    }
    roles::roles(inferred, declared, namespaced)
}

fn rule(group: &str, resource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, ServiceAccount};

    use super::*;

    #[test]
    fn owner_references_of_children_may_be_changed_if_the_owner_has_several_versions() {
        let registration = Registration {
            controller: "pods".to_owned(),
            main: Use::main(&Kind::<Pod>::of(), false, false),
            others: vec![
                Use::owned(&Kind::<ConfigMap>::of()),
                Use::unowned(&Kind::<Secret>::of()),
                Use::watched(&Kind::<ServiceAccount>::of()),
            ],
            rules: Vec::new(),
        };
        let pods = ["", "pods"].map(str::to_owned);
        let rules = of_versions(std::slice::from_ref(&registration), &BTreeSet::from([pods]));
        let granted: Vec<_> = rules
            .iter()
            .map(|it| (&it.policy.resources, &it.policy.verbs))
            .collect();
        assert_eq!(granted, [(&vec!["configmaps".to_owned()], &vec!["delete".to_owned()])]);
        assert!(of_versions(&[registration], &BTreeSet::new()).is_empty());
    }
}
