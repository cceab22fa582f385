//! Kinds from CRDs: of other owners, or taken over. A CRD comes from a file, the standard input, or the cluster of the kubeconfig.

use super::ask::Usage;
use super::cluster::Cluster;
use super::given;
use crate::project::change::NewApi;
use crate::project::crd::{Definition, Wanted};
use crate::project::{Group, KindName, Origin, Project, RequestedKind, Version};
use crate::render;
use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// The kind of another owner.
pub fn foreign(
    from: &str,
    group: Option<Group>,
    version: Option<Version>,
    kind: Option<KindName>,
) -> Result<RequestedKind> {
    let wanted = Wanted { group, kind, version };
    let subject = || -> Result<RequestedKind> {
        let found = of_no_cluster(Definition::find(&read(from)?, &wanted)?, Conversion::LeftOut);
        let group = found.group()?;
        let version = found.version(wanted.version.as_ref())?;
        Ok(RequestedKind {
            origin: Origin::Crd,
            ..of(found, group, version)?
        })
    };
    subject().with_context(|| unusable(from))
}

/// The kind that the project takes over, in all versions of its CRD.
pub fn adopted(project: &Project, from: &str, group: Option<Group>, kind: Option<KindName>) -> Result<RequestedKind> {
    let wanted = Wanted {
        group,
        kind,
        version: None,
    };
    let subject = || -> Result<RequestedKind> {
        let found = of_no_cluster(Definition::find(&read(from)?, &wanted)?, Conversion::Kept);
        let group = project.group_within(&found)?;
        let (stored, others) = found.versions_to_adopt()?;
        render::check_types(&found.crd)?;
        let names = found.crd["spec"]["names"]["shortNames"]
            .as_array()
            .into_iter()
            .flatten();
        let names: Result<Vec<_>, _> = names.filter_map(Value::as_str).map(str::parse).collect();
        let names = names.map_err(|refused| anyhow!("a short name of the CRD {refused}"))?;
        Ok(RequestedKind {
            short_names: Some(names),
            adopted: true,
            others,
            ..of(found, group, stored)?
        })
    };
    subject().with_context(|| unusable(from))
}

/// Notes for the author of an adopted kind.
pub fn notes(new: &NewApi) -> Vec<String> {
    let Some(definition) = &new.kind.definition else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for version in definition.unserved() {
        notes.push(format!(
            "\n`{version}` is not served, and is left out; where `status.storedVersions` of a cluster's CRD names it, run \
             `make migrate-storage` there before `make install`"
        ));
    }
    if definition.crd["spec"]["conversion"]["strategy"] == "Webhook" {
        notes.push(format!(
            "\na webhook converts the versions of `{1}`; write it here, before `make manifests`: \
             `kubewright create webhook --group {0} --kind {1} --conversion`",
            new.kind.group, new.kind.name
        ));
    }
    if let Some(path) = render::first_optional_null(&definition.crd) {
        notes.push(format!(
            "\nthe CRD allows null in optional fields, such as `{path}`, and `make manifests` does not; if clients send null, \
             add `--keep-nullable` to that command in the Makefile"
        ));
    }
    notes
}

/// The subject of a definition, from a file or a cluster.
fn of(found: Definition, group: Group, version: Version) -> Result<RequestedKind> {
    let kind = found.kind()?;
    Ok(RequestedKind {
        plural: Some(found.plural()?),
        cluster: Some(found.cluster()),
        definition: Some(found),
        ..RequestedKind::own(group, version, kind)
    })
}

fn unusable(from: &str) -> String {
    format!("cannot use `{}`", if from == "-" { "the standard input" } else { from })
}

/// The treatment of the conversion of a CRD, which calls a webhook of its owner.
#[derive(Clone, Copy, PartialEq)]
enum Conversion {
    Kept,
    /// For API servers without this webhook, such as the in-process one.
    LeftOut,
}

/// A text with a CRD.
fn read(from: &str) -> Result<String> {
    if from.starts_with("http://") || from.starts_with("https://") {
        return Err(Usage::error(format!(
            "`--from-crd` takes a file, not an address\n\n\
             hint: download it yourself: `curl -fsSL {from} | kubewright create api --from-crd -`"
        )));
    }
    let found = match from {
        "-" => Ok(given::standard_input().context("cannot read the standard input")?),
        path => given::file(path.as_ref()),
    };
    match found {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound && is_name(from) => in_cluster(from),
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot read `{from}`\n\nhint: `--from-crd` takes the CRD's YAML file, `-` for the standard input, or the name of a CRD \
                 in the cluster, such as `foobars.test.example.com`"
            )
        }),
    }
}

/// Whether a text can be the name of a CRD: a plural and a group, which contains a dot itself.
fn is_name(text: &str) -> bool {
    let file = [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    text.matches('.').count() >= 2 && !file && text.chars().all(letter)
}

fn in_cluster(name: &str) -> Result<String> {
    let hint = "hint: see `kubectl config current-context`, or name a file";
    let (cluster, version) = Cluster::find().map_err(|why| {
        let (why, hint) = why.split_once("\n\n").unwrap_or((&why, hint));
        anyhow!("there is no file `{name}`, and no cluster with such a CRD: {why}\n\n{hint}")
    })?;
    let found = cluster
        .definitions(&[name.to_owned()])
        .map_err(|why| anyhow!("{why}\n\n{hint}"))?;
    let Some(stored) = found.into_iter().flatten().next() else {
        return Err(anyhow!(
            "there is no file `{name}`, and no CRD of that name in {version}\n\n{hint}"
        ));
    };
    Ok(Definition::from(stored).text)
}

/// The CRD without what belongs to its cluster: no other one accepts its uid, or has its converter.
fn of_no_cluster(found: Definition, conversion: Conversion) -> Definition {
    let (spec, metadata) = (&found.crd["spec"], &found.crd["metadata"]);
    let calls = conversion == Conversion::LeftOut && spec["conversion"]["strategy"] == "Webhook";
    if !calls && !metadata["uid"].is_string() {
        return found;
    }
    let mut spec = spec.clone();
    if let (Conversion::LeftOut, Some(spec)) = (conversion, spec.as_object_mut()) {
        spec.remove("conversion");
    }
    let mut reduced = json!({"name": metadata["name"]});
    let own: BTreeMap<_, _> = render::own_annotations(&found.crd).into_iter().collect();
    if !own.is_empty() {
        reduced["annotations"] = json!(own);
    }
    Definition::from(json!({
        "apiVersion": found.crd["apiVersion"],
        "kind": found.crd["kind"],
        "metadata": reduced,
        "spec": spec,
    }))
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_of_crds_are_told_from_files() {
        for name in ["foobars.test.example.com", "cronjobs.batch.tutorial.kubebuilder.io"] {
            assert!(is_name(name), "{name}");
        }
        for file in [
            "crd.yaml",
            "my.crd.yaml",
            "crds/foobars.test.example.com",
            "foobars.test",
            "no",
        ] {
            assert!(!is_name(file), "{file}");
        }
    }
}
