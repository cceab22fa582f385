//! Converts one object, through the hub. Nothing is lost on the way: see `kept.rs`.

use std::{
    any::type_name,
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::Value;

use super::{
    body::{self, Parts},
    kept, zero,
};
use crate::{
    error::BoxError,
    isolate::{Authored, Panic},
    kind::Kind,
    object::Object,
};

/// A function between two versions, on encoded objects.
type Convert = Authored<dyn Fn(&Value) -> Result<Value, Why> + Send + Sync>;

/// Why a function did not convert an object.
pub(super) enum Why {
    /// It does not fit its type.
    Undecodable(serde_json::Error),
    Failed(String),
}

/// The conversions of one kind.
pub(crate) struct Converter {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) hub: Version,
    /// By version.
    pub(super) spokes: BTreeMap<String, Spoke>,
}

/// A version.
pub(super) struct Version {
    pub(super) name: String,
    /// The path of its Rust type, and what makes its definition.
    described: kubewright_schema::Crd<CustomResourceDefinition>,
    /// As it is derived. Few operators ever need it, and it may be large.
    schema: OnceLock<Value>,
}

impl Version {
    pub(super) fn of<K: Object + CustomResourceExt>() -> Self {
        Self {
            name: Kind::<K>::of().version().to_owned(),
            described: (type_name::<K>(), K::crd),
            schema: OnceLock::new(),
        }
    }

    fn schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let definition = serde_json::to_value((self.described.1)()).unwrap_or_default();
            let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema");
            schema.cloned().unwrap_or_default()
        })
    }
}

/// A version, and the ways between it and the hub.
pub(super) struct Spoke {
    pub(super) version: Version,
    pub(super) to_hub: Convert,
    pub(super) from_hub: Convert,
}

/// Why an object was not converted.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether a function panicked.
    pub(crate) panicked: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self {
            message,
            panicked: false,
        }
    }
}

impl From<Panic> for Failure {
    fn from(panic: Panic) -> Self {
        Self {
            message: format!("the conversion panicked: {panic}"),
            panicked: true,
        }
    }
}

/// An author's function on encoded objects.
pub(super) fn way<A: Object, B: Object, E: Into<BoxError>>(
    convert: impl Fn(A) -> Result<B, E> + Send + Sync + 'static,
) -> Convert {
    Authored::new(Arc::new(move |object: &Value| {
        let object = A::deserialize(object).map_err(Why::Undecodable)?;
        let converted = convert(object).map_err(|error| Why::Failed(error.into().to_string()))?;
        serde_json::to_value(converted).map_err(|error| Why::Failed(format!("the result cannot be encoded: {error}")))
    }))
}

/// One step: from a version to another, one of which is the hub.
struct Step<'a> {
    from: &'a Version,
    to: &'a Version,
    forth: &'a Convert,
    back: &'a Convert,
}

impl Converter {
    /// The object in a version of the group (`group/version`).
    ///
    /// # Errors
    ///
    /// Why it cannot be converted; the message names the versions.
    pub(crate) fn convert(&self, object: Value, api_version: &str) -> Result<Value, Failure> {
        let from = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        if from == api_version {
            return Ok(object);
        }
        let named = |mut failure: Failure| {
            failure.message = format!("from {from} to {api_version}: {}", failure.message);
            failure
        };
        let path = self
            .spoke_of(&from)
            .and_then(|from| Ok((from, self.spoke_of(api_version)?)));
        let (from, to) = path.map_err(Failure::from).map_err(named)?;
        let steps = [
            from.map(|spoke| self.inward(spoke)),
            to.map(|spoke| self.outward(spoke)),
        ];
        let mut steps = steps.into_iter().flatten();
        steps
            .try_fold(object, |object, step| self.take(&step, object))
            .map_err(named)
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

    /// The names of all versions, that of the hub first.
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
    #[cfg(feature = "testing")]
    pub(crate) fn described(&self) -> Vec<kubewright_schema::Crd<CustomResourceDefinition>> {
        let spokes = self.spokes.values().map(|spoke| spoke.version.described);
        [self.hub.described].into_iter().chain(spokes).collect()
    }

    fn inward<'a>(&'a self, spoke: &'a Spoke) -> Step<'a> {
        Step {
            from: &spoke.version,
            to: &self.hub,
            forth: &spoke.to_hub,
            back: &spoke.from_hub,
        }
    }

    fn outward<'a>(&'a self, spoke: &'a Spoke) -> Step<'a> {
        Step {
            from: &self.hub,
            to: &spoke.version,
            forth: &spoke.from_hub,
            back: &spoke.to_hub,
        }
    }

    /// Takes one step, restores what the new version alone can hold, and keeps what it cannot hold.
    fn take(&self, step: &Step<'_>, object: Value) -> Result<Value, Failure> {
        let [from, to] = [step.from, step.to].map(|version| kept::annotation(&self.group, &version.name));
        let all: Vec<_> = self
            .versions()
            .map(|version| kept::annotation(&self.group, version))
            .collect();
        let mut parts = Parts::of(object, &all)?;
        let api_version = |version: &Version| format!("{}/{}", self.group, version.name);
        let input = parts.object(&parts.body, &api_version(step.from));
        let (converted, filled) = step.call(step.forth, step.from, &input)?;
        let converted = parts.body_of(converted)?;
        let restored = parts.kept.remove(&to);
        let restored = restored.map(|text| kept::restored(&converted, &text, &kept::digest(&parts.body)));
        if let Some(filled) = filled {
            // Otherwise the annotation would keep that fields were missing.
            parts.body = parts.body_of(filled)?;
        }
        let back = |body: &Value| {
            let output = parts.object(body, &api_version(step.to));
            let (back, _) = step.call(step.back, step.to, &output)?;
            parts.body_of(back).map_err(Failure::from)
        };
        // Whoever may write the object may write the annotation. What does not even fit the type must not make the object
        // unreadable, and with it each list that it is in.
        let of_restored = restored.and_then(|body| Some((back(&body).ok()?, body)));
        let (back, converted) = match of_restored {
            Some(both) => both,
            None => {
                let back = back(&converted).map_err(|mut failure| {
                    failure.message = format!("the result cannot be converted back: {}", failure.message);
                    failure
                })?;
                (back, converted)
            }
        };
        parts.kept.remove(&from);
        if let Some(text) = kept::lost(&parts.body, &back, &converted) {
            parts.kept.insert(from, text);
        }
        Ok(body::join(parts, converted, &api_version(step.to))?)
    }
}

impl Step<'_> {
    /// Calls a function with an object in a version. If the object does not fit its type because required fields are
    /// missing, they are filled in; then the object that was converted is returned as well.
    fn call(&self, convert: &Convert, version: &Version, object: &Value) -> Result<(Value, Option<Value>), Failure> {
        let result = convert.call(|convert| match convert(object) {
            Err(Why::Undecodable(error)) => match zero::filled(object, version.schema()) {
                Some(filled) => Ok((convert(&filled)?, Some(filled))),
                None => Err(Why::Undecodable(error)),
            },
            result => Ok((result?, None)),
        })?;
        result.map_err(|why| match why {
            Why::Failed(why) => why.into(),
            Why::Undecodable(error) => {
                Failure::from(format!("the object does not fit the type of {}: {error}", version.name))
            }
        })
    }
}
