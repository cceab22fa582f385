//! What random programs are about: built-in kinds, with a schema of the fields that are drawn, and kinds of CRDs that are
//! drawn themselves.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::values;
use crate::Step;

/// The kind that a program is about.
pub struct Kind {
    /// For people.
    pub name: String,
    /// The collection, in the program's namespace.
    pub path: String,
    /// Whether there is a status endpoint.
    pub status: bool,
    api_version: String,
    kind: String,
    /// Of the object without its metadata.
    schema: Value,
    /// To be made first.
    crd: Option<Value>,
}

impl Kind {
    fn built_in(group: &str, version: &str, kind: &str, plural: &str, schema: Value) -> Self {
        let (prefix, api_version) = match group {
            "" => ("/api".to_owned(), version.to_owned()),
            group => (format!("/apis/{group}"), format!("{group}/{version}")),
        };
        Self {
            name: plural.to_owned(),
            path: format!("{prefix}/{version}/namespaces/$ns/{plural}"),
            status: schema["properties"]["status"].is_object(),
            api_version,
            kind: kind.to_owned(),
            schema,
            crd: None,
        }
    }

    /// What must be there before the first request.
    pub fn preparation(&self) -> Vec<Step> {
        let Some(crd) = &self.crd else {
            return Vec::new();
        };
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let make = Step {
            r#do: format!("POST {crds}"),
            body: Some(crd.clone()),
            ..Step::default()
        };
        let established = Step {
            r#do: format!("GET {crds}/{name}"),
            until: [("/status/conditions/1/status".to_owned(), json!("True"))].into(),
            unlike: Some("conditions come one by one".to_owned()),
            ..Step::default()
        };
        // Its endpoints come a moment after the condition.
        let served = Step {
            r#do: format!("GET {}", self.path),
            until: [("/kind".to_owned(), json!(format!("{}List", self.kind)))].into(),
            ..Step::default()
        };
        vec![make, established, served]
    }

    /// A whole object of this name, usually a right one.
    pub fn object(&self, rng: &mut Rng, name: &str) -> Value {
        let mut object = values::value(rng, &self.schema);
        if !object.is_object() {
            object = json!({});
        }
        object["apiVersion"] = self.api_version.clone().into();
        object["kind"] = self.kind.clone().into();
        object["metadata"] = json!({"name": name});
        if rng.u8(..4) == 0 {
            object["metadata"]["labels"] = json!({"l": "1"});
        }
        if rng.u8(..8) == 0 {
            object["metadata"]["finalizers"] = json!(["example.com/hold"]);
        }
        object
    }

    /// Some of the fields, as a patch.
    pub fn part(&self, rng: &mut Rng) -> Value {
        let mut object = self.object(rng, "a");
        if let Some(map) = object.as_object_mut() {
            map.retain(|key, _| !["apiVersion", "kind", "metadata"].contains(&key.as_str()));
        }
        if rng.bool() {
            values::thin(rng, &mut object);
        }
        object
    }
}

/// A kind to draw programs about.
pub fn any(rng: &mut Rng) -> Kind {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    match rng.u8(..10) {
        0 | 1 => {
            let schema = json!({"type": "object", "properties": {"data": texts, "immutable": {"enum": [true, false, false, false]},
                "binaryData": {"type": "object", "additionalProperties": {"examples": ["YQ==", "YWI=", "?"]}}}});
            Kind::built_in("", "v1", "ConfigMap", "configmaps", schema)
        }
        2 => {
            let schema = json!({"type": "object", "properties": {"stringData": texts,
                "data": {"type": "object", "additionalProperties": {"examples": ["YQ==", "YWI=", "?"]}},
                "type": {"examples": ["Opaque", "kubernetes.io/basic-auth", "example.com/x"]}}});
            Kind::built_in("", "v1", "Secret", "secrets", schema)
        }
        3 => Kind::built_in("", "v1", "Service", "services", service()),
        4 | 5 => Kind::built_in("apps", "v1", "Deployment", "deployments", deployment()),
        6 => {
            let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "holderIdentity": {"examples": ["a", "b", ""]}, "leaseDurationSeconds": {"examples": [1, 15, 0, -1]},
                "renewTime": {"examples": ["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z", "yesterday"]},
                "leaseTransitions": {"type": "integer"}}}}});
            Kind::built_in("coordination.k8s.io", "v1", "Lease", "leases", schema)
        }
        _ => custom(rng),
    }
}

fn service() -> Value {
    let port = json!({"type": "object", "required": ["port"], "properties": {
        "name": {"examples": ["http", "https", "x", "Upper"]}, "port": {"examples": [80, 443, 80, 0, 70000]},
        "protocol": {"examples": ["TCP", "UDP", "tcp"]}, "targetPort": {"examples": [8080, "http", "", 0]}}});
    json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["ports"], "properties": {
            "ports": {"type": "array", "items": port},
            "selector": {"type": "object", "additionalProperties": {"examples": ["a", "b"]}},
            "type": {"examples": ["ClusterIP", "ClusterIP", "ExternalName", "Other"]},
            "sessionAffinity": {"examples": ["None", "ClientIP", "Other"]},
            "externalName": {"examples": ["example.com"]}}},
        "status": {"type": "object", "properties": {"loadBalancer": {"type": "object"}}}}})
}

fn deployment() -> Value {
    let env = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"examples": ["A", "B", "C", "no name"]}, "value": {"examples": ["1", "2", ""]}}});
    let port = json!({"type": "object", "required": ["containerPort"], "properties": {
        "containerPort": {"examples": [80, 443, 0]}, "name": {"examples": ["http", "https"]},
        "protocol": {"examples": ["TCP", "UDP"]}}});
    let quantity = json!({"examples": ["1", "1000m", "0.5", "1Gi", "x"]});
    let container = json!({"type": "object", "required": ["name", "image"], "properties": {
        "name": {"examples": ["main", "main", "side", "No"]}, "image": {"examples": ["a:1", "b", "c:latest"]},
        "env": {"type": "array", "items": env}, "ports": {"type": "array", "items": port},
        "args": {"type": "array", "items": {"type": "string"}},
        "resources": {"type": "object", "properties": {"limits": {"type": "object", "properties": {
            "cpu": quantity, "memory": quantity}}}}}});
    let template = json!({"type": "object", "required": ["metadata", "spec"], "properties": {
        "metadata": {"type": "object", "required": ["labels"], "properties": {"labels": {"examples": [{"app": "x"}, {"app": "x", "y": "z"}, {}]}}},
        "spec": {"type": "object", "required": ["containers"], "properties": {
            "containers": {"type": "array", "items": container},
            "restartPolicy": {"examples": ["Always", "Always", "Never"]},
            "terminationGracePeriodSeconds": {"examples": [0, 30, -1]}}}}});
    json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["selector", "template"], "properties": {
            "replicas": {"examples": [0, 1, 3, -1]}, "paused": {"type": "boolean"},
            "selector": {"examples": [{"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x"}}, {}]},
            "strategy": {"examples": [{"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}}]},
            "template": template}},
        "status": {"type": "object", "properties": {"replicas": {"examples": [0, 2, -1]}, "observedGeneration": {"examples": [1, 2]}}}}})
}

fn custom(rng: &mut Rng) -> Kind {
    let status = rng.u8(..3) > 0;
    let mut properties = Map::new();
    properties.insert("spec".to_owned(), node(rng, 0));
    properties.insert("status".to_owned(), node(rng, 1));
    let schema = json!({"type": "object", "properties": properties});
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    if status {
        version["subresources"] = json!({"status": {}});
    }
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.$ns.example.com"},
        "spec": {"group": "$ns.example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [version]}});
    Kind {
        name: "a custom kind".to_owned(),
        path: "/apis/$ns.example.com/v1/namespaces/$ns/things".to_owned(),
        status,
        api_version: "$ns.example.com/v1".to_owned(),
        kind: "Thing".to_owned(),
        schema,
        crd: Some(crd),
    }
}

/// A random structural schema that the API server accepts, as far as one can say beforehand.
fn node(rng: &mut Rng, depth: usize) -> Value {
    let deep = if depth > 2 { 5 } else { 9 };
    let kind = if depth == 0 { 5 } else { rng.u8(..deep) };
    match kind {
        0 => with(
            rng,
            json!({"type": "string"}),
            &[
                ("minLength", json!(1)),
                ("maxLength", json!(1)),
                ("pattern", json!("^[a-b]*$")),
                ("enum", json!(["a", "b"])),
            ],
        ),
        1 => with(
            rng,
            json!({"type": "integer"}),
            &[
                ("minimum", json!(1)),
                ("maximum", json!(3)),
                ("multipleOf", json!(2)),
                ("default", json!(2)),
            ],
        ),
        2 => with(rng, json!({"type": "boolean"}), &[("default", json!(true))]),
        3 => with(
            rng,
            json!({"type": "string", "nullable": true}),
            &[("default", json!("a"))],
        ),
        4 => json!({"x-kubernetes-int-or-string": true}),
        5 | 6 => {
            let names: Vec<&str> = ["a", "b", "c", "d"].into_iter().filter(|_| rng.u8(..3) > 0).collect();
            let properties: Map<String, Value> = names
                .iter()
                .map(|name| ((*name).to_owned(), node(rng, depth + 1)))
                .collect();
            let mut object = json!({"type": "object", "properties": properties});
            if let Some(name) = names.first().filter(|_| rng.u8(..3) == 0) {
                object["required"] = json!([name]);
            }
            with(
                rng,
                object,
                &[
                    ("x-kubernetes-map-type", json!("atomic")),
                    ("x-kubernetes-preserve-unknown-fields", json!(true)),
                ],
            )
        }
        7 => json!({"type": "object", "additionalProperties": node(rng, depth + 1)}),
        _ => list(rng, depth),
    }
}

fn list(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(..4) {
        0 => json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
        1 => {
            let item = json!({"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}, "value": node(rng, depth + 1)}});
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"], "items": item})
        }
        2 => json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": node(rng, depth + 1)}),
        _ => json!({"type": "array", "maxItems": 2, "items": node(rng, depth + 1)}),
    }
}

/// The schema with one of these keywords, now and then.
fn with(rng: &mut Rng, mut schema: Value, keywords: &[(&str, Value)]) -> Value {
    if rng.u8(..3) == 0
        && let Some((key, value)) = rng.choice(keywords)
    {
        schema[*key] = value.clone();
    }
    schema
}
