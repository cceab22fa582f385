//! The steps in their order: describe, merge, normalise, lint.

use serde_json::Value;

use crate::{
    compat,
    describe::{self, Describe},
    finding::Finding,
    lint, merge, normalise,
    options::Options,
    parallel,
};

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
    let checked = parallel::each(merged, |mut kind| {
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
