//! Records from a real server the built-in kinds of `scaffolds/apiserver/src/kinds`: their names (`resources.txt`) and
//! shapes (`shapes.txt`, without descriptions). Run it with the folder to write to; the module documentation of
//! `shapes.rs` there explains the format.

mod names;
mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

use anyhow::{Context, Result, ensure};
use control_plane::{Assets, ControlPlane, Settings, root};
use kube::Client;
use serde_json::Value;

/// The recorded group versions, and their recorded resources; `*` stands for all.
const RECORDED: [(&str, &str); 16] = [
    (
        "api/v1",
        "bindings configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods \
         podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services",
    ),
    ("apis/apps/v1", "*"),
    ("apis/authentication.k8s.io/v1", "*"),
    ("apis/authorization.k8s.io/v1", "*"),
    ("apis/autoscaling/v1", "*"),
    ("apis/autoscaling/v2", "*"),
    ("apis/batch/v1", "*"),
    ("apis/certificates.k8s.io/v1", "certificatesigningrequests"),
    ("apis/coordination.k8s.io/v1", "*"),
    ("apis/discovery.k8s.io/v1", "*"),
    ("apis/events.k8s.io/v1", "*"),
    ("apis/networking.k8s.io/v1", "ingressclasses ingresses networkpolicies"),
    ("apis/policy/v1", "*"),
    ("apis/rbac.authorization.k8s.io/v1", "*"),
    ("apis/scheduling.k8s.io/v1", "priorityclasses"),
    ("apis/storage.k8s.io/v1", "storageclasses"),
];

/// Only the shape is recorded: the server implements CustomResourceDefinitions separately.
const SHAPES_ONLY: (&str, &str) = ("apis/apiextensions.k8s.io/v1", "CustomResourceDefinition");

#[tokio::main]
async fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).context("name the folder to write to")?);
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    let client = plane.client().await?;
    let mut resources = String::new();
    let mut definitions = BTreeMap::new();
    let mut roots = BTreeSet::new();
    for (path, wanted) in RECORDED {
        let list = fetch(&client, &format!("/{path}")).await?;
        let mut tables = BTreeMap::new();
        for plural in names::plurals(&list, wanted)? {
            tables.insert(plural.to_owned(), table(&client, &format!("/{path}/{plural}")).await?);
        }
        names::write(&list, wanted, &tables, &mut resources)?;
        let found = schemas(&client, path).await?;
        roots.extend(names::kinds(&list, wanted, &found));
        definitions.extend(found);
    }
    let found = schemas(&client, SHAPES_ONLY.0).await?;
    roots.extend(
        found
            .keys()
            .filter(|name| name.ends_with(&format!(".{}", SHAPES_ONLY.1)))
            .cloned(),
    );
    definitions.extend(found);
    let shapes = shape::write(&definitions, &roots, &go_fields()?)?;
    std::fs::write(folder.join("resources.txt"), resources)?;
    std::fs::write(folder.join("shapes.txt"), shapes)?;
    Ok(())
}

async fn fetch(client: &Client, path: &str) -> Result<Value> {
    let request = http::Request::get(path).body(Vec::new())?;
    client.request(request).await.with_context(|| format!("GET {path}"))
}

/// The list as a Table, for its columns.
async fn table(client: &Client, path: &str) -> Result<Value> {
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let request = http::Request::get(path)
        .header(http::header::ACCEPT, accept)
        .body(Vec::new())?;
    client
        .request(request)
        .await
        .with_context(|| format!("GET {path} as a Table"))
}

async fn schemas(client: &Client, path: &str) -> Result<BTreeMap<String, Value>> {
    let document = fetch(client, &format!("/openapi/v3/{path}")).await?;
    let schemas = document
        .pointer("/components/schemas")
        .and_then(Value::as_object)
        .context("no schemas")?;
    Ok(schemas
        .iter()
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect())
}

/// The output of `fields.go`.
fn go_fields() -> Result<Value> {
    let output = Command::new("go")
        .args(["run", "./src/bin/shapes"])
        .current_dir(root().join("tests/control-plane"))
        .output()?;
    ensure!(
        output.status.success(),
        "go run: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
