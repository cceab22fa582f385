//! `kubewright delete api`: undoes `create api`.

use super::ask::{Ask, Usage};
use super::deployed::DeployedNames;
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{delete_webhook, report};
use crate::project::{Group, KindName, Version};
use anyhow::Result;
use std::path::Path;

/// Flags of `delete api`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Keeps files that you have changed, and names them. The next `make manifests`
updates or deletes the CRD. Before you delete one version alone, move its
controller to another version with `kubewright edit controller`, and choose
another storage version with `kubewright create api --storage`.

Examples:
  kubewright delete api --group test --version v1 --kind FooBar
  kubewright delete api --group test --version v1 --kind FooBar --migrated
  kubewright delete api --group test --kind FooBar --all-versions")]
pub struct Args {
    /// The API group without the domain
    #[arg(long)]
    group: Option<Group>,
    /// The API version; deleting the last version deletes the kind and its controllers
    #[arg(long)]
    version: Option<Version>,
    /// Delete the kind: all its versions and its controllers
    #[arg(long, conflicts_with = "version")]
    all_versions: bool,
    /// The kind
    #[arg(long)]
    kind: Option<KindName>,
    /// Confirm that `make migrate-storage` has run in every cluster, so that no object is stored in this version
    #[arg(long, requires = "version")]
    migrated: bool,
    /// Delete files even if you have changed them
    #[arg(long)]
    force: bool,
    /// Delete without a question
    #[arg(long, short)]
    yes: bool,
    /// Show the changes as a diff, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// Deletes a version of a kind, or all of them, from the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let session = Session::open(dir, access(args.dry_run))?;
    let mut ask = Ask::new(false);
    let kinds = session.project.kind_names(args.group.as_ref());
    let kind = ask.need_of("--kind", "Kind", args.kind, &kinds)?;
    let groups = kind
        .as_ref()
        .map(|kind| session.project.groups_of(kind))
        .unwrap_or_default();
    let group = ask.need_of("--group", "Group, without the domain", args.group, &groups)?;
    let version = match args.all_versions {
        true => None,
        false => {
            let known = group
                .as_ref()
                .zip(kind.as_ref())
                .and_then(|(group, kind)| session.project.kind(group, kind));
            let versions: Vec<_> = known
                .iter()
                .flat_map(|kind| &kind.versions)
                .map(|it| it.name.clone())
                .collect();
            ask.need_of("--version", "Version", args.version, &versions)?
        }
    };
    ask.done("delete api")?;
    let (Some(group), Some(kind)) = (group, kind) else {
        return Err(Usage::error("the group or kind is missing"));
    };
    let project = session.project.without(&group, version.as_ref(), &kind)?;
    if let Some(version) = &version {
        session.project.may_drop(&group, version, &kind, args.migrated)?;
    }
    let outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, args.force)?;
    if !args.dry_run && !delete_webhook::may_delete(&outcome.changes, args.yes)? {
        return Ok(());
    }
    let before = session.project.clone();
    let names = DeployedNames::of(&session)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        report::note("\nnext:\n  make manifests   updates the CRDs and the RBAC role");
        delete_webhook::in_the_cluster(&before, &project, &names);
    }
    Ok(())
}
