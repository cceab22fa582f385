//! Joins a policy to a manager.

use std::sync::Arc;

use kubewright_runtime::{Manager, Result};
use serde_json::Value;

use super::{
    declare::Policy,
    documents::documents,
    expressions,
    form::PolicyForm,
    lint,
    registered::{Expressions, RegisteredPolicy, state},
};

#[expect(private_bounds, reason = "the two forms are the constructors")]
impl<F: PolicyForm> Policy<F> {
    /// Registers the policy with the manager, so that `make manifests` writes it. Its expressions are compiled then, and in
    /// tests, not when the operator starts.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](kubewright_runtime::Error::Setup) if the API server would refuse it for another reason than an expression, or a policy
    /// has this name already.
    pub fn register(self, manager: &Manager) -> Result<()> {
        lint::check(&self)?;
        state(
            manager,
            RegisteredPolicy {
                name: self.declared.name.clone(),
                documents: documents(&self, manager.name()).into(),
                expressions: Arc::new(self),
            },
        )
    }
}

impl<F: PolicyForm> Expressions for Policy<F> {
    fn check(&self, definitions: &[Value]) -> Result<Vec<String>> {
        expressions::check(self, definitions)
    }
}
