//! Converts one object, through the hub. Nothing is lost on the way: see `kept.rs`.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use kubewright_runtime::{
    BoxError, Kind, Object,
    component::{Authored, StorageVersion},
};
use kubewright_schema::{CustomType, Options, assemble, examples::Required, value::Structural};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{failure::Failure, kept, marks::Marks};

/// The length of a fingerprint. A client that finds another object with the same one harms its own object.
const FINGERPRINT: usize = 16;

/// A function between two versions, on encoded objects.
pub(super) type Convert = Authored<dyn Fn(&Value) -> Result<Value, ConversionFault> + Send + Sync>;

/// The reason that a function did not convert an object.
pub(super) enum ConversionFault {
    /// It does not fit its type.
    Undecodable(serde_json::Error),
    Failed(String),
}

/// The result of a conversion.
pub(super) enum Outcome {
    /// The object in the version that was asked for.
    Whole(Value),
    /// The type and metadata of an object that the version converted from does not show, without its mark: the other fields are
    /// the fields of the stored object.
    Shell(Value),
}

/// The conversions of one kind.
pub(crate) struct Converter {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) hub: Version,
    /// By version.
    pub(super) spokes: BTreeMap<String, Spoke>,
    /// The version in which API servers store objects now, once the operator has seen the definition.
    pub(super) stored: StorageVersion,
    pub(super) assembled: OnceLock<Assembled>,
}

/// The parts of the definition that follow from the operator's own types.
#[derive(Default)]
pub(super) struct Assembled {
    pub(super) schemas: BTreeMap<String, Structural>,
    pub(super) required: BTreeMap<String, Required>,
    stored: Option<String>,
}

/// A version.
pub(super) struct Version {
    pub(super) name: String,
    /// Its Rust type, and what makes its definition.
    described: CustomType<CustomResourceDefinition>,
}

impl Version {
    pub(super) fn of<K: Object + CustomResourceExt + JsonSchema>() -> Self {
        Self {
            name: Kind::<K>::of().version().to_owned(),
            described: CustomType::of::<K>(K::crd),
        }
    }
}

/// A version, and the ways between it and the hub.
pub(super) struct Spoke {
    pub(super) version: Version,
    pub(super) to_hub: Convert,
    pub(super) from_hub: Convert,
}

/// An author's function on encoded objects.
pub(super) fn way<A: Object, B: Object, E: Into<BoxError>>(
    convert: impl Fn(A) -> Result<B, E> + Send + Sync + 'static,
) -> Convert {
    Authored::new(Arc::new(move |object: &Value| {
        let object = A::deserialize(object).map_err(ConversionFault::Undecodable)?;
        let converted = convert(object).map_err(|error| ConversionFault::Failed(error.into().to_string()))?;
        serde_json::to_value(converted)
            .map_err(|error| ConversionFault::Failed(format!("the result cannot be encoded: {error}")))
    }))
}

impl Converter {
    /// The object in a version of the group (`group/version`).
    ///
    /// # Errors
    ///
    /// As for [`convert_or_strip`](Self::convert_or_strip); and it has nothing but its metadata.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn convert(&self, object: Value, api_version: &str) -> Result<Value, Failure> {
        match self.convert_or_strip(object, api_version)? {
            Outcome::Whole(object) => Ok(object),
            Outcome::Shell(_) => Err("the object has nothing but its metadata".to_owned().into()),
        }
    }

    /// The object in a version of the group (`group/version`), or what is known of it.
    ///
    /// # Errors
    ///
    /// The reason that it cannot be converted; the message names the versions. If API servers store another version than this one, the
    /// only reasons are the object itself and the author's functions; [`Marks`] has the others.
    pub(super) fn convert_or_strip(&self, mut object: Value, api_version: &str) -> Result<Outcome, Failure> {
        let from = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        if from == api_version {
            return Ok(Outcome::Whole(object));
        }
        let named = |mut failure: Failure| {
            failure.message = format!("from {from} to {api_version}: {}", failure.message);
            failure
        };
        let path = self
            .spoke_of(&from)
            .and_then(|from| Ok((from, self.spoke_of(api_version)?)));
        let (spoke, to) = path.map_err(Failure::from).map_err(named)?;
        let marks = Marks::take(&mut object, self.names());
        let mut marks = match self.is_stored(&from) {
            // A stored object has no marks, except forged ones.
            true => Marks::default(),
            false => marks,
        };
        let is_write = self.is_stored(api_version);
        if marks.are_of_a_shell() {
            let shell = self.shell(object, marks, api_version);
            return shell.map_err(Failure::from).map_err(named);
        }
        if is_write && !marks.is_empty() {
            // An incomplete object must not replace the complete one.
            let permitted = marks.permit_write(&object, &self.fingerprint(&object));
            permitted.map_err(Failure::from).map_err(named)?;
            marks = Marks::default();
        }
        let steps = [
            spoke.map(|spoke| self.inward(spoke)),
            to.map(|spoke| self.outward(spoke)),
        ];
        let object = steps
            .into_iter()
            .flatten()
            .try_fold(object, |object, step| {
                let (object, left_out) = self.take(&step, object, is_write)?;
                match left_out {
                    Some(why) if is_write => return Err(Failure::from(why)),
                    Some(_) => marks.add_too_large(kept::annotation(&self.group, &step.from.name)),
                    None => {}
                }
                Ok(object)
            })
            .map_err(named)?;
        Ok(Outcome::Whole(self.marked(object, marks)))
    }

    /// The object with these marks.
    pub(super) fn marked(&self, mut object: Value, marks: Marks) -> Value {
        if !marks.is_empty() {
            let fingerprint = self.fingerprint(&object);
            marks.put(&mut object, &fingerprint);
        }
        object
    }

    /// Some digits of a digest of what clients write: unlike the object itself, it is the same once an API server has decoded a
    /// converted object and set the defaults.
    pub(super) fn fingerprint(&self, object: &Value) -> String {
        let mut object = self.as_decoded(object);
        let metadata = object["metadata"].take();
        let written = ["labels", "annotations", "finalizers", "ownerReferences"].map(|name| match &metadata[name] {
            // Without its marks an object may have no labels.
            Value::Object(labels) if labels.is_empty() => Value::Null,
            value => value.clone(),
        });
        object["metadata"] = json!(written);
        let mut fingerprint = kept::digest(&object);
        fingerprint.truncate(FINGERPRINT);
        fingerprint
    }

    /// The object as an API server decodes it: without fields that its version does not have, with defaults.
    pub(super) fn as_decoded(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        let version = api_version.rsplit_once('/').map_or("", |(_, version)| version);
        if let Some(schema) = self.assembled().schemas.get(version) {
            schema.prune(&mut object);
            schema.default(&mut object);
        }
        object
    }

    /// Whether API servers store objects in this version (`group/version`), as far as the operator knows.
    pub(super) fn is_stored(&self, api_version: &str) -> bool {
        let assembled = || self.assembled().stored.clone();
        let stored = self.stored.get().or_else(assembled);
        let stored = stored.as_deref().unwrap_or(&self.hub.name);
        api_version
            .strip_prefix(&self.group)
            .and_then(|rest| rest.strip_prefix('/'))
            == Some(stored)
    }

    /// The names of the runtime's annotations and labels, one for each version.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |version| kept::annotation(&self.group, version);
        self.versions().map(name).collect()
    }

    /// Whether this is one of the kind's versions (`group/version`).
    pub(super) fn has(&self, api_version: &str) -> bool {
        self.spoke_of(api_version).is_ok()
    }

    pub(super) fn assembled(&self) -> &Assembled {
        self.assembled.get_or_init(|| {
            // `make manifests` refuses types that cannot be assembled.
            let definitions = assemble(&self.described(), &Options::default()).unwrap_or_default();
            let versions = definitions.iter().flat_map(|it| it["spec"]["versions"].as_array());
            let mut assembled = Assembled::default();
            for version in versions.flatten() {
                let name = version["name"].as_str().unwrap_or_default().to_owned();
                if version["storage"] == true {
                    assembled.stored = Some(name.clone());
                }
                let schema = &version["schema"]["openAPIV3Schema"];
                assembled.required.insert(name.clone(), Required::of(schema));
                assembled.schemas.insert(name, Structural::compile(schema));
            }
            assembled
        })
    }

    /// The spoke of this name; `None` for the hub.
    fn spoke_of(&self, api_version: &str) -> Result<Option<&Spoke>, String> {
        let version = api_version
            .strip_prefix(&self.group)
            .and_then(|rest| rest.strip_prefix('/'));
        match version {
            Some(version) if version == self.hub.name => Ok(None),
            Some(version) if self.spokes.contains_key(version) => Ok(self.spokes.get(version)),
            _ => {
                let versions: Vec<_> = self.versions().collect();
                let (kind, versions) = (&self.kind, versions.join(", "));
                Err(format!(
                    "this operator converts {kind}s of {} in {versions} only",
                    self.group
                ))
            }
        }
    }

    /// The names of all versions, with the hub first.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &str> {
        [self.hub.name.as_str()]
            .into_iter()
            .chain(self.spokes.keys().map(String::as_str))
    }

    /// The group of the kind.
    #[cfg(feature = "testing")]
    pub(crate) fn group(&self) -> &str {
        &self.group
    }

    /// The Rust types of all versions, and what makes their definitions.
    pub(crate) fn described(&self) -> Vec<CustomType<CustomResourceDefinition>> {
        let spokes = self.spokes.values().map(|spoke| &spoke.version);
        let versions = [&self.hub].into_iter().chain(spokes);
        versions.map(|version| version.described.clone()).collect()
    }
}
