//! The crates of kubewright that a project uses, by the manifests of its packages. It does not know the sources of the crates.

use super::compare::ByHand;
use super::root::Root;
use crate::plan::RelPath;
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
            .any(|(_, text)| text.contains(&format!("kubewright-{name}")))
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

/// The lines in manifests of members that name the folder of a crate, to change by hand before the folder is deleted.
///
/// # Errors
/// When a manifest cannot be read from the disk.
pub fn path_lines(root: &Root) -> Result<Vec<ByHand>> {
    let all = Sources::own().crates();
    let by_workspace = |line: &str| {
        let (_, path) = line.split_once("path = \"")?;
        let (path, _) = path.split_once('"')?;
        let (_, name) = path.rsplit_once("../crates/")?;
        let is_ours = all.iter().any(|it| it == name.trim_end_matches('/'));
        is_ours.then(|| line.replace(&format!("path = \"{path}\""), "workspace = true"))
    };
    let mut found = Vec::new();
    for (path, text) in manifests(root)?.unwrap_or_default() {
        let lines = text
            .lines()
            .filter_map(|line| Some((line.to_owned(), by_workspace(line)?)));
        let (remove, add): (Vec<_>, Vec<_>) = lines.unzip();
        if !add.is_empty() {
            found.push(ByHand { path, add, remove });
        }
    }
    Ok(found)
}

/// The manifests of the workspace, without `[workspace.dependencies]`, and of its members; `None` if it cannot be told which these are.
fn manifests(root: &Root) -> Result<Option<Vec<(RelPath, String)>>> {
    let read = |path: &RelPath| -> Result<Option<String>> {
        let bytes = root.read(path)?;
        Ok(bytes.map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    let path: RelPath = "Cargo.toml".parse()?;
    let Some(Ok(mut top)) = read(&path)?.map(|text| text.parse::<DocumentMut>()) else {
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
    let mut texts = vec![(path, top.to_string())];
    for member in members {
        if let Ok(path) = format!("{member}/Cargo.toml").parse::<RelPath>() {
            texts.extend(read(&path)?.map(|text| (path, text)));
        }
    }
    Ok(Some(texts))
}
