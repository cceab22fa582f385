//! The permissions that an operator needs, inferred from what its controllers declare.

use kubewright_schema::rbac::{PolicyRule, normalise};

use crate::object::Object;

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
    pub(crate) rules: Vec<PolicyRule>,
}

impl Use {
    pub(crate) fn main<K: Object>(finalizer: bool, foreign: bool) -> Self {
        Self::new::<K>(Role::Main { finalizer, foreign })
    }

    pub(crate) fn owned<K: Object>() -> Self {
        Self::new::<K>(Role::Owned)
    }

    pub(crate) fn pruned<K: Object>() -> Self {
        Self::new::<K>(Role::Pruned)
    }

    pub(crate) fn watched<K: Object>() -> Self {
        Self::new::<K>(Role::Watched)
    }

    fn new<K: Object>(role: Role) -> Self {
        Self {
            group: K::group(&()).into_owned(),
            plural: K::plural(&()).into_owned(),
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

/// All rules of these controllers, one per set of resources, in controller-gen's order and form.
pub(crate) fn rules(registrations: &[Registration]) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    for registration in registrations {
        rules.extend(registration.main.rules());
        rules.extend(registration.others.iter().flat_map(Use::rules));
        rules.extend(registration.rules.iter().cloned());
    }
    if !registrations.is_empty() {
        rules.push(rule("events.k8s.io", "events", &["create", "patch"]));
    }
    normalise(rules)
}

fn rule(group: &str, resource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}
