//! Admission policies: which are stored, compiled and ready to be evaluated. What they decide is known above.

mod binding;
mod policy;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    meta,
    store::{Derived, Store},
};
pub use binding::{Action, Binding, Reference};
pub use policy::{ParameterKind, Policy};

/// The two kinds of policies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PolicyKind {
    /// They may change objects.
    Mutating,
    /// They may refuse requests.
    Validating,
}

impl PolicyKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Mutating, Self::Validating];

    /// The path of the policies in the store.
    pub const fn policies(self) -> &'static str {
        match self {
            Self::Mutating => "admissionregistration.k8s.io/mutatingadmissionpolicies",
            Self::Validating => "admissionregistration.k8s.io/validatingadmissionpolicies",
        }
    }

    /// The path of their bindings in the store.
    pub const fn bindings(self) -> &'static str {
        match self {
            Self::Mutating => "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
            Self::Validating => "admissionregistration.k8s.io/validatingadmissionpolicybindings",
        }
    }
}

/// The policies of a server.
#[derive(Default)]
pub struct Policies {
    mutating: Derived<Arc<[Policy]>>,
    validating: Derived<Arc<[Policy]>>,
}

impl Policies {
    /// The policies of a kind that have bindings, in the order of their names. A change counts from the next request on;
    /// upstream takes a second or two.
    pub fn of(&self, kind: PolicyKind, store: &Store) -> Arc<[Policy]> {
        let derived = match kind {
            PolicyKind::Mutating => &self.mutating,
            PolicyKind::Validating => &self.validating,
        };
        derived.get(store, [kind.policies(), kind.bindings()], |[policies, bindings]| {
            let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
            for binding in &bindings {
                let policy = binding["spec"]["policyName"].as_str().unwrap_or_default();
                bound.entry(policy.to_owned()).or_default().push(Binding::read(binding));
            }
            let bound = |policy: &Value| {
                bound
                    .remove(meta::text(policy, "name"))
                    .map(|all| Policy::read(policy, all))
            };
            policies.iter().filter_map(bound).collect()
        })
    }
}
