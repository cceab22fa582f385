//! OpenAPI documents with the schemas of all kinds and their operations: v3 for each group and version, v2 for all.
//! Built-in kinds have no descriptions but of their metadata; custom kinds have those of their CRDs.

mod answer;
mod metadata;
mod operation;
mod parameters;
mod paths;
mod protobuf;
mod schemas;
mod swagger;

use crate::{
    catalogue::{Catalogue, Snapshot},
    digest, release,
    resource::Resource,
    strategy::CustomRules,
};
use bytes::Bytes;
use operation::Subject;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

#[cfg(feature = "testing")]
pub use protobuf::{V2, V3, Version};
pub(crate) use schemas::{custom as custom_schema_name, resolved as resolved_schema};

/// Answers requests below `/openapi` from the catalogue; caches the documents until the catalogue changes.
pub(crate) struct OpenApi {
    catalogue: Catalogue,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The v3 documents, by path: `apis/apps/v1`.
    documents: BTreeMap<String, Described>,
    /// The v2 document, and the catalogue's generation from which it was made.
    swagger: Option<(u64, Arc<Document>)>,
}

/// A document in both forms.
pub(crate) struct Document {
    json: Bytes,
    /// The ETag of both forms, quotes included.
    etag: String,
    version: &'static protobuf::Version,
    /// Encoded for the first client that requests it.
    protobuf: OnceLock<Bytes>,
}

/// A document, valid while its version has exactly these resources.
struct Described {
    resources: Vec<Arc<Resource>>,
    document: Arc<Document>,
}

impl OpenApi {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            kept: Mutex::default(),
        }
    }

    /// `/openapi/v3`: the URLs of the documents, each with a hash that makes it unique.
    pub(crate) fn index(&self) -> Value {
        let places = places(&self.catalogue.snapshot());
        self.kept().documents.retain(|place, _| places.contains_key(place));
        let entry = |place: String| {
            let document = self.document(&place)?;
            let url = format!("/openapi/v3/{place}?hash={}", document.etag.trim_matches('"'));
            Some((place, json!({"serverRelativeURL": url})))
        };
        let paths: Map<String, Value> = places.into_keys().filter_map(entry).collect();
        json!({"paths": paths})
    }

    /// The document at `place`, for example `api/v1` or `apis/apps/v1`. `None` if nothing is served there.
    pub(crate) fn document(&self, place: &str) -> Option<Arc<Document>> {
        let (group, version) = at(place)?;
        let snapshot = self.catalogue.snapshot();
        let resources: Vec<Arc<Resource>> = snapshot.resources(group, version).cloned().collect();
        if resources.is_empty() {
            return None;
        }
        if let Some(kept) = self.kept().documents.get(place)
            && kept.is_of(&resources)
        {
            return Some(Arc::clone(&kept.document));
        }
        let document = Document::new(&describe(&snapshot, group, version), &protobuf::V3);
        let described = Described {
            resources,
            document: Arc::clone(&document),
        };
        self.kept().documents.insert(place.to_owned(), described);
        Some(document)
    }

    /// `/openapi/v2`.
    pub(crate) fn swagger(&self) -> Arc<Document> {
        let snapshot = self.catalogue.snapshot();
        if let Some((generation, document)) = &self.kept().swagger
            && *generation == snapshot.generation
        {
            return Arc::clone(document);
        }
        let documents = places(&snapshot)
            .into_values()
            .map(|(group, version)| describe(&snapshot, &group, &version));
        let document = Document::new(&swagger::of(documents), &protobuf::V2);
        self.kept().swagger = Some((snapshot.generation, Arc::clone(&document)));
        document
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Described {
    fn is_of(&self, resources: &[Arc<Resource>]) -> bool {
        let same = self.resources.iter().zip(resources).all(|(a, b)| Arc::ptr_eq(a, b));
        same && self.resources.len() == resources.len()
    }
}

/// Every group and version, by the path of its document.
fn places(snapshot: &Snapshot) -> BTreeMap<String, (String, String)> {
    let mut places = BTreeMap::new();
    for group in snapshot.groups() {
        for version in snapshot.versions(group) {
            let place = if group.is_empty() {
                format!("api/{version}")
            } else {
                format!("apis/{group}/{version}")
            };
            places.insert(place, (group.to_owned(), version.to_owned()));
        }
    }
    places
}

/// The group and version at a document's path.
fn at(place: &str) -> Option<(&str, &str)> {
    match place.split('/').collect::<Vec<_>>()[..] {
        ["api", version] => Some(("", version)),
        ["apis", group, version] if !group.is_empty() => Some((group, version)),
        _ => None,
    }
}

fn describe(snapshot: &Snapshot, group: &str, version: &str) -> Value {
    let built_in = snapshot.is_built_in(group);
    let mut described = Map::new();
    let mut own = Map::new();
    for resource in snapshot.resources(group, version) {
        let Some(subject) = subject(resource, built_in, &mut own) else {
            continue;
        };
        paths::add(&subject, &mut described);
    }
    let paths = Value::Object(described);
    let schemas = schemas::closure(&paths, &own);
    let (title, number) = if built_in {
        ("Kubernetes", format!("1.{}", release::minor()))
    } else {
        ("Kubernetes CRD Swagger", "v0.1.0".to_owned())
    };
    let mut document = json!({
        "openapi": "3.0.0",
        "info": {"title": title, "version": number},
        "paths": paths,
        "components": {"schemas": schemas},
    });
    if built_in {
        document["components"]["securitySchemes"] = json!({"BearerToken": {
            "type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header",
        }});
    }
    document
}

/// The resource with the names of its schemas; those of a custom kind go into `own`.
fn subject<'a>(resource: &'a Arc<Resource>, built_in: bool, own: &mut Map<String, Value>) -> Option<Subject<'a>> {
    let Resource {
        group, version, names, ..
    } = resource.as_ref();
    let (object, list) = match &resource.rules().custom {
        Some(CustomRules {
            published: [one, all], ..
        }) => {
            let object = schemas::custom(group, version, &names.kind);
            let list = schemas::custom(group, version, &names.list_kind);
            own.insert(object.clone(), one.clone());
            own.insert(list.clone(), all.clone());
            (object, list)
        }
        None => {
            let object = schemas::built_in(group, version, &names.kind)?;
            let list = schemas::built_in(group, version, &names.list_kind).unwrap_or_else(|| object.clone());
            (object, list)
        }
    };
    Some(Subject {
        resource,
        built_in,
        object,
        list,
    })
}

impl Document {
    fn new(document: &Value, version: &'static protobuf::Version) -> Arc<Self> {
        let json = document.to_string();
        Arc::new(Self {
            etag: format!("\"{}\"", digest::sha512_hex(json.as_bytes())),
            json: Bytes::from(json),
            version,
            protobuf: OnceLock::new(),
        })
    }

    /// The document in Protobuf.
    fn protobuf(&self) -> Bytes {
        let encode = || {
            let document: Value = serde_json::from_slice(&self.json).unwrap_or_default();
            Bytes::from(self.version.encode(&document))
        };
        self.protobuf.get_or_init(encode).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    #[test]
    fn a_document_is_encoded_once_despite_changes_of_other_groups() {
        let catalogue = Catalogue::default();
        catalogue.add_built_in(kinds::resources());
        let openapi = OpenApi::new(catalogue.clone());
        let written = openapi.document("apis/apps/v1").unwrap();
        catalogue.replace_custom("test.example.com", "foobars", []);
        let again = openapi.document("apis/apps/v1").unwrap();
        assert!(Arc::ptr_eq(&written, &again));
        assert!(openapi.document("apis/apps/v9").is_none());
        assert!(openapi.document("apis/apps").is_none());
    }
}
