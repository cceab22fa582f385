//! Warnings about files of one volume that have the same path or are below each other.

use std::fmt;

use crate::kinds::{faults::quoted, kind::Warnings, located::Located};

/// A file, and its source if the volume has several.
#[derive(Clone, Eq, PartialEq)]
struct File {
    path: String,
    source: String,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&self.path))?;
        if self.source.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.source)
    }
}

/// Warns about overlaps in one volume of a Pod.
pub(in crate::kinds) fn overlaps(volume: &Located<'_>, warnings: &mut Warnings) {
    let name = quoted(volume.get("name").str());
    let mut plain = |at: &Located<'_>, what: String| {
        let mut earlier = Vec::new();
        for file in files(at, "") {
            note(&mut earlier, file, |overlap| {
                warnings.push(format!("volume {name} ({what}): overlapping paths: {overlap}"));
            });
        }
    };
    let (map, secret, api) = (volume.get("configMap"), volume.get("secret"), volume.get("downwardAPI"));
    plain(&map, format!("ConfigMap {}", quoted(map.get("name").str())));
    plain(&secret, format!("Secret {}", quoted(secret.get("secretName").str())));
    plain(&api, "DownwardAPI".to_owned());
    let mut earlier = Vec::new();
    for source in volume.at("projected.sources").items() {
        if source.len() == 0 {
            warnings.push(format!("volume {name} (Projected) has no sources provided"));
        }
        for file in sources(&source) {
            note(&mut earlier, file, |overlap| {
                warnings.push(format!("volume {name} (Projected): overlapping paths: {overlap}"));
            });
        }
    }
}

fn files(at: &Located<'_>, source: &str) -> Vec<File> {
    let items = at.get("items");
    items.items().map(|item| file(item.get("path").str(), source)).collect()
}

fn file(path: &str, source: &str) -> File {
    File {
        path: path.trim_end_matches('/').to_owned(),
        source: source.to_owned(),
    }
}

/// The files in one source of a projected volume.
fn sources(source: &Located<'_>) -> Vec<File> {
    for (field, title) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        let at = source.get(field);
        if at.get("items").is_set() {
            return files(&at, &format!("{title} {}", quoted(at.get("name").str())));
        }
    }
    let api = source.get("downwardAPI");
    if api.get("items").is_set() {
        return files(&api, "DownwardAPI");
    }
    let token = source.get("serviceAccountToken");
    if token.is_set() {
        return vec![file(token.get("path").str(), "ServiceAccountToken")];
    }
    let bundle = source.get("clusterTrustBundle");
    if bundle.is_set() {
        let name = ["name", "signerName"].map(|field| bundle.get(field).str());
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        return vec![file(
            bundle.get("path").str(),
            &format!("ClusterTrustBundle {}", quoted(name)),
        )];
    }
    let certificate = source.get("podCertificate");
    let parts = [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ];
    let parts = parts.map(|(field, title)| file(certificate.get(field).str(), title));
    parts.into_iter().filter(|it| !it.path.is_empty()).collect()
}

/// Adds `next`, and warns about the files with which it overlaps.
fn note(earlier: &mut Vec<File>, next: File, mut warn: impl FnMut(String)) {
    let below = |path: &str, other: &str| format!("{path}/").starts_with(&format!("{other}/"));
    for other in earlier.iter() {
        let overlaps = below(&other.path, &next.path) || below(&next.path, &other.path);
        if overlaps && !next.path.is_empty() && !other.path.is_empty() {
            warn(format!("{next} with {other}"));
        }
    }
    earlier.push(next);
}
