//! The parts of a Pod to which its containers may refer.

use std::collections::BTreeSet;

use crate::kinds::located::Located;

/// The parts of a Pod to which a container may refer.
pub(in crate::kinds) struct PodContext<'a> {
    /// The valid volumes, by name.
    pub volumes: Vec<Located<'a>>,
    pub restart_policy: &'a str,
    pub grace_seconds: i64,
    /// The names of the claims of resources.
    pub claims: BTreeSet<&'a str>,
}
