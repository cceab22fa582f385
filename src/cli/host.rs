//! The files of a project for its Git host, where other files may be first.

use super::{given, report};
use crate::project::printable::printable;
use crate::write::{Change, Outcome, Root, around};
use anyhow::Result;
use std::path::Path;

const CI: &str = ".github/workflows/ci.yml";
const RELEASE: &str = ".github/workflows/release.yml";

/// Whether a repository may have this file from the beginning, as its Git host or its owner adds it, and no other file of the project needs it.
pub fn is_of_host(path: &str) -> bool {
    let files = [
        "README.md",
        "LICENSE",
        "AGENTS.md",
        ".gitattributes",
        ".gitignore",
        "rustfmt.toml",
    ];
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

/// The reason for which the host would not run the workflows of a new project, if there is one.
pub fn idle_workflows(dir: &Path) -> Option<String> {
    let dir = dir.canonicalize().ok()?;
    let own = |path| given::file(&dir.join(path));
    if let Ok(head) = own(".git/HEAD") {
        let branch = head
            .trim()
            .strip_prefix("ref: refs/heads/")
            // `.invalid` stands in repositories whose references are in a database.
            .filter(|branch| !["main", ".invalid"].contains(branch))?;
        return Some(format!(
            "\nthe branch is `{}`, and the project expects `main`: rename the branch, or change `branches` in `{CI}` and `BASE` in the Makefile",
            printable(branch)
        ));
    }
    // A worktree or a submodule has a file of that name.
    let is_top = own(".git").is_ok();
    let top = around(&dir, ".git/HEAD")
        .or_else(|| around(&dir, ".git"))
        .filter(|_| !is_top)?;
    Some(format!(
        "\nthe repository begins in `{}`, and GitHub runs only workflows in `.github` there: move those of the project, and let \
         their steps run in the project's folder",
        top.display()
    ))
}
