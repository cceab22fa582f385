//! The kind CustomResourceDefinition itself. What follows from a definition is the controller's business.

mod decode;
mod defaults;
mod validate;

pub(crate) use validate::bundle_fault;

use super::{conditions::DefinitionCondition, resources::storage_version_hash};
use crate::{
    kinds,
    resource::{ALL_VERBS, Names, Resource, Subresource},
    status::Status,
    strategy::{
        CREATED, Column, Decoding, Empties, Generation, Passes, Preparation, Printing, Put, Rules, Storage, Strategy,
        StrictErrors, TableRules, Validation, Versions,
    },
};
use kubewright_machinery::{
    Cause,
    base64::{self, Encoding},
    cause::Objections,
    go,
};
use kubewright_schema::{lint, typed::Schema};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const GROUP: &str = "apiextensions.k8s.io";
const VERSION: &str = "v1";
pub(crate) const KIND: &str = "CustomResourceDefinition";
pub(crate) const PLURAL: &str = "customresourcedefinitions";
const SHAPE: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition";

/// Keeps a definition until all its objects are gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The resource `customresourcedefinitions`.
pub(crate) fn resource() -> Resource {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Resource {
        group: GROUP.to_owned(),
        version: VERSION.to_owned(),
        names: Names {
            plural: PLURAL.to_owned(),
            singular: "customresourcedefinition".to_owned(),
            kind: KIND.to_owned(),
            list_kind: format!("{KIND}List"),
            short_names: owned(&["crd", "crds"]),
            categories: owned(&["api-extensions"]),
        },
        namespaced: false,
        verbs: ALL_VERBS,
        subresources: vec![Subresource {
            name: "status".to_owned(),
            group: GROUP.to_owned(),
            version: VERSION.to_owned(),
            kind: KIND.to_owned(),
            verbs: &["get", "patch", "update"],
        }],
        storage_version: VERSION.to_owned(),
        // Upstream still stores definitions in the version before.
        storage_version_hash: storage_version_hash(GROUP, "v1beta1", KIND),
        strategy: Arc::new(Definition::new()),
    }
}

struct Definition {
    rules: Rules,
    schema: Schema,
}

impl Definition {
    fn new() -> Self {
        let shape = kinds::openapi_schema(SHAPE).unwrap_or_default();
        Self {
            rules: Rules {
                has_status: true,
                generation: Generation::COUNTED,
                put: Put::CONDITIONAL,
                passes: Passes::UPDATE,
                storage: Storage {
                    etcd_directory: Some("apiextensions.k8s.io/customresourcedefinitions"),
                    ..Storage::default()
                },
                table: TableRules {
                    columns: columns(),
                    ..TableRules::default()
                },
                ..Rules::default()
            },
            schema: Schema::compile(&shape, &kinds::openapi_schema),
        }
    }
}

impl Strategy for Definition {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Decoding for Definition {
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        let read = decode::read(object).and_then(|unknown| check_bundle(object).map(|()| unknown));
        read.map_err(|why| {
            let message = format!("{KIND} in version \"{VERSION}\" cannot be handled as a {KIND}: {why}");
            Status::bad_request(message)
        })
    }

    fn empties(&self, object: &mut Value, form: Empties) -> bool {
        kinds::empties_of_metadata(object, form)
    }

    fn default(&self, object: &mut Value) {
        defaults::fill(object);
    }
}

impl Preparation for Definition {
    fn prepare_for_create(&self, _subresource: &str, object: &mut Value) {
        object["status"] =
            json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null});
        defaults::store(object);
    }

    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value) {
        if subresource == "status" {
            new["spec"] = old["spec"].clone();
        } else {
            new["status"] = old["status"].clone();
            defaults::store(new);
        }
    }

    fn begin_deletion(&self, object: &mut Value, now: &str) -> bool {
        const MESSAGE: &str = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        object["metadata"]["deletionTimestamp"] = json!(now);
        let finalizers = &mut object["metadata"]["finalizers"];
        match finalizers.as_array_mut() {
            Some(all) if all.iter().any(|it| it == FINALIZER) => {}
            Some(all) => all.push(json!(FINALIZER)),
            None => *finalizers = json!([FINALIZER]),
        }
        DefinitionCondition::new("Terminating", true, "InstanceDeletionPending", MESSAGE).set(object, now);
        true
    }
}

impl Validation for Definition {
    fn validate(&self, object: &Value, _found: &[Cause]) -> Vec<Cause> {
        validate::creation(object)
    }

    fn validate_update(&self, subresource: &str, new: &Value, old: &Value, _found: &[Cause]) -> Objections {
        if subresource == "status" {
            validate::status(new).into()
        } else {
            validate::update(new, old).into()
        }
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        lint::warnings(object)
    }

    fn update_warnings(&self, _subresource: &str, new: &Value, old: &Value) -> Vec<String> {
        let known = lint::warnings(old);
        let mut warnings = lint::warnings(new);
        warnings.retain(|warning| !known.contains(warning));
        warnings
    }
}

impl Versions for Definition {
    fn write(&self, object: &mut Value) {
        // Numbers in defaults, enums and examples.
        go::store(&mut object["spec"]["versions"]);
    }
}

impl Printing for Definition {
    fn field(&self, _object: &Value, _path: &str) -> Option<String> {
        None
    }

    fn cells(&self, object: &Value, _now: i64) -> Vec<Value> {
        let (spec, names) = (&object["spec"], &object["spec"]["names"]);
        let short: Vec<&str> = names["shortNames"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        let is_established = conditions.any(|it| it["type"] == "Established" && it["status"] == "True");
        vec![
            spec["scope"].clone(),
            json!(served_versions(spec)),
            object["metadata"]["creationTimestamp"].clone(),
            spec["group"].clone(),
            names["kind"].clone(),
            json!(short.join(",")),
            json!(is_established),
        ]
    }
}

/// Checks that the bundle of a conversion webhook is base64, in Go's words.
fn check_bundle(crd: &Value) -> Result<(), String> {
    let bundle = crd.pointer("/spec/conversion/webhook/clientConfig/caBundle");
    let decoded = base64::decode(bundle.and_then(Value::as_str).unwrap_or_default(), Encoding::Standard);
    decoded
        .map(drop)
        .map_err(|at| format!("illegal base64 data at input byte {at}"))
}

/// The columns after the name.
fn columns() -> Vec<Column> {
    let column = |name: &str, r#type: &str, priority, description: &str| Column {
        name: name.to_owned(),
        r#type: r#type.to_owned(),
        description: description.to_owned(),
        priority,
        ..Column::default()
    };
    vec![
        column("Scope", "string", 0, "Cluster/Namespaced"),
        column("Versions", "string", 0, "Served versions"),
        column("Created At", "date", 0, CREATED),
        column("Group", "string", 1, "API group"),
        column("Kind", "string", 1, "CustomResource kind"),
        column("ShortNames", "string", 1, "Short names"),
        column("Established", "boolean", 1, "Established status"),
    ]
}

/// The served versions, sorted; the stored one is marked.
fn served_versions(spec: &Value) -> String {
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    let mut names: Vec<String> = served
        .map(|version| {
            let mark = if version["storage"] == true { "(storage)" } else { "" };
            format!("{}{mark}", version["name"].as_str().unwrap_or_default())
        })
        .collect();
    names.sort();
    names.join(",")
}
