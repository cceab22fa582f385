//! The names that a release changes: the prefix of all objects, their namespace, and their ServiceAccount.

use super::marks::{ACCOUNT, CLUSTERNAME, FULLNAME, NAMESPACE};
use crate::rendered::text;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The label that every namespace has, with its name.
const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";

/// The names in the output of kustomize.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// `namePrefix` without its hyphen: the name of the chart.
    pub base: String,
    pub namespace: String,
    pub account: String,
    /// Names with that prefix, the longest first.
    pub objects: Vec<String>,
    /// The names that only objects outside of the operator's namespace have.
    cluster: BTreeSet<String>,
    /// The kinds of objects without a namespace.
    kinds: BTreeSet<String>,
    /// The length of the longest name of a Service or a Deployment, without the prefix. Those are DNS labels, also in the names of Pods.
    pub longest: usize,
}

impl Names {
    /// The names of `objects`, of which those with the prefix of `base` follow the release.
    pub(super) fn of(objects: &[Value], base: &str, namespace: &str, account: &str) -> Self {
        let prefix = format!("{base}-");
        let names = objects.iter().map(|object| text(object, "/metadata/name"));
        // The namespace has a mark of its own.
        let names = names.filter(|name| name.starts_with(&prefix) && *name != namespace);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        let of_cluster = |object: &&Value| text(object, "/metadata/namespace").is_empty();
        // A Service cannot have the dot of a name of the cluster.
        let is_shared = |object: &&Value| {
            let other = text(object, "/metadata/namespace") != namespace && text(object, "/kind") != "Service";
            of_cluster(object) || other
        };
        let all = || objects.iter();
        let name = |object: &Value| text(object, "/metadata/name").to_owned();
        let own: BTreeSet<String> = all().filter(|it| !is_shared(it)).map(name).collect();
        let cluster: BTreeSet<String> = all().filter(is_shared).map(name).collect();
        let labels = objects
            .iter()
            .filter(|object| matches!(text(object, "/kind"), "Service" | "Deployment"));
        let longest = labels.map(|object| text(object, "/metadata/name").len().saturating_sub(base.len()));
        Self {
            longest: longest.max().unwrap_or_default(),
            base: base.to_owned(),
            namespace: namespace.to_owned(),
            account: account.to_owned(),
            objects: names,
            cluster: cluster.difference(&own).cloned().collect(),
            kinds: all()
                .filter(of_cluster)
                .map(|it| text(it, "/kind").to_owned())
                .collect(),
        }
    }

    /// These names, and the name of one more object of the cluster.
    pub(super) fn with(&self, object: &Value) -> Self {
        let name = text(object, "/metadata/name").to_owned();
        let mut names = self.clone();
        names.kinds.insert(text(object, "/kind").to_owned());
        names.objects.insert(0, name);
        names
    }

    /// A name without the prefix.
    pub(super) fn short<'a>(&self, name: &'a str) -> &'a str {
        let rest = name.strip_prefix(&self.base).and_then(|rest| rest.strip_prefix('-'));
        rest.unwrap_or(name)
    }

    /// Replaces the names in a value by marks, but not in labels and in selectors of labels, which select the operator's Pods, nor in the
    /// names of API groups, kinds and webhooks.
    pub(super) fn mark(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.marked(text),
            Value::Array(items) => {
                // An argument and its value.
                let mut follows = false;
                for item in items {
                    let names = item.as_str().is_some_and(|text| text.ends_with("-namespace"));
                    match std::mem::replace(&mut follows, names) {
                        true => self.mark_namespace(item),
                        false => self.mark(item),
                    }
                }
            }
            Value::Object(map) => {
                let is_account = map.get("kind").is_some_and(|kind| kind == "ServiceAccount");
                let kind = text_of(map, "kind");
                let is_namespace = kind == "Namespace";
                let is_cluster = self.kinds.contains(kind);
                let of_namespace = text_of(map, "name").ends_with("NAMESPACE");
                for (key, value) in map.iter_mut() {
                    match (key.as_str(), value) {
                        ("apiVersion" | "kind" | "apiGroups" | "group", _) => {}
                        ("webhooks", Value::Array(hooks)) => hooks.iter_mut().for_each(|hook| self.mark_webhook(hook)),
                        (key, value) if is_of_namespaces(key) && !value.is_object() => self.mark_namespace(value),
                        // Of a variable.
                        ("value", value) if of_namespace => self.mark_namespace(value),
                        ("name", Value::String(name)) if is_namespace && *name == self.namespace => {
                            *name = NAMESPACE.to_owned();
                        }
                        ("labels" | "matchLabels" | "matchExpressions", value) => self.mark_labels(value),
                        ("selector", value) if is_labels(value) => self.mark_labels(value),
                        ("serviceAccountName" | "serviceAccount", Value::String(name)) if *name == self.account => {
                            *name = ACCOUNT.to_owned();
                        }
                        // Of a subject, and of the ServiceAccount itself.
                        ("name", Value::String(name)) if is_account && *name == self.account => {
                            *name = ACCOUNT.to_owned();
                        }
                        ("metadata", value) if is_account => {
                            self.mark(value);
                            if text(value, "/name") == self.marked(&self.account) {
                                value["name"] = ACCOUNT.into();
                            }
                        }
                        // Of a reference, and of the object itself.
                        ("name", Value::String(name)) if is_cluster => *name = self.marked_of_cluster(name),
                        ("metadata", value) if is_cluster || is_namespace => {
                            let name = match text(value, "/name") {
                                name if is_namespace && name == self.namespace => NAMESPACE.to_owned(),
                                name => self.marked_of_cluster(name),
                            };
                            self.mark(value);
                            if !name.is_empty() {
                                value["name"] = name.into();
                            }
                        }
                        (_, value) => self.mark(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// A webhook's own name has the form of a domain.
    fn mark_webhook(&self, hook: &mut Value) {
        let name = hook.as_object_mut().and_then(|hook| hook.remove("name"));
        self.mark(hook);
        if let Some(name) = name {
            hook["name"] = name;
        }
    }

    /// The name of an object without a namespace, which objects with one may have too.
    fn marked_of_cluster(&self, name: &str) -> String {
        let rest = name
            .strip_prefix(&self.base)
            .filter(|_| self.objects.iter().any(|it| it == name));
        rest.map_or_else(|| self.marked(name), |rest| format!("{CLUSTERNAME}{rest}"))
    }

    /// Of labels, only the name of the namespace follows the release.
    fn mark_labels(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                let names = map.get("key").is_some_and(|key| key == NAME_OF_NAMESPACE);
                for (key, value) in map.iter_mut() {
                    if key == NAME_OF_NAMESPACE || (names && key == "values") {
                        self.mark_namespace(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mark_labels(item)),
            _ => {}
        }
    }

    fn mark_namespace(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.mark_namespace(item)),
            // One namespace, or several in a list with commas.
            Value::String(names) => {
                let marked = |name: &str| if name == self.namespace { NAMESPACE } else { name }.to_owned();
                *names = names.split(',').map(marked).collect::<Vec<_>>().join(",");
            }
            _ => {}
        }
    }

    /// `text` with marks in the place of whole names: in `a.b.svc`, `a` and `b` are names.
    pub(super) fn marked(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let before = &text[..text.len() - rest.len()];
            match self.first(before, rest).filter(|_| !before.ends_with(is_of_names)) {
                Some((name, mark)) => {
                    out.push_str(&mark);
                    rest = &rest[name.len()..];
                }
                None => {
                    let step = rest.chars().next().map_or(0, char::len_utf8);
                    out.push_str(&rest[..step]);
                    rest = &rest[step..];
                }
            }
        }
        let user = format!("system:serviceaccount:{NAMESPACE}:");
        match out.strip_prefix(&user) {
            Some(account) if account == self.marked(&self.account) => user + ACCOUNT,
            _ => out,
        }
    }

    /// The name that `rest` starts with, and its mark.
    fn first(&self, before: &str, rest: &str) -> Option<(&str, String)> {
        let is_here = |name: &str| starts_with_name(rest, name);
        let object = self.objects.iter().find(|name| is_here(name));
        match object {
            Some(name) => {
                let prefix = if self.cluster.contains(name) {
                    CLUSTERNAME
                } else {
                    FULLNAME
                };
                Some((name, format!("{prefix}{}", &name[self.base.len()..])))
            }
            None => (is_here(&self.namespace) && self.is_namespace(before, &rest[self.namespace.len()..]))
                .then(|| (self.namespace.as_str(), NAMESPACE.to_owned())),
        }
    }

    /// Whether the name of the namespace between two texts means the namespace. It may also be a word, or a part of an API group.
    fn is_namespace(&self, before: &str, after: &str) -> bool {
        const USERS: [&str; 2] = ["system:serviceaccount:", "system:serviceaccounts:"];
        let is_object = |text: &str| self.objects.iter().any(|name| starts_with_name(text, name));
        let host = before.strip_suffix('.').unwrap_or_default();
        let of_object = self.objects.iter().any(|name| host.ends_with(name.as_str()));
        // In arguments with one or several namespaces, in queries of metrics, in expressions, and in files.
        let list = match before.ends_with(',') {
            true => before.trim_end_matches(|c| c == ',' || is_of_names(c)),
            false => before,
        };
        let field = list.trim_end_matches([' ', '"', '\'', '=', ':', '!', '~']);
        let is_field = list[field.len()..].contains(['=', ':']) && field.to_ascii_lowercase().ends_with("namespace");
        USERS.iter().any(|user| before.ends_with(user))
            || is_field
            || after.strip_prefix('/').is_some_and(is_object)
            || (of_object && !after.starts_with('.'))
            || (!host.is_empty() && starts_with_name(after, ".svc"))
    }
}

/// A text in a map; empty if there is none.
fn text_of<'a>(map: &'a Map<String, Value>, field: &str) -> &'a str {
    map.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the first name in a text is this one, as a whole.
fn starts_with_name(text: &str, name: &str) -> bool {
    text.strip_prefix(name)
        .is_some_and(|after| !after.starts_with(is_of_names))
}

/// Whether a field has this name if its values are namespaces.
fn is_of_namespaces(field: &str) -> bool {
    field == "matchNames" || field.ends_with("amespace") || field.ends_with("amespaces")
}

/// Whether a character can be part of the same name.
fn is_of_names(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Whether a selector is a map of labels, as in a Service.
fn is_labels(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.values().all(Value::is_string))
}

#[cfg(test)]
mod tests;
