//! Pods and Pod templates: the validation, defaults and warnings of all kinds that contain either.

mod affinity;
pub(in crate::kinds) mod annotations;
mod container;
pub(in crate::kinds) mod context;
pub(in crate::kinds) mod defaults;
mod environment;
mod ephemeral;
mod image;
pub(in crate::kinds) mod label_keys;
mod mounts;
mod os;
mod overlaps;
mod port_conflicts;
mod probe;
mod projected;
pub(in crate::kinds) mod resources;
mod security;
pub(in crate::kinds) mod spec;
mod spread;
mod sysctl;
pub(in crate::kinds) mod template;
mod volume;
pub(in crate::kinds) mod warnings;
mod windows;
