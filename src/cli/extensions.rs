//! Lines and crates that a project needs for its webhooks, conversions and policies, and that a merge has removed: one branch deleted the last
//! of them, another added one. git merges both without a conflict, and the operator then serves none.

use super::session::Session;
use crate::plan::{FileKind, RelPath};
use crate::project::Project;
use crate::write::{ByHand, has_extension_line, lost_lines};
use anyhow::Result;
use std::collections::BTreeSet;

/// The seeded files with lines for all webhooks, all conversions or all policies together. Without these lines no one of them works.
const FILES: [&str; 4] = [
    "Cargo.toml",
    "config/default/kustomization.yaml",
    "src/lib.rs",
    "src/main.rs",
];

/// The lines that are missing. A merge removes those for all webhooks, all conversions or all policies from all these files together; where one file
/// has such a line, the others are edited.
pub fn lost(session: &Session) -> Result<Vec<ByHand>> {
    let rendered = |project: &Project| {
        let files = |path: &RelPath| FILES.contains(&path.as_str());
        session.render(project, &session.plan(project)?.only(|path, _| files(path)))
    };
    let mut lost: Vec<ByHand> = Vec::new();
    let rests = without(&session.project);
    if rests.is_empty() {
        return Ok(lost);
    }
    let will = rendered(&session.project)?;
    for rest in rests {
        let was = rendered(&rest)?;
        let mut compared = Vec::new();
        for (path, after) in &will {
            if let (Some(before), Some(found)) = (was.get(path), session.root.read(path)?) {
                compared.push((path, String::from_utf8_lossy(&found).into_owned(), [before, after]));
            }
        }
        if compared
            .iter()
            .any(|(_, found, texts)| has_extension_line(found, *texts))
        {
            continue;
        }
        for (path, found, texts) in compared {
            if lost.iter().all(|file| file.path != *path) {
                lost.extend(lost_lines(path, &found, texts));
            }
        }
    }
    Ok(lost)
}

/// The vendored crates that the project has only for webhooks, conversions and policies, if Cargo.toml has lost the lines that name them. Without
/// that, a crate that is not there was replaced by another.
pub fn lost_crates(session: &Session, lost: &[ByHand]) -> Result<BTreeSet<RelPath>> {
    let mut paths = BTreeSet::new();
    let is_manifest = |file: &ByHand| file.path.as_str() == "Cargo.toml";
    // The first has none of them.
    if let Some(none) = without(&session.project)
        .first()
        .filter(|_| lost.iter().any(is_manifest))
    {
        let rest = session.plan(none)?.entries;
        let all = session.plan(&session.project)?.entries.into_iter();
        let vendored = all.filter(|(path, entry)| entry.kind == FileKind::Vendored && !rest.contains_key(path));
        paths.extend(vendored.map(|(path, _)| path));
    }
    Ok(paths)
}

/// The project without all of its webhooks, conversions and policies, then without two of these three, then without one.
fn without(project: &Project) -> Vec<Project> {
    let sets = [
        [true, true, true],
        [true, true, false],
        [true, false, true],
        [false, true, true],
        [true, false, false],
        [false, true, false],
        [false, false, true],
    ];
    let mut found = Vec::new();
    for [webhooks, conversions, policies] in sets {
        let mut rest = project.clone();
        for kind in &mut rest.kinds {
            kind.webhooks = kind.webhooks.take().filter(|_| !webhooks);
            kind.conversion = kind.conversion.take().filter(|_| !conversions);
            kind.policy = kind.policy.take().filter(|_| !policies);
            kind.mutating_policy = kind.mutating_policy.take().filter(|_| !policies);
        }
        if rest != *project && !found.contains(&rest) {
            found.push(rest);
        }
    }
    found
}
