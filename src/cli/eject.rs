//! `kubewright eject`: makes a vendored crate the user's own.

use super::report;
use super::session::{Session, access};
use crate::plan::{FileKind, RelPath};
use crate::render::vendor::VERSION;
use crate::write::{Change, Outcome};
use anyhow::{Result, bail};
use std::path::Path;

/// Flags of `eject`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The crate stays in its folder. Only its VERSION file is deleted, by which
kubewright recognises its crates.

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

/// Ejects a vendored crate of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    // Also before an upgrade, which refuses crates that were edited and are not ejected.
    let session = Session::open_earlier(dir, access(args.dry_run), None)?;
    let folder = vendored(&session, &args.name)?;
    let version = folder.join(VERSION)?;
    if !session.root.is_folder(&folder)? {
        let restore = session.root.git(&format!("checkout -- {folder}"));
        bail!("`{folder}` is missing\n\nhint: restore it with `{restore}`");
    }
    let Some(before) = session.root.read(&version)? else {
        report::note(&format!("nothing to do: `{folder}` is yours already"));
        return Ok(());
    };
    let outcome = Outcome {
        changes: vec![Change {
            path: version,
            before: Some(before),
            after: None,
        }],
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

/// The folder of a crate, by any of its names.
fn vendored(session: &Session, name: &str) -> Result<RelPath> {
    let short = name
        .trim_end_matches('/')
        .trim_start_matches("crates/")
        .trim_start_matches("kubewright-");
    let plan = session
        .plan(&session.project)?
        .only(|_, entry| entry.kind == FileKind::Vendored);
    if !session.project.crates.is_vendored() {
        bail!(
            "this project has no vendored crates: they are from a registry\n\nhint: take them into `crates/` with `kubewright sync --crates vendored`"
        );
    }
    let names: Vec<_> = plan.entries.values().map(|entry| entry.source.name()).collect();
    if !names.contains(&short) {
        bail!(
            "`{name}` is not a vendored crate\n\nhint: the vendored crates are `{}`",
            names.join("`, `")
        );
    }
    format!("crates/{short}").parse()
}
