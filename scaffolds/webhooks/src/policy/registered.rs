//! The admission policies of an operator: registered by authors, checked and written by `make manifests`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kubewright_runtime::{
    Error, Manager, Result,
    component::{Component, ComponentManifests, ManifestFolder},
};
use serde_json::Value;

use super::component;

/// An admission policy that has been registered.
#[derive(Clone)]
pub(crate) struct RegisteredPolicy {
    pub(crate) name: String,
    /// As `make manifests` writes it.
    pub(crate) documents: Vec<Value>,
    pub(crate) expressions: Arc<dyn Expressions>,
}

/// The expressions of a policy.
pub(crate) trait Expressions: Send + Sync {
    /// Compiles them, by the types in these CustomResourceDefinitions, and returns notes about them.
    fn check(&self, definitions: &[Value]) -> Result<Vec<String>>;
}

/// The policies that are registered with a manager, in the order in which they were added.
#[derive(Default)]
struct RegisteredPolicies(Mutex<Vec<RegisteredPolicy>>);

impl RegisteredPolicies {
    fn all(&self) -> MutexGuard<'_, Vec<RegisteredPolicy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Component for RegisteredPolicies {
    fn declare(&self, _operator: &str) -> ComponentManifests {
        ComponentManifests {
            rules: Vec::new(),
            folder: ManifestFolder::Policy,
            files: component::files(&self.all()),
        }
    }

    fn uses_definitions(&self) -> bool {
        !self.all().is_empty()
    }

    fn check(&self, definitions: &[Value]) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for policy in self.all().iter() {
            notes.extend(policy.expressions.check(definitions)?);
        }
        Ok(notes)
    }
}

/// Adds an admission policy.
///
/// # Errors
///
/// [`Error::Setup`] if there is one of its name.
pub(crate) fn state(manager: &Manager, policy: RegisteredPolicy) -> Result<()> {
    let registered = manager.component::<RegisteredPolicies>();
    let mut policies = registered.all();
    if policies.iter().any(|known| known.name == policy.name) {
        let name = &policy.name;
        return Err(Error::Setup(format!(
            "two policies are named `{name}`\n\nhint: give one of them another name"
        )));
    }
    policies.push(policy);
    Ok(())
}
