//! From Rust types to Kubernetes manifests. This crate takes the CustomResourceDefinitions (CRDs) that a derive makes from Rust types and merges
//! the versions of each kind. It repairs what the API server would refuse, warn about or silently drop, and checks the
//! result by the API server's own rules. It writes YAML that every YAML parser reads in the same way.
//!
//! The crate handles CRDs only as JSON: it depends neither on a Kubernetes client nor on k8s-openapi.
//!
//! # Flow
//! 1. [`Describe`] has a type's name and the function that makes its CRD. A panic in that function (kube-derive has several) becomes a
//!    [`Finding`] that names the type and the field. So does a keyword that the derive would drop silently.
//! 2. The versions of one kind become one CRD, ordered by [Kubernetes version priority].
//! 3. Errors of the derive are repaired, and [`lint`] checks the result.
//! 4. [`finish`] returns the CRDs as values: to an operator that installs its own, and to the crate `kubewright-manifests`, which writes one
//!    file per CRD.
//!
//! # Guarantees
//! - All or nothing: if there is any finding, nothing is written.
//! - The same types give the same bytes.
//! - A CRD without findings is accepted by a real kube-apiserver (measured on v1.37), without warnings.
//!
//! # Modules
//! Operators use [`Describe`], [`finish`] and [`assemble`]; their runtime writes files and roles with [`files`], [`yaml`] and [`rbac`].
//! [`compat`] finds changes that break clients; [`webhook`] has the names that webhooks and their manifests share, [`examples`] makes objects up for tests. API servers use [`value`], which prunes, defaults and validates custom resources by the schema of a CRD,
//! [`typed`], which merges configurations into objects, and [`lint`], [`cause`] and [`version`], whose messages are those of kube-apiserver.
//!
//! # Features
//! All are on by default, except `testing`. Operators leave out those whose work a program that writes manifests, or an API server, does.
//! - `lint`: [`finish`], [`lint`] and [`compat`].
//! - `merge`: [`json_patch`] and [`typed`].
//! - `cel`: rules in the expression language. The linter compiles them, and [`value`] evaluates them.
//!
//! ```
//! # use serde_json::{json, Value};
//! fn crd() -> Value {
//!     json!({
//!         "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
//!         "metadata": {"name": "foobars.test.example.com"},
//!         "spec": {
//!             "group": "test.example.com", "scope": "Namespaced",
//!             "names": {"kind": "FooBar", "plural": "foobars"},
//!             "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
//!                 "type": "object",
//!                 "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "format": "uint8"}}}},
//!             }}}],
//!         },
//!     })
//! }
//! let crds = kubewright_schema::finish(&[("FooBar", crd as fn() -> Value)], &Default::default()).unwrap();
//! let schema = &crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
//! assert_eq!(schema["properties"]["spec"]["properties"]["size"]["maximum"], 255);
//! ```
//!
//! [Kubernetes version priority]: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority

mod decode;
mod describe;
mod dropped;
mod embedded;
mod finding;
mod merge;
mod normalise;
mod options;
mod parallel;
mod pipeline;
mod rust_formats;
mod unions;

pub mod checkout;
#[cfg(feature = "lint")]
pub mod compat;
pub mod examples;
pub mod files;
#[cfg(feature = "merge")]
pub mod json_patch;
#[cfg(feature = "lint")]
pub mod lint;
pub mod rbac;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "merge")]
pub mod typed;
pub mod value;
pub mod version;
pub mod webhook;
pub mod yaml;

pub use describe::{Crd, CustomType, Describe};
pub use finding::Finding;
#[cfg(feature = "cel")]
pub use kubewright_cel::{condition, policy};
pub use kubewright_machinery::cause::{self, Cause};
pub use options::Options;
pub use pipeline::assemble;
#[cfg(feature = "lint")]
pub use pipeline::finish;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
