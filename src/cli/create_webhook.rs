//! `kubewright create webhook`: admission webhooks of a kind of the project.

use super::ask::{Ask, Usage};
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{report, webhook};
use crate::project::{Kind, Project, Version, WebhookTypes};
use anyhow::Result;
use std::path::Path;

/// Flags of `create webhook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Types can be added one at a time: files that you have edited are merged, and where that is not
possible you get the lines to add.

Examples:
  kubewright create webhook --kind FooBar --defaulting --validation
  kubewright create webhook --group test --version v1 --kind FooBar --programmatic-validation")]
pub struct Args {
    #[command(flatten)]
    webhook: webhook::Flags,
    /// The version of the kind whose type the webhooks get [default: that of its controller]
    #[arg(long)]
    version: Option<Version>,
    /// Use the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Adds webhooks of a kind to the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    args.webhook.check()?;
    let session = Session::open(dir, access(args.dry_run))?;
    let (new, version) = args.complete(&session.project)?;
    let project = session.project.with_webhooks(&new, &version)?;
    if project == session.project {
        report::note(&format!("nothing to do: `{}` has these webhooks already", new.kind));
        return Ok(());
    }
    let edited = without_example(&session, &project, &new)?;
    let outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, false)?;
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        edited.iter().for_each(|note| report::note(note));
        report::note(
            "\nnext:\n  make manifests   writes config/webhook and the RBAC role\n  make test        calls the webhooks",
        );
    }
    Ok(())
}

impl Args {
    fn complete(&self, project: &Project) -> Result<(WebhookTypes, Version)> {
        let (defaulting, validation) = (self.webhook.defaulting, self.webhook.validation);
        if !defaulting && !validation {
            return Err(Usage::error(
                "neither `--defaulting` nor `--validation` is given\n\n\
                 hint: give one of them, or both; see `kubewright create webhook --help`",
            ));
        }
        let mut ask = Ask::new(self.yes);
        let (group, kind) = self.webhook.subject(project, &mut ask)?;
        let known = match group.as_ref().zip(kind.as_ref()) {
            Some((group, kind)) => Some(project.own_kind(group, kind)?),
            None => None,
        };
        let version = match known {
            Some(kind) => ask.need(
                "--version",
                "Version",
                self.version.clone().or_else(|| version(kind)),
                None,
            )?,
            None => None,
        };
        ask.done("create webhook")?;
        let (Some(group), Some(kind), Some(version)) = (group, kind, version) else {
            return Err(Usage::error("the group, version or kind is missing"));
        };
        let new = WebhookTypes {
            group,
            kind,
            defaulting,
            validation,
        };
        Ok((new, version))
    }
}

/// The version that the kind's webhooks or its controllers use, or its only one.
fn version(kind: &Kind) -> Option<Version> {
    let webhooks = kind.webhooks.iter().map(|webhooks| &webhooks.version);
    let mut used = webhooks.chain(kind.controllers.iter().map(|controller| &controller.version));
    let mut versions = kind.versions.iter().map(|version| &version.name);
    let only = versions.next().filter(|_| versions.next().is_none());
    used.next().or(only).cloned()
}

/// A note if the type no longer has the field of the generated example.
fn without_example(session: &Session, project: &Project, new: &WebhookTypes) -> Result<Option<String>> {
    let Some((kind, webhooks)) = project
        .webhooks()
        .into_iter()
        .find(|(kind, _)| kind.is(&new.group, &new.kind))
    else {
        return Ok(None);
    };
    let path = project.type_path(kind, &webhooks.version);
    let text = session.root.read(&path.parse()?)?;
    let has_target = |text: &Vec<u8>| String::from_utf8_lossy(text).contains("pub target: String");
    Ok(match text.is_some_and(|text| has_target(&text)) {
        true => None,
        false => Some(format!(
            "\n`{path}` has no `target` any more: replace it in `src/webhooks/{0}.rs` and `tests/{0}_webhooks.rs`",
            webhooks.file()
        )),
    })
}
