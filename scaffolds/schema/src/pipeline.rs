//! Runs the steps in order: describe, merge, normalise, lint.

use serde_json::Value;

#[cfg(feature = "lint")]
use crate::{compat, lint, parallel};
use crate::{
    decode,
    describe::{self, Describe},
    finding::Finding,
    merge, normalise,
    options::Options,
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
    let made = merged.into_iter().map(|mut kind| {
        normalise::crd(&mut kind.crd, options);
        each_version(crds, &mut kind, |version, _, schema| version.close(schema));
        kind.crd
    });
    if findings.is_empty() {
        Ok(made.collect())
    } else {
        Err(findings)
    }
}

/// Makes the finished CRDs of `crds`: merged, normalised, linted, sorted by name.
///
/// # Errors
/// All findings of all types; never empty.
#[cfg(feature = "lint")]
pub fn finish<D: Describe>(crds: &[D], options: &Options) -> Result<Vec<Value>, Vec<Finding>> {
    let (described, mut findings) = describe::all(crds, options);
    let (merged, refused) = merge::versions(described);
    findings.extend(refused);
    let checked = parallel::each(merged, |mut kind| {
        normalise::crd(&mut kind.crd, options);
        each_version(crds, &mut kind, |version, _, schema| version.close(schema));
        let mut found = lint::findings(&kind.crd, &kind.types);
        found.extend(compat::conversion::findings(&kind.crd, &kind.types));
        let refused: Vec<_> = found.iter().map(|it| it.field.clone()).collect();
        let served = shared(&kind.crd);
        each_version(crds, &mut kind, |version, type_name, schema| {
            let own = version.findings(type_name, schema, &refused);
            let refused: Vec<_> = refused.iter().chain(own.iter().map(|it| &it.field)).cloned().collect();
            found.extend(own);
            found.extend(version.foreign(type_name, schema, &served, &refused));
        });
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

/// The names and schemas of the served versions whose objects every other one reads unconverted.
#[cfg(feature = "lint")]
fn shared(crd: &Value) -> Vec<(String, Value)> {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|it| it["served"] == true && !compat::conversion::is_converted(crd));
    let named =
        served.filter_map(|it| Some((it["name"].as_str()?.to_owned(), it["schema"]["openAPIV3Schema"].clone())));
    named.collect()
}

/// Visits each version of a kind whose Rust type decodes objects, with the name of the type and the version's schema.
fn each_version<D: Describe>(
    crds: &[D],
    kind: &mut merge::Kind,
    mut visit: impl FnMut(&decode::Version<'_>, &str, &mut Value),
) {
    let spec = &mut kind.crd["spec"];
    let [group, kind_name] =
        [&spec["group"], &spec["names"]["kind"]].map(|it| it.as_str().unwrap_or_default().to_owned());
    for version in spec["versions"].as_array_mut().into_iter().flatten() {
        let name = version["name"].as_str().unwrap_or_default().to_owned();
        let described = kind
            .types
            .get(&name)
            .and_then(|type_name| crds.iter().find(|crd| crd.type_name() == type_name));
        let (Some(described), Some(schema)) = (described, version.pointer_mut("/schema/openAPIV3Schema")) else {
            continue;
        };
        let Some(written) = described.named() else { continue };
        let read = |object: &Value| {
            let read = describe::caught(|| described.round_trip(object));
            read.map_or_else(Err, |it| it.unwrap_or_else(|| Ok(object.clone())))
        };
        let probed = decode::Version {
            api_version: format!("{group}/{name}"),
            kind: &kind_name,
            written: &written,
            read: &read,
        };
        visit(&probed, described.type_name(), schema);
    }
}
