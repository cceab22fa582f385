//! A kind as PROJECT lists it: its names, its owner, its versions and its controllers.

use super::{
    Controller, Conversion, Declared, Definition, Group, KindName, KindPolicy, Origin, Pattern, Plural, ShortName,
    Version, Webhooks,
};
use serde::{Deserialize, Serialize};

/// A kind, with all its versions and all its controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kind {
    /// Its group: without the domain for the project's own kinds, in full for others.
    pub group: Group,
    /// Its name.
    #[serde(rename = "kind")]
    pub name: KindName,
    /// Its plural.
    pub plural: Plural,
    /// The short names for kubectl.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<ShortName>,
    /// Whether its objects are cluster-scoped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cluster: bool,
    /// Its owner.
    #[serde(default, rename = "from", skip_serializing_if = "Origin::is_project")]
    pub origin: Origin,
    /// Whether the project took the kind over: its first types were made from a CRD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// The CRD of a kind of another owner, or of one that was taken over, which is stored as a file of its own.
    #[serde(skip)]
    pub definition: Option<Definition>,
    /// Its versions, sorted by name; at least one.
    pub versions: Vec<KindVersion>,
    /// The controllers of its objects, sorted by name. An object is served in every version, so each controller handles
    /// all objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<Controller>,
    /// Its admission webhooks, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
    /// The conversion between its versions, if the operator has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion: Option<Conversion>,
    /// The admission policy that allows or refuses writes of its objects, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<KindPolicy>,
    /// The admission policy that changes its objects, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutating_policy: Option<KindPolicy>,
}

/// A version of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindVersion {
    /// Its name.
    #[serde(rename = "version")]
    pub name: Version,
    /// Whether its type was created as the stored version. From then on the type decides.
    #[serde(default = "stored", skip_serializing_if = "is_stored")]
    pub storage: bool,
    /// Whether it was the stored version until `create api --storage` made another one that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub former_storage: bool,
    /// Its types as their source declares them, if they were read.
    #[serde(skip)]
    pub types: Option<Declared>,
}

impl KindVersion {
    /// A version that was never the stored one, unless it is that now.
    pub fn new(name: Version, storage: bool) -> Self {
        Self {
            name,
            storage,
            former_storage: false,
            types: None,
        }
    }
}

/// Most kinds have one version.
fn stored() -> bool {
    true
}

fn is_stored(storage: &bool) -> bool {
    *storage
}

/// A kind in one of its versions, which has a Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api<'a> {
    /// The kind.
    pub kind: &'a Kind,
    /// The version.
    pub version: &'a KindVersion,
}

impl Kind {
    /// Whether one of its controllers has such a pattern.
    pub(super) fn any_pattern(&self, is_such: impl Fn(&Pattern) -> bool) -> bool {
        self.controllers.iter().any(|controller| is_such(&controller.pattern))
    }

    /// The flags that name the scope which this kind has not, in an error.
    pub(super) fn other_scope(&self) -> &'static str {
        match self.cluster {
            true => "--namespaced",
            false => "--cluster` or `--namespaced=false",
        }
    }

    /// Whether this is the kind of that group and name.
    pub fn is(&self, group: &Group, name: &KindName) -> bool {
        (&self.group, &self.name) == (group, name)
    }

    /// The version of that name.
    pub fn version(&self, name: &Version) -> Option<&KindVersion> {
        self.versions.iter().find(|version| version.name == *name)
    }

    /// The version that is stored, as the types say, or PROJECT where they were not read; `None` if that is not exactly one.
    pub fn stored(&self) -> Option<&KindVersion> {
        let is_stored = |it: &&KindVersion| it.types.as_ref().map_or(it.storage, |types| types.stored);
        let mut stored = self.versions.iter().filter(is_stored);
        stored.next().filter(|_| stored.next().is_none())
    }

    /// Records the types of each version, in their order.
    pub fn declare(&mut self, types: Vec<Declared>) {
        for (version, types) in self.versions.iter_mut().zip(types) {
            version.types = Some(types);
        }
    }

    /// The kind in each of its versions.
    pub fn apis(&self) -> impl Iterator<Item = Api<'_>> {
        let api = |version| Api { kind: self, version };
        self.versions.iter().map(api)
    }

    /// Whether its types were made from a CRD, which is stored as a file of its own.
    pub fn has_definition(&self) -> bool {
        self.adopted || self.origin == Origin::Crd
    }

    /// Whether that version is its only one.
    pub fn has_only(&self, version: &Version) -> bool {
        self.versions.iter().all(|own| own.name == *version)
    }

    /// The names of its versions, for a message.
    pub fn version_names(&self) -> String {
        let names: Vec<_> = self.versions.iter().map(|it| format!("`{}`", it.name)).collect();
        names.join(", ")
    }

    /// The controller that handles objects of this version although it uses another one. `None` if a controller uses
    /// this version, or if there is no controller.
    pub fn served_by(&self, version: &Version) -> Option<&Controller> {
        let uses = |controller: &Controller| controller.version == *version;
        match self.controllers.iter().any(uses) {
            true => None,
            false => self.controllers_by_rank().next(),
        }
    }

    /// Its controllers: first the one that is named after the kind, then the others by name.
    pub fn controllers_by_rank(&self) -> impl Iterator<Item = &Controller> {
        let (main, others): (Vec<_>, Vec<_>) = self.controllers.iter().partition(|it| it.is_first_of(self));
        main.into_iter().chain(others)
    }

    /// The first of its controllers that use this version.
    pub fn main_controller(&self, version: &Version) -> Option<&Controller> {
        self.controllers_by_rank().find(|it| it.version == *version)
    }
}
