//! `kubewright edit controller`: a controller uses another version of its kind.

use super::report;
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use crate::project::{ControllerName, Kind, Project, Version};
use anyhow::Result;
use std::path::Path;

/// Flags of `edit controller`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rewrites the files of the controller. For files that you have edited, it prints
the lines to change instead.

Example:
  kubewright edit controller foobar --version v2")]
pub struct Args {
    /// The controller, such as `foobar`
    #[arg(value_name = "NAME")]
    name: ControllerName,
    /// The version of its kind to use from now on
    #[arg(long)]
    version: Version,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Moves a controller of the project in `dir` to another version.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let session = Session::open(dir, access(args.dry_run))?;
    let project = session.project.with_controller_at(&args.name, &args.version)?;
    if project == session.project {
        report::note(&format!(
            "nothing to do: `{}` uses version `{}`",
            args.name, args.version
        ));
        return Ok(());
    }
    let outcome = Transition::new(&session, &project, &Seeded::Follow)?.outcome(&session, false)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        if let Some(note) = before_conversion(&project, &args) {
            report::note(&note);
        }
        report::note("\nnext:\n  make test   shows that the controller serves objects of all versions");
    }
    Ok(())
}

/// A note if the controller needs the operator's own conversion: until the operator has entered it in the CRD, an object that
/// is written in the controller's version is stored without what the stored version does not have.
fn before_conversion(project: &Project, args: &Args) -> Option<String> {
    let uses = |kind: &&Kind| kind.controllers.iter().any(|it| it.name == args.name);
    let kind = project.kinds.iter().find(uses)?;
    kind.conversion.as_ref()?;
    let stored = kind.stored().filter(|stored| stored.name != args.version)?;
    let Args { version, .. } = args;
    Some(format!(
        "\nobjects are stored in `{}`: in a cluster where the operator has not entered its conversion yet, an object that is written in `{version}`\n\
         loses the fields that `{}` lacks. Make `{version}` the storage version in the same release: kubewright create api --group {} --version {version} --kind {} --storage",
        stored.name, stored.name, kind.group, kind.name
    ))
}
