//! Admission policies: expressions that the API server itself evaluates for each write. They are declared like webhooks, and
//! need no running operator: `make manifests` writes them.

pub(crate) mod component;
mod declare;
mod documents;
mod expressions;
mod form;
mod lint;
mod mutating;
mod params;
mod register;
mod registered;
mod validating;
mod validation;

pub use self::{
    declare::Policy,
    mutating::Mutating,
    params::Params,
    validating::{Validating, ValidationAction},
    validation::{DenialReason, Validation},
};
#[cfg(feature = "testing")]
pub(crate) use self::{documents::documents, form::PolicyForm, lint::check};

#[cfg(test)]
mod tests;
