//! Whether somebody may do what they ask for: the roles and bindings in the store, as the RBAC authorizer of the real
//! server reads them. Members of `system:masters` may do everything. Nothing here changes anything.

mod attributes;
pub mod bootstrap;
mod escalate;
mod policy;
mod rule;

pub use attributes::Attributes;
pub use escalate::Write;
pub use policy::{GROUP, Policy};
pub use rule::Rule;

use std::sync::{Arc, Mutex, PoisonError};

use crate::{status::Status, store::Store, user::User};

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
    read: Mutex<Option<Reading>>,
}

/// What was read last.
struct Reading {
    /// The store's revision when this was known to be all.
    revision: u64,
    /// Those of the last changes of roles and bindings.
    changed: [u64; 4],
    policy: Arc<Policy>,
}

impl Authorizer {
    /// The roles and bindings as they are now. Of those that were read before, only changes are read again.
    pub fn policy(&self, store: &Store) -> Arc<Policy> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = store.revision();
        let changed = policy::RESOURCES.map(|resource| store.changed(resource));
        let policy = match read.take() {
            Some(same) if same.changed == changed => same.policy,
            Some(old) => old.followed(store).unwrap_or_else(|| Arc::new(Policy::read(store))),
            None => Arc::new(Policy::read(store)),
        };
        *read = Some(Reading {
            revision,
            changed,
            policy: Arc::clone(&policy),
        });
        policy
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

impl Reading {
    /// The policy with what changed since. `None` when the history does not go back that far.
    fn followed(mut self, store: &Store) -> Option<Arc<Policy>> {
        let policy = Arc::make_mut(&mut self.policy);
        for resource in policy::RESOURCES {
            let changes = store.since(resource, self.revision).ok()?;
            changes.iter().for_each(|change| policy.follow(change));
        }
        Some(self.policy)
    }
}
