//! Values by the types of server-side apply: each is validated against its type, and configurations are merged into
//! objects, as structured-merge-diff (the library of kube-apiserver 1.37) does. Pure functions of values; who owns which
//! field is the API server's business.
//!
//! - [`Schema`] has the types of a kind, compiled from OpenAPI or from the schema of a CRD.
//! - [`validate()`] finds what in a value does not match them.
//! - [`merge()`] merges a configuration into an object.
//! - [`configure()`] does both for the apply configurations of MutatingAdmissionPolicies.

mod compile;
#[cfg(feature = "cel")]
mod configure;
mod element;
mod form;
mod merge;
mod order;
mod schema;
mod validate;

#[cfg(feature = "cel")]
pub use self::configure::configure;
pub use self::{
    element::{Element, Path, display},
    form::{Deduced, Form, Problem, check_scalar, describe, item},
    merge::merge,
    order::{is_empty, same},
    schema::{Field, Id, List, ListType, Map, Patch, Property, Scalar, Schema, Shape, Type},
    validate::{Duplicates, validate},
};
