//! The group autoscaling.

pub(in crate::kinds) mod horizontal_pod_autoscaler;
pub(in crate::kinds) mod v1;
