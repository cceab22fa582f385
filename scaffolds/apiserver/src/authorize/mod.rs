//! Authorization, by the roles and bindings in the store, as the RBAC authorizer of the real server interprets them.
//! Members of `system:masters` may do everything. This module changes nothing.

mod attributes;
pub mod bootstrap;
mod escalate;
mod policy;
mod rule;

pub use attributes::Attributes;
pub use escalate::{Write, changes_references_only};
pub use policy::Policy;
pub use rule::Rule;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;

use crate::{status::Status, store::Store, user::User};

/// The decision about a request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Decision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The binding that allows it, or the role that was not found; empty if there is no reason to give.
    pub reason: String,
}

/// A request that was refused because no role grants it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// The name of the user.
    pub user: String,
    /// The attributes of the request.
    pub asked: Attributes,
}

/// The permissions of users.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Authorization {
    /// The permissions that roles and bindings grant.
    #[default]
    Rbac,
    /// Everybody may do everything; `AlwaysAllow` of kube-apiserver.
    AlwaysAllow,
}

/// The number of refusals that a receiver may lag behind.
const REFUSALS: usize = 64;

/// Decides according to the roles and bindings of a store.
pub struct Authorizer {
    authorization: Authorization,
    read: Mutex<Option<Reading>>,
    refusals: broadcast::Sender<Refusal>,
}

impl Default for Authorizer {
    fn default() -> Self {
        Self::new(Authorization::default())
    }
}

/// The policy that was read last.
struct Reading {
    /// The store's revision up to which the policy is known to be complete.
    revision: u64,
    /// The revisions of the last changes of roles and bindings.
    changed: [u64; 4],
    policy: Arc<Policy>,
}

impl Authorizer {
    /// Decides in this way.
    pub fn new(authorization: Authorization) -> Self {
        Self {
            authorization,
            read: Mutex::default(),
            refusals: broadcast::Sender::new(REFUSALS),
        }
    }

    /// The present roles and bindings. After the first call, only changes are read.
    pub fn policy(&self, store: &Store) -> Arc<Policy> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = store.revision();
        let changed = policy::RESOURCES.map(|resource| store.changed(resource));
        let policy = match read.take() {
            Some(same) if same.changed == changed => same.policy,
            Some(old) => old
                .followed(store)
                .unwrap_or_else(|| Arc::new(Policy::read(store, self.authorization))),
            None => Arc::new(Policy::read(store, self.authorization)),
        };
        *read = Some(Reading {
            revision,
            changed,
            policy: Arc::clone(&policy),
        });
        policy
    }

    /// Whether `user` may make this request.
    pub fn decide(&self, store: &Store, user: &User, asked: &Attributes) -> Decision {
        if user.is_master() {
            return Decision {
                allowed: true,
                reason: String::new(),
            };
        }
        self.policy(store).decide(user, asked)
    }

    /// Checks that `user` may make this request.
    ///
    /// # Errors
    /// 403 with the message of the real server.
    pub fn authorize(&self, store: &Store, user: &User, asked: &Attributes) -> Result<(), Status> {
        let decision = self.decide(store, user, asked);
        if decision.allowed {
            return Ok(());
        }
        // Fails if there are no receivers.
        let _ = self.refusals.send(Refusal {
            user: user.name.clone(),
            asked: asked.clone(),
        });
        Err(asked.forbidden(user, &decision.reason))
    }

    /// The requests that [`authorize`](Self::authorize) refuses from now on.
    pub fn refusals(&self) -> broadcast::Receiver<Refusal> {
        self.refusals.subscribe()
    }
}

impl Reading {
    /// The policy with the changes since it was read. `None` if the history does not go back that far.
    fn followed(mut self, store: &Store) -> Option<Arc<Policy>> {
        let policy = Arc::make_mut(&mut self.policy);
        for resource in policy::RESOURCES {
            let changes = store.since(resource, self.revision).ok()?;
            changes.iter().for_each(|change| policy.follow(change));
        }
        Some(self.policy)
    }
}
