//! The ClusterServiceVersion: what OLM installs, and what a catalogue shows.

use super::{BundleError, ProjectObjects, Release, Sources, definitions, install::Install};
use crate::semver::OLDEST_KUBERNETES;
use serde_json::{Map, Value, json};

/// The capability level of an operator without a grade, in the words of OperatorHub.
const CAPABILITIES: &str = "Basic Install";

/// The parts of the CSV from the rest of the bundle.
#[derive(Debug)]
pub(super) struct CsvParts {
    pub name: String,
    pub install: Install,
    /// `permissions` and `clusterPermissions`.
    pub permissions: Map<String, Value>,
    pub webhooks: Vec<Value>,
}

/// The CSV, with what the author adds.
pub(super) fn of(
    sources: &Sources<'_>,
    release: &Release,
    project: &ProjectObjects<'_>,
    parts: CsvParts,
) -> Result<Value, BundleError> {
    let mut install = parts.permissions;
    install.insert("deployments".to_owned(), parts.install.deployments.into());
    let mut spec = described(sources, release, project);
    spec.insert("install".to_owned(), json!({"strategy": "deployment", "spec": install}));
    spec.insert("installModes".to_owned(), modes(parts.install.in_all_namespaces));
    let owned = definitions::owned(project.objects);
    let mut annotations = json!({
        "alm-examples": definitions::examples(&owned, sources.samples),
        "capabilities": CAPABILITIES,
        "containerImage": parts.install.image,
        "operatorframework.io/suggested-namespace": project.names.namespace,
    });
    if !owned.is_empty() {
        spec.insert("customresourcedefinitions".to_owned(), json!({"owned": owned}));
    }
    if let Some((_, namespace)) = project.find("Namespace", &project.names.namespace) {
        annotations["operatorframework.io/suggested-namespace-template"] = namespace.to_string().into();
    }
    if let Some(repository) = &sources.package.repository {
        annotations["repository"] = repository.as_str().into();
    }
    if !parts.webhooks.is_empty() {
        spec.insert("webhookdefinitions".to_owned(), parts.webhooks.into());
    }
    let mut csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": parts.name, "annotations": annotations},
        "spec": spec,
    });
    if let Some(base) = sources.base {
        add(&mut csv, base)?;
    }
    Ok(csv)
}

/// The description for a catalogue, from Cargo.toml.
fn described(sources: &Sources<'_>, release: &Release, project: &ProjectObjects<'_>) -> Map<String, Value> {
    let package = sources.package;
    let title = definitions::title(&project.names.base);
    let mut spec = Map::new();
    let mut put = |field: &str, value: Value| {
        spec.insert(field.to_owned(), value);
    };
    put("version", release.version.as_str().into());
    let oldest = release.oldest_kubernetes.unwrap_or(OLDEST_KUBERNETES);
    put("minKubeVersion", format!("1.{oldest}.0").into());
    put("maturity", release.maturity().into());
    if let Some(description) = &package.description {
        put("description", description.as_str().into());
    }
    if !package.keywords.is_empty() {
        put("keywords", package.keywords.as_slice().into());
    }
    let maintainers = package.maintainers();
    if let Some(first) = maintainers.first() {
        put("provider", json!({"name": first["name"]}));
        put("maintainers", maintainers.into());
    }
    let links = [
        (format!("{title} on the web"), &package.homepage),
        ("Source code".to_owned(), &package.repository),
        ("Documentation".to_owned(), &package.documentation),
    ];
    let links: Vec<_> = links
        .into_iter()
        .filter_map(|(name, url)| url.as_ref().map(|url| json!({"name": name, "url": url})))
        .collect();
    if !links.is_empty() {
        put("links", links.into());
    }
    put("displayName", title.into());
    spec
}

/// The install modes: the ways in which an OperatorGroup may choose namespaces.
fn modes(in_all_namespaces: bool) -> Value {
    let mode = |kind: &str, supported: bool| json!({"type": kind, "supported": supported});
    json!([
        mode("OwnNamespace", !in_all_namespaces),
        mode("SingleNamespace", !in_all_namespaces),
        mode("MultiNamespace", !in_all_namespaces),
        mode("AllNamespaces", in_all_namespaces),
    ])
}

/// Merges what the author adds into the CSV.
fn add(csv: &mut Value, base: &Value) -> Result<(), BundleError> {
    const OWNED: &str = "/spec/customresourcedefinitions/owned";
    if !base.is_object() {
        return Err(BundleError::Base);
    }
    let mut base = base.clone();
    let theirs = base.pointer_mut(OWNED).map(Value::take);
    let Some(Value::Array(theirs)) = theirs else {
        merge(csv, &base);
        return Ok(());
    };
    let mut ours = csv.pointer(OWNED).cloned().unwrap_or_else(|| json!([]));
    for theirs in &theirs {
        let is_same = |our: &&mut Value| ["name", "version"].iter().all(|key| our[*key] == theirs[*key]);
        let ours = ours.as_array_mut().into_iter().flatten().find(is_same);
        merge(ours.ok_or_else(|| BundleError::Owned(theirs.to_string()))?, theirs);
    }
    if let Some(place) = base.pointer_mut(OWNED) {
        *place = ours;
    }
    merge(csv, &base);
    Ok(())
}

/// Applies a JSON merge patch (RFC 7386).
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    let mut map = match value.take() {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for (key, patch) in patch {
        if patch.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key).or_insert(Value::Null), patch);
        }
    }
    *value = map.into();
}
