//! `kubewright upgrade`: moves a project to this release. The templates of the release that wrote it give the text from which the
//! user's changes are told from those of the releases.

mod crates;
mod files;
mod former;
mod renames;

use super::ask::Usage;
use super::crates::to_be_locked;
use super::session::{Session, access};
use super::{host, report};
use crate::plan::{FileKind, RelPath};
use crate::project::{Project, Release, file};
use crate::render::{Sources, Templates};
use crate::write::{Outcome, has_conflicts};
use anyhow::{Result, anyhow, bail};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Flags of `upgrade`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Managed files and vendored crates are replaced. Your own files get a three-way
merge of your changes and the changes of this release. Lines that both changed
are written with conflict markers, and the command then exits with 1. It needs
neither git nor a network.

Examples:
  kubewright upgrade --dry-run
  kubewright upgrade")]
pub struct Args {
    /// The release to upgrade to; a kubewright upgrades only to its own [default: this one]
    #[arg(long, value_name = "RELEASE")]
    to: Option<Release>,
    /// The folder of your own templates, whose current state is recorded in PROJECT
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Upgrades the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let own = Release::own();
    check_target(args.to.as_ref(), &own)?;
    let session = Session::open_earlier(dir, access(args.dry_run), args.templates.as_deref())?;
    let from: Release = session.project.version.parse()?;
    if from > own {
        return Err(file::newer(&from));
    }
    let unresolved = unresolved(&session)?;
    if !unresolved.is_empty() {
        return Err(conflicts("there are conflict markers of an earlier merge", &unresolved));
    }
    if from == own && args.templates.is_some() {
        return Err(Usage::error(format!(
            "the project is at kubewright {own} already, so no upgrade can record `--templates`\n\n\
             hint: `kubewright sync --templates DIR` records them"
        )));
    }
    if from == own {
        return former::upgrade(session, args.dry_run);
    }
    let project = Project {
        version: own.to_string(),
        ..session.project.clone()
    };
    let (mut outcome, ejected) = outcome(&session, &project, &from)?;
    let (conflicting, deleted) = (
        std::mem::take(&mut outcome.conflicts),
        std::mem::take(&mut outcome.deleted),
    );
    host::keep(&session.root, &mut outcome)?;
    let unlisted = files::unlisted(&outcome);
    session.finish(&project, outcome, args.dry_run)?;
    for path in unlisted {
        report::note(&format!(
            "nothing reads `{path}` any more, because the `kustomization.yaml` beside it no longer lists it: move your changes of it to the files of {own} by hand"
        ));
    }
    for path in deleted {
        report::note(&format!(
            "`{path}`, which kubewright {own} changes or adds, is left out: you deleted it, or its folder"
        ));
    }
    for path in ejected {
        report::note(&format!(
            "`{path}` is ejected, so it is not upgraded: adapt it to the crates of {own} by hand"
        ));
    }
    finished(&conflicting, [&from, &own], args.dry_run)?;
    if !args.dry_run && !project.crates.are_in_project() {
        report::note(&format!("\n{}", to_be_locked(&project)));
    }
    Ok(())
}

/// Refuses every other release than the binary's own: it has templates and crates of no later one.
fn check_target(target: Option<&Release>, own: &Release) -> Result<()> {
    match target {
        Some(target) if target != own => bail!(
            "this kubewright upgrades projects to {own}, not to {target}\n\nhint: install that release with `{}`, and run its `upgrade`",
            file::install(&target.to_string())
        ),
        _ => Ok(()),
    }
}

/// Everything that the upgrade changes, and the crates that it leaves alone because they are ejected.
fn outcome(session: &Session, project: &Project, from: &Release) -> Result<(Outcome, Vec<RelPath>)> {
    let Some(sources) = Sources::of(from)? else {
        return Err(unknown(from));
    };
    let earlier = Templates::of(Cow::Owned(sources), &session.own_templates)?;
    let crates = crates::replace(session, project, &earlier)?;
    let mut outcome = files::Releases::new(session, project, &earlier)?.outcome(session)?;
    outcome.changes.extend(crates.changes);
    Ok((outcome, crates.ejected))
}

fn unknown(from: &Release) -> anyhow::Error {
    let carried: Vec<_> = Sources::carried()
        .iter()
        .map(|release| format!("`{release}`"))
        .collect();
    anyhow!(
        "this kubewright does not have the templates of {from}, which wrote the project\n\n\
         hint: it upgrades projects of {}; a later kubewright may have them",
        match carried.is_empty() {
            true => "no release".to_owned(),
            false => carried.join(", "),
        }
    )
}

/// Seeded files with conflict markers.
fn unresolved(session: &Session) -> Result<Vec<RelPath>> {
    let mut found = Vec::new();
    for (path, entry) in session.plan(&session.project)?.entries {
        if entry.kind == FileKind::Seeded
            && let Some(bytes) = session.root.read(&path)?
            && has_conflicts(&String::from_utf8_lossy(&bytes))
        {
            found.push(path);
        }
    }
    Ok(found)
}

fn conflicts(what: &str, paths: &[RelPath]) -> anyhow::Error {
    let names: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    anyhow!(
        "{what}: {}\n\nhint: edit {}: keep what you want of the texts between `<<<<<<<` and `>>>>>>>`, and delete the markers",
        names.join(", "),
        if paths.len() == 1 { "it" } else { "them" }
    )
}

/// Prints the remaining steps; conflicts are an error, as for `git merge`.
fn finished(conflicting: &[RelPath], [from, own]: [&Release; 2], dry_run: bool) -> Result<()> {
    match (conflicting.is_empty(), dry_run) {
        (true, true) => report::note(&format!(
            "\nan upgrade from {from} to {own} makes these changes, without conflicts"
        )),
        (true, false) => report::note(&format!(
            "\nupgraded the project from kubewright {from} to {own}; see {}/blob/v{own}/CHANGELOG.md\n\nnext:\n  make manifests build test",
            env!("CARGO_PKG_REPOSITORY")
        )),
        (false, true) => return Err(conflicts("the upgrade would write conflict markers", conflicting)),
        (false, false) => {
            let what = format!(
                "the project is upgraded to kubewright {own}, with conflicts between your changes and those of the release"
            );
            return Err(conflicts(&what, conflicting));
        }
    }
    Ok(())
}
