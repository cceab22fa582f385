//! Kinds of the group `admissionregistration.k8s.io`.

pub(in crate::kinds) mod binding;
mod client_config;
pub(in crate::kinds) mod configuration;
mod expressions;
mod matching;
mod mutations;
pub(in crate::kinds) mod policy;
mod rule;
mod webhook;
