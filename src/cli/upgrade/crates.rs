//! The vendored crates of a project in two releases. A crate is replaced as a whole, if it is as one of them wrote it.

use crate::cli::crates::edits;
use crate::cli::report;
use crate::cli::session::Session;
use crate::plan::{FileKind, Plan, RelPath, Source, plan};
use crate::project::Project;
use crate::render::{Rendered, Templates, render};
use crate::write::{Change, Origin, State, vendored_files, vendored_origin, vendored_state};
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// The results of an upgrade for the crates.
#[derive(Default)]
pub struct Crates {
    /// The changes that replace them.
    pub changes: Vec<Change>,
    /// The crates that are not replaced, because the user owns them.
    pub ejected: Vec<RelPath>,
}

/// Replaces the crates of the earlier release by the crates of this one.
///
/// # Errors
/// For crates that were edited, after their edits were printed.
pub fn replace(session: &Session, project: &Project, earlier: &Templates) -> Result<Crates> {
    let vendored = |plan: Plan| plan.only(|_, entry| entry.kind == FileKind::Vendored);
    let before = vendored(plan(&session.project, earlier.catalogue())?);
    let after = vendored(session.plan(project)?);
    let (mut crates, mut edited) = (Crates::default(), Vec::new());
    let folders: BTreeSet<_> = before.entries.keys().chain(after.entries.keys()).collect();
    for folder in folders {
        let crate_plan = |plan: &Plan| plan.clone().only(|path, _| path == folder);
        let files = session.render(project, &crate_plan(&after))?;
        let Some(source @ Source::Crate(name)) = before.entries.get(folder).map(|entry| &entry.source) else {
            free(session, folder, after.entries.get(folder).map(|entry| &entry.source))?;
            crates.changes.extend(written(session, &files)?);
            continue;
        };
        match state(session, folder, source, earlier)? {
            State::Clean | State::Missing => {
                let was = render(&session.project, &crate_plan(&before), earlier)?;
                crates.changes.extend(written(session, &files)?);
                crates.changes.extend(deleted(session, &was, &files)?);
            }
            State::Ejected if session.root.is_folder(folder)? => crates.ejected.push(folder.clone()),
            // Deleted, with everything that used it.
            State::Ejected => {}
            State::Edited | State::Stale => edited.push((folder, name.as_str())),
        }
    }
    match edited.is_empty() {
        true => Ok(crates),
        false => refuse(session, &edited, earlier),
    }
}

/// Refuses a crate of the user's where this release adds one. It is this release's if files of an earlier one were merged into an upgraded project.
fn free(session: &Session, folder: &RelPath, source: Option<&Source>) -> Result<()> {
    let is_ours = || match source {
        Some(source) => Ok(vendored_origin(&session.root, folder, source)? == Origin::Embedded),
        None => Ok::<_, anyhow::Error>(false),
    };
    match session.root.is_folder(folder)? && !is_ours()? {
        true => bail!("`{folder}` exists already, and the release adds a crate there\n\nhint: move it away"),
        false => Ok(()),
    }
}

/// The state of a crate. It is clean as in the release that wrote the project, or as in this one.
fn state(session: &Session, folder: &RelPath, source: &Source, earlier: &Templates) -> Result<State> {
    let found = vendored_state(&session.root, folder, source)?;
    if [State::Missing, State::Ejected].contains(&found) {
        return Ok(found);
    }
    let files = vendored_files(&session.root, folder)?;
    for sources in [earlier.sources(), session.templates.sources()] {
        if sources.has_crate(source.name(), &files)? {
            return Ok(State::Clean);
        }
    }
    Ok(State::Edited)
}

/// The changes that write these files.
pub fn written(session: &Session, files: &Rendered) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (path, file) in files {
        let before = session.root.read(path)?;
        if before.as_deref() != Some(file.bytes()) {
            changes.push(Change {
                path: path.clone(),
                before,
                after: Some(file.clone()),
            });
        }
    }
    Ok(changes)
}

/// The changes that delete the files that only the earlier release has.
fn deleted(session: &Session, was: &Rendered, will: &Rendered) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for path in was.keys().filter(|path| !will.contains_key(*path)) {
        if let Some(before) = session.root.read(path)? {
            changes.push(Change {
                path: path.clone(),
                before: Some(before),
                after: None,
            });
        }
    }
    Ok(changes)
}

/// Prints the edits, and fails.
fn refuse<T>(session: &Session, edited: &[(&RelPath, &str)], earlier: &Templates) -> Result<T> {
    for (folder, name) in edited {
        let found = vendored_files(&session.root, folder)?;
        let was = earlier.sources().unit(name, session.project.crates)?;
        report::result(&edits(folder, &was, &found))?;
    }
    let folders: Vec<_> = edited.iter().map(|(folder, _)| format!("`{folder}`")).collect();
    let ejects: Vec<_> = edited
        .iter()
        .map(|(_, name)| format!("`kubewright eject {name}`"))
        .collect();
    let (was, it) = if edited.len() == 1 {
        ("was", "it")
    } else {
        ("were", "them")
    };
    bail!(
        "{} {was} edited since kubewright {} wrote {it}: see the differences above\n\n\
         hint: restore {it} with git, or own {it} with {}, and then bring {it} to the new release by hand",
        folders.join(", "),
        session.project.version,
        ejects.join(", "),
    )
}
