//! Whether somebody may do what they ask for: the roles and bindings in the store, as the RBAC authorizer of the real
//! server reads them. Members of `system:masters` may do everything. Nothing here changes anything.

mod attributes;
pub mod bootstrap;
mod escalate;
mod policy;
mod rule;

pub use attributes::Attributes;
pub use escalate::Write;
pub use policy::Policy;
pub use rule::Rule;

use std::sync::{Arc, Mutex, PoisonError};

use crate::{auth::User, status::Status, store::Store};

/// What the authorizer says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Decision {
    /// Whether it is allowed.
    pub allowed: bool,
    /// By which binding, or which role could not be found; empty where there is nothing to say.
    pub reason: String,
}

/// Decides by the roles and bindings of a store.
#[derive(Default)]
pub struct Authorizer {
    /// The last reading, and the revisions it was read at.
    read: Mutex<Option<([u64; 4], Arc<Policy>)>>,
}

impl Authorizer {
    /// The roles and bindings as they are now.
    pub fn policy(&self, store: &Store) -> Arc<Policy> {
        let revisions = policy::RESOURCES.map(|resource| store.changed(resource));
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match read.as_ref() {
            Some((at, policy)) if *at == revisions => Arc::clone(policy),
            _ => {
                let policy = Arc::new(Policy::read(store));
                *read = Some((revisions, Arc::clone(&policy)));
                policy
            }
        }
    }

    /// Whether `user` may do this.
    pub fn decide(&self, store: &Store, user: &User, asked: &Attributes) -> Decision {
        if user.is_master() {
            return Decision {
                allowed: true,
                reason: String::new(),
            };
        }
        self.policy(store).decide(user, asked)
    }

    /// Lets a request through.
    ///
    /// # Errors
    /// 403 in the words of the real server.
    pub fn authorize(&self, store: &Store, user: &User, asked: &Attributes) -> Result<(), Status> {
        let decision = self.decide(store, user, asked);
        match decision.allowed {
            true => Ok(()),
            false => Err(asked.forbidden(user, &decision.reason)),
        }
    }
}
