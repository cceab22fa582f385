//! Kinds of the group `node.k8s.io`.

pub(in crate::kinds) mod runtime_class;
