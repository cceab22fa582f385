//! Controller-gen's marks on Kubernetes' own types inside a custom resource: keyed lists, sets, atomic maps, defaults.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
};

use anyhow::{Context, Result};
use control_plane::root;
use serde_json::{Map, Value};

use super::{Real, go};

/// The marks of each type by itself.
pub(super) const TYPES: &str = "scaffolds/schema/src/embedded/types.txt";
/// The marks of one custom resource with the usual types in it.
pub(super) const EXAMPLE: &str = "scaffolds/schema/tests/types/embedded/controller-gen.txt";

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

/// The packages of types: the start of the definitions' names, and the start of the import path.
const PACKAGES: [(&str, &str); 2] = [
    ("io.k8s.api.", "k8s.io/api/"),
    (
        "io.k8s.apimachinery.pkg.apis.meta.",
        "k8s.io/apimachinery/pkg/apis/meta/",
    ),
];

/// Types whose fields stay as they are: `ObjectMeta` has a schema of its own in the API server.
const LEFT_OUT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A line for each type that has marks. `None` without controller-gen.
pub(super) async fn types(real: &Real) -> Result<Option<String>> {
    let document = real.get("/openapi/v2").await?;
    let definitions = document["definitions"].as_object().context("no definitions")?;
    let names: BTreeSet<&str> = definitions
        .iter()
        .filter(|(name, schema)| schema["properties"].is_object() && *name != LEFT_OUT)
        .filter_map(|(name, _)| import(name).map(|_| name.as_str()))
        .collect();
    let Some(spec) = spec(&source(&names)?).await? else {
        return Ok(None);
    };
    let mut lines = String::new();
    for name in &names {
        let marks = marks(&spec["properties"][name], &spec, &definitions[*name]);
        if !marks.is_empty() {
            writeln!(lines, "{name} {}", marks.join(" "))?;
        }
    }
    Ok(Some(lines))
}

/// A line for each mark: its path, keyword and value. `None` without controller-gen.
pub(super) async fn example() -> Result<Option<String>> {
    let source = fs::read_to_string(root().join("tests/control-plane/embedded/types.go"))?;
    let Some(spec) = spec(&source).await? else {
        return Ok(None);
    };
    let mut lines = Vec::new();
    walk(&spec, "spec", &mut lines);
    lines.sort();
    Ok(Some(lines.join("\n")))
}

/// The import path and the Go name of a definition whose package is stable.
fn import(name: &str) -> Option<(String, &str)> {
    let (start, folder) = PACKAGES.into_iter().find(|(start, _)| name.starts_with(start))?;
    let (package, go) = name[start.len()..].rsplit_once('.')?;
    let version = package.rsplit('.').next()?.strip_prefix('v')?;
    let is_stable = version.chars().all(|digit| digit.is_ascii_digit());
    is_stable.then(|| (format!("{folder}{}", package.replace('.', "/")), go))
}

/// A kind in Go with a field of each type.
fn source(names: &BTreeSet<&str>) -> Result<String> {
    let imports: BTreeSet<String> = names.iter().filter_map(|name| Some(import(name)?.0)).collect();
    let numbers: BTreeMap<&str, usize> = imports.iter().map(String::as_str).zip(0..).collect();
    let mut text = String::from(
        "// +groupName=test.example.com\npackage v1\n\nimport (\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n",
    );
    for (path, number) in &numbers {
        writeln!(text, "\tp{number} \"{path}\"")?;
    }
    text += ")\n\n// +kubebuilder:object:root=true\ntype FooBar struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\
             \tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\tSpec FooBarSpec `json:\"spec\"`\n}\n\ntype FooBarSpec struct {\n";
    for (at, name) in names.iter().enumerate() {
        let (path, go) = import(name).context("a name without a package")?;
        writeln!(text, "\tF{at} p{}.{go} `json:\"{name}\"`", numbers[path.as_str()])?;
    }
    text += "}\n";
    Ok(text)
}

/// The spec of the kind in a source file, as controller-gen describes it. `None` without controller-gen.
async fn spec(source: &str) -> Result<Option<Value>> {
    let Some(controller_gen) = go::controller_gen().await? else {
        return Ok(None);
    };
    let folder = tempfile::tempdir()?;
    for file in ["go.mod", "go.sum"] {
        fs::copy(root().join("tests/control-plane").join(file), folder.path().join(file))?;
    }
    fs::write(folder.path().join("types.go"), source)?;
    let arguments = ["crd:maxDescLen=0,allowDangerousTypes=true", "paths=.", "output:stdout"];
    let printed = String::from_utf8(go::generate(&controller_gen, &arguments, folder.path()).await?)?;
    // All types at once are more than the parser accepts from strangers.
    let whole = serde_saphyr::options! { budget: None };
    let crds: Vec<Value> = serde_saphyr::from_multiple_with_options(&printed, whole)?;
    let spec = crds
        .first()
        .and_then(|crd| crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec"));
    spec.cloned().map(Some).context("controller-gen writes no schema")
}

/// The marks of a type: its own, then those of its fields that the field's type does not have itself.
fn marks(schema: &Value, spec: &Value, definition: &Value) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(schema[MAP_TYPE].as_str().map(|own| format!(".={own}")));
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let reference = definition["properties"][name].to_string();
        let inherited = spec["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .find(|(name, _)| reference.contains(&format!("/{name}\"")))
            .map_or(&Value::Null, |(_, schema)| &schema[MAP_TYPE]);
        if field[MAP_TYPE] != *inherited {
            found.extend(field[MAP_TYPE].as_str().map(|kind| format!("{name}={kind}")));
        }
        found.extend(list(field).map(|kind| format!("{name}={kind}")));
        found.extend(field.get("default").map(|value| format!("{name}:{value}")));
    }
    found
}

fn list(field: &Value) -> Option<String> {
    let keys = |keys: &Value| {
        let keys: Vec<_> = keys
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        keys.join(",")
    };
    match field[LIST_TYPE].as_str()? {
        "map" => Some(format!("map({})", keys(&field[LIST_KEYS]))),
        kind => Some(kind.to_owned()),
    }
}

/// Every mark below a node of a schema.
fn walk(node: &Value, path: &str, lines: &mut Vec<String>) {
    let Value::Object(node) = node else { return };
    for key in [LIST_TYPE, LIST_KEYS, MAP_TYPE, "default"] {
        lines.extend(node.get(key).map(|value| format!("{path} {key} {value}")));
    }
    for (name, property) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
    {
        walk(property, &format!("{path}.{name}"), lines);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(child) = node.get(key) {
            walk(child, &format!("{path}{suffix}"), lines);
        }
    }
}
