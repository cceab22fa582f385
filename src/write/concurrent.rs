//! Detects edits that others made since a command read the files, so that no step overwrites them.

use super::beneath::Beneath;
use super::change::Change;
use super::journal::{FOLDER, JOURNAL, Step, bytes_hash};
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

/// The steps of a found journal that are still to do, each with its number. An error if one of the files was edited since, before any of them
/// is written.
pub fn open_steps<'a, 'b>(tree: &Beneath, steps: &'a [Step<'b>]) -> Result<Vec<(usize, &'a Step<'b>)>> {
    let (mut open, mut edited, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, step) in steps.iter().enumerate() {
        let state = state(tree, step)?;
        if matches!(state, StepState::Open | StepState::Begun) {
            open.push((nth, step));
        }
        match state {
            StepState::Open => {}
            StepState::Begun | StepState::Written => changed.push(format!("`{}`", step.path)),
            StepState::Edited => edited.push(format!("`{}`", step.path)),
        }
    }
    if edited.is_empty() {
        return Ok(open);
    }
    let (were, them) = match edited.len() {
        1 => ("was", "it"),
        _ => ("were", "them"),
    };
    let rest = match changed.is_empty() {
        true => String::new(),
        false => format!("; it has already changed {}", changed.join(", ")),
    };
    bail!(
        "a command was interrupted, and {} {were} edited since\n\n\
         hint: move {them} away so that the command can be completed, or delete `{FOLDER}/{JOURNAL}` to abandon it{rest}",
        edited.join(", ")
    )
}

/// The state of the file of a step.
enum StepState {
    /// As it was before the step, or half written.
    Open,
    /// Without the file that it replaces or deletes. Its empty folders may remain.
    Begun,
    /// As it is after the step.
    Written,
    /// Neither.
    Edited,
}

fn state(tree: &Beneath, step: &Step<'_>) -> Result<StepState> {
    let Some(found) = read(tree, &step.path.parse()?)? else {
        return Ok(match step.before {
            Some(_) => StepState::Begun,
            None => StepState::Open,
        });
    };
    let wanted = step.after.as_ref().map(|contents| contents.text().as_bytes());
    let torn = step.before.is_none() && wanted.is_some_and(|wanted| wanted.starts_with(&found));
    Ok(match () {
        () if wanted == Some(found.as_slice()) => StepState::Written,
        () if torn || Some(bytes_hash(&found)) == step.before => StepState::Open,
        () => StepState::Edited,
    })
}

fn read(tree: &Beneath, path: &RelPath) -> Result<Option<Vec<u8>>> {
    tree.read(path).with_context(|| format!("cannot read `{path}`"))
}
