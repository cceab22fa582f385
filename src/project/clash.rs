//! Kinds that cannot stand beside each other: in one CRD, under one name of the API server, or in one Rust module.

use super::{Api, Origin, rust};
use anyhow::{Result, bail};

/// Refuses two versions of one kind that no CRD could hold together.
fn versions(api: &Api, other: &Api) -> Result<()> {
    let shared = |what: &str, own: &str| {
        format!(
            "`{}` {own} in version `{}`, and the versions of a kind share their {what}",
            api.kind, other.version
        )
    };
    if api.plural != other.plural {
        bail!("{}", shared("plural", &format!("has the plural `{}`", other.plural)));
    }
    if api.cluster != other.cluster {
        let scope = if other.cluster {
            "is cluster-scoped"
        } else {
            "is namespaced"
        };
        bail!("{}", shared("scope", scope));
    }
    if api.storage && other.storage && api.origin.is_project() {
        bail!(
            "versions `{}` and `{}` of `{}` are both marked as the one that is stored\n\n\
             hint: write `storage: false` in one of them, and `#[kube(storage = false)]` on its type",
            other.version,
            api.version,
            api.kind
        );
    }
    Ok(())
}

/// Refuses what Kubernetes' names or Rust's modules could not tell apart.
pub(super) fn clash(api: &Api, other: &Api) -> Result<()> {
    if api.origin != other.origin && (&api.group, &api.kind) == (&other.group, &other.kind) {
        bail!(
            "`{}` of `{}` is {} already, and PROJECT could not tell the two apart\n\nhint: choose another `--group` or `--kind`",
            other.kind,
            other.group,
            other.origin.owner()
        );
    }
    // Kinds of Kubernetes have no module here.
    if [api.origin, other.origin].contains(&Origin::Kubernetes) {
        return Ok(());
    }
    if api.group != other.group || api.origin != other.origin {
        if rust::module_file(api.group.as_str()) == rust::module_file(other.group.as_str()) {
            bail!(
                "groups `{}` and `{}` would share the Rust module `{}`",
                api.group,
                other.group,
                rust::module_file(api.group.as_str())
            );
        }
        return Ok(());
    }
    if api.kind == other.kind {
        return versions(api, other);
    }
    // Within a group the API server keeps one table of plurals, singulars and short names, and one of kinds and list kinds.
    let words = |api: &Api| {
        let mut words = vec![api.plural.to_string(), api.kind.as_str().to_ascii_lowercase()];
        words.extend(api.short_names.iter().map(ToString::to_string));
        words
    };
    let theirs = words(other);
    if let Some(word) = words(api).iter().find(|word| theirs.contains(word)) {
        bail!(
            "`{}` and `{}` of group `{}` would both be called `{word}`\n\nhint: choose another `--plural`, `--short-name` or `--kind`",
            api.kind,
            other.kind,
            api.group
        );
    }
    let list = |api: &Api| format!("{}List", api.kind);
    if list(api) == other.kind.as_str() || list(other) == api.kind.as_str() {
        bail!(
            "`{}` and `{}` of group `{}`: one would be the list kind of the other",
            api.kind,
            other.kind,
            api.group
        );
    }
    Ok(())
}
