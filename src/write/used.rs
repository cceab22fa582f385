//! The crates of kubewright that a project uses, by the manifests of its packages. It does not know the sources of the crates.

use super::root::Root;
use crate::render::Sources;
use anyhow::Result;
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item};

/// The names in `scaffolds/` of the crates that a package of the project names, and of those that these depend on. A line of
/// `[workspace.dependencies]` alone is no use. All crates, if it cannot be told: if the manifest of the workspace cannot be read, or has
/// members with wildcards.
///
/// # Errors
/// When a manifest cannot be read from the disk.
pub fn used_crates(root: &Root) -> Result<BTreeSet<String>> {
    let sources = Sources::own();
    let all = sources.crates();
    let Some(manifests) = manifests(root)? else {
        return Ok(all.into_iter().collect());
    };
    let is_named = |name: &String| {
        manifests
            .iter()
            .any(|text| text.contains(&format!("kubewright-{name}")))
    };
    let mut used: BTreeSet<String> = all.iter().filter(|name| is_named(name)).cloned().collect();
    loop {
        let more = all.iter().filter(|name| {
            let needs = |other: &String| depends(sources.crate_files(other).get("Cargo.toml").copied(), name);
            !used.contains(*name) && used.iter().any(needs)
        });
        let more: Vec<String> = more.cloned().collect();
        if more.is_empty() {
            return Ok(used);
        }
        used.extend(more);
    }
}

/// Whether a manifest has the vendored crate `name` as a dependency. Projects do not get the tests of a crate.
pub(super) fn depends(manifest: Option<&str>, name: &str) -> bool {
    let text = manifest.unwrap_or_default();
    let dependencies = text.split("[dev-dependencies]").next().unwrap_or_default();
    dependencies.contains(&format!("\"../{name}\""))
}

/// The manifests of the workspace, without `[workspace.dependencies]`, and of its members; `None` if it cannot be told which these are.
fn manifests(root: &Root) -> Result<Option<Vec<String>>> {
    let read = |path: &str| -> Result<Option<String>> {
        let Ok(path) = path.parse() else { return Ok(None) };
        Ok(root
            .read(&path)?
            .map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    let Some(Ok(mut top)) = read("Cargo.toml")?.map(|text| text.parse::<DocumentMut>()) else {
        return Ok(None);
    };
    let mut members = Vec::new();
    if let Some(workspace) = top.get_mut("workspace").and_then(Item::as_table_like_mut) {
        workspace.remove("dependencies");
        let list = workspace.get("members").and_then(Item::as_array);
        members.extend(
            list.into_iter()
                .flatten()
                .filter_map(|it| it.as_str().map(str::to_owned)),
        );
    }
    if members.iter().any(|member| member.contains(['*', '?', '['])) {
        return Ok(None);
    }
    let mut texts = vec![top.to_string()];
    for member in members {
        texts.extend(read(&format!("{member}/Cargo.toml"))?);
    }
    Ok(Some(texts))
}
