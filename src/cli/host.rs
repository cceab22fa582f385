//! The files of a project for its Git host, where other files may be first.

use super::report;
use crate::write::Outcome;

/// Whether a repository of a Git host has this file from the beginning, and no other file of the project needs it.
pub fn is_of_host(path: &str) -> bool {
    let files = ["README.md", "LICENSE", "AGENTS.md", ".gitattributes", ".gitignore"];
    files.contains(&path)
        || [".github/", ".devcontainer/"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// Names the files that stay as they are.
pub fn keep(outcome: &Outcome) {
    for path in &outcome.present {
        report::note(&format!("kept `{path}`, which was there"));
    }
}
