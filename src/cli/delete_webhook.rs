//! `kubewright delete webhook`: undoes `create webhook`.

use super::ask::{Ask, Usage};
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{report, webhook};
use crate::project::{Project, WebhookTypes};
use anyhow::Result;
use std::path::Path;

/// Flags of `delete webhook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a type, all webhooks of the kind are deleted. Keeps files that you have changed, and names
them, or the lines to remove.

Examples:
  kubewright delete webhook --kind FooBar
  kubewright delete webhook --group test --kind FooBar --defaulting")]
pub struct Args {
    #[command(flatten)]
    webhook: webhook::Flags,
    /// Delete files even if you have changed them
    #[arg(long)]
    force: bool,
    /// Show the changes as a diff, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// Deletes webhooks of a kind from the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    args.webhook.check()?;
    let session = Session::open(dir, access(args.dry_run))?;
    let mut ask = Ask::new(false);
    let (group, kind) = args.webhook.subject(&session.project, &mut ask)?;
    ask.done("delete webhook")?;
    let (Some(group), Some(kind)) = (group, kind) else {
        return Err(Usage::error("the group or kind is missing"));
    };
    let all = !args.webhook.defaulting && !args.webhook.validation;
    let gone = WebhookTypes {
        group,
        kind,
        defaulting: all || args.webhook.defaulting,
        validation: all || args.webhook.validation,
    };
    let project = session.project.without_webhooks(&gone)?;
    let before = session.project.clone();
    let outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, args.force)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        report::note("\nnext:\n  make manifests   updates config/webhook and the RBAC role");
        in_the_cluster(&before, &project);
    }
    Ok(())
}

/// Says what stays in a cluster: `make deploy` can neither delete a configuration nor shorten one.
pub fn in_the_cluster(before: &Project, after: &Project) {
    let count = |project: &Project, mutating: bool| {
        let all = project.webhooks().into_iter();
        all.filter(|(_, own)| if mutating { own.defaulting } else { own.validation })
            .count()
    };
    for (mutating, kind) in [(true, "mutating"), (false, "validating")] {
        if count(after, mutating) < count(before, mutating) {
            report::note(&format!(
                "  kubectl delete --ignore-not-found {kind}webhookconfiguration {}-{kind}-webhook-configuration\n\
                 \x20                  where it is deployed, before the next `make deploy`",
                before.name
            ));
        }
    }
}
