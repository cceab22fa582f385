//! `kubewright edit`: the project gets another scope or licence. `edit controller` is in a file of its own.

use super::ask::Usage;
use super::deployed::DeployedNames;
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{edit_controller, init, kubebuilder, report};
use crate::plan::RelPath;
use crate::project::settings::Settings;
use crate::project::{License, Owner, Project};
use crate::write::Outcome;
use anyhow::Result;
use std::path::Path;

/// Flags of `edit`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Changes only what the flags name, and keeps your edits. Where a change conflicts
with an edit, it prints the lines to change instead. It replaces an unedited
licence header at the top of a file, and lists the other files.

Examples:
  kubewright edit --namespaced
  kubewright edit --namespaced=false
  kubewright edit --license apache2 --owner 'Jane Doe'
  kubewright edit controller foobar --version v2")]
pub struct Args {
    #[command(subcommand)]
    part: Option<Part>,
    /// Watch only the operator's own namespace, with a Role; `false`: all namespaces, with a ClusterRole
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    namespaced: Option<bool>,
    /// The licence of your code
    #[arg(long, value_enum)]
    license: Option<License>,
    /// The owner in the licence
    #[arg(long, value_name = "NAME", value_parser = init::owner)]
    owner: Option<Owner>,
    /// The copyright year of the licence
    #[arg(long, value_name = "Y", value_parser = clap::value_parser!(u16).range(1970..=9999))]
    year: Option<u16>,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    theirs: kubebuilder::Given<kubebuilder::Edit>,
}

#[derive(Debug, clap::Subcommand)]
enum Part {
    /// Move a controller to another version of its kind
    Controller(edit_controller::Args),
}

/// Changes the project in `dir`, or a controller of it.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    args.theirs.refuse()?;
    let settings = Settings {
        namespaced: args.namespaced,
        license: args.license,
        owner: args.owner,
        year: args.year,
    };
    match args.part {
        None if settings == Settings::default() => Err(Usage::error(
            "there is nothing to change\n\nhint: add `--namespaced`, `--license`, `--owner` or `--year`",
        )),
        None => edit(dir, settings, args.dry_run),
        Some(Part::Controller(part)) if settings == Settings::default() && !args.dry_run => {
            edit_controller::run(dir, part)
        }
        Some(Part::Controller(_)) => Err(Usage::error(
            "`edit controller` does not change the project\n\nhint: put flags of a controller behind `controller`, and change the project with a second command",
        )),
    }
}

fn edit(dir: &Path, settings: Settings, dry_run: bool) -> Result<()> {
    let session = Session::open(dir, access(dry_run))?;
    let before = session.project.clone();
    let project = before.with_settings(settings)?;
    if project == before {
        report::note("nothing to do: the project has these settings already");
        return Ok(());
    }
    let mut outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, false)?;
    if project.namespaced == before.namespaced {
        outcome = without_deleted(outcome);
    }
    let names = DeployedNames::of(&session)?;
    session.finish(&project, with_licence_kept(outcome), dry_run)?;
    if !dry_run {
        of_licence(&before, &project);
        of_scope(&before, &project, &names);
    }
    Ok(())
}

/// A deleted file has no header to change by hand. A deleted LICENSE is still named.
fn without_deleted(mut outcome: Outcome) -> Outcome {
    let has_header = |path: &RelPath| path.folders().next().is_some();
    let deleted: Vec<_> = outcome.deleted.extract_if(.., |path| has_header(path)).collect();
    outcome.by_hand.retain(|file| !deleted.contains(&file.path));
    outcome
}

/// Two licences have no lines in common: an edited text is not changed.
fn with_licence_kept(mut outcome: Outcome) -> Outcome {
    let edited = |path: &str| path == "LICENSE";
    let kept = outcome.by_hand.iter().filter(|file| edited(file.path.as_str()));
    outcome.kept.extend(kept.map(|file| file.path.clone()));
    outcome.by_hand.retain(|file| !edited(file.path.as_str()));
    outcome
}

/// Prints the files that a change of the licence does not affect.
fn of_licence(before: &Project, after: &Project) {
    let of = |project: &Project| (project.license, project.owner.clone(), project.year);
    if of(before) == of(after) {
        return;
    }
    report::note(match after.license {
        License::None if before.license == License::None => {
            "\nno file names the owner or the year, because the project has no licence; `--license` gives it one"
        }
        _ => "\nfiles that you have added yourself keep their headers",
    });
}

/// Prints the steps that remain after a change of the scope.
fn of_scope(before: &Project, after: &Project, names: &DeployedNames) {
    if before.namespaced == after.namespaced {
        return;
    }
    let (binding, role) = (names.named("manager-rolebinding"), names.named("manager-role"));
    let (rights, objects) = match after.namespaced {
        true => (
            "which the operator has in all namespaces until then",
            format!("clusterrolebinding/{binding} clusterrole/{role}"),
        ),
        false => (
            "which have no effect any more",
            format!("--namespace {} rolebinding/{binding} role/{role}", names.namespace),
        ),
    };
    report::note(&format!(
        "\nnext:\n  make manifests   writes the operator's role for this scope\n  make deploy      for each cluster\n  \
         kubectl delete {objects}\n                   after that: the earlier permissions, {rights}"
    ));
}
