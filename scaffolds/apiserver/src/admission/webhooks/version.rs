//! Objects in the version for which a webhook is called or a policy evaluated.

use kubewright_machinery::{go::quote, names::group_version, object_meta};
use serde_json::{Value, json};

use super::super::Objects;
use super::matching::{Asked, Kind, Match};
use crate::{meta, resource::Resource, state::Core, status::Status, strategy::StrictErrors};

/// The objects of a request, in one version.
pub(in crate::admission) struct Versioned {
    pub matched: Match,
    pub new: Option<Value>,
    pub old: Option<Value>,
}

/// The object that the patch of a webhook or a policy makes.
pub(in crate::admission) struct Patched {
    pub object: Value,
    matched: Match,
}

impl Versioned {
    /// The objects in the version of a match.
    ///
    /// # Errors
    /// 500 when a webhook has to convert them and cannot.
    pub async fn of(asked: &Asked<'_>, matched: &Match, objects: &Objects<'_>) -> Result<Self, Status> {
        let (mut new, mut old) = (objects.new.as_deref().cloned(), objects.old.cloned());
        let is_same = Kind::of(asked.resource(), asked.subresource()).as_ref() == Some(&matched.kind);
        for object in new.iter_mut().chain(&mut old).filter(|_| !is_same) {
            let converted = convert(object, asked.resource(), &matched.resource).await;
            converted.map_err(|status| match status.code {
                // As upstream, where two callers say so.
                500 => Status::internal(&Status::internal(&status.message).message),
                _ => status,
            })?;
        }
        Ok(Self {
            matched: matched.clone(),
            new,
            old,
        })
    }

    /// The patched object, read as its kind and with its defaults. If that is `strict`, fields that the kind does not have are an
    /// error for Kubernetes' own kinds.
    ///
    /// # Errors
    /// 500 for what is not of the kind.
    pub fn read(&self, core: &Core, asked: &Asked<'_>, mut object: Value, strict: bool) -> Result<Patched, Status> {
        let matched = &self.matched;
        check_type(core, &matched.resource, &matched.kind, &mut object)?;
        if asked.subresource().is_empty() || self.is_own() {
            let unknown = decode(asked, &matched.resource, &mut object)?;
            if strict && matched.resource.is_typed() && !unknown.is_empty() {
                let why = format!("strict decoding error: {}", unknown.join(", "));
                return Err(Status::internal(&why));
            }
        }
        Ok(self.patched(object))
    }

    /// Whether the objects are of the resource's own kind, not of that of a subresource.
    pub fn is_own(&self) -> bool {
        is_own(&self.matched.resource, &self.matched.kind)
    }

    /// An object of this version that is already read.
    pub fn patched(&self, object: Value) -> Patched {
        Patched {
            object,
            matched: self.matched.clone(),
        }
    }
}

impl Patched {
    /// Whether the webhook has changed anything.
    pub fn differs_from(&self, seen: &Versioned) -> bool {
        seen.new.as_ref() != Some(&self.object)
    }

    /// The object in the version of the request.
    ///
    /// # Errors
    /// 500 when a webhook has to convert it and cannot.
    pub async fn in_version_of(&self, asked: &Asked<'_>) -> Result<Value, Status> {
        let mut object = self.object.clone();
        if Kind::of(asked.resource(), asked.subresource()).as_ref() != Some(&self.matched.kind) {
            convert(&mut object, &self.matched.resource, asked.resource()).await?;
        }
        Ok(object)
    }
}

fn is_own(resource: &Resource, kind: &Kind) -> bool {
    resource.group == kind.group && resource.names.kind == kind.name
}

/// Brings an object of one resource to another one that shares its objects.
async fn convert(object: &mut Value, from: &Resource, to: &Resource) -> Result<(), Status> {
    if let Some(conversion) = from.rules().conversion() {
        let converted = conversion.convert(object.take(), &to.api_version()).await;
        *object = converted?;
        return Ok(());
    }
    if from.is_typed() {
        from.strategy.write(object);
        to.strategy.read(object);
    }
    object["apiVersion"] = json!(to.api_version());
    object["kind"] = json!(to.names.kind);
    Ok(())
}

/// Reads the metadata of a custom object: unknown fields are dropped. Malformed ones are left to the validation.
fn read_metadata(object: &mut Value) {
    meta::of_mut(object).retain(|field, value| {
        let alone = json!({field.as_str(): value.clone()});
        object_meta::decode(&alone, "").map_or(true, |decoded| decoded.unknown.is_empty())
    });
}

/// Checks that an object of a built-in kind still is one; what it leaves out is filled in.
fn check_type(core: &Core, resource: &Resource, kind: &Kind, object: &mut Value) -> Result<(), Status> {
    if !resource.is_typed() || !is_own(resource, kind) {
        return Ok(());
    }
    let own = [
        ("apiVersion", resource.api_version()),
        ("kind", resource.names.kind.clone()),
    ];
    for (field, own) in &own {
        if object[*field].as_str().is_none_or(str::is_empty) {
            object[*field] = json!(own);
        }
    }
    if own.iter().all(|(field, own)| object[*field] == own.as_str()) {
        return Ok(());
    }
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let why = core
        .catalogue
        .snapshot()
        .another_type(resource, text("apiVersion"), text("kind"));
    Err(match why.ends_with("unknown conversion") {
        true => Status::new(500, "", why),
        false => Status::internal(&why),
    })
}

/// Reads an object as upstream's decoder does, and sets its defaults. Returns the errors of strict decoding.
fn decode(asked: &Asked<'_>, resource: &Resource, object: &mut Value) -> Result<StrictErrors, Status> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    if !resource.is_typed() && kind.is_empty() {
        let shown = kubewright_machinery::go::json(object);
        return Err(Status::internal(&format!("Object 'Kind' is missing in '{shown}'")));
    }
    if !resource.is_typed() && group_version(version).0 != resource.group {
        let (version, wanted) = (
            if version.is_empty() { "/" } else { version },
            asked.resource().api_version(),
        );
        let message = format!(
            "{version}, Kind={kind} is unstructured and is not suitable for converting to {}",
            quote(&wanted)
        );
        return Err(Status::new(500, "", message));
    }
    let unknown = resource.strategy.decode(object).map_err(|status| {
        let why = status
            .message
            .split_once(&format!(" cannot be handled as a {}: ", resource.names.kind));
        Status::internal(why.map_or(status.message.as_str(), |(_, why)| why))
    })?;
    if !resource.is_typed() {
        read_metadata(object);
    }
    meta::of_mut(object);
    resource.strategy.default(object);
    Ok(unknown)
}
