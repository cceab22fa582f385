//! The group storagemigration.k8s.io.

pub(in crate::kinds) mod storage_version_migration;
