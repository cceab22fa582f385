//! Detects edits that others made since a command read the files, so that no step overwrites them.

use super::beneath::Beneath;
use super::change::Change;
use crate::plan::RelPath;
use anyhow::{Context, Result, bail};

/// Refuses changes of files that differ from what the command read: an editor may have saved one while the command waited for an answer.
pub fn refuse_edits(tree: &Beneath, changes: &[Change]) -> Result<()> {
    let mut edited = Vec::new();
    for Change { path, before, .. } in changes {
        if read(tree, path)? != *before {
            edited.push(format!("`{path}`"));
        }
    }
    if edited.is_empty() {
        return Ok(());
    }
    bail!(
        "{} changed on the disk while the command ran, so nothing was changed\n\nhint: run the command again",
        edited.join(", ")
    )
}

fn read(tree: &Beneath, path: &RelPath) -> Result<Option<Vec<u8>>> {
    tree.read(path).with_context(|| format!("cannot read `{path}`"))
}
