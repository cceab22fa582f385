//! Moves a project between vendored crates, archives and the crates of a registry, in one transaction.

use super::report;
use super::session::Session;
use super::transition::{Seeded, Transition};
use crate::plan::{FileKind, Plan, RelPath, Source};
use crate::project::{Crates, Project};
use crate::render::vendor::Texts;
use crate::write::{
    Change, Origin, State, path_lines, text_diff, used_crates, vendored_files, vendored_origin, vendored_state,
};
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// Moves the open project.
///
/// # Errors
/// If a crate in the project is not as this release writes it: its edits would be lost.
pub fn change(session: Session, crates: Crates, dry_run: bool) -> Result<()> {
    let project = Project {
        crates,
        ..session.project.clone()
    };
    check_unchanged(&session)?;
    let mut transition = Transition::new(&session, &project, &Seeded::Merge)?;
    let unused = unused(&session, &project)?;
    for source in &unused {
        transition.leave_out(|path| is_of(source, path));
    }
    let mut outcome = transition.outcome(&session, false)?;
    if crates == Crates::Registry {
        outcome.by_hand.extend(path_lines(&session.root)?);
    }
    session.finish(&project, outcome, dry_run)?;
    for source in unused {
        report::note(&format!(
            "`crates/{}` is left out, because no package of the project uses it",
            source.name()
        ));
    }
    if !dry_run {
        report::note(&match crates {
            Crates::Registry => to_be_locked(&project),
            Crates::Vendored => format!("the crates of kubewright {} are in `crates/`", project.version),
            Crates::Archives => format!("the crates of kubewright {} are archives in `crates/`", project.version),
        });
    }
    Ok(())
}

/// The crates of the new project that no package uses, such as `apiserver` where `dev/` was deleted.
fn unused(session: &Session, project: &Project) -> Result<Vec<Source>> {
    let used = used_crates(&session.root)?;
    let planned = session.plan(project)?.entries.into_values();
    let crates = planned.filter(|entry| entry.kind == FileKind::Vendored && !used.contains(entry.source.name()));
    Ok(crates.map(|entry| entry.source).collect())
}

/// Whether a file is a part of the crate.
pub fn is_of(source: &Source, path: &str) -> bool {
    path.starts_with(&format!("crates/{}/", source.name()))
}

/// The crates of a plan whose folders are not in the project.
pub fn absent(session: &Session, plan: &Plan) -> Result<Vec<Source>> {
    let mut absent = Vec::new();
    for (folder, entry) in &plan.entries {
        if entry.kind == FileKind::Vendored && !session.root.is_folder(folder)? {
            absent.push(entry.source.clone());
        }
    }
    Ok(absent)
}

/// The changes that delete these files.
pub fn deleted(session: &Session, paths: &[RelPath]) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for path in paths {
        changes.push(Change {
            path: path.clone(),
            before: session.root.read(path)?,
            after: None,
        });
    }
    changes.retain(|change| change.before.is_some());
    Ok(changes)
}

/// A note on the source of the crates of a project without vendored crates, and on its lock.
pub fn to_be_locked(project: &Project) -> String {
    format!(
        "kubewright's crates come from crates.io, in version {} or a later patch; until it is published there, builds fail.\n\
         The first build adds them to `Cargo.lock`: commit it, because CI and the image are built with `--locked`",
        project.version
    )
}

/// Refuses to delete a crate that is not as this binary has it, and prints what was edited.
fn check_unchanged(session: &Session) -> Result<()> {
    let mut found = Vec::new();
    for (folder, entry) in session.plan(&session.project)?.entries {
        if entry.kind == FileKind::Vendored
            && let Some(what) = changed(session, &folder, &entry.source)?
        {
            found.push(format!("`{folder}`, {what}"));
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => bail!(
            "the project has crates that are not those of this kubewright {}: {}\n\n\
             hint: restore each with git; or, to lose what is in it, delete its folder; then run the command again",
            env!("CARGO_PKG_VERSION"),
            found.join("; ")
        ),
    }
}

/// The edits that would be lost with a crate, if any.
fn changed(session: &Session, folder: &RelPath, source: &Source) -> Result<Option<String>> {
    let found = vendored_files(&session.root, folder)?;
    match vendored_state(&session.root, folder, source)? {
        _ if found.is_empty() => return Ok(None),
        State::Ejected => return Ok(Some("ejected".to_owned())),
        _ => {}
    }
    Ok(match vendored_origin(&session.root, folder, source)? {
        Origin::Embedded => None,
        Origin::Earlier(release) => Some(format!("of {release}, which `kubewright upgrade` replaces")),
        Origin::Unchecked(release) => Some(format!("of {release}")),
        Origin::Nobody => {
            let sources = session.templates.sources();
            let own = sources.unit(source.name(), session.project.crates)?;
            report::result(&edits(folder, &own, &found))?;
            Some("edited: see the differences above".to_owned())
        }
    })
}

/// The difference between a crate as it was written and as it was found.
pub fn edits(folder: &RelPath, was: &Texts, found: &Texts) -> String {
    let paths: BTreeSet<&String> = was.keys().chain(found.keys()).collect();
    let text = |path: &&String| {
        let [before, after] = [was, found].map(|side| side.get(*path).map_or("", String::as_str));
        (before != after).then(|| text_diff(&format!("{folder}/{path}"), before, after))
    };
    paths.iter().filter_map(text).collect()
}
