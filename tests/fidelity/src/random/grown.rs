//! Changes of objects of built-in kinds: fields of the published schemas, with values that are plausible for their names and types.

use fastrand::Rng;
use kubewright_apiserver::testing::kinds::openapi_schema;
use serde_json::{Map, Value, json};

const REFERENCE: &str = "#/components/schemas/";
/// Fields that identify an object, or that the server fills in.
const KEPT: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
/// Fields that only servers write.
const OF_SERVERS: [&str; 4] = ["managedFields", "fieldsV1", "selfLink", "generation"];
/// Lists with this many levels of further objects in them are left out.
const DEEPEST: usize = 3;

/// The path to a changed value, through maps only: a list on the way is changed as a whole.
pub type Path = Vec<String>;

/// Sets a field of an object whose definition has this name, or of its status.
pub fn grow(rng: &mut Rng, definition: &str, object: &mut Value, is_status: bool) -> Path {
    let schema = openapi_schema(definition).unwrap_or_default();
    let mut path = Path::new();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let is_meant = |name: &&String| (*name == "status") == is_status && (is_status || !KEPT.contains(&name.as_str()));
    let names: Vec<&String> = fields.keys().filter(is_meant).collect();
    if let Some(name) = rng.choice(names) {
        path.push(name.clone());
        let value = &mut object[name.as_str()];
        change(rng, (name, &fields[name]), value, &mut path);
        if !is_status {
            without_fractions(value);
        }
    }
    path
}

/// Rounds times in a spec or template to seconds: the ledger has a row for others, in which upstream finds a change of what it does not store.
fn without_fractions(value: &mut Value) {
    match value {
        Value::String(text) if text.ends_with(".5+01:00") => *text = text.replace(".5+", "+"),
        Value::Array(items) => items.iter_mut().for_each(without_fractions),
        Value::Object(fields) => fields.values_mut().for_each(without_fractions),
        _ => {}
    }
}

/// Changes a value below a field: goes deeper where there is something, and fills in what is missing.
fn change(rng: &mut Rng, (name, schema): (&str, &Value), value: &mut Value, path: &mut Path) {
    let schema = resolved(schema);
    let fields = schema["properties"].as_object();
    match value {
        Value::Object(_) if fields.is_some_and(|fields| !fields.is_empty()) && rng.u8(..8) > 0 => {
            if let Some((name, below)) = rng.choice(usual(fields)) {
                path.push(name.clone());
                change(rng, (name, below), &mut value[name.as_str()], path);
            }
        }
        Value::Array(items) if !items.is_empty() && rng.u8(..6) > 0 => {
            let at = rng.usize(..items.len());
            let mut below = Path::new();
            match rng.u8(..5) {
                0 => items.push(sample(rng, (name, &schema["items"]), 1)),
                _ => change(rng, (name, &schema["items"]), &mut items[at], &mut below),
            }
        }
        Value::Null => {
            *value = match fields {
                // Mostly an object with one field.
                Some(_) if rng.u8(..4) > 0 => required(rng, &schema, 1),
                _ => sample(rng, (name, &schema), 1),
            };
        }
        _ => *value = sample(rng, (name, &schema), 1),
    }
}

/// A schema, or the definition to which it refers.
fn resolved(schema: &Value) -> Value {
    match reference(schema) {
        Some(name) => {
            let mut definition = openapi_schema(name).unwrap_or_default();
            definition["is"] = json!(name.rsplit('.').next());
            definition
        }
        None => schema.clone(),
    }
}

fn reference(schema: &Value) -> Option<&str> {
    let name = schema
        .get("$ref")
        .or_else(|| schema.get("allOf")?.get(0)?.get("$ref"))?;
    name.as_str()?.strip_prefix(REFERENCE)
}

/// A plausible value of a field.
fn sample(rng: &mut Rng, (name, schema): (&str, &Value), depth: usize) -> Value {
    let schema = resolved(schema);
    if let Some(values) = schema["enum"].as_array() {
        return rng.choice(values).cloned().unwrap_or_default();
    }
    match schema["is"].as_str() {
        Some("Quantity") => return pick(rng, &["1", "100m", "1Gi", "2", "1500m", "0.5"]),
        Some("IntOrString") => {
            return rng
                .choice([json!(1), json!(2), json!("50%"), json!("http")])
                .unwrap_or_default();
        }
        Some("Time") => return pick(rng, &["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+01:00"]),
        Some("MicroTime") => return pick(rng, &["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05.123456Z"]),
        _ => {}
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(rng.bool()),
        Some("integer" | "number") => number(rng, name),
        Some("string") if schema["format"] == "byte" => pick(rng, &["YQ==", "YWI=", ""]),
        Some("string") => text(rng, name),
        Some("array") => {
            let count = rng.usize(1..3);
            (0..count)
                .map(|_| sample(rng, (name, &schema["items"]), depth + 1))
                .collect()
        }
        _ if schema["additionalProperties"].is_object() => {
            let keys = if name == "hard" || name == "capacity" || ["limits", "requests"].contains(&name) {
                ["cpu", "memory", "example.com/x"]
            } else {
                ["a", "k", "example.com/x"]
            };
            let chosen = keys.into_iter().filter(|_| rng.bool()).collect::<Vec<_>>();
            let entries = chosen.into_iter().map(|key| {
                (
                    key.to_owned(),
                    sample(rng, (key, &schema["additionalProperties"]), depth + 1),
                )
            });
            Value::Object(entries.collect())
        }
        _ => {
            let mut object = required(rng, &schema, depth);
            if rng.bool() && depth <= DEEPEST {
                some(rng, &schema, depth, &mut object);
            }
            object
        }
    }
}

/// An object with the required fields, and at least one.
fn required(rng: &mut Rng, schema: &Value, depth: usize) -> Value {
    let mut object = json!({});
    let names = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    for name in names {
        object[name] = sample(rng, (name, &schema["properties"][name]), depth + 1);
    }
    if object == json!({}) && depth <= DEEPEST {
        some(rng, schema, depth, &mut object);
    }
    object
}

/// The fields that clients write.
fn usual(fields: Option<&Map<String, Value>>) -> Vec<(&String, &Value)> {
    let fields = fields.into_iter().flatten();
    fields
        .filter(|(name, _)| !OF_SERVERS.contains(&name.as_str()))
        .collect()
}

/// Adds a field.
fn some(rng: &mut Rng, schema: &Value, depth: usize, object: &mut Value) {
    if let Some((name, below)) = rng.choice(usual(schema["properties"].as_object())) {
        object[name.as_str()] = sample(rng, (name, below), depth + 1);
    }
}

fn pick(rng: &mut Rng, values: &[&str]) -> Value {
    json!(rng.choice(values).copied().unwrap_or_default())
}

fn number(rng: &mut Rng, name: &str) -> Value {
    let name = name.to_lowercase();
    if name.contains("port") || name == "number" {
        return json!(rng.choice([80, 443, 8080, 30_080]));
    }
    if name.contains("mode") {
        return json!(rng.choice([420, 256, 0]));
    }
    json!(rng.choice([0, 1, 1, 2, 3, 10, 30, 100]))
}

fn text(rng: &mut Rng, name: &str) -> Value {
    let values: &[&str] = match name {
        "name" | "secretName" | "claimName" | "configMapName" | "serviceName" | "volumeName" | "containerName" => {
            &["a", "b", "v"]
        }
        "namespace" => &["$ns"],
        "key" => &["k", "example.com/k"],
        "topologyKey" => &["zone", "topology.kubernetes.io/zone"],
        "operator" => &["In", "Exists", "NotIn", "DoesNotExist", "Equal"],
        "effect" => &["NoSchedule", "NoExecute"],
        "protocol" => &["TCP", "UDP", "SCTP"],
        "path" | "subPath" => &["p", "/p", "/"],
        "mountPath" | "devicePath" | "workingDir" => &["/m", "/n"],
        "image" => &[
            "i:1",
            "i:2",
            "example.com/i@sha256:0123456789012345678901234567890123456789012345678901234567890123",
        ],
        "ip" | "hostIP" | "podIP" | "clusterIP" | "loadBalancerIP" => &["10.1.2.3", "10.0.0.77"],
        "addresses" | "clusterIPs" | "externalIPs" | "nameservers" => &["10.1.2.3", "10.1.2.4"],
        "host" | "hostname" | "hosts" | "externalName" | "subdomain" | "hostnames" => &["example", "example.com"],
        "cidr" | "podCIDR" | "podCIDRs" | "except" | "loadBalancerSourceRanges" => &["10.1.0.0/16", "10.1.2.0/24"],
        "apiVersion" => &["v1", "apps/v1"],
        "apiGroup" | "apiGroups" => &["", "rbac.authorization.k8s.io", "example.com"],
        "kind" => &["ServiceAccount", "User", "Deployment", "ConfigMap"],
        "fieldPath" => &["metadata.name", "status.podIP"],
        "resource" => &["limits.cpu", "requests.memory"],
        "nonResourceURLs" => &["/healthz", "/a/*"],
        "verbs" => &["get", "*", "list"],
        "resources" => &["pods", "pods/log", "deployments"],
        "phase" => &["Pending", "Running", "Bound", "Active"],
        "status" => &["True", "False", "Unknown"],
        "reason" => &["Reason", "Other"],
        "type" => &[
            "Ready",
            "Complete",
            "ClusterIP",
            "NodePort",
            "RollingUpdate",
            "Recreate",
            "OnDelete",
            "Resource",
            "Container",
        ],
        "schedule" => &["0 0 1 1 *", "@daily"],
        "timeZone" => &["Etc/UTC", "Europe/Berlin"],
        "accessModes" => &["ReadWriteOnce", "ReadOnlyMany"],
        "policyTypes" => &["Ingress", "Egress"],
        "finalizers" => &["kubernetes", "example.com/f"],
        "uid" => &["11111111-2222-4333-8444-555555555555"],
        _ => &["a", "b", "example", "A"],
    };
    pick(rng, values)
}

/// The patch that makes the change at a path of an object.
pub fn patch(object: &Value, path: &Path) -> Value {
    let pointer: String = path
        .iter()
        .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .collect();
    let value = object.pointer(&pointer).cloned().unwrap_or_default();
    path.iter().rev().fold(value, |inner, name| {
        Value::Object(Map::from_iter([(name.clone(), inner)]))
    })
}
