//! The group coordination.k8s.io.

pub(in crate::kinds) mod lease;
