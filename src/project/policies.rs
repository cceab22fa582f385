//! The admission policies of a kind, which the API server evaluates without the operator: the version that each is about, and its
//! file.

use super::{ControllerName, Group, Kind, KindName, Project, Version, rust};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// The page on policies, also on those that are not generated.
const GUIDE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src/concepts/policies.md");

/// A policy of a kind. The API server converts objects of its other versions for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindPolicy {
    /// The name of its file; unique in the project, and the same as of the kind's webhooks or controller where possible.
    pub name: ControllerName,
    /// The version of the kind that its expressions read.
    pub version: Version,
}

/// The form of a policy: validating or mutating. A kind has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyForm {
    /// It allows or refuses writes.
    Validating,
    /// It changes objects.
    Mutating,
}

impl PolicyForm {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Validating, Self::Mutating];

    /// The name of the form in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Validating => "policy",
            Self::Mutating => "mutating policy",
        }
    }

    /// The flag of `create webhook` and `delete webhook`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Validating => "--policy",
            Self::Mutating => "--policy=mutating",
        }
    }
}

impl KindPolicy {
    /// The name of its file, without its extension.
    pub fn file(&self, form: PolicyForm) -> String {
        let file = rust::module_file(self.name.as_str());
        match form {
            PolicyForm::Validating => file,
            PolicyForm::Mutating => format!("{file}_mutating"),
        }
    }
}

impl Kind {
    /// Its policy of a form, if it has one.
    pub fn policy(&self, form: PolicyForm) -> Option<&KindPolicy> {
        match form {
            PolicyForm::Validating => self.policy.as_ref(),
            PolicyForm::Mutating => self.mutating_policy.as_ref(),
        }
    }

    /// Its policies.
    pub fn policies(&self) -> impl Iterator<Item = (PolicyForm, &KindPolicy)> {
        let all = PolicyForm::ALL.into_iter();
        all.filter_map(|form| Some((form, self.policy(form)?)))
    }

    /// The kind's policy of a form.
    pub(super) fn policy_mut(&mut self, form: PolicyForm) -> &mut Option<KindPolicy> {
        match form {
            PolicyForm::Validating => &mut self.policy,
            PolicyForm::Mutating => &mut self.mutating_policy,
        }
    }
}

impl Project {
    /// The project in which that kind has a policy of this form; unchanged if it has it already.
    pub fn with_policy(&self, group: &Group, name: &KindName, version: &Version, form: PolicyForm) -> Result<Self> {
        let kind = match self.admitted_kind(group, name)? {
            Some(kind) if kind.origin.is_project() => kind,
            _ => bail!(
                "`{name}` is not the project's own, and only policies of its own kinds are generated\n\n\
                 hint: write this one by hand, in the form of {GUIDE}"
            ),
        };
        if kind.adopted {
            bail!(
                "`{name}` was taken over from a CRD, and the policy that is generated needs a field `target`, which its spec may not have\n\n\
                 hint: write this one by hand, in the form of {GUIDE}"
            );
        }
        if kind.version(version).is_none() {
            bail!(
                "`{name}` has no version `{version}`, only {}\n\nhint: leave out `--version`",
                kind.version_names()
            );
        }
        let policy = match kind.policy(form) {
            Some(there) if there.version != *version => bail!(
                "the {what} of `{name}` uses version `{0}` already, and the API server converts objects of other versions for it\n\n\
                 hint: leave out `--version`, or delete it first, with `kubewright delete webhook --group {group} --kind {name} {flag}`",
                there.version,
                what = form.noun(),
                flag = form.flag()
            ),
            Some(_) => return Ok(self.clone()),
            None => KindPolicy {
                name: self.policy_name(kind)?,
                version: version.clone(),
            },
        };
        let project = self.stating(group, name, form, Some(policy));
        project.check()?;
        Ok(project)
    }

    /// The project in which that kind has no policy of this form.
    pub fn without_policy(&self, group: &Group, name: &KindName, form: PolicyForm) -> Result<Self> {
        if self.listed_kind(group, name)?.policy(form).is_none() {
            bail!(
                "`{name}` has no {}\n\nhint: the line of the kind in `PROJECT` lists its policies",
                form.noun()
            );
        }
        Ok(self.stating(group, name, form, None))
    }

    /// The project in which that kind has this policy.
    fn stating(&self, group: &Group, name: &KindName, form: PolicyForm, policy: Option<KindPolicy>) -> Self {
        let mut project = self.clone();
        if let Some(kind) = project.kinds.iter_mut().find(|kind| kind.is(group, name)) {
            *kind.policy_mut(form) = policy;
        }
        project
    }

    /// The name of its other policy, its webhooks or its conversion, or one that they could have.
    fn policy_name(&self, kind: &Kind) -> Result<ControllerName> {
        let stated = kind.policies().map(|(_, it)| &it.name);
        let webhooks = kind.webhooks.iter().map(|it| &it.name);
        let mut names = stated.chain(webhooks).chain(kind.conversion.iter().map(|it| &it.name));
        match names.next() {
            Some(name) => Ok(name.clone()),
            None => self.free_webhook_name(kind),
        }
    }

    /// Every policy with its kind, in the order in which rustfmt lists their modules.
    pub fn policies(&self) -> Vec<(&Kind, PolicyForm, &KindPolicy)> {
        let kinds = self.kinds.iter();
        let mut all: Vec<_> = kinds
            .flat_map(|kind| kind.policies().map(move |(form, policy)| (kind, form, policy)))
            .collect();
        all.sort_by(|(_, one, a), (_, other, b)| rust::module_order(&a.file(*one), &b.file(*other)));
        all
    }

    /// Refuses policies that the generated code could not have.
    pub(super) fn check_policies(&self) -> Result<()> {
        let all = self.policies();
        for (at, (kind, form, policy)) in all.iter().enumerate() {
            let (name, version, what) = (&kind.name, &policy.version, form.noun());
            if !kind.origin.is_project() {
                bail!("`{name}` cannot have the {what} of `PROJECT`: only kinds of the project have one");
            }
            if kind.version(version).is_none() {
                bail!(
                    "the {what} of `{name}` uses version `{version}`, which has only {}",
                    kind.version_names()
                );
            }
            // Sorted by their files.
            let file = policy.file(*form);
            if let Some((other, form, _)) = all.get(at + 1).filter(|(_, form, other)| other.file(*form) == file) {
                bail!(
                    "the {what} of `{name}` and the {} of `{}` would share one file",
                    form.noun(),
                    other.name
                );
            }
        }
        Ok(())
    }
}
