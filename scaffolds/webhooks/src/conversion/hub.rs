//! The declaration of a kind's versions and of the functions between them.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use kube::CustomResourceExt;
use kubewright_runtime::{BoxError, Error, Kind, Manager, Object, Result, component::StorageVersion};
use kubewright_schema::webhook::conversion_path;
use schemars::JsonSchema;

use super::{
    answer::Conversion,
    convert::{Converter, Spoke, Version, way},
    each::ObjectConverter,
    stored::Stored,
};
use crate::webhook::{Hooked, Purpose, hook};

/// The version `H` of a kind through which all its versions are converted: usually the one that is stored. The others are
/// its spokes, each with a function to the hub and one from it.
///
/// ```
/// # mod v1 {
/// #     use kube::CustomResource;
/// #     #[derive(Clone, Debug, CustomResource, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// #     #[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
/// #     pub struct FooBarSpec { pub target: String }
/// # }
/// # mod v2 {
/// #     use kube::CustomResource;
/// #     #[derive(Clone, Debug, CustomResource, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// #     #[kube(group = "test.example.com", version = "v2", kind = "FooBar", namespaced, storage = false)]
/// #     pub struct FooBarSpec { pub goal: String }
/// # }
/// # use kubewright_runtime::{Manager, Result};
/// # use kubewright_webhooks::Hub;
/// fn to_hub(old: v2::FooBar) -> Result<v1::FooBar> {
///     // Without `..`: a field that is added later does not compile until it is converted.
///     let v2::FooBar { metadata, spec } = old;
///     let v2::FooBarSpec { goal } = spec;
///     Ok(v1::FooBar { metadata, spec: v1::FooBarSpec { target: goal } })
/// }
///
/// fn from_hub(hub: v1::FooBar) -> Result<v2::FooBar> {
///     let v1::FooBar { metadata, spec } = hub;
///     let v1::FooBarSpec { target } = spec;
///     Ok(v2::FooBar { metadata, spec: v2::FooBarSpec { goal: target } })
/// }
///
/// # fn register(manager: &Manager) -> Result<()> {
/// Hub::<v1::FooBar>::new().spoke(to_hub, from_hub).register(manager)
/// # }
/// ```
///
/// # Flow
///
/// The API server asks at each read and write of an object in another version than the stored one, on every replica of the
/// operator. An object in one spoke becomes one of the hub, and that one of the other spoke.
///
/// # Guarantees
///
/// - What a version cannot hold is not lost: the object in that version has it in the annotation `<group>/<version>-only`,
///   named after the version that it comes from. On the way back it is restored wherever what was visible of it is
///   unchanged; what a client has changed or removed stays changed or removed. That holds for fields that the Rust types
///   do not know, and for the exact form of values. An annotation that somebody has made invalid restores nothing.
/// - Of metadata, only labels and annotations can be changed; they are as the functions return them.
/// - Objects that are unchanged are converted back to what they were.
/// - If an object cannot be converted, because a function fails or panics, or because the object has more than 127 levels of
///   nested lists and objects, a write fails with its name, both versions and the reason. A read shows its metadata with the label
///   `<group>/<version>-only: not-convertible.…`, so that it takes no list along; in that version it can only be deleted, with the
///   fields that are stored. On an object with other fields the label means nothing. If a function does not return in time, the
///   request fails.
///
/// # Caveats
///
/// The functions get no client: they must depend on nothing but the object, and return the same each time. A client that
/// replaces an object without having read its annotation also replaces the values in the annotation. Kubernetes limits all
/// annotations of an object to 262,144 bytes. If a version lacks more than that of an object, it shows the object without
/// the annotation, with the label `<group>/<version>-only: too-large.…`, and refuses writes of it.
///
/// A required field that is missing is taken for its default, or the zero value of its type, or a typical value if the
/// schema refuses that: the API server converts objects without the fields of one owner, to find out which fields others
/// own.
#[must_use = "it converts nothing until it is registered"]
pub struct Hub<H> {
    to: BTreeMap<String, Spoke>,
    /// The error of an invalid declaration.
    wrong: Option<String>,
    hub: std::marker::PhantomData<fn() -> H>,
}

impl<H: Object + CustomResourceExt + JsonSchema> Default for Hub<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Object + CustomResourceExt + JsonSchema> Hub<H> {
    /// A hub without spokes.
    pub fn new() -> Self {
        Self {
            to: BTreeMap::new(),
            wrong: None,
            hub: std::marker::PhantomData,
        }
    }

    /// Adds the version `S`. The functions get the whole object, and have to pass its metadata on.
    pub fn spoke<S, E, F>(
        mut self,
        to_hub: impl Fn(S) -> Result<H, E> + Send + Sync + 'static,
        from_hub: impl Fn(H) -> Result<S, F> + Send + Sync + 'static,
    ) -> Self
    where
        S: Object + CustomResourceExt + JsonSchema,
        E: Into<BoxError>,
        F: Into<BoxError>,
    {
        let (hub, spoke) = (Kind::<H>::of(), Kind::<S>::of());
        let same = |of: fn(&Kind<H>) -> &str, it: &str| of(&hub) == it;
        if !same(Kind::group, spoke.group()) || !same(Kind::kind, spoke.kind()) || !same(Kind::plural, spoke.plural()) {
            let names = [hub.full_name(), spoke.full_name()];
            let [hub, spoke] = names;
            self.wrong = Some(format!("`{spoke}` is another kind than `{hub}`"));
        }
        let version = spoke.version().to_owned();
        let spoke = Spoke {
            version: Version::of::<S>(),
            to_hub: way(to_hub),
            from_hub: way(from_hub),
        };
        if version == hub.version() || self.to.insert(version.clone(), spoke).is_some() {
            self.wrong = Some(format!("version {version} is declared twice"));
        }
        self
    }

    /// Registers the conversion with the manager. The operator serves it on every replica, and enters it into the kind's
    /// CustomResourceDefinition once it answers.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if there is no spoke, a spoke is of another kind, or a version is declared twice.
    pub fn register(self, manager: &Manager) -> Result<()> {
        let kind = Kind::<H>::of();
        let definition = format!("{}.{}", kind.plural(), kind.group());
        let path = conversion_path(kind.group(), kind.kind());
        let converter = self.converter()?;
        let stored = converter.stored.clone();
        let each = ObjectConverter {
            converter,
            stored: Some(Stored {
                client: manager.client().clone(),
                plural: kind.plural().to_owned(),
            }),
        };
        let conversion = Conversion::new(path, each, manager.metrics());
        hook(
            manager,
            Hooked {
                endpoint: Arc::new(conversion),
                purpose: Purpose::Conversion {
                    definition,
                    api_version: kind.api_version(),
                    stored,
                },
            },
        )
    }

    /// The converter of objects.
    pub(crate) fn converter(self) -> Result<Converter> {
        let kind = Kind::<H>::of();
        let wrong = match self.wrong {
            None if self.to.is_empty() => Some("there is no spoke".to_owned()),
            wrong => wrong,
        };
        if let Some(wrong) = wrong {
            return Err(Error::Setup(format!("the conversion of {}: {wrong}", kind.kind())));
        }
        Ok(Converter {
            group: kind.group().to_owned(),
            kind: kind.kind().to_owned(),
            hub: Version::of::<H>(),
            spokes: self.to,
            stored: StorageVersion::default(),
            assembled: OnceLock::new(),
        })
    }
}
