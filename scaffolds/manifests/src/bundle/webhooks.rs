//! Webhooks as descriptions of the CSV, from which OLM makes configurations, a Service, and certificates.

use super::{BundleError, ProjectObjects, kinds::named};
use crate::rendered::text;
use kubewright_machinery::labels;
use kubewright_machinery::names::LONGEST_LABEL;
use kubewright_schema::webhook::{SECRET, SERVICE, SPARED, conversion_path};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The annotation of a definition that the operator converts.
const CONVERSION: &str = "/metadata/annotations/kubewright.dev~1conversion";
/// The port of a Service that a configuration does not name.
const PORT: u64 = 443;
/// The properties of a webhook that a description has too.
const CARRIED: [&str; 8] = [
    "admissionReviewVersions",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "reinvocationPolicy",
    "rules",
    "sideEffects",
    "timeoutSeconds",
];

/// The webhooks of an operator.
#[derive(Debug, Default)]
pub(super) struct Webhooks {
    /// `webhookdefinitions`.
    pub definitions: Vec<Value>,
    /// The positions of the objects that OLM makes for them.
    pub used: BTreeSet<usize>,
    /// Whether one of them converts.
    pub converts: bool,
}

/// The webhooks in configurations and definitions.
pub(super) fn of(project: &ProjectObjects<'_>) -> Result<Webhooks, BundleError> {
    let (mut out, mut named_so) = (Webhooks::default(), BTreeMap::new());
    for object in project.objects {
        let kind = text(object, "/kind");
        for entry in object["webhooks"].as_array().into_iter().flatten() {
            let name = text(entry, "/name").to_owned();
            let described = admission(project, kind, entry, &mut out.used)?;
            if named_so.insert(name.clone(), described).is_some() {
                return Err(BundleError::Twice(format!("webhookdefinitions/{name}")));
            }
        }
        if let Some(conversion) = conversion(object, project) {
            let service = &conversion["clientConfig"]["service"];
            let mut described = server(project, &named(object), service, &mut out.used)?;
            let crd = text(object, "/metadata/name");
            let name = format!("c{crd}");
            described.extend(fields(json!({
                "type": "ConversionWebhook", "generateName": name, "sideEffects": "None", "conversionCRDs": [crd],
                "admissionReviewVersions": conversion["conversionReviewVersions"],
            })));
            named_so.insert(name, described);
            out.converts = true;
        }
    }
    if !named_so.is_empty() {
        let secret = project.find("Secret", &format!("{}-{SECRET}", project.names.base));
        out.used.extend(secret.map(|(at, _)| at));
    }
    out.definitions = named_so.into_values().map(Value::Object).collect();
    Ok(out)
}

/// `conversion.webhook` of a definition that the operator converts: what is there, or what the operator would write.
fn conversion(definition: &Value, project: &ProjectObjects<'_>) -> Option<Value> {
    if text(definition, "/kind") != "CustomResourceDefinition" {
        return None;
    }
    if text(definition, "/spec/conversion/strategy") == "Webhook" {
        return definition.pointer("/spec/conversion/webhook").cloned();
    }
    (text(definition, CONVERSION) == "Webhook").then(|| {
        let path = conversion_path(text(definition, "/spec/group"), text(definition, "/spec/names/kind"));
        let service = json!({
            "name": format!("{}-{SERVICE}", project.names.base), "namespace": project.names.namespace,
            "path": path, "port": PORT,
        });
        json!({"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]})
    })
}

/// Writes the converter into a definition that has one, with the name of OLM's Service. OLM replaces it, with its certificates; until then, also during an
/// upgrade, the API server refuses to convert: without a converter it would drop fields that only one of the versions has.
pub(super) fn convert(definition: &mut Value, project: &ProjectObjects<'_>) {
    if let Some(mut webhook) = conversion(definition, project) {
        webhook["clientConfig"]["service"]["name"] = olm_service(project).into();
        definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": webhook});
    }
}

/// The description of an admission webhook.
fn admission(
    project: &ProjectObjects<'_>,
    kind: &str,
    entry: &Value,
    used: &mut BTreeSet<usize>,
) -> Result<Map<String, Value>, BundleError> {
    let name = text(entry, "/name");
    let webhook = || name.to_owned();
    if let Some(why) = labels::value(name).pop() {
        return Err(BundleError::WebhookName {
            webhook: webhook(),
            why,
        });
    }
    let mut described = server(project, name, &entry["clientConfig"]["service"], used)?;
    for (field, value) in entry.as_object().into_iter().flatten() {
        if CARRIED.contains(&field.as_str()) {
            described.insert(field.clone(), value.clone());
        } else if !is_left_out(field, value) {
            return Err(BundleError::Webhook {
                webhook: webhook(),
                field: field.clone(),
            });
        }
    }
    if let Some(group) = refused(entry) {
        return Err(BundleError::Group {
            webhook: webhook(),
            group,
        });
    }
    // MutatingAdmissionWebhook or ValidatingAdmissionWebhook.
    let form = kind.replace("WebhookConfiguration", "AdmissionWebhook");
    described.insert("type".to_owned(), form.into());
    described.insert("generateName".to_owned(), name.into());
    Ok(described)
}

/// Whether a property that OLM lacks can be left out: it has no effect, or the operator has the same effect itself.
fn is_left_out(field: &str, value: &Value) -> bool {
    let [name, expression] = SPARED;
    match field {
        "name" | "clientConfig" => true,
        "matchConditions" => *value == json!([{"name": name, "expression": expression}]),
        _ => value.is_null() || value.as_object().is_some_and(Map::is_empty),
    }
}

/// The API group for which OLM accepts no webhooks: `ValidWebhookRules`.
fn refused(entry: &Value) -> Option<String> {
    let rules = entry["rules"].as_array().into_iter().flatten();
    let mut groups = rules.flat_map(|rule| {
        let all = rule["resources"]
            .as_array()
            .is_some_and(|them| them.contains(&"*".into()));
        let groups = rule["apiGroups"].as_array().into_iter().flatten();
        groups.filter_map(Value::as_str).map(move |group| (group, all))
    });
    let found = groups.find(|(group, all)| match *group {
        "*" | "operators.coreos.com" => true,
        "admissionregistration.k8s.io" => *all,
        _ => false,
    });
    found.map(|(group, _)| group.to_owned())
}

/// The address of the operator: the parts of the Service in `reference` that OLM's own Service needs.
fn server(
    project: &ProjectObjects<'_>,
    what: &str,
    reference: &Value,
    used: &mut BTreeSet<usize>,
) -> Result<Map<String, Value>, BundleError> {
    let missing = || BundleError::Service(what.to_owned());
    let service = project.find("Service", text(reference, "/name"));
    let (at, service) = service
        .filter(|(_, service)| selects(service, project.deployment))
        .ok_or_else(missing)?;
    let port = reference["port"].as_u64().unwrap_or(PORT);
    let ports = service.pointer("/spec/ports").and_then(Value::as_array);
    let ports = ports.map(Vec::as_slice).unwrap_or_default();
    let found = ports.iter().find(|it| it["port"] == port).ok_or_else(missing)?;
    let made = olm_service(project);
    if made.len() > LONGEST_LABEL {
        return Err(BundleError::ServiceName(made));
    }
    // One with other ports serves more than webhooks.
    if ports.len() == 1 {
        used.insert(at);
    }
    Ok(fields(json!({
        "deploymentName": project.deployment["metadata"]["name"],
        "containerPort": port,
        "targetPort": found.get("targetPort").cloned().unwrap_or_else(|| port.into()),
        "webhookPath": reference.get("path").cloned().unwrap_or_else(|| "/".into()),
    })))
}

/// The name of the Service that OLM makes for the operator's Deployment.
fn olm_service(project: &ProjectObjects<'_>) -> String {
    let deployment = text(project.deployment, "/metadata/name");
    format!("{}-service", deployment.replace('.', "-"))
}

/// Whether a Service selects the Pods of a Deployment.
fn selects(service: &Value, deployment: &Value) -> bool {
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    let selector = service.pointer("/spec/selector").and_then(Value::as_object);
    selector.is_some_and(|all| !all.is_empty() && all.iter().all(|(key, value)| labels.get(key) == Some(value)))
}

fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
