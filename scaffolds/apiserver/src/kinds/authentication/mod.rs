//! The group authentication.k8s.io: its reviews have no rules of their own.

pub(in crate::kinds) mod token_request;
