//! A kind as PROJECT lists it: what no flag says is as in another version, and whatever could not be is refused.

use super::change::NewApi;
use super::clash::clash;
use super::{Api, Origin, Project, kubernetes, plural};
use anyhow::{Result, bail};

impl Project {
    /// The kind that was asked for, after every check by itself and against the others.
    pub(super) fn checked_api(&self, new: &NewApi) -> Result<Api> {
        let api = self.completed(new);
        if api.origin == Origin::Kubernetes && kubernetes::find(&api.group, &api.version, &api.kind).is_none() {
            bail!(unknown(new));
        }
        self.definition_stays(&api, new.replace)?;
        self.scope_fits(&api)?;
        let crd = format!("{}.{}", api.plural, self.group_of(&api));
        if crd.len() > 253 {
            bail!(
                "`{crd}` has {} characters; Kubernetes takes names of at most 253\n\nhint: choose a shorter `--plural` or `--group`",
                crd.len()
            );
        }
        self.apis
            .iter()
            .filter(|other| !other.is(&api.group, &api.version, &api.kind))
            .try_for_each(|other| clash(&api, other))?;
        Ok(api)
    }

    /// What no flag says is as in another version.
    fn completed(&self, new: &NewApi) -> Api {
        let others = self.other_versions(&new.group, &new.version, &new.kind);
        let other = others.first();
        let inherited_plural = || other.map(|other| other.plural.clone());
        let inherited_names = || other.map(|other| other.short_names.clone());
        Api {
            group: new.group.clone(),
            version: new.version.clone(),
            kind: new.kind.clone(),
            plural: new
                .plural
                .clone()
                .or_else(inherited_plural)
                .unwrap_or_else(|| plural(&new.kind)),
            short_names: new.short_names.clone().or_else(inherited_names).unwrap_or_default(),
            cluster: new.cluster.or(other.map(|other| other.cluster)).unwrap_or_default(),
            storage: new.storage.unwrap_or_else(|| !others.iter().any(|other| other.storage)),
            origin: new.origin,
            definition: new.definition.clone(),
            controllers: Vec::new(),
        }
    }

    /// A CRD that is there serves all versions of its kind: another text comes by its file.
    fn definition_stays(&self, api: &Api, replace: bool) -> Result<()> {
        let same = |other: &&Api| {
            let replaced = replace && other.is(&api.group, &api.version, &api.kind);
            other.origin == Origin::Crd && (&other.group, &other.plural) == (&api.group, &api.plural) && !replaced
        };
        let there = self.apis.iter().find(same).and_then(|other| other.definition.as_ref());
        match (there, &api.definition) {
            (Some(there), Some(given)) if there.text != given.text => bail!(
                "the CRD of `{}` is there already, with another text\n\n\
                 hint: put the new text into `{}` and run `kubewright sync`, which makes the types anew",
                api.kind,
                self.crd_path(api)
            ),
            _ => Ok(()),
        }
    }

    fn scope_fits(&self, api: &Api) -> Result<()> {
        if !api.cluster || !self.namespaced {
            return Ok(());
        }
        let hint = match api.origin {
            Origin::Project => "leave out `--cluster`",
            Origin::Kubernetes | Origin::Crd => "make a project without `--namespaced` for it",
        };
        bail!(
            "`{}` cannot be cluster-scoped: the operator of a `--namespaced` project sees its own namespace alone\n\n\
             hint: {hint}",
            api.kind
        )
    }
}

/// An existing kind keeps its inputs unless they are to be replaced.
pub(super) fn replace_inputs(api: &mut Api, wanted: Api, replace: bool) -> Result<()> {
    let differs = [
        ("--plural", api.plural != wanted.plural),
        ("--short-name", api.short_names != wanted.short_names),
        ("--cluster", api.cluster != wanted.cluster),
    ];
    let differs: Vec<_> = differs
        .iter()
        .filter(|(_, differs)| *differs)
        .map(|(flag, _)| format!("`{flag}`"))
        .collect();
    if !differs.is_empty() && !replace {
        bail!(
            "`{}` exists already, with another {}\n\nhint: repeat its own flags, add a controller with `--resource=false`, or start it afresh with `--force`",
            api.kind,
            differs.join(", ")
        );
    }
    *api = Api {
        controllers: std::mem::take(&mut api.controllers),
        // Once it is there, the type says it.
        storage: if replace { wanted.storage } else { api.storage },
        ..wanted
    };
    Ok(())
}

/// Why there is no such kind, and what may have been meant.
pub(super) fn unknown(new: &NewApi) -> String {
    let near: Vec<_> = kubernetes::near(&new.group, &new.kind)
        .iter()
        .map(|known| {
            format!(
                "`--group {} --version {} --kind {}`",
                known.project_group(),
                known.version,
                known.kind
            )
        })
        .collect();
    let hint = match near.as_slice() {
        [] => {
            "leave out `--resource=false` to make the kind here, or bring in its CRD with `--from-crd FILE`".to_owned()
        }
        near => format!("Kubernetes has {}", near.join(", ")),
    };
    format!(
        "`{}` of `{}/{}` is neither a kind of this project nor one of Kubernetes\n\nhint: {hint}",
        new.kind, new.group, new.version
    )
}
