//! The objects that an informer watches, and the parts of them that it keeps.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use kube::{Resource, api::ListParams};

use super::{managed, place::WatchRequest, reflection::Broken};
use crate::isolate::isolated;

/// The namespaces in which objects are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All namespaces, or all objects of a cluster-scoped kind.
    Cluster,
    /// In these namespaces, each with a watch of its own. Only for namespaced kinds.
    Namespaces(BTreeSet<String>),
}

/// The watched objects. Default: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    /// Only objects with these labels, in the API's syntax.
    pub labels: Option<String>,
    /// Only objects with these field values, in the API's syntax.
    pub fields: Option<String>,
}

/// Changes an object before it is stored.
pub type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// Settings of an informer; `Default` watches everything.
pub struct InformerConfig<K> {
    /// The watched namespaces. Default: all.
    pub scope: Scope,
    /// Only objects with these labels, in the API's syntax. Default: all.
    pub label_selector: Option<String>,
    /// Only objects with these field values, in the API's syntax. Default: all.
    pub field_selector: Option<String>,
    /// The selectors of single namespaces, in place of the two above. If all namespaces are watched, each of these has a
    /// watch of its own, and so have all others together. Entries for namespaces outside of the scope, and for kinds
    /// without namespaces, have no effect. Default: none.
    pub namespace_selectors: BTreeMap<String, Selectors>,
    /// Field managers, or prefixes of their names, whose `managedFields` entries are kept, except entries for
    /// subresources. If any is kept, one empty entry stands for the entries of all others. Default: none; the entries are
    /// often the larger part of an object.
    pub keep_managers: Vec<String>,
    /// Keeps the field trees of those entries as their JSON text in a string, which needs a thirtieth of the memory.
    /// Default: no.
    pub pack_managed_fields: bool,
    /// Runs on each object after `managedFields` were stripped, to drop fields that are not used. It must not change
    /// name, namespace, uid and resourceVersion. If it panics, the object is treated as invalid. Default: nothing.
    pub transform: Option<Transform<K>>,
    /// The interval at which each stored object is delivered again, ± 10 %; `None` for never. Default: 10 h, as in
    /// controller-runtime.
    pub resync: Option<Duration>,
    /// Whether the API server may not serve the kind, for example because its CRD is not installed. The cache is empty
    /// then, and the informer counts as synced. Discovery is asked at most every 10 s; a 403, 5xx or a broken
    /// connection is never taken for absence. Default: no, so a missing kind is an error.
    pub optional: bool,
    /// The limit on objects in one page of a list. Default: 500, as in client-go. If objects are large, pages are
    /// smaller: at most 8 MiB of a response are read, unless a single object is larger.
    pub page_size: u32,
}

impl<K> Default for InformerConfig<K> {
    fn default() -> Self {
        Self {
            scope: Scope::Cluster,
            label_selector: None,
            field_selector: None,
            namespace_selectors: BTreeMap::new(),
            keep_managers: Vec::new(),
            pack_managed_fields: false,
            transform: None,
            resync: Some(Duration::from_secs(10 * 60 * 60)),
            optional: false,
            page_size: 500,
        }
    }
}

impl<K> Clone for InformerConfig<K> {
    fn clone(&self) -> Self {
        Self {
            scope: self.scope.clone(),
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            namespace_selectors: self.namespace_selectors.clone(),
            keep_managers: self.keep_managers.clone(),
            pack_managed_fields: self.pack_managed_fields,
            transform: self.transform.clone(),
            resync: self.resync,
            optional: self.optional,
            page_size: self.page_size,
        }
    }
}

impl<K> fmt::Debug for InformerConfig<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerConfig")
            .field("scope", &self.scope)
            .field("label_selector", &self.label_selector)
            .field("field_selector", &self.field_selector)
            .field("namespace_selectors", &self.namespace_selectors)
            .field("keep_managers", &self.keep_managers)
            .field("pack_managed_fields", &self.pack_managed_fields)
            .field("transform", &self.transform.is_some())
            .field("resync", &self.resync)
            .field("optional", &self.optional)
            .field("page_size", &self.page_size)
            .finish()
    }
}

impl<K: Resource> InformerConfig<K> {
    /// A list in pages. Not a streaming list: servers before 1.34 may refuse it, and pages bound the memory as well. It is a
    /// quorum read, without a version, so that a restarted operator never sees a state older than the one before its restart.
    pub(super) fn list_params(&self, place: &WatchRequest) -> ListParams {
        ListParams {
            label_selector: place.label_selector().map(str::to_owned),
            field_selector: place.field_selector(),
            limit: Some(self.page_size.max(1)),
            ..ListParams::default()
        }
    }

    /// Whether any `managedFields` entries are kept.
    pub(super) fn has_records(&self) -> bool {
        !self.keep_managers.is_empty()
    }

    /// The `managedFields` entries that are kept, decoded from their JSON.
    pub(super) fn records(&self, json: &str) -> Option<Vec<ManagedFieldsEntry>> {
        if self.keep_managers.is_empty() {
            None
        } else if self.pack_managed_fields {
            managed::records(json, |manager| managed::is_kept(manager, &self.keep_managers))
        } else {
            serde_json::from_str(json).ok()
        }
    }

    /// The parts of a decoded object that are kept. An object on which the transform panics counts as undecodable: it
    /// must not end the watch of all others.
    pub(super) fn trim(&self, mut object: K, keeps_records: bool) -> Result<K, Broken> {
        let metadata = object.meta_mut();
        managed::keep_only(metadata, if keeps_records { &self.keep_managers } else { &[] });
        if self.pack_managed_fields {
            managed::pack(metadata);
        }
        let Some(transform) = &self.transform else {
            return Ok(object);
        };
        let metadata = Box::new(identity(metadata));
        match isolated(|| transform(&mut object)) {
            Ok(()) => Ok(object),
            Err(panic) => Err(Broken {
                metadata,
                error: format!("the informer's transform panicked on it: {panic}").into(),
            }),
        }
    }
}

/// The metadata that identifies one version of one object.
fn identity(metadata: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
        ..ObjectMeta::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    #[test]
    fn unused_managed_fields_are_not_kept() {
        let entry = json!({"manager": "ours/foobar", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}}});
        let object: ConfigMap =
            serde_json::from_value(json!({"metadata": {"name": "a", "managedFields": [entry]}})).unwrap();
        let config = InformerConfig::<ConfigMap> {
            keep_managers: vec!["ours/".to_owned()],
            pack_managed_fields: true,
            ..InformerConfig::default()
        };
        assert_eq!(
            config.trim(object.clone(), false).unwrap().metadata.managed_fields,
            None
        );
        let kept = config.trim(object, true).unwrap().metadata.managed_fields.unwrap();
        let actual = (
            kept[0].manager.as_deref(),
            kept[0].operation.as_deref(),
            kept[0].api_version.as_deref(),
        );
        assert_eq!(actual, (Some("ours/foobar"), Some("Update"), None));
    }
}
