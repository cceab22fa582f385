//! The part that OLM installs: the Deployments, with the certificates and the namespaces that OLM gives them.

use super::{BundleError, ProjectObjects, kinds::named};
use crate::chart::ChartError;
use crate::rendered::{self, text};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The folder in which OLM mounts the certificate of webhooks, as `tls.crt` and `tls.key`: `AddDefaultCertVolumeAndVolumeMounts`.
const FOLDER: &str = "/tmp/k8s-webhook-server/serving-certs";
/// The flag of the operator with that folder, and those with the names of the files.
const CERTIFICATES: &str = "--webhook-cert-path";
const NAMES: [(&str, &str); 2] = [("--webhook-cert-name", "tls.crt"), ("--webhook-cert-key", "tls.key")];
/// The variable and the flag that select the namespaces that an operator watches.
const WATCH: &str = "WATCH_NAMESPACE";
const WATCH_FLAG: &str = "--namespace";
/// The annotation of the Pods in which OLM writes the namespaces of the OperatorGroup, separated by commas.
const TARGETS: &str = "metadata.annotations['olm.targetNamespaces']";
/// The Pod's own namespace.
const OWN: &str = "metadata.namespace";
/// The ServiceAccount of Pods without `serviceAccountName`.
const DEFAULT_ACCOUNT: &str = "default";

/// The CSV's section about the Deployments.
#[derive(Debug)]
pub(super) struct Install {
    /// `deployments`.
    pub deployments: Vec<Value>,
    /// Whether the operator watches all namespaces instead of the namespaces of the OperatorGroup.
    pub in_all_namespaces: bool,
    /// The image of the operator.
    pub image: String,
}

/// The names of the ServiceAccounts of the Deployments. OLM makes them, with nothing but a name.
pub(super) fn accounts(project: &ProjectObjects<'_>) -> Result<BTreeSet<String>, BundleError> {
    let mut accounts = BTreeSet::new();
    for deployment in deployments(project) {
        let name = text(deployment, "/spec/template/spec/serviceAccountName");
        let name = if name.is_empty() { DEFAULT_ACCOUNT } else { name };
        if let Some((_, account)) = project.find("ServiceAccount", name) {
            plain(account)?;
        }
        accounts.insert(name.to_owned());
    }
    Ok(accounts)
}

/// Checks that OLM can create the object: it has no other fields than the ones that OLM sets, and labels, which OLM replaces.
fn plain(object: &Value) -> Result<(), BundleError> {
    let fields = object.as_object().into_iter().flatten();
    let metadata = object["metadata"].as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !["apiVersion", "kind", "metadata"].contains(&key.as_str()));
    let metadata = metadata.filter(|(key, _)| !["name", "namespace", "labels"].contains(&key.as_str()));
    match fields.chain(metadata).find(|(_, value)| !is_empty(value)) {
        Some((field, _)) => Err(BundleError::Field {
            object: named(object),
            field: field.clone(),
        }),
        None => Ok(()),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The Deployments. If the operator `serves` webhooks, it gets OLM's certificates.
pub(super) fn of(project: &ProjectObjects<'_>, serves: bool) -> Result<Install, BundleError> {
    let place = rendered::container(project.deployment).map_err(ChartError::from)?;
    let mut install = Install {
        deployments: Vec::new(),
        in_all_namespaces: true,
        image: String::new(),
    };
    for deployment in deployments(project) {
        plain(&json!({"kind": "Deployment", "metadata": deployment["metadata"]}))?;
        let mut spec = deployment["spec"].clone();
        if deployment == project.deployment {
            let container = &mut spec["template"]["spec"]["containers"][place];
            install.image = text(container, "/image").to_owned();
            install.in_all_namespaces = watches_all(container)?;
            if serves {
                certificates(container)?;
            }
        }
        let mut entry = Map::new();
        entry.insert("name".to_owned(), deployment["metadata"]["name"].clone());
        entry.insert("spec".to_owned(), spec);
        if let Some(labels) = deployment["metadata"].get("labels") {
            entry.insert("label".to_owned(), labels.clone());
        }
        install.deployments.push(entry.into());
    }
    Ok(install)
}

fn deployments<'a>(project: &ProjectObjects<'a>) -> impl Iterator<Item = &'a Value> {
    let objects = project.objects;
    objects.iter().filter(|object| text(object, "/kind") == "Deployment")
}

/// Tells the operator to serve OLM's certificates.
fn certificates(container: &mut Value) -> Result<(), BundleError> {
    let given = flag(container, CERTIFICATES);
    let wanted = NAMES.into_iter().chain([(CERTIFICATES, FOLDER)]);
    for (name, wanted) in wanted {
        match flag(container, name) {
            Some(value) if value.trim_end_matches('/') != wanted => {
                return Err(BundleError::Certificates {
                    flag: format!("{name}={value}"),
                    folder: FOLDER,
                });
            }
            _ => {}
        }
    }
    if given.is_none() {
        let argument = Value::from(format!("{CERTIFICATES}={FOLDER}"));
        match &mut container["args"] {
            Value::Array(arguments) => arguments.push(argument),
            none => *none = vec![argument].into(),
        }
    }
    Ok(())
}

/// The value of the last of these flags.
fn flag(container: &Value, name: &str) -> Option<String> {
    let arguments = container["args"].as_array().into_iter().flatten();
    let mut arguments = arguments.filter_map(Value::as_str);
    let mut found = None;
    while let Some(argument) = arguments.next() {
        if argument == name {
            found = Some(arguments.next().unwrap_or_default().to_owned());
        } else if let Some(value) = argument.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            found = Some(value.to_owned());
        }
    }
    found
}

/// Whether the operator watches all namespaces. An operator that watches its own namespace gets the namespaces of the OperatorGroup.
fn watches_all(container: &mut Value) -> Result<bool, BundleError> {
    if let Some(value) = flag(container, WATCH_FLAG).filter(|value| !value.is_empty()) {
        return Err(BundleError::Watched(format!("{WATCH_FLAG}={value}")));
    }
    let variables = container.get_mut("env").and_then(Value::as_array_mut);
    for variable in variables.into_iter().flatten() {
        if text(variable, "/name") != WATCH {
            continue;
        }
        match text(variable, "/valueFrom/fieldRef/fieldPath") {
            OWN => variable["valueFrom"]["fieldRef"]["fieldPath"] = TARGETS.into(),
            TARGETS => {}
            _ if variable.get("valueFrom").is_none() && text(variable, "/value").is_empty() => continue,
            _ => return Err(BundleError::Watched(WATCH.to_owned())),
        }
        return Ok(false);
    }
    Ok(true)
}
