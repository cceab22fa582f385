//! PROJECT as it was written before a kind had versions: a list `apis`, in which each version of a kind is an entry of its own.

use super::pattern::{Inputs, Name};
use super::{
    Controller, ControllerName, Group, Image, Kind, KindName, KindVersion, Origin, Pattern, Plural, ShortName, Version,
};
use anyhow::{Error, Result, bail};
use serde::Deserialize;

/// An entry: a kind in one version, with the controllers that use that version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FlatApi {
    group: Group,
    version: Version,
    kind: KindName,
    plural: Plural,
    #[serde(default)]
    short_names: Vec<ShortName>,
    #[serde(default)]
    cluster: bool,
    #[serde(default)]
    from: Origin,
    #[serde(default = "stored")]
    storage: bool,
    #[serde(default)]
    controllers: Vec<FlatController>,
}

fn stored() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FlatController {
    name: ControllerName,
    pattern: Name,
    image: Option<Image>,
    internal_kind: Option<KindName>,
}

/// The kinds of those entries, each with its versions.
pub(super) fn kinds(apis: Vec<FlatApi>) -> Result<Vec<Kind>> {
    let mut kinds: Vec<Kind> = Vec::new();
    for api in apis {
        match kinds.iter_mut().find(|kind| kind.is(&api.group, &api.kind)) {
            Some(kind) => join(kind, api)?,
            None => kinds.push(api.kind()?),
        }
    }
    Ok(kinds)
}

impl FlatApi {
    fn kind(self) -> Result<Kind> {
        let controllers: Result<Vec<_>> = self.controllers.into_iter().map(|it| it.of(&self.version)).collect();
        Ok(Kind {
            group: self.group,
            name: self.kind,
            plural: self.plural,
            short_names: self.short_names,
            cluster: self.cluster,
            origin: self.from,
            adopted: false,
            definition: None,
            controllers: controllers?,
            webhooks: None,
            conversion: None,
            policy: None,
            mutating_policy: None,
            // The project does not decide which version of a foreign kind is stored.
            versions: vec![KindVersion::new(self.version, self.storage || !self.from.is_project())],
        })
    }
}

impl FlatController {
    fn of(self, version: &Version) -> Result<Controller> {
        let inputs = Inputs {
            image: self.image,
            internal_kind: self.internal_kind,
            of: None,
            backups: false,
        };
        Ok(Controller {
            // Releases that wrote this list gave a finalizer to every controller of this pattern, and to no other.
            finalizer: self.pattern == Name::Child,
            child_suffix: None,
            pattern: Pattern::new(self.pattern, inputs, &self.name).map_err(Error::msg)?,
            name: self.name,
            version: version.clone(),
        })
    }
}

/// Adds another version to a kind.
fn join(kind: &mut Kind, api: FlatApi) -> Result<()> {
    let other = api.kind()?;
    let version = &kind.versions[0].name;
    let differs = |what: &str, own: String| {
        format!(
            "`{}` {own} in version `{version}`, and the versions of a kind share their {what}",
            kind.name
        )
    };
    if kind.plural != other.plural {
        bail!(differs("plural", format!("has the plural `{}`", kind.plural)));
    }
    if kind.cluster != other.cluster {
        let scope = if kind.cluster { "cluster-scoped" } else { "namespaced" };
        bail!(differs("scope", format!("is {scope}")));
    }
    if kind.origin != other.origin {
        bail!(differs("owner", format!("is {}", kind.origin.owner())));
    }
    // As `make manifests` merges them in the CRD.
    for name in other.short_names {
        if !kind.short_names.contains(&name) {
            kind.short_names.push(name);
        }
    }
    kind.versions.extend(other.versions);
    kind.controllers.extend(other.controllers);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::project::file::{format, is_flat, parse};

    const HEAD: &str = concat!(
        "version: ",
        env!("CARGO_PKG_VERSION"),
        "\nname: op\ndomain: example.com\nlicense: none\nowner: o\nyear: 2026\n"
    );

    #[test]
    fn versions_of_a_kind_become_one_entry() {
        let flat = format!(
            "{HEAD}apis:\n\
             - {{group: test, version: v2, kind: FooBar, plural: foobars, shortNames: [fb], storage: false}}\n\
             - {{group: test, version: v1, kind: FooBar, plural: foobars, shortNames: [f], controllers: [{{name: foobar, pattern: minimal}}, {{name: more, pattern: child}}]}}\n"
        );
        assert!(is_flat(&flat));
        let entry = "- {group: test, kind: FooBar, plural: foobars, shortNames: [fb, f], \
                     versions: [{version: v1}, {version: v2, storage: false}], \
                     controllers: [{name: foobar, version: v1, pattern: minimal}, {name: more, version: v1, pattern: child, finalizer: true}]}\n";
        let written = format(&parse(&flat).unwrap());
        assert!(written.ends_with(&format!("kinds:\n{entry}")), "{written}");
    }

    #[test]
    fn entries_that_cannot_be_one_kind_are_refused() {
        let entry = |version: &str, more: &str| format!("- {{group: test, version: {version}, kind: A, {more}}}\n");
        let first = entry("v1", "plural: as");
        let cases = [
            (
                entry("v2", "plural: aes, storage: false"),
                "has the plural `as` in version `v1`",
            ),
            (
                entry("v2", "plural: as, cluster: true, storage: false"),
                "is namespaced in version `v1`",
            ),
            (
                entry("v2", "plural: as, from: crd"),
                "is a kind of this project in version `v1`",
            ),
            (first.clone(), "`A` of `test/v1` is listed twice"),
            (entry("v2", "plural: as"), "both marked as the storage version"),
            (entry("v2", "plural: as, other: 1"), "unknown field `other`"),
            (
                entry(
                    "v2",
                    "plural: as, controllers: [{name: a, version: v2, pattern: child}]",
                ),
                "unknown field `version`",
            ),
            (
                "kinds:\n- {group: test, kind: A, plural: as, versions: [{version: v1}]}\n".to_owned(),
                "`A` of `test` is listed twice",
            ),
        ];
        for (second, word) in cases {
            let error = format!("{:#}", parse(&format!("{HEAD}apis:\n{first}{second}")).unwrap_err());
            assert!(error.contains(word), "{error}");
        }
    }
}
