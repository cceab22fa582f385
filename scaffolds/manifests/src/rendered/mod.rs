//! The objects of a project as kustomize renders them: from kubectl or from standard input, with the image of the release.
//!
//! # Flow
//! `KUBECTL kustomize FOLDER` prints the objects. The operator's container, and every other container with the same image, gets the image
//! that the user named, whatever the kustomizations set. Documents without such a container stay byte for byte. A name that Kubernetes
//! would refuse is an error.

mod document;
mod image;
mod names;
mod operator;
mod source;

pub(crate) use self::document::{Document, join};
pub(crate) use self::image::replace as replace_image;
pub use self::operator::NoOperator;
pub(crate) use self::operator::{container, find, service_account};
pub(crate) use self::source::Source;
use serde_json::Value;

/// The image in `config/manager` of a new project, the default of `make`.
const PLACEHOLDER: &str = "controller:latest";

/// The value of a path, as text.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
