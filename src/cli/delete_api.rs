//! `kubewright delete api`: undoes `create api`.

use super::ask::{Ask, Usage};
use super::report;
use super::session::{Session, access};
use crate::plan::FileKind;
use crate::project::{Group, Kind, Version};
use crate::write::{Intent, Intents, compare};
use anyhow::Result;
use std::path::Path;

/// Flags of `delete api`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files that you changed are kept, and named. The CRD goes with the next `make manifests`.

Example:
  kubewright delete api --group test --version v1 --kind FooBar")]
pub struct Args {
    /// The API group without the domain
    #[arg(long)]
    group: Option<Group>,
    /// The API version
    #[arg(long)]
    version: Option<Version>,
    /// The kind
    #[arg(long)]
    kind: Option<Kind>,
    /// Delete the files that you changed too
    #[arg(long)]
    force: bool,
    /// Show as a diff what would be deleted
    #[arg(long)]
    dry_run: bool,
}

/// Takes a kind out of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let session = Session::open(dir, access(args.dry_run))?;
    let mut ask = Ask::new(false);
    let group = ask.need("--group", "Group, without the domain", args.group, None)?;
    let version = ask.need("--version", "Version", args.version, None)?;
    let kind = ask.need("--kind", "Kind", args.kind, None)?;
    ask.done("delete api")?;
    let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
        return Err(Usage::error("the group, version or kind is missing"));
    };
    let project = session.project.without_api(&group, &version, &kind)?;
    let stay = session.plan(&project)?;
    let was = session.render(&session.project, |path| !stay.entries.contains_key(path))?;
    let will = session.render(&project, |_| false)?;
    let mut intents = Intents::new();
    for (path, file) in &was {
        let intent = match will.get(path) {
            Some(after) if after == file => continue,
            Some(after) => Intent::Manage {
                after,
                before: Some(file),
            },
            None if file.kind == FileKind::Managed || !stay.entries.contains_key(path) => Intent::Remove(file),
            None => continue,
        };
        intents.insert(path.clone(), intent);
    }
    let outcome = compare(&session.root, &intents, args.force)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        let left = project.other_versions(&group, &version, &kind);
        if let (false, Some(first)) = (left.iter().any(|api| api.storage), left.first()) {
            report::note(&format!(
                "\n`{version}` was the version that is stored: take `storage = false` off another type, such as that of `{}`",
                first.version
            ));
        }
        report::note("\nnext:\n  make manifests   takes the CRD and the RBAC rules out too");
    }
    Ok(())
}
