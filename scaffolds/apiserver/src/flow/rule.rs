//! The rules of FlowSchemas: subjects, and the resources or paths of their requests.

use serde_json::Value;

use super::items;
use crate::{request::Info, user::User};

/// One rule: one of the subjects, and a resource or a path.
pub(super) struct FlowRule {
    subjects: Vec<FlowSubject>,
    resources: Vec<ResourceMatch>,
    paths: Vec<PathMatch>,
}

enum FlowSubject {
    User(String),
    Group(String),
    /// A namespace, and a name or `*`.
    ServiceAccount(String, String),
}

struct ResourceMatch {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<String>,
    namespaces: Vec<String>,
    is_cluster_wide: bool,
}

struct PathMatch {
    verbs: Vec<String>,
    paths: Vec<String>,
}

impl FlowRule {
    pub fn read(rule: &Value) -> Self {
        Self {
            subjects: items(&rule["subjects"]).filter_map(FlowSubject::read).collect(),
            resources: items(&rule["resourceRules"]).map(ResourceMatch::read).collect(),
            paths: items(&rule["nonResourceRules"])
                .map(|it| PathMatch {
                    verbs: texts(&it["verbs"]),
                    paths: texts(&it["nonResourceURLs"]),
                })
                .collect(),
        }
    }

    pub fn matches(&self, user: &User, info: &Info) -> bool {
        let is_request = || match info.is_resource {
            true => self.resources.iter().any(|it| it.matches(info)),
            false => self.paths.iter().any(|it| it.matches(info)),
        };
        self.subjects.iter().any(|it| it.matches(user)) && is_request()
    }
}

impl FlowSubject {
    fn read(subject: &Value) -> Option<Self> {
        let text = |of: &str, field: &str| subject[of][field].as_str().map(str::to_owned);
        match subject["kind"].as_str()? {
            "User" => Some(Self::User(text("user", "name")?)),
            "Group" => Some(Self::Group(text("group", "name")?)),
            "ServiceAccount" => Some(Self::ServiceAccount(
                text("serviceAccount", "namespace")?,
                text("serviceAccount", "name")?,
            )),
            _ => None,
        }
    }

    fn matches(&self, user: &User) -> bool {
        match self {
            Self::User(name) => name == "*" || *name == user.name,
            Self::Group(name) => name == "*" || user.is_in(name),
            Self::ServiceAccount(namespace, name) => {
                let rest = user.name.strip_prefix("system:serviceaccount:");
                let account = rest.and_then(|rest| rest.strip_prefix(namespace.as_str())?.strip_prefix(':'));
                account.is_some_and(|account| name == "*" || account == name)
            }
        }
    }
}

impl ResourceMatch {
    fn read(rule: &Value) -> Self {
        Self {
            verbs: texts(&rule["verbs"]),
            groups: texts(&rule["apiGroups"]),
            resources: texts(&rule["resources"]),
            namespaces: texts(&rule["namespaces"]),
            is_cluster_wide: rule["clusterScope"] == true,
        }
    }

    fn matches(&self, info: &Info) -> bool {
        let is_resource = |name: &String| match info.subresource.as_str() {
            "" => *name == info.resource,
            part => {
                name.strip_prefix(info.resource.as_str())
                    .and_then(|it| it.strip_prefix('/'))
                    == Some(part)
            }
        };
        contains(&self.verbs, &info.verb)
            && (is_any(&self.resources) || self.resources.iter().any(is_resource))
            && contains(&self.groups, &info.group)
            && match info.namespace.as_str() {
                "" => self.is_cluster_wide,
                namespace => contains(&self.namespaces, namespace),
            }
    }
}

impl PathMatch {
    fn matches(&self, info: &Info) -> bool {
        let is_path = |path: &String| {
            let prefix = path.strip_suffix('*').unwrap_or(path);
            let below = info.path.strip_prefix(prefix);
            path == "*" || *path == info.path || below.is_some_and(|it| prefix.ends_with('/') || it.starts_with('/'))
        };
        contains(&self.verbs, &info.verb) && self.paths.iter().any(is_path)
    }
}

/// Whether a list stands for all values.
fn is_any(list: &[String]) -> bool {
    matches!(list, [one] if one == "*")
}

fn contains(list: &[String], value: &str) -> bool {
    is_any(list) || list.iter().any(|it| it == value)
}

fn texts(list: &Value) -> Vec<String> {
    items(list).filter_map(Value::as_str).map(str::to_owned).collect()
}
