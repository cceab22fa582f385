//! Moves a project between vendored crates and those of a registry, in one transaction.

use super::report;
use super::session::Session;
use super::transition::{Seeded, Transition};
use crate::plan::{FileKind, RelPath};
use crate::project::{Crates, Project};
use crate::write::{Origin, State, text_diff, used_crates, vendored_files, vendored_origin, vendored_state};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// Moves the open project.
///
/// # Errors
/// To a registry, if a crate in the project is not as this release writes it: its edits would be lost.
pub fn change(session: Session, crates: Crates, dry_run: bool) -> Result<()> {
    let project = Project {
        crates,
        ..session.project.clone()
    };
    if crates == Crates::Registry {
        check_unchanged(&session)?;
    }
    let mut transition = Transition::new(&session, &project, &Seeded::Merge)?;
    let unused = match crates {
        Crates::Vendored => unused(&session, &project)?,
        Crates::Registry => Vec::new(),
    };
    unused.iter().for_each(|folder| transition.leave_out(folder));
    let outcome = transition.outcome(&session, false)?;
    session.finish(&project, outcome, dry_run)?;
    for folder in unused {
        report::note(&format!(
            "`{folder}` is left out, because no package of the project uses it"
        ));
    }
    if !dry_run {
        report::note(&match crates {
            Crates::Registry => to_be_locked(&project),
            Crates::Vendored => format!("the crates of kubewright {} are in `crates/`", project.version),
        });
    }
    Ok(())
}

/// The folders of the crates that no package uses, such as `crates/apiserver` where `dev/` was deleted.
fn unused(session: &Session, project: &Project) -> Result<Vec<RelPath>> {
    let used = used_crates(&session.root)?;
    let planned = session.plan(project)?.entries.into_iter();
    let crates = planned.filter(|(_, entry)| entry.kind == FileKind::Vendored && !used.contains(entry.source.name()));
    Ok(crates.map(|(folder, _)| folder).collect())
}

/// A note on the source of the crates of a project without vendored crates, and on its lock.
pub fn to_be_locked(project: &Project) -> String {
    format!(
        "kubewright's crates come from crates.io, in version {} or a later patch of it, which has to be released.\n\
         The first build adds them to `Cargo.lock`: commit it, because CI and the image are built with `--locked`",
        project.version
    )
}

/// Refuses to delete a crate that is not as this binary has it, and prints what was edited.
fn check_unchanged(session: &Session) -> Result<()> {
    let mut found = Vec::new();
    for (folder, entry) in session.plan(&session.project)?.entries {
        if entry.kind == FileKind::Vendored
            && let Some(what) = changed(session, &folder, entry.source.name())?
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
fn changed(session: &Session, folder: &RelPath, name: &str) -> Result<Option<String>> {
    let found = vendored_files(&session.root, folder)?;
    if found.is_empty() {
        return Ok(None);
    }
    if vendored_state(&session.root, folder, name)? == State::Ejected {
        return Ok(Some("ejected".to_owned()));
    }
    Ok(match vendored_origin(&session.root, folder, name)? {
        Origin::Embedded => None,
        Origin::Earlier(release) => Some(format!("of {release}, which `kubewright upgrade` replaces")),
        Origin::Unchecked(release) => Some(format!("of {release}")),
        Origin::Nobody => {
            let own = session.templates.sources().crate_files(name);
            report::result(&edits(folder, &own, &found))?;
            Some("edited: see the differences above".to_owned())
        }
    })
}

/// The difference between a crate as it was written and as it was found.
pub fn edits(folder: &RelPath, was: &BTreeMap<&str, &str>, found: &BTreeMap<String, String>) -> String {
    let paths: BTreeSet<&str> = was.keys().copied().chain(found.keys().map(String::as_str)).collect();
    let text = |path: &&str| {
        let (before, after) = (
            was.get(path).copied().unwrap_or_default(),
            found.get(*path).map_or("", String::as_str),
        );
        (before != after).then(|| text_diff(&format!("{folder}/{path}"), before, after))
    };
    paths.iter().filter_map(text).collect()
}
