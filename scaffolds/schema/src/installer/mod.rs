//! What a project ships: the output of kustomize with the image of the release, as one file (`make build-installer`) or in the cluster
//! (`make deploy`, `make run AS_OPERATOR=1`).
//!
//! # Flow
//! `KUBECTL kustomize FOLDER` prints the objects. The operator's container, and every other container with the same image, gets the image
//! that the user named, whatever the kustomizations set. Documents without such a container stay byte for byte.
//!
//! # Guarantees
//! - An image that the user names is the one that is shipped; if it cannot be, nothing is written or applied.
//! - A file is written completely or not at all.
//! - A namespace that exists and was not made by `make deploy` is left as it is.

mod apply;
mod document;
mod image;
mod local;
mod program;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use self::apply::execute as deploy;
pub(crate) use self::program::execute;
pub(crate) use self::source::Source;

/// The image in `config/manager` of a new project. `make` names it if nobody names another one.
const PLACEHOLDER: &str = "controller:latest";
