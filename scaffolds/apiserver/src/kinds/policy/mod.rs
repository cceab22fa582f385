//! Kinds of the group `policy`.

pub(in crate::kinds) mod eviction;
pub(in crate::kinds) mod pod_disruption_budget;
