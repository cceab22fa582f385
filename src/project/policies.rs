//! The admission policy of a kind, which the API server evaluates without the operator: the version that it is about, and its file.

use super::{ControllerName, Group, Kind, KindName, Project, Version, rust};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// The page on policies, also on those that are not generated.
const GUIDE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src/concepts/policies.md");

/// The policy of a kind. The API server converts objects of its other versions for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindPolicy {
    /// The name of its file; unique in the project, and that of the kind's webhooks or controller where that is possible.
    pub name: ControllerName,
    /// The version of the kind that its expressions read.
    pub version: Version,
}

impl KindPolicy {
    /// The name of its file, without its extension.
    pub fn file(&self) -> String {
        rust::module_file(self.name.as_str())
    }
}

impl Project {
    /// The project in which that kind has a policy; unchanged if it has it already.
    pub fn with_policy(&self, group: &Group, name: &KindName, version: &Version) -> Result<Self> {
        let kind = match self.admitted_kind(group, name)? {
            Some(kind) if kind.origin.is_project() => kind,
            _ => bail!(
                "`{name}` is not the project's own, and only policies of its own kinds are generated\n\n\
                 hint: write this one by hand, in the form of {GUIDE}"
            ),
        };
        if kind.version(version).is_none() {
            bail!(
                "`{name}` has no version `{version}`, only {}\n\nhint: leave out `--version`",
                kind.version_names()
            );
        }
        let policy = match &kind.policy {
            Some(there) if there.version != *version => bail!(
                "the policy of `{name}` is about version `{0}` of it, and the API server converts objects for it\n\n\
                 hint: leave out `--version`, or delete it first, with `kubewright delete webhook --group {group} --kind {name} --policy`",
                there.version
            ),
            Some(_) => return Ok(self.clone()),
            None => KindPolicy {
                name: self.policy_name(kind)?,
                version: version.clone(),
            },
        };
        let project = self.stating(group, name, Some(policy));
        project.check()?;
        Ok(project)
    }

    /// The project in which that kind has no policy.
    pub fn without_policy(&self, group: &Group, name: &KindName) -> Result<Self> {
        if self.listed_kind(group, name)?.policy.is_none() {
            bail!("`{name}` has no policy\n\nhint: the line of the kind in `PROJECT` lists it");
        }
        Ok(self.stating(group, name, None))
    }

    /// The project in which that kind has this policy.
    fn stating(&self, group: &Group, name: &KindName, policy: Option<KindPolicy>) -> Self {
        let mut project = self.clone();
        if let Some(kind) = project.kinds.iter_mut().find(|kind| kind.is(group, name)) {
            kind.policy = policy;
        }
        project
    }

    /// The name of its webhooks or its conversion, or one that they could have.
    fn policy_name(&self, kind: &Kind) -> Result<ControllerName> {
        let webhooks = kind.webhooks.iter().map(|it| &it.name);
        let mut names = webhooks.chain(kind.conversion.iter().map(|it| &it.name));
        match names.next() {
            Some(name) => Ok(name.clone()),
            None => self.free_webhook_name(kind),
        }
    }

    /// Every kind with a policy, in the order in which rustfmt lists their modules.
    pub fn policies(&self) -> Vec<(&Kind, &KindPolicy)> {
        let kinds = self.kinds.iter();
        let mut all: Vec<_> = kinds.filter_map(|kind| Some((kind, kind.policy.as_ref()?))).collect();
        all.sort_by(|(_, a), (_, b)| rust::module_order(&a.file(), &b.file()));
        all
    }

    /// Refuses policies that the generated code could not have.
    pub(super) fn check_policies(&self) -> Result<()> {
        let all = self.policies();
        for (at, (kind, policy)) in all.iter().enumerate() {
            let (name, version) = (&kind.name, &policy.version);
            if !kind.origin.is_project() {
                bail!("`{name}` cannot have the `policy` of `PROJECT`: only kinds of the project have one");
            }
            if kind.version(version).is_none() {
                bail!(
                    "the policy of `{name}` is about version `{version}` of it, which has only {}",
                    kind.version_names()
                );
            }
            // Sorted by their files.
            if let Some((other, _)) = all.get(at + 1).filter(|(_, other)| other.file() == policy.file()) {
                bail!(
                    "the policy of `{name}` and that of `{}` would share one file",
                    other.name
                );
            }
        }
        Ok(())
    }
}
