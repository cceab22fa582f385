//! The group rbac.authorization.k8s.io: a file for each kind, and for parts that roles or bindings share.

mod binding;
pub(in crate::kinds) mod cluster_role;
pub(in crate::kinds) mod cluster_role_binding;
mod policy_rules;
pub(in crate::kinds) mod role;
pub(in crate::kinds) mod role_binding;

use crate::strategy::{Deletion, Grants, NameRule, Passes, Put, Rules};

/// The rules for the registry, which are the same for all four kinds.
fn rules(grants: Grants) -> Rules {
    Rules {
        name: NameRule::PathSegment,
        grants: Some(grants),
        deletion: Deletion {
            only_readable: true,
            ..Deletion::default()
        },
        put: Put::CREATES,
        passes: Passes::VALIDATE_THEN_UPDATE,
        ..Rules::default()
    }
}
