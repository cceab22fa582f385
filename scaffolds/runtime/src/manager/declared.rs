//! The webhooks and policies of a manager: registered by authors, read by the server, the certificates and `make manifests`.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::{Manager, StorageVersion, lock};
use crate::{
    error::{Error, Result},
    server::Endpoint,
};

/// The webhooks and policies that are registered with a manager.
#[derive(Default)]
pub(super) struct RegisteredHooks {
    hooks: Mutex<Vec<Hooked>>,
    policies: Mutex<Vec<Stated>>,
}

/// A webhook that has been registered.
#[derive(Clone)]
pub(crate) struct Hooked {
    pub(crate) endpoint: Arc<dyn Endpoint>,
    pub(crate) purpose: Purpose,
}

/// The purpose of a webhook.
#[derive(Clone)]
pub(crate) enum Purpose {
    /// To allow or change writes.
    Admission {
        /// Whether it may change objects.
        mutating: bool,
        /// Its entry in a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
        entry: Value,
    },
    /// To convert the objects of the kind that this CustomResourceDefinition defines.
    Conversion {
        /// Its name.
        definition: String,
        /// One of the kind's versions, with its group.
        api_version: String,
        /// Set by whoever watches the definition.
        stored: StorageVersion,
    },
}

/// An admission policy that has been registered.
#[derive(Clone)]
pub(crate) struct Stated {
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

impl Manager {
    /// Adds a webhook.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if there is one with its path.
    pub(crate) fn hook(&self, hook: Hooked) -> Result<()> {
        let mut hooks = lock(&self.core.declared.hooks);
        let path = hook.endpoint.path();
        if hooks.iter().any(|known| known.endpoint.path() == path) {
            return Err(Error::Setup(format!(
                "two webhooks have the path `{path}`\n\nhint: join them in one type"
            )));
        }
        hooks.push(hook);
        Ok(())
    }

    /// The webhooks, in the order in which they were added.
    pub(crate) fn hooks(&self) -> Vec<Hooked> {
        lock(&self.core.declared.hooks).clone()
    }

    /// Adds an admission policy.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if there is one of its name.
    pub(crate) fn state(&self, policy: Stated) -> Result<()> {
        let mut policies = lock(&self.core.declared.policies);
        if policies.iter().any(|known| known.name == policy.name) {
            let name = &policy.name;
            return Err(Error::Setup(format!(
                "two policies are named `{name}`\n\nhint: give one of them another name"
            )));
        }
        policies.push(policy);
        Ok(())
    }

    /// The admission policies, in the order in which they were added.
    pub(crate) fn stated(&self) -> Vec<Stated> {
        lock(&self.core.declared.policies).clone()
    }
}
