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
pub use policy::{ParameterKind, Policy, Validation};

/// Where the store keeps ValidatingAdmissionPolicies.
pub const POLICIES: &str = "admissionregistration.k8s.io/validatingadmissionpolicies";
/// Where it keeps their bindings.
pub const BINDINGS: &str = "admissionregistration.k8s.io/validatingadmissionpolicybindings";

/// The policies of a server.
#[derive(Default)]
pub struct Policies(Derived<Arc<[Policy]>>);

impl Policies {
    /// The policies that have bindings, in the order of their names. A change counts from the next request on; upstream takes
    /// a second or two.
    pub fn validating(&self, store: &Store) -> Arc<[Policy]> {
        self.0.get(store, [POLICIES, BINDINGS], |[policies, bindings]| {
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
