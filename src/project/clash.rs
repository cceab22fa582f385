//! Kinds that exclude each other: they would have the same name in the API server, or the same Rust module.

use super::{Kind, Origin, rust};
use anyhow::{Result, bail};

/// Refuses two kinds that would have one name in PROJECT, in Kubernetes or in Rust.
pub(super) fn clash(kind: &Kind, other: &Kind) -> Result<()> {
    if kind.is(&other.group, &other.name) {
        bail!(
            "`{}` of `{}` is listed twice\n\nhint: make one entry of the two, with the versions and controllers of both",
            kind.name,
            kind.group
        );
    }
    // Kinds of Kubernetes have no module here.
    if [kind.origin, other.origin].contains(&Origin::Kubernetes) {
        return Ok(());
    }
    if kind.group != other.group || kind.origin != other.origin {
        if rust::module_file(kind.group.as_str()) == rust::module_file(other.group.as_str()) {
            bail!(
                "groups `{}` and `{}` would share the Rust module `{}`",
                kind.group,
                other.group,
                rust::module_file(kind.group.as_str())
            );
        }
        return Ok(());
    }
    // Within a group the API server keeps one table of plurals, singulars and short names, and one of kinds and list kinds.
    let words = |kind: &Kind| {
        let mut words = vec![kind.plural.to_string(), kind.name.as_str().to_ascii_lowercase()];
        words.extend(kind.short_names.iter().map(ToString::to_string));
        words
    };
    let theirs = words(other);
    if let Some(word) = words(kind).iter().find(|word| theirs.contains(word)) {
        bail!(
            "`{}` and `{}` of group `{}` would both be called `{word}`\n\nhint: choose another `--plural`, `--short-name` or `--kind`",
            kind.name,
            other.name,
            kind.group
        );
    }
    let list = |kind: &Kind| format!("{}List", kind.name);
    if list(kind) == other.name.as_str() || list(other) == kind.name.as_str() {
        bail!(
            "`{}` and `{}` of group `{}`: one would be the list kind of the other",
            kind.name,
            other.name,
            kind.group
        );
    }
    Ok(())
}
