//! `kubewright create webhook`: admission webhooks and the policies of a kind of the project, and the conversion between its
//! versions.

use super::ask::{Ask, Usage};
use super::external;
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{kubebuilder, report, webhook};
use crate::project::{Between, Group, Kind, KindName, PolicyForm, Project, Version, WebhookTypes};
use crate::write::Change;
use anyhow::Result;
use std::path::Path;

/// Flags of `create webhook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Types can be added one at a time: files that you have edited are merged, and
where that is not possible you get the lines to add.

`--conversion` writes functions that convert between the hub, which is the
storage version, and each other version. They move each field that has the same
name and type in both; a `compile_error!` marks each decision that is yours.

`--policy` writes expressions that the API server evaluates itself: no server,
no certificate, and no request fails while the operator is down. If a rule
needs only the object, prefer a rule on the type: `#[kube(validation = …)]`.
`--policy=mutating` writes expressions that change objects; for a constant
value, use a default in the schema.

Examples:
  kubewright create webhook --kind FooBar --defaulting --validation
  kubewright create webhook --group test --version v1 --kind FooBar \\
    --programmatic-validation
  kubewright create webhook --group test --version v1 --kind FooBar \\
    --conversion --spoke v2
  kubewright create webhook --group apps --version v1 --kind Deployment \\
    --validation
  kubewright create webhook --group test --version v1 --kind FooBar --policy
  kubewright create webhook --group test --version v1 --kind FooBar \\
    --policy=mutating")]
pub struct Args {
    #[command(flatten)]
    webhook: webhook::Flags,
    /// The version of the kind that admission webhooks and policies use, and the hub of a conversion
    /// [default: the version of the kind's controller, and the stored version]
    #[arg(long)]
    version: Option<Version>,
    /// Use the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    theirs: kubebuilder::Given<kubebuilder::CreateWebhook>,
}

/// The webhooks, policies and conversions to add.
struct Wanted {
    /// The admission webhooks, with the version whose type they get.
    admission: Option<(WebhookTypes, Version)>,
    conversion: Option<Between>,
    /// The kind that gets policies, in the version that their expressions read.
    policies: Option<(Group, KindName, Version, Vec<PolicyForm>)>,
}

/// Adds webhooks of a kind to the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    args.theirs.refuse()?;
    let session = Session::open(dir, access(args.dry_run))?;
    let wanted = args.complete(&session.project)?;
    let project = wanted.added(&session)?;
    if project == session.project {
        report::note("nothing to do: the kind has these webhooks already");
        return Ok(());
    }
    let edited = match &wanted.admission {
        Some((new, _)) => without_example(&session, &project, new)?,
        None => None,
    };
    let outcome = Transition::new(&session, &project, &Seeded::Merge)?.outcome(&session, false)?;
    let undecided = undecided(&outcome.changes);
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        edited.iter().chain(&undecided).for_each(|note| report::note(note));
        report::note(&wanted.next());
    }
    Ok(())
}

impl Wanted {
    /// The project of the session with them.
    fn added(&self, session: &Session) -> Result<Project> {
        let mut project = session.project.clone();
        if let Some((new, version)) = &self.admission {
            project = project.with_webhooks(new, version)?;
        }
        if let Some(new) = &self.conversion {
            project.own_kind(&new.group, &new.kind)?;
            project = session.with_types(project, &new.group, &new.kind)?;
            project = project.with_conversion(new)?;
        }
        if let Some((group, kind, version, forms)) = &self.policies {
            for form in forms {
                project = project.with_policy(group, kind, version, *form)?;
            }
        }
        Ok(project)
    }

    /// The next command to run.
    fn next(&self) -> String {
        let served = self.admission.is_some() || self.conversion.is_some();
        let (written, test) = match (served, self.policies.is_some()) {
            (true, false) => ("config/webhook and the RBAC role", "calls the webhooks"),
            (true, true) => (
                "config/webhook, config/policy and the RBAC role",
                "calls the webhooks, and tries the policy",
            ),
            (false, _) => (
                "config/policy, with all expressions compiled",
                "tries the policy, without a cluster",
            ),
        };
        let forms = self.policies.iter().flat_map(|(.., forms)| forms);
        let type_does = forms.map(|form| match form {
            PolicyForm::Validating => {
                "\nif a rule needs only the object, write it on the type instead: `#[kube(validation = …)]`\n"
            }
            PolicyForm::Mutating => {
                "\nif a missing field always gets the same value, set a default in the schema instead: `#[serde(default = …)]`\n"
            }
        });
        let type_does: String = type_does.collect();
        format!("{type_does}\nnext:\n  make manifests   writes {written}\n  make test        {test}")
    }
}

impl Args {
    fn complete(&self, project: &Project) -> Result<Wanted> {
        let mut ask = Ask::new(self.yes);
        let ([defaulting, validation, conversion], forms) = self.types(&ask)?;
        let (group, kind) = self.webhook.subject(project, &mut ask, webhook::Unknown::MayBeAdded)?;
        let known = match group.as_ref().zip(kind.as_ref()) {
            Some((group, kind)) => Some(project.admitted_kind(group, kind)?),
            None => None,
        };
        let version = match known.filter(|_| defaulting || validation || !forms.is_empty()) {
            Some(known) => {
                let default = || match known {
                    Some(kind) => version(kind),
                    None => external::version(project, group.as_ref(), kind.as_ref()),
                };
                ask.need("--version", "Version", self.version.clone().or_else(default), None)?
            }
            None => None,
        };
        ask.done("create webhook")?;
        let (Some(group), Some(kind)) = (group, kind) else {
            return Err(Usage::error("the group or kind is missing"));
        };
        Ok(Wanted {
            conversion: conversion.then(|| self.between(&group, &kind)),
            policies: (version.clone().filter(|_| !forms.is_empty()))
                .map(|version| (group.clone(), kind.clone(), version, forms)),
            admission: version.filter(|_| defaulting || validation).map(|version| {
                let types = WebhookTypes {
                    group,
                    kind,
                    defaulting,
                    validation,
                };
                (types, version)
            }),
        })
    }

    /// Whether to add each type: defaulting, validation, conversion; and which policies.
    fn types(&self, ask: &Ask) -> Result<([bool; 3], Vec<PolicyForm>)> {
        const QUESTION: &str = "Types, by their numbers, such as 1,2";
        const TYPES: [&str; 5] = [
            "--defaulting: sets defaults",
            "--validation: refuses objects",
            "--conversion: converts between versions",
            "--policy: expressions with which the API server itself refuses objects",
            "--policy=mutating: expressions with which the API server itself changes objects",
        ];
        let flags = &self.webhook;
        let given = [flags.defaulting, flags.validation, flags.conversion];
        let forms = flags.policies();
        if given.contains(&true) || !forms.is_empty() {
            return Ok((given, forms));
        }
        let chosen = ask.choose(QUESTION, &TYPES)?.unwrap_or_default();
        if chosen.is_empty() {
            return Err(Usage::error(
                "none of `--defaulting`, `--validation`, `--conversion` and `--policy` is given\n\n\
                 hint: give at least one of them; see `kubewright create webhook --help`",
            ));
        }
        let forms = [3, 4].into_iter().zip(PolicyForm::ALL);
        let forms = forms.filter(|(nth, _)| chosen.contains(nth)).map(|(_, form)| form);
        Ok(([0, 1, 2].map(|nth| chosen.contains(&nth)), forms.collect()))
    }

    fn between(&self, group: &Group, kind: &KindName) -> Between {
        Between {
            group: group.clone(),
            kind: kind.clone(),
            hub: self.version.clone(),
            spokes: self.webhook.spoke.clone(),
        }
    }
}

/// The version that the kind's webhooks or its controllers use, or its only one.
fn version(kind: &Kind) -> Option<Version> {
    let webhooks = kind.webhooks.iter().map(|webhooks| &webhooks.version);
    let webhooks = webhooks.chain(kind.policies().map(|(_, policy)| &policy.version));
    let mut used = webhooks.chain(kind.controllers_by_rank().map(|controller| &controller.version));
    let mut versions = kind.versions.iter().map(|version| &version.name);
    let only = versions.next().filter(|_| versions.next().is_none());
    used.next().or(only).cloned()
}

/// A note for each new file with conversions that the author has to complete.
fn undecided(changes: &[Change]) -> Vec<String> {
    let note = |change: &Change| {
        let text = &change.after.as_ref()?.text;
        let count = text.matches("compile_error!").count();
        let made = change.path.as_str().starts_with("src/conversions/") && count > 0;
        made.then(|| {
            format!(
                "\n`{}` does not compile yet, because the versions differ: replace each `compile_error!` in it ({count}),\n\
                 and the fields that differ in `tests` and `config/samples`",
                change.path
            )
        })
    };
    changes.iter().filter_map(note).collect()
}

/// A note if the type no longer has the field of the generated example.
fn without_example(session: &Session, project: &Project, new: &WebhookTypes) -> Result<Option<String>> {
    let Some((kind, webhooks)) = project
        .webhooks()
        .into_iter()
        .find(|(kind, _)| kind.is(&new.group, &new.kind) && kind.origin.is_project())
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
