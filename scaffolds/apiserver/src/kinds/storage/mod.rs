//! The group storage.k8s.io.

pub(in crate::kinds) mod storage_class;
