//! The shapes of all kinds and the operations on them, as OpenAPI documents: v3 for each group and version, v2 for all.
//! Built-in kinds are described without texts; custom kinds as their CRDs describe them.

mod answer;
mod definitions;
mod operation;
mod parameters;
mod paths;
mod swagger;

use crate::{
    catalogue::{Catalogue, Snapshot},
    digest,
    discovery::Document,
    resource::Resource,
};
use bytes::Bytes;
use operation::Subject;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

pub(crate) use definitions::custom as custom_definition;

/// Answers requests below `/openapi` from the catalogue; keeps what it wrote until that changes.
pub(crate) struct OpenApi {
    catalogue: Catalogue,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    generation: Option<u64>,
    /// v3, by place: `apis/apps/v1`.
    documents: BTreeMap<String, Document>,
    swagger: Option<Document>,
}

impl OpenApi {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            kept: Mutex::default(),
        }
    }

    /// `/openapi/v3`: where the documents are, each with the hash that makes its address unique.
    pub(crate) fn index(&self) -> Value {
        let snapshot = self.catalogue.snapshot();
        let entry = |place: String| {
            let document = self.document(&place)?;
            let url = format!("/openapi/v3/{place}?hash={}", document.etag.trim_matches('"'));
            Some((place, json!({"serverRelativeURL": url})))
        };
        let paths: Map<String, Value> = places(&snapshot).into_keys().filter_map(entry).collect();
        json!({"paths": paths})
    }

    /// The document at `place`, `api/v1` or `apis/apps/v1`. `None` when nothing is served there.
    pub(crate) fn document(&self, place: &str) -> Option<Document> {
        let snapshot = self.catalogue.snapshot();
        if let Some(document) = self.fresh(&snapshot, |kept| kept.documents.get(place).cloned()) {
            return Some(document);
        }
        let (group, version) = places(&snapshot).remove(place)?;
        let document = finished(&describe(&snapshot, &group, &version));
        self.fresh(&snapshot, |kept| {
            kept.documents.insert(place.to_owned(), document.clone())
        });
        Some(document)
    }

    /// `/openapi/v2`.
    pub(crate) fn swagger(&self) -> Document {
        let snapshot = self.catalogue.snapshot();
        if let Some(document) = self.fresh(&snapshot, |kept| kept.swagger.clone()) {
            return document;
        }
        let documents = places(&snapshot)
            .into_values()
            .map(|(group, version)| describe(&snapshot, &group, &version));
        let document = finished(&swagger::of(documents));
        self.fresh(&snapshot, |kept| kept.swagger = Some(document.clone()));
        document
    }

    /// What is kept for `snapshot`; that of earlier ones is dropped first.
    fn fresh<T>(&self, snapshot: &Snapshot, look: impl FnOnce(&mut Kept) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation != Some(snapshot.generation) {
            *kept = Kept {
                generation: Some(snapshot.generation),
                ..Kept::default()
            };
        }
        look(&mut kept)
    }
}

/// Every group and version by its place.
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
    let schemas = definitions::closure(&paths, &own);
    let (title, number) = if built_in {
        ("Kubernetes", "1.36")
    } else {
        ("Kubernetes CRD Swagger", "v0.1.0")
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

/// The resource with the names of its definitions; those of a custom kind go into `own`.
fn subject<'a>(resource: &'a Arc<Resource>, built_in: bool, own: &mut Map<String, Value>) -> Option<Subject<'a>> {
    let Resource {
        group, version, names, ..
    } = resource.as_ref();
    let (object, list) = match resource.strategy.published() {
        Some([one, all]) => {
            let object = definitions::custom((group, version, &names.kind));
            let list = definitions::custom((group, version, &names.list_kind));
            own.insert(object.clone(), one.clone());
            own.insert(list.clone(), all.clone());
            (object, list)
        }
        None => {
            let object = definitions::built_in((group, version, &names.kind))?;
            let list = definitions::built_in((group, version, &names.list_kind)).unwrap_or_else(|| object.clone());
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

fn finished(document: &Value) -> Document {
    let body = document.to_string();
    Document {
        etag: format!("\"{}\"", digest::sha512_hex(body.as_bytes())),
        body: Bytes::from(body),
    }
}
