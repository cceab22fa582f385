//! The places that an informer watches: one namespace, all of them, or all but some; each with its selectors.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{Selector, SelectorExt};

use super::{InformerConfig, Scope, Selectors};
use crate::{key::ObjectKey, kind::Kind, selector};

/// The request of one watch.
#[derive(Clone, Debug)]
pub(super) struct WatchRequest {
    /// `None` for all namespaces, except for those in `except`.
    pub(super) namespace: Option<String>,
    except: BTreeSet<String>,
    selectors: Selectors,
    /// The label selector, if it can be parsed here; the server evaluates it in any case.
    labels: Option<Selector>,
}

impl WatchRequest {
    fn new(namespace: Option<&str>, selectors: Selectors) -> Self {
        let labels = selectors.labels.as_deref().and_then(|text| selector::parse(text).ok());
        Self {
            namespace: namespace.map(str::to_owned),
            except: BTreeSet::new(),
            selectors,
            labels,
        }
    }

    /// The places of a configuration, each for a watch of its own.
    pub(super) fn all<K>(kind: &Kind<K>, config: &InformerConfig<K>) -> Vec<Self> {
        let default = Selectors {
            labels: config.label_selector.clone(),
            fields: config.field_selector.clone(),
        };
        let single = |namespace: &String| {
            let selectors = config.namespace_selectors.get(namespace).unwrap_or(&default);
            Self::new(Some(namespace), selectors.clone())
        };
        match &config.scope {
            Scope::Namespaces(namespaces) => namespaces.iter().map(single).collect(),
            Scope::Cluster => {
                let mut rest = Self::new(None, default.clone());
                let mut places = Vec::new();
                if kind.is_namespaced() {
                    rest.except = config.namespace_selectors.keys().cloned().collect();
                    places.extend(rest.except.iter().map(single));
                }
                places.push(rest);
                places
            }
        }
    }

    /// Whether objects of this key are shown by this watch, if the selectors match.
    pub(super) fn covers(&self, key: &ObjectKey) -> bool {
        match &self.namespace {
            Some(namespace) => key.namespace() == Some(namespace),
            None => key.namespace().is_none_or(|namespace| !self.except.contains(namespace)),
        }
    }

    pub(super) fn label_selector(&self) -> Option<&str> {
        self.selectors.labels.as_deref()
    }

    /// The field selector, which also excludes the namespaces that have a watch of their own.
    pub(super) fn field_selector(&self) -> Option<String> {
        let excluded = self.except.iter().map(|name| format!("metadata.namespace!={name}"));
        let terms: Vec<_> = self.selectors.fields.iter().cloned().chain(excluded).collect();
        (!terms.is_empty()).then(|| terms.join(","))
    }

    pub(super) fn has_selectors(&self) -> bool {
        self.selectors.labels.is_some() || self.selectors.fields.is_some()
    }

    /// Whether an object with this metadata, in this place, is certain to be selected.
    pub(super) fn selects(&self, metadata: &ObjectMeta) -> bool {
        let labels = metadata.labels.as_ref();
        self.selectors.fields.is_none()
            && match (&self.selectors.labels, &self.labels) {
                (None, _) => true,
                (Some(_), Some(selector)) => selector.matches(labels.unwrap_or(&Default::default())),
                (Some(_), None) => false,
            }
    }

    /// `in namespace a`.
    pub(super) fn name(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None if self.except.is_empty() => "in all namespaces".to_owned(),
            None => {
                let except: Vec<_> = self.except.iter().map(String::as_str).collect();
                format!("in all namespaces but {}", except.join(", "))
            }
        }
    }
}
