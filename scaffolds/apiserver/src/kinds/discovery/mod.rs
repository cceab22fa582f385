//! The group discovery.k8s.io.

pub(in crate::kinds) mod endpoint_slice;
