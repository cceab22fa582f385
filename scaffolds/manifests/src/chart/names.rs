//! The names that a release changes: the prefix of all objects, their namespace, and their ServiceAccount.

use super::marks::{ACCOUNT, CLUSTERNAME, FULLNAME, NAMESPACE};
use crate::rendered::text;
use serde_json::Value;
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
    /// The names that only objects without a namespace have.
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
        let all = || objects.iter();
        let name = |object: &Value| text(object, "/metadata/name").to_owned();
        let namespaced: BTreeSet<String> = all().filter(|it| !of_cluster(it)).map(name).collect();
        let cluster: BTreeSet<String> = all().filter(of_cluster).map(name).collect();
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
            cluster: cluster.difference(&namespaced).cloned().collect(),
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

    /// Replaces the names in a value by marks, but not in labels and in selectors of labels, which select the operator's Pods.
    pub(super) fn mark(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.marked(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mark(item)),
            Value::Object(map) => {
                let is_account = map.get("kind").is_some_and(|kind| kind == "ServiceAccount");
                let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default();
                let is_cluster = self.kinds.contains(kind);
                for (key, value) in map.iter_mut() {
                    match (key.as_str(), value) {
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
                        ("metadata", Value::Object(metadata)) if is_cluster => {
                            let name = metadata.remove("name");
                            metadata.values_mut().for_each(|value| self.mark(value));
                            if let Some(name) = name {
                                let name = self.marked_of_cluster(name.as_str().unwrap_or_default());
                                metadata.insert("name".to_owned(), name.into());
                            }
                        }
                        (_, value) => self.mark(value),
                    }
                }
            }
            _ => {}
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
            Value::String(name) if *name == self.namespace => *name = NAMESPACE.to_owned(),
            _ => {}
        }
    }

    /// `text` with marks in the place of whole names: in `a.b.svc`, `a` and `b` are names.
    pub(super) fn marked(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let starts = !text[..text.len() - rest.len()].ends_with(is_of_names);
            match self.first(rest).filter(|_| starts) {
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
    fn first(&self, rest: &str) -> Option<(&str, String)> {
        let is_here = |name: &str| {
            rest.strip_prefix(name)
                .is_some_and(|after| !after.starts_with(is_of_names))
        };
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
            None => is_here(&self.namespace).then(|| (self.namespace.as_str(), NAMESPACE.to_owned())),
        }
    }
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
mod tests {
    use super::*;
    use serde_json::json;

    fn names() -> Names {
        let object = |name: &str| match name.ends_with("-admin") {
            true => json!({"kind": "ClusterRole", "metadata": {"name": name}}),
            false => json!({"kind": "Service", "metadata": {"name": name, "namespace": "foo-system"}}),
        };
        let objects = [
            "foo-operator-web",
            "foo-operator-controller-manager",
            "foos.example.com",
            "foo-operator-foos.example.com-admin",
        ];
        Names::of(
            &objects.map(object),
            "foo-operator",
            "foo-system",
            "foo-operator-controller-manager",
        )
    }

    #[test]
    fn whole_names_follow_the_release_and_parts_of_others_do_not() {
        let cases = [
            (
                "foo-operator-web.foo-system.svc",
                format!("{FULLNAME}-web.{NAMESPACE}.svc"),
            ),
            ("foo-system/foo-operator-web", format!("{NAMESPACE}/{FULLNAME}-web")),
            (
                "foo-operator-foos.example.com-admin",
                format!("{CLUSTERNAME}-foos.example.com-admin"),
            ),
            (
                "system:serviceaccount:foo-system:foo-operator-controller-manager",
                format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}"),
            ),
            ("--name=foo-operator-web", format!("--name={FULLNAME}-web")),
            ("my-foo-system", "my-foo-system".to_owned()),
            ("foo-system2", "foo-system2".to_owned()),
            ("foo-operator-webs", "foo-operator-webs".to_owned()),
            // The lease, and the value of labels.
            ("foo-operator", "foo-operator".to_owned()),
            ("ü foo-system ü", format!("ü {NAMESPACE} ü")),
        ];
        for (text, wanted) in cases {
            assert_eq!(names().marked(text), wanted, "{text}");
        }
    }

    #[test]
    fn labels_and_selectors_stay_but_for_the_name_of_the_namespace() {
        let mut value = json!({
            "kind": "Service",
            "metadata": {"name": "foo-operator-web", "namespace": "foo-system", "labels": {"a": "foo-operator-web"}},
            "spec": {
                "selector": {"a": "foo-operator-web"},
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "foo-system", "b": "foo-system"},
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["foo-system", "other"]},
                        {"key": "c", "operator": "In", "values": ["foo-system"]},
                    ],
                },
            },
        });
        names().mark(&mut value);
        let wanted = json!({
            "kind": "Service",
            "metadata": {"name": format!("{FULLNAME}-web"), "namespace": NAMESPACE, "labels": {"a": "foo-operator-web"}},
            "spec": {
                "selector": {"a": "foo-operator-web"},
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": NAMESPACE, "b": "foo-system"},
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [NAMESPACE, "other"]},
                        {"key": "c", "operator": "In", "values": ["foo-system"]},
                    ],
                },
            },
        });
        assert_eq!(value, wanted);
    }

    #[test]
    fn the_service_account_has_a_name_of_its_own() {
        let account = "foo-operator-controller-manager";
        let mut account_itself = json!({"kind": "ServiceAccount", "metadata": {"name": account}});
        let mut binding =
            json!({"subjects": [{"kind": "ServiceAccount", "name": account}, {"kind": "User", "name": account}]});
        let mut deployment =
            json!({"kind": "Deployment", "metadata": {"name": account}, "spec": {"serviceAccountName": account}});
        for value in [&mut account_itself, &mut binding, &mut deployment] {
            names().mark(value);
        }
        let other = format!("{FULLNAME}-controller-manager");
        assert_eq!(account_itself["metadata"]["name"], ACCOUNT);
        assert_eq!(binding["subjects"][0]["name"], ACCOUNT);
        assert_eq!(binding["subjects"][1]["name"], other);
        assert_eq!(deployment["metadata"]["name"], other);
        assert_eq!(deployment["spec"]["serviceAccountName"], ACCOUNT);
    }
}
