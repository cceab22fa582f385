//! `kubewright delete webhook`: undoes `create webhook`.

use super::ask::{Ask, Usage, confirm};
use super::deployed::DeployedNames;
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{report, webhook};
use crate::project::{Between, Group, KindName, PolicyForm, Project, WebhookTypes};
use crate::write::Change;
use anyhow::Result;
use std::path::Path;

/// Flags of `delete webhook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a type, all webhooks of the kind and its policies are deleted. Keeps
files that you have changed, and names them, or the lines to remove.

Examples:
  kubewright delete webhook --kind FooBar
  kubewright delete webhook --group test --kind FooBar --defaulting
  kubewright delete webhook --group test --kind FooBar --conversion --spoke v2
  kubewright delete webhook --group test --kind FooBar --policy
  kubewright delete webhook --group test --kind FooBar --policy=mutating")]
pub struct Args {
    #[command(flatten)]
    webhook: webhook::Flags,
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

/// Deletes webhooks of a kind from the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let session = Session::open(dir, access(args.dry_run))?;
    let mut ask = Ask::new(false);
    let subject = args
        .webhook
        .subject(&session.project, &mut ask, webhook::Unknown::Refused)?;
    ask.done("delete webhook")?;
    let (Some(group), Some(kind)) = subject else {
        return Err(Usage::error("the group or kind is missing"));
    };
    let project = args.deleted(&session.project, group, kind)?;
    let before = session.project.clone();
    let outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, args.force)?;
    if !args.dry_run && !may_delete(&outcome.changes, args.yes)? {
        return Ok(());
    }
    let names = DeployedNames::of(&session)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        report::note("\nnext:\n  make manifests   updates the manifests of webhooks and policies, and the RBAC role");
        in_the_cluster(&before, &project, &names);
    }
    Ok(())
}

impl Args {
    /// The project without these webhooks.
    fn deleted(&self, project: &Project, group: Group, kind: KindName) -> Result<Project> {
        let flags = &self.webhook;
        let forms = flags.policies();
        let all = !flags.defaulting && !flags.validation && !flags.conversion && forms.is_empty();
        let own = project.listed_kind(&group, &kind)?;
        let (converted, stated) = (own.conversion.is_some(), own.policies().next().is_some());
        let forms = match all {
            true => own.policies().map(|(form, _)| form).collect(),
            false => forms,
        };
        let mut project = project.clone();
        for form in forms {
            project = project.without_policy(&group, &kind, form)?;
        }
        if flags.conversion || all && converted {
            project = project.without_conversion(&Between {
                group: group.clone(),
                kind: kind.clone(),
                hub: None,
                spokes: flags.spoke.clone(),
            })?;
        }
        let admits = project.listed_kind(&group, &kind)?.webhooks.is_some();
        if flags.defaulting || flags.validation || all && (admits || !converted && !stated) {
            project = project.without_webhooks(&WebhookTypes {
                group,
                kind,
                defaulting: all || flags.defaulting,
                validation: all || flags.validation,
            })?;
        }
        Ok(project)
    }
}

/// Prints the files that are deleted, and asks for confirmation on a terminal.
pub fn may_delete(changes: &[Change], yes: bool) -> Result<bool> {
    let deleted = changes.iter().filter(|change| change.after.is_none());
    let mut deleted: Vec<_> = deleted.map(unit).collect();
    deleted.dedup();
    if yes || deleted.is_empty() {
        return Ok(true);
    }
    let question = match deleted.as_slice() {
        [one] => format!("Delete `{one}`?"),
        several => format!("Delete {} files: `{}`?", several.len(), several.join("`, `")),
    };
    confirm(yes, &question)
}

/// The path of a changed file, or of the crate that it is in.
fn unit(change: &Change) -> String {
    match change.crate_name() {
        Some(name) => format!("crates/{name}"),
        None => change.path.to_string(),
    }
}

/// Prints the objects that remain in a cluster: `make deploy` can neither delete a configuration or a policy nor shorten one, and the CRD in
/// `config/` does not name the converter.
pub fn in_the_cluster(before: &Project, after: &Project, names: &DeployedNames) {
    for (form, kind) in PolicyForm::ALL.into_iter().zip(["validating", "mutating"]) {
        let count = |project: &Project| project.policies().iter().filter(|(_, it, _)| *it == form).count();
        if count(after) < count(before) {
            report::note(&format!(
                "  kubectl delete {kind}admissionpolicybindings,{kind}admissionpolicies --selector app.kubernetes.io/name={}\n\
                 \x20                  in each cluster, before the next `make deploy`, which applies the remaining policies again",
                before.name
            ));
        }
    }
    let count = |project: &Project, mutating: bool| {
        let all = project.webhooks().into_iter();
        all.filter(|(_, own)| if mutating { own.defaulting } else { own.validation })
            .count()
    };
    for (mutating, kind) in [(true, "mutating"), (false, "validating")] {
        if count(after, mutating) < count(before, mutating) {
            report::note(&format!(
                "  kubectl delete {kind}webhookconfiguration {}\n\
                 \x20                  in each cluster, before the next `make deploy`",
                names.named(&format!("{kind}-webhook-configuration"))
            ));
        }
    }
    for (kind, _) in before.conversions() {
        let now = after.kind(&kind.group, &kind.name);
        if now.is_some_and(|now| now.conversion.is_none()) {
            report::note(&format!(
                "  kubectl patch customresourcedefinition {}.{} --type=merge --patch '{}'\n\
                 \x20                  in each cluster, before the next `make deploy`, once no stored object needs the conversion",
                kind.plural,
                before.group_of(kind),
                r#"{"spec":{"conversion":{"strategy":"None","webhook":null}}}"#
            ));
        }
    }
}
