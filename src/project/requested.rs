//! The kind that `create api` adds, or to which it adds a version or a controller.

use super::{Definition, Group, Kind, KindName, KindVersion, Origin, Plural, ShortName, Version, plural};

/// The kind for which `create api` runs.
#[derive(Clone, Debug)]
pub struct RequestedKind {
    /// Its group, as PROJECT writes it: without the domain for the project's own.
    pub group: Group,
    /// Its version.
    pub version: Version,
    /// The kind.
    pub name: KindName,
    /// Its owner.
    pub origin: Origin,
    /// Its plural, if it is given; otherwise a new kind gets one by the rules of English.
    pub plural: Option<Plural>,
    /// Whether its objects are cluster-scoped, if it is given.
    pub cluster: Option<bool>,
    /// Its short names for kubectl, if they are given.
    pub short_names: Option<Vec<ShortName>>,
    /// Whether the project takes it over with its CRD.
    pub adopted: bool,
    /// The other versions of that CRD.
    pub others: Vec<Version>,
    /// Its CRD, if it is or was another operator's.
    pub definition: Option<Definition>,
}

impl RequestedKind {
    /// A kind of the project.
    pub fn own(group: Group, version: Version, name: KindName) -> Self {
        Self {
            group,
            version,
            name,
            origin: Origin::Project,
            plural: None,
            cluster: None,
            short_names: None,
            adopted: false,
            others: Vec::new(),
            definition: None,
        }
    }

    /// The kind with only this version, without controllers.
    pub(super) fn alone(&self) -> Kind {
        Kind {
            group: self.group.clone(),
            name: self.name.clone(),
            plural: self.plural.clone().unwrap_or_else(|| plural(&self.name)),
            short_names: self.short_names.clone().unwrap_or_default(),
            cluster: self.cluster.unwrap_or_default(),
            origin: self.origin,
            adopted: self.adopted,
            definition: self.definition.clone(),
            versions: vec![KindVersion::new(self.version.clone(), true)],
            controllers: Vec::new(),
            webhooks: None,
            conversion: None,
            policy: None,
            mutating_policy: None,
        }
    }
}
