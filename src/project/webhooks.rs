//! Admission webhooks of a kind: which types of them it has, the version whose type they get, and their file.

use super::check::unknown;
use super::foreign::harmless;
use super::{ControllerName, Group, Kind, KindName, Project, Version, rust};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// The suffix of the names of webhooks' tests.
pub const TESTS: &str = "_webhooks";

/// The admission webhooks of a kind. The API server converts objects of its other versions for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhooks {
    /// The name of their file; unique in the project, and the same as of the kind's controller where possible.
    pub name: ControllerName,
    /// The version of the kind whose type they get.
    pub version: Version,
    /// Whether there is one that sets defaults.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defaulting: bool,
    /// Whether there is one that validates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validation: bool,
}

/// Types of webhooks of a kind, to be added or deleted.
#[derive(Clone, Debug)]
pub struct WebhookTypes {
    /// The group without the domain.
    pub group: Group,
    /// The kind.
    pub kind: KindName,
    /// The one that sets defaults.
    pub defaulting: bool,
    /// The one that validates.
    pub validation: bool,
}

impl Project {
    /// The project with these webhooks, which get the type of that version; unchanged if it has them already.
    pub fn with_webhooks(&self, new: &WebhookTypes, version: &Version) -> Result<Self> {
        let listed = self.with_kubernetes(&new.group, version, &new.kind)?;
        let Some(kind) = listed.admitted_kind(&new.group, &new.kind)? else {
            bail!(unknown(&new.group, version, &new.kind));
        };
        if kind.version(version).is_none() {
            bail!(
                "`{}` has no version `{version}`, only {}\n\nhint: leave out `--version`",
                kind.name,
                kind.version_names()
            );
        }
        let mut webhooks = match &kind.webhooks {
            Some(there) if there.version != *version => bail!(
                "the webhooks of `{0}` use version `{1}`, and also get the objects of all other versions: the API server \
                 converts them\n\n\
                 hint: leave out `--version`, or delete them first, with `kubewright delete webhook --group {2} --kind {0}`",
                kind.name,
                there.version,
                kind.group
            ),
            Some(there) => there.clone(),
            None => Webhooks {
                name: self.free_webhook_name(kind)?,
                version: version.clone(),
                defaulting: false,
                validation: false,
            },
        };
        webhooks.defaulting |= new.defaulting;
        webhooks.validation |= new.validation;
        let project = listed.replacing(new, Some(webhooks));
        project.check()?;
        Ok(project)
    }

    /// The project without these webhooks.
    pub fn without_webhooks(&self, gone: &WebhookTypes) -> Result<Self> {
        let kind = self.listed_kind(&gone.group, &gone.kind)?;
        let has = |it: &&Webhooks| gone.defaulting && it.defaulting || gone.validation && it.validation;
        let Some(there) = kind.webhooks.as_ref().filter(has) else {
            bail!(
                "`{}` has no such webhook\n\nhint: the line of the kind in `PROJECT` lists its webhooks",
                kind.name
            );
        };
        let rest = Webhooks {
            defaulting: there.defaulting && !gone.defaulting,
            validation: there.validation && !gone.validation,
            ..there.clone()
        };
        let rest = Some(rest).filter(|rest| rest.defaulting || rest.validation);
        Ok(self.replacing(gone, rest).without_unused())
    }

    /// The project in which that kind has these webhooks.
    fn replacing(&self, of: &WebhookTypes, webhooks: Option<Webhooks>) -> Self {
        let mut project = self.clone();
        if let Some(kind) = project.kinds.iter_mut().find(|kind| kind.is(&of.group, &of.kind)) {
            kind.webhooks = webhooks;
        }
        project
    }

    /// The name of the kind's first controller, or one made of the kind, unless another kind's webhooks have its file.
    pub(super) fn free_webhook_name(&self, kind: &Kind) -> Result<ControllerName> {
        let controllers = kind.controllers_by_rank().map(|controller| controller.name.clone());
        let is_free = |name: &ControllerName| {
            let of_kind = |own: &Kind| own.is(&kind.group, &kind.name);
            let has = |other: &&Kind| {
                let webhooks = other.webhooks.as_ref().is_some_and(|it| it.file() == file(name));
                let stated = other.policies().any(|(form, it)| it.file(form) == file(name));
                webhooks || stated || other.conversion.as_ref().is_some_and(|it| it.file() == file(name))
            };
            let controls = |other: &&Kind| other.controllers.iter().any(|it| file(&it.name) == file(name));
            let taken = self
                .kinds
                .iter()
                .filter(|other| !of_kind(other))
                .any(|it| has(&it) || controls(&it));
            !taken && !self.is_taken_by_tests(&file(name))
        };
        let names = controllers.chain(super::controllers::names_of(kind));
        match names.into_iter().find(is_free) {
            Some(name) => Ok(name),
            None => bail!(
                "no free name for the webhooks of `{}`\n\nhint: see which names the controllers in `PROJECT` have",
                kind.name
            ),
        }
    }

    /// Whether a controller's tests are in the file of the tests of webhooks of that file.
    fn is_taken_by_tests(&self, webhooks: &str) -> bool {
        let tests = format!("{webhooks}{TESTS}");
        self.controllers().iter().any(|(_, it)| file(&it.name) == tests)
    }

    /// Every kind with webhooks, in the order in which rustfmt lists their modules.
    pub fn webhooks(&self) -> Vec<(&Kind, &Webhooks)> {
        let kinds = self.kinds.iter();
        let mut all: Vec<_> = kinds.filter_map(|kind| Some((kind, kind.webhooks.as_ref()?))).collect();
        all.sort_by(|(_, a), (_, b)| rust::module_order(&a.file(), &b.file()));
        all
    }

    /// Refuses webhooks that the generated code could not serve.
    pub(super) fn check_webhooks(&self) -> Result<()> {
        let all = self.webhooks();
        for (at, (kind, webhooks)) in all.iter().enumerate() {
            let (name, version) = (&kind.name, &webhooks.version);
            if !webhooks.defaulting && !webhooks.validation {
                bail!(
                    "`{name}` cannot have the `webhooks` of `PROJECT`: at least one of `defaulting` and `validation` is true"
                );
            }
            harmless(kind)?;
            if self.namespaced {
                bail!(
                    "`{name}` cannot have webhooks: the operator of a `--namespaced` project may not write their \
                     configurations, which are cluster-scoped\n\n\
                     hint: use a project without `--namespaced`, or write them by hand and make their certificates \
                     otherwise: {GUIDE}"
                );
            }
            if kind.version(version).is_none() {
                bail!(
                    "the webhooks of `{name}` use version `{version}`, which has only {}",
                    kind.version_names()
                );
            }
            // Sorted by their files.
            if let Some((other, _)) = all.get(at + 1).filter(|(_, other)| other.file() == webhooks.file()) {
                bail!(
                    "the webhooks of `{name}` and those of `{}` would share one file",
                    other.name
                );
            }
            if self.is_taken_by_tests(&webhooks.file()) {
                bail!(
                    "the tests of the webhooks of `{name}` and those of controller `{}{TESTS}` would share one file\n\n\
                     hint: choose another `--controller-name`",
                    webhooks.file()
                );
            }
        }
        Ok(())
    }
}

/// The page on webhooks, also on those that are not generated.
const GUIDE: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/src/concepts/admission.md"
);

impl Webhooks {
    /// The name of their file, without its extension.
    pub fn file(&self) -> String {
        file(&self.name)
    }
}

fn file(name: &ControllerName) -> String {
    rust::module_file(name.as_str())
}
