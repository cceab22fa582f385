//! The installation of a project: the output of kustomize with the image of the release, as one file (`make build-installer`) or in the cluster
//! (`make deploy`, `make run AS_OPERATOR=1`).
//!
//! # Guarantees
//! - An image that the user names is the one that is shipped; if it cannot be, nothing is written or applied.
//! - A file is written completely or not at all.
//! - A namespace that exists and was not made by `make deploy` is left as it is.

mod account;
mod apply;
mod local;
mod program;
#[cfg(test)]
mod tests;

pub(crate) use self::account::{execute as kubeconfig, write_private};
pub(crate) use self::apply::{execute as deploy, is_marked, is_of_others};
pub(crate) use self::program::execute;
