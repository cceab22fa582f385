//! Kinds of other owners: those of Kubernetes by their names, and those of a CRD file.

use super::ask::Usage;
use super::given;
use crate::project::crd::{Definition, Wanted};
use crate::project::{Group, KindName, Origin, Plural, Project, Refused, Version, kubernetes};
use anyhow::{Context, Result};

/// The kind for which `create api` runs.
pub struct Subject {
    /// Its group, as PROJECT writes it.
    pub group: Group,
    /// Its version.
    pub version: Version,
    /// The kind.
    pub kind: KindName,
    /// Its owner.
    pub origin: Origin,
    /// Its plural, if the CRD or Kubernetes defines it.
    pub plural: Option<Plural>,
    /// Whether its objects are cluster-scoped, if the CRD or Kubernetes defines it.
    pub cluster: Option<bool>,
    /// Its CRD, if another operator owns it.
    pub definition: Option<Definition>,
}

impl Subject {
    /// A kind of the project.
    pub fn own(group: Group, version: Version, kind: KindName) -> Self {
        Self {
            group,
            version,
            kind,
            origin: Origin::Project,
            plural: None,
            cluster: None,
            definition: None,
        }
    }
}

/// A group as flags name it: Kubernetes' core group has no name, and is `core` in PROJECT.
pub fn group(text: &str) -> Result<Group, Refused> {
    let name = if text.is_empty() { kubernetes::CORE } else { text };
    name.parse()
}

/// The group as PROJECT writes it: of a kind of Kubernetes in full, unless the project has one of that group and name.
pub fn project_group(project: &Project, group: Group, kind: &KindName) -> Group {
    let known = kubernetes::newest(&group, kind).filter(|_| project.kind(&group, kind).is_none());
    known
        .and_then(|known| known.project_group().parse().ok())
        .unwrap_or(group)
}

/// The default version of a kind of Kubernetes: the one that the project has, or its newest stable version. `None` for other
/// kinds of the project.
pub fn version(project: &Project, group: Option<&Group>, kind: Option<&KindName>) -> Option<Version> {
    let (group, kind) = group.zip(kind)?;
    if let Some(listed) = project.kind(group, kind) {
        let listed = (listed.origin == Origin::Kubernetes).then(|| listed.versions.last());
        return listed.flatten().map(|version| version.name.clone());
    }
    kubernetes::newest(group, kind)?.version.parse().ok()
}

/// The kind of a controller without a new type: one of the project, or of Kubernetes.
pub fn kubernetes(project: &Project, asked: Subject) -> Subject {
    let Subject {
        group, version, kind, ..
    } = &asked;
    let listed = project.api(group, version, kind).map(|api| api.kind.origin);
    if let Some(origin @ (Origin::Project | Origin::Crd)) = listed {
        return Subject { origin, ..asked };
    }
    match kubernetes::find(group, version, kind) {
        None => asked,
        Some(known) => Subject {
            group: known.project_group().parse().expect("Kubernetes' groups are DNS names"),
            origin: Origin::Kubernetes,
            plural: known.plural.parse().ok(),
            cluster: Some(known.cluster),
            ..asked
        },
    }
}

/// The kind of a CRD.
pub fn from_crd(file: &str, group: Option<Group>, version: Option<Version>, kind: Option<KindName>) -> Result<Subject> {
    let wanted = Wanted { group, kind, version };
    let name = if file == "-" { "the standard input" } else { file };
    let found = Definition::find(&read(file)?, &wanted).with_context(|| format!("cannot use `{name}`"))?;
    let subject = || -> Result<Subject> {
        Ok(Subject {
            group: found.group()?,
            version: found.version(wanted.version.as_ref())?,
            kind: found.kind()?,
            origin: Origin::Crd,
            plural: Some(found.plural()?),
            cluster: Some(found.cluster()),
            definition: Some(found.clone()),
        })
    };
    subject().with_context(|| format!("cannot use `{name}`"))
}

fn read(file: &str) -> Result<String> {
    if file.starts_with("http://") || file.starts_with("https://") {
        return Err(Usage::error(format!(
            "`--from-crd` takes a file, not an address\n\n\
             hint: download it yourself: `curl -fsSL {file} | kubewright create api --from-crd -`"
        )));
    }
    match file {
        "-" => given::standard_input().context("cannot read the standard input"),
        path => given::file(path.as_ref()).with_context(|| {
            format!(
                "cannot read `{path}`\n\nhint: `--from-crd` takes the CRD's YAML file, or `-` for the standard input"
            )
        }),
    }
}
