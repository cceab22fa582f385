//! The permissions that an operator needs, inferred from what its controllers declare.

mod roles;
mod rule;

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
    /// Created and repaired.
    Owned,
    /// Deleted when it is not wanted any more.
    Pruned,
    /// Read.
    Watched,
}

/// What one controller declared when it was registered.
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
            // A create, and server-side apply for every later change. The garbage collector deletes, or `Pruned`.
            Role::Owned => vec![on("", &READ), on("", &["create", "patch"])],
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
