//! The conversion between the versions of a kind: through which version objects are converted, and to which others.

use super::{ControllerName, Group, Kind, KindName, Project, Version, rust};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// The page on conversion, also without generated functions.
pub const GUIDE: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/src/concepts/conversion.md"
);

/// The conversion of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conversion {
    /// The name of the folder of its functions; unique in the project, and the same as of the kind's webhooks or controller where possible.
    pub name: ControllerName,
    /// The version through which objects are converted.
    pub hub: Version,
    /// The versions to and from which they are converted, sorted; at least one.
    pub spokes: Vec<Version>,
}

/// A conversion to be added, or versions of one to be deleted.
#[derive(Clone, Debug)]
pub struct Between {
    /// The group without the domain.
    pub group: Group,
    /// The kind.
    pub kind: KindName,
    /// The version through which objects are converted; by default the hub of the existing conversion, or the stored version.
    pub hub: Option<Version>,
    /// The other versions; if empty, all.
    pub spokes: Vec<Version>,
}

impl Conversion {
    /// The name of the folder of its functions.
    pub fn file(&self) -> String {
        rust::module_file(self.name.as_str())
    }

    /// Whether it is for that version.
    pub fn has(&self, version: &Version) -> bool {
        self.hub == *version || self.spokes.contains(version)
    }

    /// The conversion without that version; `None` if there is nothing left to convert.
    pub(super) fn without(mut self, version: &Version) -> Option<Self> {
        self.spokes.retain(|spoke| spoke != version);
        Some(self).filter(|rest| rest.hub != *version && !rest.spokes.is_empty())
    }
}

impl Project {
    /// The project with that conversion; unchanged if it has it already.
    pub fn with_conversion(&self, new: &Between) -> Result<Self> {
        let kind = self.own_kind(&new.group, &new.kind)?;
        let hub = hub(kind, new)?;
        let known = kind.conversion.as_ref();
        let mut spokes = known.map_or_else(Vec::new, |known| known.spokes.clone());
        match new.spokes.as_slice() {
            [] => spokes = kind.versions.iter().map(|it| it.name.clone()).collect(),
            given => {
                given.iter().try_for_each(|version| has(kind, version, "--spoke"))?;
                spokes.extend_from_slice(given);
            }
        }
        spokes.sort();
        spokes.dedup();
        if new.spokes.contains(&hub) {
            bail!(
                "`{hub}` is the hub, and `--spoke` names the other versions\n\nhint: leave out `--spoke`: without it, all others are converted"
            );
        }
        spokes.retain(|version| *version != hub);
        let left = kind
            .versions
            .iter()
            .find(|it| it.name != hub && !spokes.contains(&it.name));
        if let Some(left) = left {
            bail!(
                "`--spoke` leaves out `{0}`: objects of `{1}` could not be converted to and from `{0}`, so no client could read or \
                 write that version\n\nhint: add `--spoke {0}`, or leave out `--spoke`: without it, all versions are converted",
                left.name,
                kind.name
            );
        }
        let name = match known {
            Some(known) => known.name.clone(),
            None => self.conversion_name(kind)?,
        };
        let project = self.converting(new, Some(Conversion { name, hub, spokes }));
        project.check()?;
        Ok(project)
    }

    /// The project without the conversion of a kind, or without these versions of it.
    pub fn without_conversion(&self, gone: &Between) -> Result<Self> {
        let kind = self.own_kind(&gone.group, &gone.kind)?;
        let Some(there) = &kind.conversion else {
            bail!(
                "`{}` has no conversion\n\nhint: the line of the kind in `PROJECT` lists its webhooks",
                kind.name
            );
        };
        if let Some(other) = gone.spokes.iter().find(|version| !there.spokes.contains(version)) {
            bail!(
                "`{other}` is no version to which `{}` is converted\n\nhint: the line of the kind in `PROJECT` lists its `spokes`",
                kind.name
            );
        }
        let rest = match gone.spokes.is_empty() {
            true => None,
            false => gone.spokes.iter().try_fold(there.clone(), Conversion::without),
        };
        Ok(self.converting(gone, rest))
    }

    /// The project in which that kind has this conversion.
    fn converting(&self, of: &Between, conversion: Option<Conversion>) -> Self {
        let mut project = self.clone();
        if let Some(kind) = project.kinds.iter_mut().find(|kind| kind.is(&of.group, &of.kind)) {
            kind.conversion = conversion;
        }
        project
    }

    /// The name of its webhooks, or one that they could have, unless another kind's conversion has it.
    fn conversion_name(&self, kind: &Kind) -> Result<ControllerName> {
        match &kind.webhooks {
            Some(webhooks) => Ok(webhooks.name.clone()),
            None => self.free_webhook_name(kind),
        }
    }

    /// Every kind with a conversion, in the order in which rustfmt lists their modules.
    pub fn conversions(&self) -> Vec<(&Kind, &Conversion)> {
        let kinds = self.kinds.iter();
        let mut all: Vec<_> = kinds
            .filter_map(|kind| Some((kind, kind.conversion.as_ref()?)))
            .collect();
        all.sort_by(|(_, a), (_, b)| rust::module_order(&a.file(), &b.file()));
        all
    }

    /// Whether the API server calls the operator: for admission or for conversion.
    pub fn serves_webhooks(&self) -> bool {
        !self.webhooks().is_empty() || !self.conversions().is_empty()
    }

    /// Whether the operator has webhooks, conversions or policies, and with them the crate `kubewright-webhooks`.
    pub fn uses_webhooks_crate(&self) -> bool {
        self.serves_webhooks() || !self.policies().is_empty()
    }

    /// Refuses conversions that the generated code could not serve.
    pub(super) fn check_conversions(&self) -> Result<()> {
        let all = self.conversions();
        for (at, (kind, conversion)) in all.iter().enumerate() {
            let name = &kind.name;
            if !kind.origin.is_project() || conversion.spokes.is_empty() || conversion.spokes.contains(&conversion.hub)
            {
                bail!(
                    "`{name}` cannot have the `conversion` of `PROJECT`: only kinds of the project have one, and its \
                     `spokes` are other versions than its `hub`"
                );
            }
            if self.namespaced {
                bail!(
                    "`{name}` cannot have a conversion: the operator of a `--namespaced` project may not enter it into the \
                     CustomResourceDefinition, which is cluster-scoped\n\n\
                     hint: use a project without `--namespaced`, or write it by hand: {GUIDE}"
                );
            }
            let mut versions = [&conversion.hub].into_iter().chain(&conversion.spokes);
            if let Some(version) = versions.find(|version| kind.version(version).is_none()) {
                bail!(
                    "the conversion of `{name}` is for version `{version}` of it, which has only {}",
                    kind.version_names()
                );
            }
            // Sorted by their files.
            if let Some((other, _)) = all.get(at + 1).filter(|(_, other)| other.file() == conversion.file()) {
                bail!(
                    "the conversions of `{name}` and of `{}` would share one folder",
                    other.name
                );
            }
        }
        Ok(())
    }
}

/// The version through which that kind is to be converted.
fn hub(kind: &Kind, new: &Between) -> Result<Version> {
    let there = kind.conversion.as_ref().map(|known| &known.hub);
    let stored = kind.stored().map(|version| &version.name);
    match (&new.hub, there) {
        (Some(given), Some(there)) if given != there => bail!(
            "`{0}` is converted through `{there}` already\n\n\
             hint: leave out `--version`, or delete that conversion first, with `kubewright delete webhook --group {1} --kind {0} --conversion`",
            kind.name,
            kind.group
        ),
        (Some(given), _) => {
            has(kind, given, "--version")?;
            several(kind)?;
            Ok(given.clone())
        }
        (None, Some(there)) => Ok(there.clone()),
        (None, None) => {
            several(kind)?;
            let Some(stored) = stored else {
                bail!(
                    "the types of `{0}` do not select a storage version\n\n\
                     hint: leave `storage = false` out of exactly one of them, or name the hub with `--version`",
                    kind.name
                );
            };
            Ok(stored.clone())
        }
    }
}

fn has(kind: &Kind, version: &Version, flag: &str) -> Result<()> {
    if kind.version(version).is_none() {
        bail!(
            "`{}` has no version `{version}`, only {}\n\nhint: leave out `{flag}`",
            kind.name,
            kind.version_names()
        );
    }
    Ok(())
}

/// Refuses a kind of one version.
fn several(kind: &Kind) -> Result<()> {
    let [only] = kind.versions.as_slice() else {
        return Ok(());
    };
    let second = if only.name.as_str() == "v2" { "v3" } else { "v2" };
    bail!(
        "`{0}` has only version `{1}`, and a conversion needs two\n\n\
         hint: add another one first, such as `kubewright create api --group {2} --version {second} --kind {0}`",
        kind.name,
        only.name,
        kind.group
    )
}
