//! The parameters with which a policy is evaluated.

use serde_json::Value;

use crate::{
    catalogue, meta,
    policies::{Binding, Reference},
    resource::Resource,
    state::Core,
    status::Status,
    store::{Key, Record},
};

/// The parameters of a binding, by the resource of their kind; one that is null if there are none to look for. No parameter
/// means that the policy is not evaluated.
///
/// # Errors
/// The reason that no parameters are found, in upstream's words.
pub(super) async fn collect(
    core: &Core,
    resource: Option<&Resource>,
    binding: &Binding,
    namespace: &str,
) -> Result<Vec<Value>, String> {
    let (Some(resource), Some(reference)) = (resource, &binding.parameters) else {
        return Ok(vec![Value::Null]);
    };
    let namespace = match (resource.namespaced, reference.namespace.as_str()) {
        (true, "") if namespace.is_empty() => {
            let why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
            return Err(why.to_owned());
        }
        (true, "") => namespace,
        (false, given) if !given.is_empty() => {
            return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
        }
        (_, given) => given,
    };
    let mut parameters = Vec::new();
    for record in records(core, resource, reference, namespace) {
        let read = read(resource, &record).await;
        parameters.push(read.map_err(|status| status.message)?);
    }
    if parameters.is_empty() && reference.denies_missing {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
    }
    Ok(parameters)
}

fn records(core: &Core, resource: &Resource, reference: &Reference, namespace: &str) -> Vec<std::sync::Arc<Record>> {
    let stored = resource.store_name();
    if !reference.name.is_empty() {
        return Vec::from_iter(core.store.get(&Key::new(&stored, namespace, &reference.name)));
    }
    let mut records = core.store.all(&stored, namespace);
    records.retain(|record| reference.selector.matches(record.labels()));
    records
}

/// A stored object in the version of the parameters' kind. As upstream, Kubernetes' own kinds have no managedFields.
async fn read(resource: &Resource, record: &Record) -> Result<Value, Status> {
    let mut object: Value = record.read()?;
    if let Some(conversion) = resource.rules().conversion() {
        return catalogue::bring(conversion, resource, object).await;
    }
    resource.strategy.read(&mut object);
    if resource.is_typed() {
        meta::of_mut(&mut object).remove("managedFields");
    }
    Ok(object)
}
