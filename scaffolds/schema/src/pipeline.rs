//! Runs the steps in order: describe, merge, normalise, lint.

use serde_json::Value;

use crate::{
    compat,
    describe::{self, Describe},
    finding::Finding,
    lint, merge, normalise,
    options::Options,
    parallel,
};

/// Makes the CRDs of `crds` as [`finish`] does, but without linting them: for an operator that sends them to an API server, which validates
/// them itself. The linter is a tenth of an operator's code, and is not linked into an operator that calls only this function.
///
/// # Errors
/// A finding for every type whose CRD cannot be made, or whose versions contradict each other; never empty.
pub fn assemble<D: Describe>(crds: &[D], options: &Options) -> Result<Vec<Value>, Vec<Finding>> {
    let (described, mut findings) = describe::all(crds, options);
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

/// Makes the finished CRDs of `crds`: merged, normalised, linted, sorted by name.
///
/// # Errors
/// All findings of all types; never empty.
pub fn finish<D: Describe>(crds: &[D], options: &Options) -> Result<Vec<Value>, Vec<Finding>> {
    let (described, mut findings) = describe::all(crds, options);
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
