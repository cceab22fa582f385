//! Creates objects from YAML files, and waits for their conditions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
    core::{GroupVersionKind, TypeMeta},
    discovery::{Scope, pinned_kind},
};
use kubewright_schema::yaml;
use serde_json::Value;

use super::wait_for;
use crate::{
    api::Requests,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
    status::Conditions,
};

/// The field manager of the fixtures.
const MANAGER: &str = "fixtures";

/// The object of a YAML text, under this name: a file of `config/samples`, so that a test has a valid object also after its
/// type has got a new field.
///
/// # Panics
///
/// If the text is not one object that the type decodes; the message contains the reason.
pub fn from_yaml<K: Object>(name: &str, text: &str) -> K {
    let kind = Kind::<K>::of();
    let wrong = |why: &str| -> ! { panic!("the YAML text is not a {}: {why}", kind.kind()) };
    let mut documents = yaml::documents(text).unwrap_or_else(|error| wrong(&error.to_string()));
    let (Some(document), 0) = (documents.pop(), documents.len()) else {
        wrong("it does not have exactly one document")
    };
    let given = [&document["apiVersion"], &document["kind"]];
    if given != [&kind.api_version() as &str, kind.kind()] {
        wrong(&format!("it is a {} of {}", given[1], given[0]));
    }
    let mut object: K = serde_json::from_value(document).unwrap_or_else(|error| wrong(&error.to_string()));
    object.meta_mut().name = Some(name.to_owned());
    object
}

/// Applies every object of a YAML text, one after the other, as `kubectl apply --server-side --force-conflicts` does.
/// An object of a namespaced kind without a namespace is applied in `namespace`. Returns the objects as the API server
/// has them then.
///
/// # Errors
///
/// [`Error::Setup`] if the text is not valid YAML or a document is not an object; [`Error::Kube`] if the API server
/// does not serve a kind or refuses an object. Earlier objects of the text have been applied by then.
pub async fn apply(client: &Client, namespace: &str, text: &str) -> Result<Vec<DynamicObject>> {
    let documents =
        yaml::documents(text).map_err(|error| Error::Setup(format!("a fixture is not valid YAML: {error}")))?;
    let mut applied = Vec::new();
    for document in documents {
        applied.push(apply_one(client, namespace, document).await?);
    }
    Ok(applied)
}

pub(super) async fn apply_one(client: &Client, namespace: &str, document: Value) -> Result<DynamicObject> {
    let object: DynamicObject = serde_json::from_value(document)
        .map_err(|error| Error::Setup(format!("a fixture is not an object: {error}")))?;
    let types: &TypeMeta = object.types.as_ref().ok_or_else(|| {
        // serde also accepts documents without `apiVersion` and `kind`.
        Error::Setup("a fixture is not an object: it has no `apiVersion` and `kind`".to_owned())
    })?;
    let kind = GroupVersionKind::try_from(types).map_err(|error| Error::Setup(error.to_string()))?;
    let (resource, capabilities) = pinned_kind(client, &kind).await?;
    let at = object.metadata.namespace.as_deref().unwrap_or(namespace);
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), at, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    };
    let name = object.metadata.name.clone().unwrap_or_default();
    let params = PatchParams::apply(MANAGER).force();
    Ok(api.patch(&name, &params, &Patch::Apply(&object)).await?)
}

/// Waits until the condition `type_` of the object has the status `True`, `False` or `Unknown`, for the current
/// generation if the condition has an `observedGeneration`. Returns the object.
///
/// # Errors
///
/// [`Error::Setup`] after [`PATIENCE`](super::PATIENCE), with the current condition.
pub async fn wait_for_condition<K: Object>(client: &Client, key: &ObjectKey, type_: &str, status: &str) -> Result<K> {
    wait_for_condition_of(client, &Kind::of(), key, &format!("{type_}={status}")).await
}

/// As [`wait_for_condition`], for a kind that may have no Rust type. `condition` is a type and a status, as for
/// `kubectl wait`: `Ready=True`.
///
/// # Errors
///
/// As [`wait_for_condition`]; also [`Error::Setup`] if `condition` has no status.
pub async fn wait_for_condition_of<K: AnyObject>(
    client: &Client,
    kind: &Kind<K>,
    key: &ObjectKey,
    condition: &str,
) -> Result<K> {
    let (type_, status) = condition
        .split_once('=')
        .ok_or_else(|| Error::Setup(format!("`{condition}` has no status, such as in `Ready=True`")))?;
    let (mut found, mut last) = (None, String::new());
    let what = format!("{condition} of {} `{key}`", kind.kind());
    let waited = wait_for(&what, async || {
        let object = Requests::beside(client, kind, key).get(key.name()).await?;
        let condition = object.as_ref().and_then(|object| condition_of(object, type_));
        last = describe(object.is_some(), condition.as_ref());
        let holds = condition.is_some_and(|condition| condition.status == status);
        found = object.filter(|_| holds);
        Ok(holds)
    });
    match waited.await {
        Ok(()) => found.ok_or_else(|| Error::Setup(format!("{what} was created and deleted again"))),
        Err(error) => Err(Error::Setup(format!("{error}: {last}"))),
    }
}

/// The condition, unless it is about an earlier generation.
fn condition_of<K: AnyObject>(object: &K, type_: &str) -> Option<Condition> {
    let json = serde_json::to_value(object).ok()?;
    let conditions: Vec<Condition> = serde_json::from_value(json["status"]["conditions"].clone()).ok()?;
    let condition = conditions.find(type_)?;
    let current = condition.observed_generation.is_none() || condition.observed_generation == object.meta().generation;
    current.then(|| condition.clone())
}

fn describe(exists: bool, condition: Option<&Condition>) -> String {
    match condition {
        _ if !exists => "the object does not exist".to_owned(),
        None => "it has no such condition for its generation".to_owned(),
        Some(condition) => format!(
            "it is {}, {}: {}",
            condition.status, condition.reason, condition.message
        ),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::from_yaml;

    const TEXT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config-sample}\ndata: {a: b}\n";

    #[test]
    fn an_object_of_a_file_gets_the_name_that_the_test_gives_it() {
        let map: ConfigMap = from_yaml("sample", TEXT);
        assert_eq!(map.metadata.name.as_deref(), Some("sample"));
        assert_eq!(map.data.unwrap()["a"], "b");
    }

    #[test]
    fn a_text_that_is_no_such_object_ends_the_test_with_the_reason() {
        let ended = |text: &str| {
            let text = text.to_owned();
            let panic = std::panic::catch_unwind(move || from_yaml::<ConfigMap>("sample", &text)).unwrap_err();
            *panic.downcast::<String>().unwrap()
        };
        assert_eq!(
            ended(&format!("{TEXT}---\n{TEXT}")),
            "the YAML text is not a ConfigMap: it does not have exactly one document"
        );
        let other = ended(&TEXT.replace("ConfigMap", "Secret"));
        assert_eq!(other, "the YAML text is not a ConfigMap: it is a \"Secret\" of \"v1\"");
        let field = ended(&TEXT.replace("{a: b}", "[]"));
        assert!(
            field.starts_with("the YAML text is not a ConfigMap: invalid type"),
            "{field}"
        );
    }
}
