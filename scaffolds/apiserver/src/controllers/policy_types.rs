//! The status of ValidatingAdmissionPolicies: the errors that their expressions have with the schemas of the kinds which they match.

use std::{collections::BTreeMap, sync::Arc};

use kubewright_schema::policy::{Kind, Parameters, Typing};
use serde_json::{Map, Value, json};

use super::act;
use crate::{
    catalogue::Snapshot,
    effects::Cluster,
    meta, openapi,
    policies::{ParameterKind, PolicyKind},
    resource::Resource,
    status::Status,
    store::Key,
};

/// The field manager of the status.
const MANAGER: &str = "validatingadmissionpolicy-status";
/// The number of kinds after which no further one is looked for.
const MOST_KINDS: usize = 10;
pub(super) const RESOURCE: &str = PolicyKind::Validating.policies();

/// Writes the status of a policy whose present generation has not been checked.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn check(cluster: &Arc<Cluster>, key: &Key) -> Result<(), Status> {
    let Some(policy) = act::object(&cluster.core, key) else {
        return Ok(());
    };
    let generation = meta::number(&policy, "generation").unwrap_or_default();
    if generation <= policy["status"]["observedGeneration"].as_i64().unwrap_or_default() {
        return Ok(());
    }
    let warnings = warnings(&cluster.core.catalogue.snapshot(), &policy["spec"]);
    let mut checked = Map::new();
    if !warnings.is_empty() {
        checked.insert("expressionWarnings".to_owned(), warnings.into());
    }
    let wanted = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": key.name},
        "status": {"observedGeneration": generation, "typeChecking": checked},
    });
    act::apply_status(cluster, key, MANAGER, &wanted).await?;
    Ok(())
}

/// The warnings about each expression: its errors with each kind, in the order of the kinds.
fn warnings(snapshot: &Snapshot, spec: &Value) -> Vec<Value> {
    let typings: Vec<(String, Typing)> = kinds(snapshot, spec)
        .into_values()
        .filter_map(|resource| typing(snapshot, spec, &resource))
        .collect();
    let mut warnings = Vec::new();
    for (index, validation) in items(&spec["validations"]).enumerate() {
        for field in ["expression", "messageExpression"] {
            let Some(expression) = validation[field].as_str().filter(|text| !text.is_empty()) else {
                continue;
            };
            let errors = typings.iter().filter_map(|(kind, typing)| {
                let errors = typing.errors(expression)?;
                Some(format!("{kind}: {errors}\n"))
            });
            let errors: Vec<String> = errors.collect();
            if !errors.is_empty() {
                let field = format!("spec.validations[{index}].{field}");
                warnings.push(json!({"fieldRef": field, "warning": errors.join("\n")}));
            }
        }
    }
    warnings
}

/// The types of a policy for objects of this kind, with the kind as Go prints it; `None` if the kind has no schema.
fn typing(snapshot: &Snapshot, spec: &Value, resource: &Resource) -> Option<(String, Typing)> {
    let Resource {
        group, version, names, ..
    } = resource;
    let schema = openapi::resolved_schema(resource)?;
    // Upstream, the types of objects and parameters are told apart by the time.
    let kind = Kind {
        name: &format!("{}0", names.kind),
        schema: &schema,
    };
    let wanted = Some(&spec["paramKind"]).filter(|kind| !kind.is_null());
    let found = wanted.and_then(|kind| {
        let kind = ParameterKind::read(kind);
        let resource = snapshot.kind(&kind.group, &kind.version, &kind.kind)?;
        Some((format!("{}1", kind.kind), openapi::resolved_schema(resource)?))
    });
    let parameters = match (wanted, &found) {
        (None, _) => Parameters::None,
        (Some(_), None) => Parameters::Any,
        (Some(_), Some((name, schema))) => Parameters::Of(Kind { name, schema }),
    };
    let text = |item: &'_ Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
    let variables: Vec<[String; 2]> = items(&spec["variables"])
        .map(|item| ["name", "expression"].map(|field| text(item, field)))
        .collect();
    let variables = variables
        .iter()
        .map(|[name, expression]| (name.as_str(), expression.as_str()));
    let shown = format!("{group}/{version}, Kind={}", names.kind);
    Some((shown, Typing::new(kind, parameters, variables)))
}

/// The kinds that the rules match by name, by group, version and kind. Rules with wildcards count as none.
fn kinds(snapshot: &Snapshot, spec: &Value) -> BTreeMap<[String; 3], Arc<Resource>> {
    let mut kinds = BTreeMap::new();
    for rule in items(&spec["matchConstraints"]["resourceRules"]) {
        let names = |field: &str| {
            let mut names: Vec<&str> = items(&rule[field]).filter_map(Value::as_str).collect();
            names.sort_unstable();
            names
        };
        let (groups, versions, resources) = (names("apiGroups"), names("apiVersions"), names("resources"));
        if groups.iter().chain(&versions).any(|name| name.contains('*')) {
            continue;
        }
        let resources: Vec<&str> = resources
            .into_iter()
            .filter(|name| !name.contains(['*', '/']))
            .collect();
        let asked = groups.iter().flat_map(|group| {
            let resources = &resources;
            versions
                .iter()
                .flat_map(move |version| resources.iter().map(move |resource| [*group, *version, *resource]))
        });
        let found = asked.flat_map(|asked| snapshot.all().filter(move |resource| is_meant(resource, asked)));
        let mut count = 0;
        for resource in found.take(MOST_KINDS) {
            let key = [&resource.group, &resource.version, &resource.names.kind].map(Clone::clone);
            kinds.insert(key, Arc::clone(resource));
            count += 1;
        }
        if count == MOST_KINDS {
            break;
        }
    }
    kinds
}

/// Whether a resource has this group, version and name. As in Kubernetes, an empty group matches every group.
fn is_meant(resource: &Resource, [group, version, name]: [&str; 3]) -> bool {
    let name = name.to_lowercase();
    let is_named = resource.names.plural == name || resource.names.singular == name;
    is_named && resource.version == version && (group.is_empty() || resource.group == group)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
