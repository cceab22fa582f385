//! The built-in kinds of `scaffolds/apiserver/src/kinds`: their names (`resources.txt`) and shapes (`shapes.txt`, without
//! descriptions). The module documentation of `shapes.rs` there explains the format.

mod names;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Real, go};

/// The group versions that are recorded, and of each the resources; `*` stands for all.
const RECORDED: [(&str, &str); 22] = [
    (
        "api/v1",
        "bindings componentstatuses configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods \
         podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services",
    ),
    (
        "apis/admissionregistration.k8s.io/v1",
        "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies \
         validatingadmissionpolicybindings validatingwebhookconfigurations",
    ),
    ("apis/apiregistration.k8s.io/v1", "*"),
    ("apis/apps/v1", "*"),
    ("apis/authentication.k8s.io/v1", "*"),
    ("apis/authorization.k8s.io/v1", "*"),
    ("apis/autoscaling/v1", "*"),
    ("apis/autoscaling/v2", "*"),
    ("apis/batch/v1", "*"),
    ("apis/certificates.k8s.io/v1", "*"),
    ("apis/coordination.k8s.io/v1", "*"),
    ("apis/discovery.k8s.io/v1", "*"),
    ("apis/events.k8s.io/v1", "*"),
    ("apis/flowcontrol.apiserver.k8s.io/v1", "*"),
    ("apis/networking.k8s.io/v1", "*"),
    ("apis/node.k8s.io/v1", "*"),
    ("apis/policy/v1", "*"),
    ("apis/rbac.authorization.k8s.io/v1", "*"),
    ("apis/resource.k8s.io/v1", "*"),
    ("apis/scheduling.k8s.io/v1", "priorityclasses"),
    ("apis/storage.k8s.io/v1", "*"),
    ("apis/storagemigration.k8s.io/v1", "*"),
];

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Only the shape of CustomResourceDefinitions is recorded: the server defines their names and verbs itself.
const SHAPES_ONLY: (&str, &str) = ("apis/apiextensions.k8s.io/v1", "CustomResourceDefinition");

/// Names, verbs, subresources and columns.
pub(super) async fn resources(real: &Real) -> Result<String> {
    let mut resources = String::new();
    for (path, wanted) in RECORDED {
        let list = real.get(&format!("/{path}")).await?;
        let mut tables = BTreeMap::new();
        for plural in names::plurals(&list, wanted)? {
            // The list as a Table, for its columns.
            let table = real.get_as(&format!("/{path}/{plural}"), TABLE).await?;
            tables.insert(plural.to_owned(), table);
        }
        names::write(&list, wanted, &tables, &mut resources)?;
    }
    Ok(resources)
}

/// The fields of each struct.
pub(super) async fn shapes(real: &Real) -> Result<String> {
    let mut definitions = BTreeMap::new();
    let mut roots = BTreeSet::new();
    for (path, wanted) in RECORDED {
        let list = real.get(&format!("/{path}")).await?;
        let found = schemas(real, path).await?;
        roots.extend(names::kinds(&list, wanted, &found));
        definitions.extend(found);
    }
    let found = schemas(real, SHAPES_ONLY.0).await?;
    let suffix = format!(".{}", SHAPES_ONLY.1);
    roots.extend(found.keys().filter(|name| name.ends_with(&suffix)).cloned());
    definitions.extend(found);
    let fields = serde_json::from_slice(&go::run("fields").await?)?;
    shape::write(&definitions, &roots, &fields)
}

/// The definitions of a group version.
pub(super) async fn schemas(real: &Real, path: &str) -> Result<BTreeMap<String, Value>> {
    let document = real.get(&format!("/openapi/v3/{path}")).await?;
    let schemas = document
        .pointer("/components/schemas")
        .and_then(Value::as_object)
        .context("no schemas")?;
    Ok(schemas
        .iter()
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect())
}
