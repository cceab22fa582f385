//! The Pod that checks read, and the violations that they find, with the phrases of their details.

use std::{collections::BTreeSet, iter};

use kubewright_machinery::go;
use serde_json::{Map, Value};

use crate::meta;

/// The fields of a Pod, or of a template of Pods, that checks read.
pub(super) struct CheckedPod<'a> {
    pub metadata: &'a Map<String, Value>,
    pub spec: &'a Value,
}

/// The violation of one check.
pub(super) struct Violation {
    /// The words for all Pods with this violation.
    pub reason: &'static str,
    /// The parts of the Pod that violate.
    pub detail: String,
}

impl<'a> CheckedPod<'a> {
    pub fn new(pod: &'a Value) -> Self {
        Self {
            metadata: meta::of(pod),
            spec: pod.get("spec").unwrap_or(&Value::Null),
        }
    }

    /// The containers, in the order in which details name them.
    pub fn containers(&self) -> impl Iterator<Item = &'a Value> {
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        let spec = self.spec;
        lists.into_iter().flat_map(move |list| items(spec, list))
    }

    /// The names of some containers.
    pub fn names(&self, is_named: impl Fn(&'a Value) -> bool) -> Vec<&'a str> {
        let named = self.containers().filter(|it| is_named(it));
        named.map(|it| text(it, "name")).collect()
    }

    /// The phrase for some containers, if there are any: `containers "a", "b"`.
    pub fn containers_with(&self, is_named: impl Fn(&'a Value) -> bool) -> Option<String> {
        nonempty(self.names(is_named)).map(|names| phrase(&names))
    }

    /// Some annotations as `name="value"`, sorted.
    pub fn annotations(&self, is_named: impl Fn(&str, &str) -> bool) -> BTreeSet<String> {
        let annotations = self.metadata.get("annotations").and_then(Value::as_object);
        let annotations = annotations.into_iter().flatten();
        annotations
            .map(|(name, value)| (name, value.as_str().unwrap_or_default()))
            .filter(|(name, value)| is_named(name, value))
            .map(|(name, value)| format!("{name}={}", go::quote(value)))
            .collect()
    }

    /// The values of a field in the security contexts of the Pod and its containers.
    pub fn values(&self, field: &str) -> impl Iterator<Item = &'a Value> {
        let all = iter::once(self.spec).chain(self.containers());
        all.filter_map(move |it| context(it, field))
    }

    /// The texts among these values that are forbidden, sorted.
    pub fn texts(&self, field: &str, is_forbidden: fn(&Value) -> bool) -> BTreeSet<&'a str> {
        let values = self.values(field).filter(|value| is_forbidden(value));
        values.filter_map(Value::as_str).collect()
    }

    /// The phrase for the Pod and the containers whose security context has a forbidden value of a field, if there are any: `pod and
    /// container "a"`.
    pub fn setters(&self, field: &str, is_forbidden: impl Fn(&Value) -> bool) -> Option<String> {
        let sets = |it: &Value| context(it, field).is_some_and(&is_forbidden);
        match (sets(self.spec), self.containers_with(sets)) {
            (true, Some(containers)) => Some(format!("pod and {containers}")),
            (true, None) => Some("pod".to_owned()),
            (false, containers) => containers,
        }
    }

    /// The phrase for the containers without a value of a field, unless the security context of the Pod has one that is allowed.
    pub fn containers_without(&self, field: &str, is_allowed: impl Fn(&Value) -> bool) -> Option<String> {
        match context(self.spec, field).is_some_and(is_allowed) {
            true => None,
            false => self.containers_with(|it| context(it, field).is_none()),
        }
    }
}

/// The violation of a check.
pub(super) fn violation(reason: &'static str, detail: String) -> Option<Violation> {
    Some(Violation { reason, detail })
}

/// The value of a field in the security context of a Pod's spec or of a container.
pub(super) fn context<'a>(of: &'a Value, field: &str) -> Option<&'a Value> {
    let value = of.get("securityContext")?.pointer(field);
    value.filter(|value| !value.is_null())
}

/// The items of a list.
pub(super) fn items<'a>(of: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// A text; empty if it is absent.
pub(super) fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The phrase for containers of these names.
pub(super) fn phrase(names: &[&str]) -> String {
    format!("{} {}", plural(names.len(), "container", "containers"), quoted(names))
}

/// `"a", "b"`, without escapes, as upstream.
pub(super) fn quoted<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items = items.into_iter().map(|item| format!("\"{}\"", item.as_ref()));
    items.collect::<Vec<_>>().join(", ")
}

/// The list, unless it is empty.
pub(super) fn nonempty<T>(list: Vec<T>) -> Option<Vec<T>> {
    if list.is_empty() { None } else { Some(list) }
}

/// `a, b`.
pub(super) fn listed(items: BTreeSet<String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(", ")
}

pub(super) fn plural(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}
