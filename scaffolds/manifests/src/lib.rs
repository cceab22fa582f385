//! The program that writes an operator's manifests: its CRDs, a Helm chart, an OLM bundle, an installer, and a page for its users. [`run`] is the
//! whole program; [`chart`], [`bundle`] and [`parts`] are for programs of your own.
//!
//! An operator does not link this crate. The CRDs come from `kubewright-schema`, which the operator needs too.

mod installer;
mod program;
mod published;
mod removal;
mod rendered;
mod semver;
mod source;
mod stamp;
mod test_image;
mod tool;
mod words;

pub mod api_docs;
pub mod bundle;
pub mod chart;
pub mod parts;

pub use program::run;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
