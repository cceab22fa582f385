//! `kubewright sync`: rewrites managed files from PROJECT, conflict markers of a merge included, writes missing crates, and prints the lines that
//! a merge removed from other files.

use super::session::{Session, access};
use super::{crates, extensions, report};
use crate::plan::{FileKind, RelPath, Source};
use crate::project::Crates;
use crate::render::File;
use crate::write::{Intent, Root, State, compare, leftovers, vendored_state};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Flags of `sync`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
After a merge, resolve PROJECT by hand, then run this. It rewrites managed files
with conflict markers, and refuses managed files that were edited by hand. It
prints the lines for webhooks that the merge removed from your own files.

With `--crates` it moves the project: crates are written to or deleted from
`crates/`, and the files that name them are merged with your edits. A crate that
you edited or ejected is refused.")]
pub struct Args {
    /// Change where kubewright's crates come from, and move the project
    #[arg(long, value_enum, conflicts_with = "templates")]
    crates: Option<Crates>,
    /// The folder of your own templates, whose current state is recorded in PROJECT
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Rewrites the managed files of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let session = Session::open_with(dir, access(args.dry_run), args.templates.as_deref())?;
    if let Some(crates) = args.crates.filter(|crates| *crates != session.project.crates) {
        return crates::change(session, crates, args.dry_run);
    }
    let project = session.project.clone();
    let plan = session.plan(&project)?;
    if args.templates.is_some() {
        // A template that does not render would stop every later command.
        let rendered = |kind| matches!(kind, FileKind::Managed | FileKind::Seeded);
        session.render(&project, &plan.clone().only(|_, entry| rendered(entry.kind)))?;
    }
    let lost = extensions::lost(&session)?;
    let lost_crates = extensions::lost_crates(&session, &lost)?;
    let mut states = BTreeMap::new();
    for (path, entry) in &plan.entries {
        if entry.kind == FileKind::Vendored {
            let state = match lost_crates.contains(path) && !session.root.is_folder(path)? {
                true => State::Missing,
                false => vendored_state(&session.root, path, &entry.source)?,
            };
            states.insert(path, (&entry.source, state));
        }
    }
    let written = plan.clone().only(|path, entry| match entry.kind {
        FileKind::Managed => true,
        FileKind::Vendored => states.get(path).is_some_and(|(_, state)| *state == State::Missing),
        FileKind::Seeded | FileKind::Derived => false,
    });
    let will = session.render(&project, &written)?;
    let intents = will.iter().map(|(path, file)| (path.clone(), intent(file))).collect();
    let intents = managed_or_ejected(&session, intents)?;
    let mut outcome = compare(&session.root, &intents, false)?;
    outcome
        .changes
        .extend(leftovers(&session.root, &will, session.templates.catalogue())?);
    for (path, (source, state)) in states {
        vendored(&session.root, path, source, state);
    }
    if let Some([first, second]) = project.same_suffix() {
        report::note(&format!(
            "children of controllers `{first}` and `{second}` have one name where their owners have; before the second runs in a cluster, \
             give its reconciler another suffix, and write it into PROJECT as `childSuffix`"
        ));
    }
    let is_done = lost.is_empty();
    outcome.by_hand.extend(lost);
    if !session.finish(&project, outcome, args.dry_run)? && is_done {
        report::note("nothing to do: the managed files match PROJECT");
    }
    Ok(())
}

/// A file of a missing crate is new.
fn intent(after: &File) -> Intent<'_> {
    match after.kind {
        FileKind::Vendored => Intent::Seed(after),
        _ => Intent::Manage { after, before: None },
    }
}

/// A managed file without its header belongs to the user, and is not changed.
fn managed_or_ejected<'a>(
    session: &Session,
    mut intents: crate::write::Intents<'a>,
) -> Result<crate::write::Intents<'a>> {
    let mut ejected = Vec::new();
    for (path, intent) in &intents {
        if let Intent::Manage { after, .. } = intent
            && crate::write::state(&session.root, path, FileKind::Managed, Some(after))? == State::Ejected
        {
            ejected.push(path.clone());
        }
    }
    ejected.iter().for_each(|path| {
        intents.remove(path);
    });
    Ok(intents)
}

/// `sync` writes missing crates, and reports edited ones, which it does not repair.
fn vendored(root: &Root, path: &RelPath, source: &Source, state: State) {
    let restore = root.git(&format!("checkout -- {path}"));
    match state {
        State::Edited => report::note(&format!(
            "`{path}` was edited; restore it with `{restore}`, or own it with `kubewright eject {}`",
            source.name()
        )),
        State::Clean | State::Stale | State::Ejected | State::Missing => {}
    }
}
