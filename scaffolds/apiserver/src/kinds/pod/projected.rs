//! Projected volumes, which have the files of several sources.

use std::collections::BTreeSet;

use crate::kinds::{
    faults::{Faults, quoted},
    internal::fields_in_go,
    labels::{selector, user_annotations},
    located::Located,
    pod::volume::{downward, key_to_path, mode, unreserved},
    signer,
};

const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// The paths of the files of a volume.
struct ProjectedPaths<'a, 'v> {
    volume: &'a Located<'v>,
    known: BTreeSet<&'v str>,
}

impl<'v> ProjectedPaths<'_, 'v> {
    /// Notes a path, or reports that it is taken, about the value `shown`.
    fn note(&mut self, path: &'v str, shown: &str, faults: &mut Faults) {
        if !self.known.insert(path) {
            faults.invalid_as(self.volume, &quoted(shown), "conflicting duplicate paths");
        }
    }
}

pub(super) fn projected(at: &Located<'_>, faults: &mut Faults) {
    mode(&at.get("defaultMode"), faults);
    let mut paths = ProjectedPaths {
        volume: at,
        known: BTreeSet::new(),
    };
    for source in at.get("sources").items() {
        let mut count = 0;
        for name in [
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ] {
            let projection = source.get(name);
            if !projection.is_set() {
                continue;
            }
            count += 1;
            match name {
                "secret" | "configMap" => keys(&projection, &mut paths, faults),
                "downwardAPI" => fields(&projection, &mut paths, faults),
                // The server's paths omit the source here.
                "serviceAccountToken" => token(
                    &projection,
                    &projection.get("path").called(&at.get("path").path),
                    faults,
                ),
                "clusterTrustBundle" => trust_bundle(&projection, &mut paths, faults),
                _ => certificate(&projection, &mut paths, faults),
            }
        }
        if count > 1 {
            faults.forbidden(&source, "may not specify more than 1 volume type per source");
        }
    }
}

/// The keys of a Secret or a ConfigMap.
fn keys<'v>(at: &Located<'v>, paths: &mut ProjectedPaths<'_, 'v>, faults: &mut Faults) {
    let name = at.get("name");
    if name.str().is_empty() {
        faults.required(&name, "");
    }
    for item in at.get("items").items() {
        key_to_path(&item, faults);
        let path = item.get("path").str();
        if !path.is_empty() {
            paths.note(path, name.str(), faults);
        }
    }
}

/// The fields of the Pod.
fn fields<'v>(at: &Located<'v>, paths: &mut ProjectedPaths<'_, 'v>, faults: &mut Faults) {
    for item in at.get("items").items() {
        downward(&item.called(&at.path), faults);
        let path = item.get("path").str();
        if !path.is_empty() {
            paths.note(path, path, faults);
        }
    }
}

fn token(at: &Located<'_>, path: &Located<'_>, faults: &mut Faults) {
    let seconds = at.get("expirationSeconds");
    if seconds.int() < 600 {
        faults.invalid(&seconds, "may not specify a duration less than 10 minutes");
    }
    if seconds.int() > 1 << 32 {
        faults.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
    }
    if path.str().is_empty() {
        faults.required(path, "");
    } else {
        unreserved(path, faults);
    }
}

fn trust_bundle<'v>(at: &Located<'v>, paths: &mut ProjectedPaths<'_, 'v>, faults: &mut Faults) {
    let [name, signer] = ["name", "signerName"].map(|field| at.get(field));
    match (name.is_set(), signer.is_set()) {
        (true, true) => faults.invalid_as(at, &shown(at), "only one of name and signerName may be used"),
        (true, false) => bundle_name(at, &name, faults),
        (false, true) => {
            if signer.str().is_empty() {
                faults.required(&signer, "must be a valid signer name");
            }
            signer::name(&signer, faults);
            selector(&at.get("labelSelector"), faults);
        }
        (false, false) => faults.required(at, "either name or signerName must be specified"),
    }
    let path = at.get("path");
    if path.str().is_empty() {
        faults.required(&path, "");
    }
    unreserved(&path, faults);
    paths.note(path.str(), path.str(), faults);
}

/// Checks the name of a bundle. If the bundle has a signer, its name begins with the signer's.
fn bundle_name(at: &Located<'_>, name: &Located<'_>, faults: &mut Faults) {
    if name.str().is_empty() {
        faults.required(name, "must be a valid object name");
    }
    let signer = name.str().rsplit_once(':').map(|(signer, _)| signer.replace(':', "/"));
    for sentence in signer::bundle_name(name.str(), &signer.unwrap_or_default(), false) {
        faults.invalid(name, &format!("not a valid clustertrustbundlename: {sentence}"));
    }
    let selector = at.get("labelSelector");
    if selector.is_set() {
        faults.invalid(&selector, "labelSelector must be unset if name is specified");
    }
}

/// The source of a bundle as the server's errors quote it: with the names of Go's fields.
fn shown(at: &Located<'_>) -> String {
    const FIELDS: [&str; 6] = ["name", "signerName", "labelSelector", "optional", "path", "user"];
    format!(
        "{{{}}}",
        fields_in_go("core.v1.ClusterTrustBundleProjection", at, &FIELDS)
    )
}

fn certificate<'v>(at: &Located<'v>, paths: &mut ProjectedPaths<'_, 'v>, faults: &mut Faults) {
    let (signer, seconds) = (at.get("signerName"), at.get("maxExpirationSeconds"));
    signer::name(&signer, faults);
    user_annotations(&at.get("userAnnotations"), faults);
    faults.one_of(&at.get("keyType"), &KEY_TYPES);
    let most = signer::longest_lifetime(signer.str());
    if seconds.is_set() && seconds.int() < signer::SHORTEST_LIFETIME {
        let detail = format!(
            "if provided, maxExpirationSeconds must be >= {}",
            signer::SHORTEST_LIFETIME
        );
        faults.invalid(&seconds, &detail);
    }
    if seconds.int() > most {
        let detail = format!("if provided, maxExpirationSeconds must be <= {most}");
        faults.invalid(&seconds, &detail);
    }
    let files = ["credentialBundlePath", "keyPath", "certificateChainPath"].map(|field| at.get(field));
    if files.iter().all(|path| path.str().is_empty()) {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        faults.required(at, detail);
    }
    for path in files.iter().filter(|path| !path.str().is_empty()) {
        unreserved(path, faults);
        paths.note(path.str(), path.str(), faults);
    }
}
