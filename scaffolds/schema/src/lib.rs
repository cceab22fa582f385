//! From Rust types to Kubernetes manifests: takes the CustomResourceDefinitions that a derive makes of Rust types,
//! merges the versions of one kind, repairs what the API server would refuse, warn about or silently drop, checks the
//! rest by the API server's own rules, and writes YAML that every reader takes as written.
//!
//! The crate knows CRDs only as JSON: it depends neither on a Kubernetes client nor on k8s-openapi.
//!
//! # Flow
//! 1. [`Describe`]: a type's name and the function that describes it. A panic inside (kube-derive has several) becomes a
//!    [`Finding`] that names type and field, and so does what the derive would drop in silence.
//! 2. The versions of one kind become one CRD, ordered by [Kubernetes version priority].
//! 3. [`normalise`] repairs; [`lint`] checks.
//! 4. [`manifests::run`] writes one file per CRD; [`finish`] hands over the values, for an operator that installs its own.
//!
//! # Guarantees
//! - All or nothing: one finding anywhere, and nothing is written.
//! - The same types give the same bytes.
//! - A CRD that passes is accepted by a real kube-apiserver (measured on v1.36), without warnings.
//!
//! [`value`] is the other half: what a server makes of custom resources under the schema of such a CRD.
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

mod cores;
mod describe;
mod finding;
pub mod go;
mod merge;
mod pattern;
mod stamp;
pub mod version;
pub mod written;

pub mod cause;
#[cfg(feature = "cel")]
pub mod cel;
pub mod compat;
pub mod files;
pub mod lint;
pub mod manifests;
pub mod meta;
pub mod normalise;
pub mod rbac;
pub mod source;
pub mod value;
pub mod yaml;

pub use cause::Cause;
pub use describe::{Crd, Describe};
pub use finding::Finding;

use serde_json::Value;

/// What the pipeline leaves to the caller.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Descriptions longer than this many characters are cut, at the end of a sentence or word where there is one; 0
    /// drops them all. None by default. A CRD holding whole Pod templates passes the 262,144 bytes that client-side
    /// `kubectl apply` can store; server-side apply has no such limit.
    pub max_description_length: Option<usize>,
    /// Keep `nullable: true` on properties that are not required. Off by default: `kubectl explain` cannot show such
    /// fields, and an absent value says the same. On create and update the API server drops a null that is not allowed;
    /// server-side apply refuses it with a 422, so types that are applied want
    /// `#[serde(skip_serializing_if = "Option::is_none")]` on their options, or this.
    pub keep_nullable: bool,
}

/// The CRDs of `crds` as [`finish`] makes them, but not linted: for an operator that hands them to an API server, which checks
/// them itself. The linter is a tenth of an operator's code, and is not linked into one that calls only this.
///
/// # Errors
/// Every type that cannot be described, or whose versions do not go together; never empty.
pub fn assemble<D: Describe>(crds: &[D], options: &Options) -> Result<Vec<Value>, Vec<Finding>> {
    let (described, mut findings) = describe::all(crds);
    let (merged, refused) = merge::versions(described);
    findings.extend(refused);
    let crds = merged.into_iter().map(|mut kind| {
        normalise::crd(&mut kind.crd, options);
        kind.crd
    });
    if findings.is_empty() {
        Ok(crds.collect())
    } else {
        Err(findings)
    }
}

/// The finished CRDs of `crds`: merged, normalised, checked, sorted by name.
///
/// # Errors
/// Every finding of every type at once; never empty.
pub fn finish<D: Describe>(crds: &[D], options: &Options) -> Result<Vec<Value>, Vec<Finding>> {
    let (described, mut findings) = describe::all(crds);
    let (merged, refused) = merge::versions(described);
    findings.extend(refused);
    let checked = cores::each(merged, |mut kind| {
        normalise::crd(&mut kind.crd, options);
        let mut found = lint::findings(&kind.crd, &kind.types);
        found.extend(compat::conversion::findings(&kind.crd, &kind.types));
        (kind.crd, found)
    });
    let mut finished = Vec::new();
    for (crd, found) in checked {
        finished.push(crd);
        findings.extend(found);
    }
    if findings.is_empty() {
        Ok(finished)
    } else {
        Err(findings)
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
