//! What the containers of a Pod may refer to.

use crate::kinds::located::Located;

/// What a container may refer to.
pub(in crate::kinds) struct PodContext<'a> {
    /// The sound volumes, by name.
    pub volumes: Vec<Located<'a>>,
    pub restart_policy: &'a str,
    pub grace_seconds: i64,
}
