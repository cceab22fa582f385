//! The kinds that CustomResourceDefinitions define: one strategy for each served version. Each has the schemas of all
//! versions, because an object may have been stored in another one.

mod columns;
mod finalizers;
mod objections;
mod published;
mod rules;
mod scale;

use crate::{
    conversion::Conversion,
    custom::{conditions::holds, path::Path as FieldPath},
    openapi,
    status::Status,
    strategy::{Decoding, Preparation, Printing, Rules, Strategy, StrictErrors, Validation, Versions},
};
use columns::Printed;
use kubewright_machinery::{Cause, cause::Objections, go, names};
use kubewright_schema::{typed::Schema, value::Structural};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};
use tokio::sync::watch;

/// The shared parts of all versions of a kind.
pub(super) struct Family {
    group: String,
    kind: String,
    storage: String,
    schemas: BTreeMap<String, Structural>,
    /// The versions that are not served, by `group/version`.
    unserved: BTreeMap<String, Schema>,
    /// The revision of the definition: objects written later were written under these schemas.
    since: u64,
    terminating: bool,
    conversion: Option<Arc<Conversion>>,
    ends: Option<watch::Receiver<()>>,
}

/// The settings for the resources of a definition that are not in the definition.
pub(super) struct Served {
    /// The revision of the definition.
    pub since: u64,
    /// Closes when the resources are no longer served.
    pub ends: Option<watch::Receiver<()>>,
    /// The conversion by a webhook, if the definition has one.
    pub conversion: Option<Conversion>,
}

impl Family {
    /// The family of an accepted definition at a revision.
    pub(super) fn of(crd: &Value, how: Served) -> Arc<Self> {
        let text = |pointer: &str| {
            crd.pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let versions = crd["spec"]["versions"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let name = |version: &Value| version["name"].as_str().unwrap_or_default().to_owned();
        Arc::new(Self {
            group: text("/spec/group"),
            kind: text("/status/acceptedNames/kind"),
            storage: versions
                .iter()
                .find(|it| it["storage"] == true)
                .map(name)
                .unwrap_or_default(),
            schemas: versions
                .iter()
                .map(|it| (name(it), Structural::compile(&it["schema"]["openAPIV3Schema"])))
                .collect(),
            unserved: versions
                .iter()
                .filter(|it| it["served"] != true)
                .map(|it| {
                    let api_version = format!("{}/{}", text("/spec/group"), name(it));
                    (api_version, Schema::custom(&it["schema"]["openAPIV3Schema"]))
                })
                .collect(),
            since: how.since,
            terminating: holds(crd, "Terminating"),
            conversion: how.conversion.map(Arc::new),
            ends: how.ends,
        })
    }

    fn api_version(&self, version: &str) -> String {
        format!("{}/{version}", self.group)
    }

    /// The name of the kind's OpenAPI schema: `com.example.test.v1.FooBar`.
    fn schema_name(&self, version: &Value) -> String {
        let version = version["name"].as_str().unwrap_or_default();
        openapi::custom_schema_name(&self.group, version, &self.kind)
    }

    /// The schema of the version that `object` names.
    fn schema_of(&self, object: &Value) -> Option<&Structural> {
        let (group, version) = object["apiVersion"].as_str()?.split_once('/')?;
        self.schemas.get(version).filter(|_| group == self.group)
    }
}

/// The schema of objects in a version that the kind does not have.
static ANY: LazyLock<Structural> = LazyLock::new(|| Structural::compile(&json!({"type": "object"})));

/// A custom kind in one version.
pub(super) struct Custom {
    family: Arc<Family>,
    version: String,
    schema: Schema,
    rules: Rules,
    columns: Vec<Printed>,
    /// By their paths without the leading dot, as field selectors have them.
    selectable: BTreeMap<String, FieldPath>,
    /// Whether the schema has no field for the replicas of a Scale. Then they are not stored.
    drops_replicas: bool,
}

impl Custom {
    /// The strategy of `version`, one of the definition's versions.
    pub(super) fn new(family: &Arc<Family>, version: &Value, crd: &Value) -> Self {
        let versions = crd["spec"]["versions"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let columns = columns::of(version);
        let published = published::schemas(crd, version, &family.schema_name(version));
        let mut rules = rules::of(family, version, versions, published);
        rules.table.columns = columns.iter().map(|it| it.column.clone()).collect();
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        let fields = fields.filter_map(|field| field["jsonPath"].as_str());
        Self {
            family: family.clone(),
            version: version["name"].as_str().unwrap_or_default().to_owned(),
            schema: Schema::custom(&version["schema"]["openAPIV3Schema"]),
            drops_replicas: drops_replicas(family, version, &rules),
            rules,
            columns,
            selectable: fields
                .filter_map(|path| {
                    Some((
                        path.strip_prefix('.').unwrap_or(path).to_owned(),
                        FieldPath::parse(path)?,
                    ))
                })
                .collect(),
        }
    }

    /// Decodes an object of this kind; `prune` removes fields that the schema does not have.
    fn read_with(
        &self,
        prune: fn(&Structural, &mut Value) -> Vec<String>,
        object: &mut Value,
    ) -> Result<StrictErrors, Status> {
        let (group, version) = names::group_version(object["apiVersion"].as_str().unwrap_or_default());
        if object["kind"] != *self.family.kind || group != self.family.group {
            return Ok(StrictErrors::new());
        }
        let schema = self.family.schemas.get(version).unwrap_or(&ANY);
        let mut unknown = prune(schema, object);
        // Values of the wrong type in the metadata of embedded resources.
        unknown.extend(schema.coerce(object).map_err(|cause| {
            let (kind, version) = (&self.family.kind, &self.version);
            Status::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: {cause}"
            ))
        })?);
        Ok(unknown
            .into_iter()
            .map(|path| format!("unknown field \"{path}\""))
            .collect())
    }

    fn structural(&self) -> Option<&Structural> {
        self.family.schemas.get(&self.version)
    }
}

impl Strategy for Custom {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Decoding for Custom {
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.read_with(Structural::prune, object)
    }

    /// The result of an apply is not decoded, so that its nulls reach validation.
    fn convert(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.read_with(Structural::prune_unknown, object)
    }

    fn default(&self, object: &mut Value) {
        if let Some(schema) = self.structural().filter(|_| self.is_of_type(object)) {
            schema.default(object);
        }
    }
}

impl Preparation for Custom {
    fn prepare_for_create(&self, _subresource: &str, object: &mut Value) {
        if self.rules.has_status
            && let Some(object) = object.as_object_mut()
        {
            object.remove("status");
        }
    }

    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value) {
        if !self.rules.has_status {
            return;
        }
        if subresource == "status" {
            let managed = new["metadata"].get("managedFields").cloned();
            let status = new.get("status").cloned();
            *new = old.clone();
            put(&mut new["metadata"], "managedFields", managed);
            put(new, "status", status);
        } else {
            put(new, "status", old.get("status").cloned());
        }
    }
}

impl Validation for Custom {
    fn is_of_type(&self, object: &Value) -> bool {
        let own = (self.family.group.as_str(), self.version.as_str());
        let is_own = |text: &str| text.split_once('/') == Some(own);
        object["kind"] == *self.family.kind && object["apiVersion"].as_str().is_some_and(is_own)
    }

    fn validate(&self, object: &Value, found: &[Cause]) -> Vec<Cause> {
        self.objections(object, None, found).causes
    }

    fn validate_update(&self, subresource: &str, new: &Value, old: &Value, found: &[Cause]) -> Objections {
        if subresource == "status" {
            self.objections_to_status(new, old, found)
        } else {
            self.objections(new, Some(old), found)
        }
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        finalizers::warnings(object, &Value::Null)
    }

    fn update_warnings(&self, _subresource: &str, new: &Value, old: &Value) -> Vec<String> {
        finalizers::warnings(new, old)
    }
}

impl Versions for Custom {
    fn read(&self, object: &mut Value) {
        self.read_stored(object);
        object["apiVersion"] = json!(self.family.api_version(&self.version));
        if let Some(schema) = self.structural() {
            schema.prune(object);
            schema.repair(object);
        }
    }

    fn read_stored(&self, object: &mut Value) {
        if let Some(stored) = self.family.schema_of(object) {
            stored.prune(object);
            stored.repair(object);
            stored.default(object);
        }
    }

    fn read_converted(&self, object: &mut Value) -> Result<(), Status> {
        let Some(schema) = self.family.schema_of(object) else {
            return Ok(());
        };
        schema.prune(object);
        let coerced = schema.coerce(object);
        coerced
            .map(drop)
            .map_err(|cause| Status::new(500, "", cause.to_string()))
    }

    fn write(&self, object: &mut Value) {
        if self.version != self.family.storage
            && let Some(schema) = self.family.schemas.get(&self.family.storage)
        {
            object["apiVersion"] = json!(self.family.api_version(&self.family.storage));
            schema.prune(object);
        } else if let Some(schema) = self.structural() {
            schema.drop_default_nulls(object);
            if self.drops_replicas {
                schema.prune_unknown(object);
            }
        }
        go::store(object);
    }

    fn unserved(&self, api_version: &str) -> Option<&Schema> {
        self.family.unserved.get(api_version)
    }
}

impl Printing for Custom {
    fn field(&self, object: &Value, path: &str) -> Option<String> {
        let found = self.selectable.get(path)?.find(object).unwrap_or_default();
        Some(match found.first().map(|found| found.value()) {
            None | Some(Value::Null) => String::new(),
            Some(value) => columns::text(value),
        })
    }

    fn cells(&self, object: &Value, now: i64) -> Vec<Value> {
        self.columns.iter().map(|it| it.cell(object, now)).collect()
    }
}

fn drops_replicas(family: &Family, version: &Value, rules: &Rules) -> bool {
    let schema = version["name"].as_str().and_then(|name| family.schemas.get(name));
    let (Some(schema), Some(scale)) = (schema, &rules.scale) else {
        return false;
    };
    let steps = scale.spec_replicas.trim_start_matches('.').rsplit('.');
    let mut object = steps.fold(json!(0), |inner, step| json!({ step: inner }));
    !schema.prune_unknown(&mut object).is_empty()
}

fn put(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(object) = object.as_object_mut() {
        match value {
            Some(value) => _ = object.insert(key.to_owned(), value),
            None => _ = object.remove(key),
        }
    }
}
