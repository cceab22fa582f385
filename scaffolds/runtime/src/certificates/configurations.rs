//! The objects that name the authorities which clients trust: configurations and definitions for API servers, a ConfigMap
//! for Prometheus.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::ByteString;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Affixes, Configured, definitions::Converter, hint, plan::State, secret::unless_conflict, trust};
use crate::{
    error::Error,
    informer::{Informer, InformerConfig, Scope},
    key::ObjectKey,
    kind::Kind,
};

/// The revision of the state whose authorities a configuration names: a process that has not seen the newest state yet
/// must not overwrite them.
pub const REVISION: &str = "kubewright.dev/certificates";
const GROUP: &str = "admissionregistration.k8s.io";

/// The key of the authorities in a ConfigMap, as in the Secrets of cert-manager and in the ConfigMap `kube-root-ca.crt`.
const AUTHORITIES: &str = "ca.crt";

/// One configuration, definition or ConfigMap, and the watch of it.
pub(super) struct Configuration {
    key: ObjectKey,
    resource: ApiResource,
    place: Place,
    pub(super) informer: Informer<DynamicObject>,
    /// The last revision that this process has written, and when.
    written: Mutex<Option<(u64, Instant)>>,
}

/// The place of authorities in an object.
enum Place {
    /// In each webhook of a configuration, where this field manager writes them.
    Webhooks(String),
    /// In the conversion of a definition.
    Conversion(Converter),
    /// In the data of a ConfigMap, which belongs to this component of `config`.
    Data(&'static str),
}

/// The result of comparing the authorities of a configuration with those of a state.
#[derive(Debug, Eq, PartialEq)]
enum Said {
    /// The configuration has exactly the state's authorities.
    Right,
    /// The configuration has the authorities of a later state.
    Later,
    /// The configuration has other authorities.
    Wrong,
}

impl Configuration {
    /// With these affixes of its name, written by this field manager.
    pub(super) fn new(client: &Client, configured: Configured, affixes: &Affixes, manager: &str) -> Self {
        let name = affixes.apply(configured.name);
        let kind = GroupVersionKind::gvk(GROUP, "v1", configured.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, configured.plural);
        let place = Place::Webhooks(manager.to_owned());
        Self::watched(client, ObjectKey::new(None, &name), resource, place)
    }

    /// The definition of a kind that is converted.
    pub(super) fn of_definition(client: &Client, converter: Converter) -> Self {
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let key = ObjectKey::new(None, converter.definition());
        Self::watched(client, key, ApiResource::from_gvk(&kind), Place::Conversion(converter))
    }

    /// A ConfigMap of this component.
    pub(super) fn of_config_map(client: &Client, key: ObjectKey, component: &'static str) -> Self {
        let kind = GroupVersionKind::gvk("", "v1", "ConfigMap");
        Self::watched(client, key, ApiResource::from_gvk(&kind), Place::Data(component))
    }

    fn watched(client: &Client, key: ObjectKey, resource: ApiResource, place: Place) -> Self {
        let mut config = InformerConfig {
            field_selector: Some(format!("metadata.name={}", key.name())),
            resync: None,
            ..InformerConfig::default()
        };
        match &place {
            Place::Webhooks(manager) => config.keep_managers.push(manager.clone()),
            Place::Conversion(converter) => config.transform = Some(Arc::new(converter.trim())),
            Place::Data(_) => {}
        }
        let kind = match key.namespace() {
            None => Kind::cluster_scoped(resource.clone()),
            Some(namespace) => {
                config.scope = Scope::Namespaces(BTreeSet::from([namespace.to_owned()]));
                Kind::namespaced(resource.clone())
            }
        };
        let informer = Informer::of(client.clone(), kind, config);
        Self {
            key,
            resource,
            place,
            informer,
            written: Mutex::default(),
        }
    }

    /// The revision of the authorities that it names; 0 if there is none.
    pub(super) fn revision(&self) -> u64 {
        self.object().map_or(0, |object| revision(&object))
    }

    /// The object; `None` if it does not exist, or is not [read](Self::unread) yet.
    fn object(&self) -> Option<Arc<DynamicObject>> {
        self.informer.store().get(&self.key)
    }

    /// The error that keeps it from being read, if there is one yet; `None` once it has been read.
    pub(super) fn unread(&self) -> Option<Option<String>> {
        (!self.informer.has_synced()).then(|| self.informer.last_error())
    }

    /// The message if it does not exist.
    pub(super) fn absence(&self) -> Option<String> {
        if self.unread().is_some() || self.object().is_some() {
            return None;
        }
        let (kind, name) = (&self.resource.kind, &self.key);
        let hint = match self.place {
            Place::Conversion(_) => "run `make install`".to_owned(),
            Place::Webhooks(_) => hint("../webhook"),
            Place::Data(component) => hint(component),
        };
        Some(format!("the {kind} `{name}` does not exist\n\nhint: {hint}"))
    }

    /// Its entries: their names, and the authorities that they name.
    fn entries(&self, object: &DynamicObject) -> Vec<(Value, Option<ByteString>)> {
        match &self.place {
            Place::Conversion(converter) => vec![(json!("the conversion"), converter.bundle(object))],
            Place::Webhooks(_) => hooks(object).map(|hook| (hook["name"].clone(), bundle(hook))).collect(),
            Place::Data(_) => {
                let text = object.data["data"][AUTHORITIES].as_str();
                let bundle = text.map(|text| ByteString(text.as_bytes().to_vec()));
                vec![(json!(AUTHORITIES), bundle)]
            }
        }
    }

    /// The fields that name these authorities.
    fn fields(&self, object: &DynamicObject, bundle: &ByteString) -> (&'static str, Value) {
        let entry = |hook: &Value| json!({"name": hook["name"], "clientConfig": {"caBundle": bundle}});
        match &self.place {
            Place::Conversion(converter) => ("spec", converter.spec(bundle)),
            Place::Webhooks(_) => ("webhooks", hooks(object).map(entry).collect()),
            // Authorities are written as PEM, which is ASCII.
            Place::Data(_) => ("data", json!({AUTHORITIES: String::from_utf8_lossy(&bundle.0)})),
        }
    }

    /// Makes the object name the authorities of a state, if it does not. Returns whether it does, or does not exist, as far
    /// as this process has seen. One that another client has changed back is written again after `pause`: another process
    /// of the operator, which API servers reach elsewhere, would write at once too, for ever.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or the converter does not answer.
    pub(super) async fn publish(
        &self,
        client: &Client,
        state: &State,
        [manager, name]: [&str; 2],
        pause: Duration,
    ) -> Result<bool, String> {
        let Some(object) = self.object() else {
            return Ok(true);
        };
        let bundle = ByteString(state.bundle().into_bytes());
        match said([revision(&object), state.revision], &self.entries(&object), &bundle) {
            Said::Right => {
                if matches!(self.place, Place::Webhooks(_)) && owns(&object, manager) {
                    let released = unless_conflict(self.release(client, manager).await);
                    released.map_err(|error| self.failed(&error))?;
                }
                return Ok(true);
            }
            Said::Later => return Ok(false),
            Said::Wrong => {}
        }
        let last = *self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.filter(|(revision, _)| *revision == state.revision);
        if last.is_some_and(|(_, at)| at.elapsed() < pause) {
            return Ok(false);
        }
        let mut rival = None;
        if let Place::Conversion(converter) = &self.place {
            converter.answers(&object, state, name).await?;
            rival = last.and_then(|_| converter.rival(&object));
        }
        let (field, value) = self.fields(&object, &bundle);
        let patch = Patch::Apply(json!({
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "metadata": {
                "name": self.key.name(),
                "resourceVersion": object.metadata.resource_version,
                "annotations": {REVISION: state.revision.to_string()},
            },
            field: value,
        }));
        let params = PatchParams::apply(manager).force();
        let written = self.api(client).patch(self.key.name(), &params, &patch).await;
        if written.is_ok() {
            *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some((state.revision, Instant::now()));
        }
        unless_conflict(written.map(|_| ())).map_err(|error| self.failed(&error))?;
        // The watch will show it.
        rival.map_or(Ok(false), Err)
    }

    /// Lets the caches of a converted kind begin once its definition names the converter. The API servers of a cluster see that within
    /// `settle`; the one server that reaches a process by a URL has stored it. Returns whether it is too early.
    pub(super) fn note_converter(&self, settle: Duration) -> bool {
        let (Place::Conversion(converter), Some(object)) = (&self.place, self.object()) else {
            return false;
        };
        let is_named = converter.bundle(&object).is_some();
        let is_settled = converter.named_for(is_named).is_some_and(|time| time >= settle);
        if is_settled || is_named && !converter.is_behind_service() {
            converter.set_named();
        }
        is_named && !is_settled
    }

    /// Gives up the fields that were written, which keep their values: nobody else's apply has them. As their owner this
    /// field manager would keep a part of each entry, and an API server refuses a configuration without the rest of it, so
    /// nobody could deploy an operator that has a webhook less.
    async fn release(&self, client: &Client, manager: &str) -> kube::Result<()> {
        let Some(object) = self.api(client).get_opt(self.key.name()).await? else {
            return Ok(());
        };
        let all = object.metadata.managed_fields.iter().flatten();
        let others: Vec<_> = all.filter(|entry| entry.manager.as_deref() != Some(manager)).collect();
        if others.is_empty() {
            // An empty list would be ignored.
            return Ok(());
        }
        let version = &object.metadata.resource_version;
        let patch = Patch::Merge(json!({"metadata": {"resourceVersion": version, "managedFields": others}}));
        let (api, params) = (self.api(client), PatchParams::default());
        api.patch(self.key.name(), &params, &patch).await.map(drop)
    }

    fn api(&self, client: &Client) -> Api<DynamicObject> {
        match self.key.namespace() {
            None => Api::all_with(client.clone(), &self.resource),
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
        }
    }

    fn failed(&self, error: &Error) -> String {
        format!("the {} `{}`: {error}", self.resource.kind, self.key)
    }

    /// Whether clients that follow this object accept a state's leaf for this name. Nobody follows one that does not exist.
    ///
    /// # Errors
    ///
    /// The reason, if they do not, or if it has not been read.
    pub(super) fn accepts(&self, state: &State, name: &str, now: i64) -> Result<(), String> {
        if let Some(why) = self.unread() {
            let unread = || format!("the {} `{}` is not read yet", self.resource.kind, self.key);
            return Err(why.unwrap_or_else(unread));
        }
        let Some(object) = self.object() else {
            return Ok(());
        };
        for (entry, bundle) in self.entries(&object) {
            if let (None, Place::Conversion(converter)) = (&bundle, &self.place) {
                return converter.may_be_unnamed();
            }
            let bundle = bundle.unwrap_or_default();
            trust::verify(&state.leaf.certificate.0, name, &bundle.0, now)
                .map_err(|error| format!("the authorities of {entry} do not verify the certificate: {error}"))?;
        }
        Ok(())
    }
}

fn owns(object: &DynamicObject, manager: &str) -> bool {
    let mut all = object.metadata.managed_fields.iter().flatten();
    all.any(|entry| entry.manager.as_deref() == Some(manager))
}

fn hooks(object: &DynamicObject) -> impl Iterator<Item = &Value> {
    object.data["webhooks"].as_array().into_iter().flatten()
}

fn bundle(hook: &Value) -> Option<ByteString> {
    serde_json::from_value(hook["clientConfig"]["caBundle"].clone()).ok()
}

fn revision(object: &DynamicObject) -> u64 {
    let annotation = object.metadata.annotations.as_ref().and_then(|all| all.get(REVISION));
    annotation.and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn said([written, wanted]: [u64; 2], entries: &[(Value, Option<ByteString>)], authorities: &ByteString) -> Said {
    if written > wanted {
        Said::Later
    } else if written == wanted && entries.iter().all(|(_, bundle)| bundle.as_ref() == Some(authorities)) {
        Said::Right
    } else {
        Said::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(revision: &str) -> DynamicObject {
        serde_json::from_value(json!({"metadata": {"name": "c", "annotations": {REVISION: revision}}})).unwrap()
    }

    fn entry(bundle: &&str) -> (Value, Option<ByteString>) {
        (json!("a"), Some(ByteString(bundle.as_bytes().into())))
    }

    #[test]
    fn a_process_that_is_behind_does_not_overwrite_later_authorities() {
        let wanted = ByteString(b"ours".into());
        let said = |written: &str, bundles: &[&str]| {
            let entries: Vec<_> = bundles.iter().map(entry).collect();
            said([revision(&object(written)), 3], &entries, &wanted)
        };
        assert_eq!(said("3", &["ours", "ours"]), Said::Right);
        assert_eq!(said("3", &["ours", "theirs"]), Said::Wrong);
        assert_eq!(said("2", &["ours"]), Said::Wrong);
        assert_eq!(said("", &["ours"]), Said::Wrong);
        assert_eq!(said("4", &["theirs"]), Said::Later);
    }
}
