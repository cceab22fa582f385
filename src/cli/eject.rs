//! `kubewright eject`: makes a crate of kubewright the user's own.

use super::crates::deleted;
use super::report;
use super::session::{Session, access};
use crate::plan::{FileKind, RelPath};
use crate::render::File;
use crate::render::vendor::{SOURCE, VERSION, unpacked};
use crate::write::{Change, Outcome, vendored_files};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Flags of `eject`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The crate stays in its folder, and loses the mark of kubewright's crates: the
file VERSION or, in the form of an archive, the first line of Cargo.toml. An
archive is replaced by the files in it.

Example:
  kubewright eject runtime")]
pub struct Args {
    /// The crate, such as `runtime`
    #[arg(value_name = "CRATE")]
    name: String,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Ejects a crate of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    // Also before an upgrade, which refuses crates that were edited and are not ejected.
    let session = Session::open_earlier(dir, access(args.dry_run), None)?;
    let folder = found(&session, &args.name)?;
    let changes = ejecting(&session, &folder)?;
    if changes.is_empty() {
        report::note(&format!("nothing to do: `{folder}` is yours already"));
        return Ok(());
    }
    let outcome = Outcome {
        changes,
        ..Outcome::default()
    };
    let project = session.project.clone();
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        report::note(&format!(
            "`{folder}` is yours now: kubewright no longer checks or replaces it"
        ));
    }
    Ok(())
}

/// The changes that eject a crate; none if it is ejected already.
fn ejecting(session: &Session, folder: &RelPath) -> Result<Vec<Change>> {
    let restore = session.root.git(&format!("checkout -- {folder}"));
    if !session.root.is_folder(folder)? {
        bail!("`{folder}` is missing\n\nhint: restore it with `{restore}`");
    }
    let found = vendored_files(&session.root, folder)?;
    if !found.contains_key(SOURCE) {
        return deleted(session, &[folder.join(VERSION)?]);
    }
    let source = unpacked(&found).with_context(|| {
        format!("`{folder}` cannot be unpacked\n\nhint: restore it with `{restore}`, and edit it once it is ejected")
    })?;
    let mut changes = deleted(session, &[folder.join(SOURCE)?])?;
    for (path, text) in source {
        let path = folder.join(&path)?;
        let file = File {
            kind: FileKind::Vendored,
            executable: false,
            text,
            carried: None,
        };
        changes.push(Change {
            before: session.root.read(&path)?,
            after: Some(file),
            path,
        });
    }
    Ok(changes)
}

/// The folder of a crate of the project, by any of the crate's names.
fn found(session: &Session, name: &str) -> Result<RelPath> {
    let short = name
        .trim_end_matches('/')
        .trim_start_matches("crates/")
        .trim_start_matches("kubewright-");
    let plan = session
        .plan(&session.project)?
        .only(|_, entry| entry.kind == FileKind::Vendored);
    if !session.project.crates.are_in_project() {
        bail!(
            "this project has no vendored crates: they are from a registry\n\nhint: take them into `crates/` with `kubewright sync --crates vendored`"
        );
    }
    let names: Vec<_> = plan
        .entries
        .values()
        .map(|entry| entry.source.name().to_owned())
        .collect();
    let mut entries = plan.entries.into_iter();
    let Some((path, _)) = entries.find(|(_, entry)| entry.source.name() == short) else {
        bail!(
            "`{name}` is not a vendored crate\n\nhint: the vendored crates are `{}`",
            names.join("`, `")
        );
    };
    Ok(path)
}
