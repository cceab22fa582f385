//! The kinds in random programs: built-in kinds, with schemas of the generated fields, and generated CRDs.

use fastrand::Rng;
use kubewright_apiserver::testing::kinds::{name_of_kind, openapi_schema};
use serde_json::{Map, Value, json};

use super::{
    NAMES, builtin,
    grown::{self, Path},
    values,
};
use crate::Step;

/// The kind of a program's objects.
pub struct Kind {
    /// The name for people.
    pub name: String,
    /// The path of the collection in the program's namespace.
    pub path: String,
    /// Whether the kind has a status endpoint.
    pub status: bool,
    api_version: String,
    kind: String,
    /// The schema of the object without its metadata.
    schema: Value,
    /// The CRD to create first.
    crd: Option<Value>,
    /// The same kind in its other versions.
    others: Vec<Kind>,
    /// A valid object, for kinds whose objects are changed field by field.
    body: Option<Value>,
    /// The beginning of names: those of cluster-scoped objects name the namespace of the program.
    prefix: &'static str,
}

impl Kind {
    pub(super) fn built_in(group: &str, version: &str, kind: &str, plural: &str, schema: Value) -> Self {
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
            others: Vec::new(),
            body: None,
            prefix: "",
        }
    }

    /// A built-in kind, by API version, kind and plural, with a valid object.
    pub(super) fn grown([api_version, kind, plural]: [&str; 3], body: Value) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let (plural, is_wide) = plural
            .strip_prefix('-')
            .map_or((plural, false), |plural| (plural, true));
        let mut grown = Self::built_in(group, version, kind, plural, Value::Null);
        if is_wide {
            grown.path = grown.path.replace("/namespaces/$ns", "");
            grown.prefix = "$ns-";
        }
        let definition = openapi_schema(&grown.definition()).unwrap_or_default();
        grown.status = definition["properties"]["status"].is_object();
        grown.body = Some(body);
        grown
    }

    /// The full name of the definition of a built-in kind.
    fn definition(&self) -> String {
        name_of_kind(&self.api_version, &self.kind).map_or_else(String::new, |name| format!("io.k8s.api.{name}"))
    }

    /// The path of an object.
    pub fn object_path(&self, name: &str) -> String {
        format!("{}/{}{name}", self.path, self.prefix)
    }

    /// The path of the objects of a program: of cluster-scoped kinds, only the first is listed.
    pub fn collection(&self) -> String {
        match self.prefix {
            "" => self.path.clone(),
            prefix => format!("{}?fieldSelector=metadata.name%3D{prefix}a", self.path),
        }
    }

    /// A path with a further parameter.
    pub fn with_query(&self, path: String, query: &str) -> String {
        let sign = if path.contains('?') { '&' } else { '?' };
        format!("{path}{sign}{query}")
    }

    /// The API version of its objects.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// Whether it is a custom kind.
    pub fn is_custom(&self) -> bool {
        self.api_version.starts_with('$')
    }

    /// Whether objects have a subresource `scale`.
    pub fn has_scale(&self) -> bool {
        ["deployments", "replicasets", "statefulsets", "replicationcontrollers"].contains(&self.name.as_str())
    }

    /// A valid object, or usually valid.
    pub fn new_object(&self, rng: &mut Rng, name: &str) -> Value {
        let name = format!("{}{name}", self.prefix);
        let Some(body) = &self.body else {
            return self.object(rng, &name);
        };
        let mut object = body.clone();
        object["apiVersion"] = self.api_version.clone().into();
        object["kind"] = self.kind.clone().into();
        object["metadata"] = json!({"name": name});
        object
    }

    /// Changes a field of an object or of its status; returns the path of the change.
    pub fn change(&self, rng: &mut Rng, object: &mut Value, is_status: bool) -> Path {
        if self.body.is_some() {
            return grown::grow(rng, &self.definition(), object, is_status);
        }
        let name = if is_status { "status" } else { "spec" };
        let mut new = self.object(rng, "a");
        let mut path = vec![name.to_owned()];
        let fields: Vec<String> = new[name].as_object().into_iter().flat_map(Map::keys).cloned().collect();
        match rng.choice(fields).filter(|_| object[name].is_object()) {
            Some(field) => {
                object[name][&field] = new[name][&field].take();
                path.push(field);
            }
            None => object[name] = new[name].take(),
        }
        path
    }

    /// Now and then gives a custom kind a second version, with fields and defaults of its own. Either may be stored.
    pub fn in_versions(mut self, rng: &mut Rng) -> Self {
        let Some(versions) = self.crd.as_mut().and_then(|crd| crd["spec"]["versions"].as_array_mut()) else {
            return self;
        };
        let Some(first) = versions.first_mut().filter(|_| rng.u8(..3) == 0) else {
            return self;
        };
        let mut second = first.clone();
        second["name"] = json!("v1beta1");
        redraw(rng, &mut second["schema"]["openAPIV3Schema"]);
        let is_first_stored = rng.bool();
        first["storage"] = is_first_stored.into();
        second["storage"] = (!is_first_stored).into();
        self.others.push(Self {
            name: self.name.clone(),
            path: self.path.replace("/v1/", "/v1beta1/"),
            status: self.status,
            api_version: self.api_version.replace("/v1", "/v1beta1"),
            kind: self.kind.clone(),
            schema: second["schema"]["openAPIV3Schema"].clone(),
            crd: None,
            others: Vec::new(),
            body: None,
            prefix: "",
        });
        versions.push(second);
        self
    }

    /// The kind in one of its versions.
    pub fn in_one(&self, rng: &mut Rng) -> &Self {
        self.others.iter().find(|_| rng.bool()).unwrap_or(self)
    }

    /// The kind in each version but its first.
    pub fn other_versions(&self) -> impl Iterator<Item = &Self> {
        self.others.iter()
    }

    /// The objects that must exist before the first request.
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
        let served = |version: &Self| Step {
            r#do: format!("GET {}", version.path),
            until: [("/kind".to_owned(), json!(format!("{}List", version.kind)))].into(),
            ..Step::default()
        };
        let mut steps = vec![make, established, served(self)];
        steps.extend(self.others.iter().map(served));
        steps
    }

    /// Removes what the program leaves behind outside of its namespace: objects, the CRD, and the finalizers that would keep it.
    pub fn tidying(&self) -> Vec<Step> {
        let free = |name| Step {
            r#do: format!("PATCH {}", self.object_path(name)),
            r#as: Some("application/merge-patch+json".to_owned()),
            body: Some(json!({"metadata": {"finalizers": null}})),
            ..Step::default()
        };
        let Some(crd) = &self.crd else {
            // A Service keeps an address, of which there are 254.
            let stays = self.prefix.is_empty() && self.name != "services";
            let remove = |name: &str| Step {
                r#do: format!("DELETE {}", self.object_path(name)),
                ..Step::default()
            };
            let names = NAMES.into_iter().filter(|_| !stays);
            return names.flat_map(|name| [free(name), remove(name)]).collect();
        };
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        let remove = Step {
            r#do: format!("DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"),
            ..Step::default()
        };
        NAMES.into_iter().map(free).chain([remove]).collect()
    }

    /// A complete object with this name, usually a valid one.
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

    /// A patch with some of the fields.
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

/// A random kind for a program.
pub fn any(rng: &mut Rng) -> Kind {
    if rng.u8(..10) < 4 {
        custom(rng)
    } else {
        builtin::any(rng)
    }
}

pub(super) fn custom(rng: &mut Rng) -> Kind {
    let status = rng.u8(..3) > 0;
    let mut properties = Map::new();
    properties.insert("spec".to_owned(), node(rng, 0));
    properties.insert("status".to_owned(), node(rng, 1));
    let schema = json!({"type": "object", "properties": properties});
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    if status {
        version["subresources"] = json!({"status": {}});
    }
    if rng.u8(..3) == 0 {
        version["additionalPrinterColumns"] = json!([{"name": "A", "type": "string", "jsonPath": ".spec.a"},
            {"name": "B", "type": "integer", "jsonPath": ".spec.b"}, {"name": "S", "type": "string", "jsonPath": ".status"}]);
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
        others: Vec::new(),
        body: None,
        prefix: "",
    }
}

/// Takes fields and defaults from a schema of objects, and gives it others, below `spec` and `status`.
fn redraw(rng: &mut Rng, schema: &mut Value) {
    let tops = schema["properties"].as_object_mut().into_iter().flatten();
    for (_, top) in tops {
        let Some(fields) = top.get_mut("properties").and_then(Value::as_object_mut) else {
            continue;
        };
        fields.retain(|_, _| rng.u8(..5) > 0);
        for (_, field) in fields.iter_mut() {
            let is_plain = field.as_object().is_some_and(|keywords| keywords.len() == 1);
            let default = match field["type"].as_str() {
                Some("integer") => json!(2),
                Some("boolean") => json!(false),
                Some("string") if is_plain => json!("z"),
                _ => continue,
            };
            match (rng.u8(..3), field.as_object_mut()) {
                (0, Some(keywords)) => _ = keywords.insert("default".to_owned(), default),
                (1, Some(keywords)) => _ = keywords.remove("default"),
                _ => {}
            }
        }
        if rng.bool() {
            fields.insert("e".to_owned(), json!({"type": "string", "default": "e"}));
        }
    }
}

/// A random structural schema that the API server should accept.
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
                ("format", json!("date")),
                (
                    "x-kubernetes-validations",
                    json!([{"rule": "self != 'cc'", "message": "not cc"}]),
                ),
                (
                    "x-kubernetes-validations",
                    json!([{"rule": "self == oldSelf", "messageExpression": "'was ' + oldSelf"}]),
                ),
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
                    ("nullable", json!(true)),
                    ("default", json!({})),
                    ("maxProperties", json!(2)),
                    ("minProperties", json!(1)),
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

/// Sometimes adds one of these keywords to the schema.
fn with(rng: &mut Rng, mut schema: Value, keywords: &[(&str, Value)]) -> Value {
    if rng.u8(..3) == 0
        && let Some((key, value)) = rng.choice(keywords)
    {
        schema[*key] = value.clone();
    }
    schema
}
