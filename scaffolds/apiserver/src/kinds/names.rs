//! The names of the built-in kinds as the real discovery prints them (`resources.txt`): a line per resource with group
//! version, kind, plural, singular, scope and verbs, an indented line with the columns of its Table (name, type, format,
//! priority), and one per subresource.

use crate::{
    resource::{ALL_VERBS, Names, Subresource},
    strategy::Column,
};

const TEXT: &str = include_str!("resources.txt");

/// Every set of verbs that the recording has.
const VERBS: [&[&str]; 9] = [
    ALL_VERBS,
    &["create", "delete", "get", "list", "patch", "update", "watch"],
    &["get", "patch", "update"],
    &["create", "delete", "get", "patch", "update"],
    &["create", "get"],
    &["get", "list"],
    &["create"],
    &["get"],
    &["update"],
];

/// A recorded resource.
pub(super) struct Named {
    pub group: String,
    pub version: String,
    pub names: Names,
    pub namespaced: bool,
    pub verbs: &'static [&'static str],
    pub subresources: Vec<Subresource>,
    pub storage_version_hash: String,
    pub columns: Vec<Column>,
}

impl Named {
    /// The short name of the kind's definition: `apps.v1.Deployment`.
    pub fn definition(&self) -> String {
        let package = match self.group.as_str() {
            "" => "core",
            // Go's types of this group are in another module.
            "apiregistration.k8s.io" => "io.k8s.kube-aggregator.pkg.apis.apiregistration",
            group => group.split('.').next().unwrap_or_default(),
        };
        format!("{package}.{}.{}", self.version, self.names.kind)
    }
}

/// All recorded resources.
pub(super) fn all() -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    for line in TEXT.lines() {
        match (line.strip_prefix(' '), out.last_mut()) {
            (Some(line), Some(last)) => match line.strip_prefix('|') {
                Some(columns) => last.columns = columns.split('|').map(column).collect(),
                None => last.subresources.push(subresource(line)),
            },
            _ => out.push(resource(line)),
        }
    }
    out
}

/// A resource as a line of the recording has it.
pub(super) fn resource(line: &str) -> Named {
    let mut parts = line.split(' ');
    let mut next = || parts.next().unwrap_or_default();
    let (group, version) = split(next());
    let kind = next().to_owned();
    let (plural, singular) = (next().to_owned(), next().to_owned());
    let (namespaced, verbs) = (next() == "namespaced", verbs(next()));
    let rest: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let marked = |mark: &str| {
        rest.iter()
            .find(|(name, _)| *name == mark)
            .map_or("", |(_, value)| value)
    };
    let words = |mark: &str| {
        marked(mark)
            .split(',')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let names = Names {
        list_kind: format!("{kind}List"),
        plural,
        singular,
        kind,
        short_names: words("short"),
        categories: words("categories"),
    };
    let storage_version_hash = marked("hash").to_owned();
    Named {
        group,
        version,
        names,
        namespaced,
        verbs,
        subresources: Vec::new(),
        storage_version_hash,
        columns: Vec::new(),
    }
}

fn column(text: &str) -> Column {
    let mut parts = text.split(':');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let (name, r#type, format) = (next(), next(), next());
    Column {
        name,
        r#type,
        format,
        description: String::new(),
        priority: next().parse().unwrap_or_default(),
    }
}

fn subresource(line: &str) -> Subresource {
    let mut parts = line.split(' ');
    let mut next = || parts.next().unwrap_or_default();
    let name = next().to_owned();
    let (group, version) = split(next());
    Subresource {
        name,
        group,
        version,
        kind: next().to_owned(),
        verbs: verbs(next()),
    }
}

fn split(group_version: &str) -> (String, String) {
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    (group.to_owned(), version.to_owned())
}

/// The set whose names are `text`; a test keeps [`VERBS`] complete.
fn verbs(text: &str) -> &'static [&'static str] {
    VERBS.into_iter().find(|set| set.join(",") == text).unwrap_or_default()
}
