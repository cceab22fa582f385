//! Admission policies: expressions that the API server itself evaluates for each write. They are declared like webhooks, and
//! need no running operator: `make manifests` writes them.

pub(crate) mod component;
mod declare;
mod documents;
mod expressions;
mod lint;
mod params;
mod register;
mod validation;

pub use self::{
    declare::{Policy, Validating, ValidationAction},
    params::Params,
    validation::{DenialReason, Validation},
};
#[cfg(feature = "testing")]
pub(crate) use self::{documents::documents, lint::check};

#[cfg(test)]
mod tests;
