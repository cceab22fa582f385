//! The archives of a project in two releases. An archive is replaced if it is as one of them wrote it.

use super::crates::{Crates, written};
use crate::cli::crates::deleted;
use crate::cli::session::Session;
use crate::plan::{RelPath, Source, plan};
use crate::project::Project;
use crate::render::Templates;
use crate::write::{Origin, State, archive_files, folder, vendored_origin, vendored_state};
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// Replaces the archives of the earlier release by the archives of this one.
///
/// # Errors
/// For archives that are damaged, or of a release that this binary does not contain.
pub fn replace(session: &Session, project: &Project, earlier: &Templates) -> Result<Crates> {
    let before = plan(&session.project, earlier.catalogue())?;
    let after = session.plan(project)?;
    let all = before.entries.iter().chain(&after.entries);
    let all: BTreeMap<_, _> = all
        .filter(|(_, entry)| matches!(entry.source, Source::Archive(_)))
        .collect();
    let (mut crates, mut damaged) = (Crates::default(), Vec::new());
    for (path, entry) in all {
        let files = session.render(project, &after.clone().only(|other, _| other == path))?;
        let own = folder(path, &entry.source)?;
        let is_new = !before.entries.contains_key(path);
        let state = vendored_state(&session.root, path, &entry.source)?;
        match state {
            State::Ejected if session.root.is_folder(&own)? => crates.ejected.push(own),
            State::Ejected if !is_new => {}
            State::Clean if !is_known(session, path, &entry.source)? => damaged.push(path.to_string()),
            State::Clean | State::Missing | State::Ejected => {
                let mut old = archive_files(&session.root, entry.source.name())?;
                old.retain(|path| !files.contains_key(path));
                crates.changes.extend(deleted(session, &old)?);
                crates.changes.extend(written(session, &files)?);
            }
            State::Edited | State::Stale => damaged.push(path.to_string()),
        }
    }
    match damaged.is_empty() {
        true => Ok(crates),
        false => bail!(
            "these crates are not archives of a release: `{}`\n\nhint: restore them with `{}`",
            damaged.join("`, `"),
            session.root.git("checkout -- crates")
        ),
    }
}

fn is_known(session: &Session, path: &RelPath, source: &Source) -> Result<bool> {
    let origin = vendored_origin(&session.root, path, source)?;
    Ok(matches!(origin, Origin::Embedded | Origin::Earlier(_)))
}
