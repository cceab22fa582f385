//! The group events.k8s.io.

pub(in crate::kinds) mod event;
