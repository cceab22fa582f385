//! Kinds of the group `admissionregistration.k8s.io`.

mod client_config;
pub(in crate::kinds) mod configuration;
mod rule;
mod webhook;
