//! The group scheduling.k8s.io.

pub(in crate::kinds) mod priority_class;
