//! The group networking.k8s.io: a file for each kind.

pub(in crate::kinds) mod ingress;
pub(in crate::kinds) mod ingress_class;
pub(in crate::kinds) mod network_policy;
mod reference;
