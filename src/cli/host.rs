//! The files of a project for its Git host, where other files may be first.

use super::report;
use crate::write::{Change, Outcome, Root};
use anyhow::Result;

const CI: &str = ".github/workflows/ci.yml";
const RELEASE: &str = ".github/workflows/release.yml";

/// Whether a repository of a Git host has this file from the beginning, and no other file of the project needs it.
pub fn is_of_host(path: &str) -> bool {
    let files = ["README.md", "LICENSE", "AGENTS.md", ".gitattributes", ".gitignore"];
    files.contains(&path)
        || [".github/", ".devcontainer/"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// Names the files that stay as they are. A new workflow for releases is left out where it would call no workflow: GitHub refuses it.
pub fn keep(root: &Root, outcome: &mut Outcome) -> Result<()> {
    for path in &outcome.present {
        report::note(&format!("kept `{path}`, which was there"));
    }
    let at = |path| move |change: &Change| change.path.as_str() == path;
    let calls = |change: &Change| change.after.as_ref().is_some_and(|it| it.text.contains(CI));
    let added = |change: &Change| at(RELEASE)(change) && change.before.is_none() && calls(change);
    let Some(release) = outcome.changes.iter().position(added) else {
        return Ok(());
    };
    let ci = match outcome.changes.iter().find(|change| at(CI)(change)) {
        Some(change) => change.after.as_ref().map(|file| file.text.clone().into_bytes()),
        None => root.read(&CI.parse()?)?,
    };
    if !String::from_utf8_lossy(&ci.unwrap_or_default()).contains("workflow_call") {
        outcome.changes.remove(release);
        report::note(&format!(
            "left out `{RELEASE}`, because it calls `{CI}`, and there is none with `on: workflow_call`"
        ));
    }
    Ok(())
}
