//! The group autoscaling.

pub(in crate::kinds) mod horizontal_pod_autoscaler;
