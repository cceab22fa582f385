//! RBAC rules, normalised as controller-gen does it, so that a project that moves from kubebuilder keeps the same YAML.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A `PolicyRule` of `rbac.authorization.k8s.io/v1`: verbs on resources or on URLs.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PolicyRule {
    /// API groups. The core group is `""`; `core` is accepted for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Plural names of resources, with their subresource: `foobars/status`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Names of objects; empty for all. They cannot restrict `create`, because the object has no name yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Paths outside the API's resources, such as `/metrics`; only in cluster roles.
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub non_resource_urls: Vec<String>,
    /// The allowed verbs: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection` or `*`.
    pub verbs: Vec<String>,
}

/// The fields of a rule as sets; sorted and free of duplicates by construction.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
struct Rule {
    groups: BTreeSet<String>,
    resources: BTreeSet<String>,
    names: BTreeSet<String>,
    urls: BTreeSet<String>,
    verbs: BTreeSet<String>,
}

/// The shortest list of rules that grants what `rules` grant, in a fixed form.
///
/// # Flow
/// 1. Each rule is split into one rule per resource.
/// 2. Rules that differ only in their verbs are joined, then those that differ only in their resources, only in their groups, and only in their
///    URLs.
/// 3. They are sorted by groups, resources, names and URLs. Verbs that contain `*` become only `*`.
///
/// # Guarantees
/// The result depends neither on the order of `rules` nor on the order inside them, and grants exactly what they grant.
///
/// # Caveats
/// As in controller-gen, rules that become equal only when `*` replaces their other verbs stay separate. If two rules differ only in their
/// verbs after their groups were joined (`get` in `apps` and in `batch`, `list` in both), controller-gen v0.23 writes only one of them, chosen
/// at random; here both are kept.
pub fn normalise(rules: impl IntoIterator<Item = PolicyRule>) -> Vec<PolicyRule> {
    let rules = rules.into_iter().flat_map(split).collect();
    let rules = join(rules, |rule| &mut rule.verbs);
    let rules = join(rules, |rule| &mut rule.resources);
    let rules = join(rules, |rule| &mut rule.groups);
    let mut rules = join(rules, |rule| &mut rule.urls);
    rules.sort_by_cached_key(sort_key);
    rules.into_iter().map(collapse).collect()
}

/// A `ClusterRole`, or a `Role` when a namespace is given, that grants the [normalised](normalise) `rules`.
pub fn role(name: &str, namespace: Option<&str>, rules: impl IntoIterator<Item = PolicyRule>) -> Value {
    let mut metadata = json!({"name": name});
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": if namespace.is_some() { "Role" } else { "ClusterRole" },
        "metadata": metadata,
        "rules": normalise(rules).into_iter().map(rule_value).collect::<Vec<_>>(),
    })
}

/// The rule as serde would serialize it, but infallible.
fn rule_value(rule: PolicyRule) -> Value {
    let mut value = json!({"verbs": rule.verbs});
    for (key, list) in [
        ("apiGroups", rule.api_groups),
        ("resources", rule.resources),
        ("resourceNames", rule.resource_names),
        ("nonResourceURLs", rule.non_resource_urls),
    ] {
        if !list.is_empty() {
            value[key] = list.into();
        }
    }
    value
}

fn split(rule: PolicyRule) -> Vec<Rule> {
    let whole = Rule {
        groups: rule
            .api_groups
            .into_iter()
            .map(|group| if group == "core" { String::new() } else { group })
            .collect(),
        resources: BTreeSet::new(),
        names: rule.resource_names.into_iter().collect(),
        urls: rule.non_resource_urls.into_iter().collect(),
        verbs: rule.verbs.into_iter().collect(),
    };
    if rule.resources.is_empty() {
        return vec![whole];
    }
    rule.resources
        .into_iter()
        .map(|resource| Rule {
            resources: [resource].into(),
            ..whole.clone()
        })
        .collect()
}

/// Joins the rules that differ only in one field.
fn join(rules: Vec<Rule>, field: fn(&mut Rule) -> &mut BTreeSet<String>) -> Vec<Rule> {
    let mut joined: BTreeMap<Rule, BTreeSet<String>> = BTreeMap::new();
    for mut rule in rules {
        let values = std::mem::take(field(&mut rule));
        joined.entry(rule).or_default().extend(values);
    }
    let restore = |(mut rule, values): (Rule, BTreeSet<String>)| {
        *field(&mut rule) = values;
        rule
    };
    joined.into_iter().map(restore).collect()
}

/// controller-gen sorts rules by this text, which is the same for a missing list and for a list with an empty name.
fn sort_key(rule: &Rule) -> (String, Vec<String>) {
    let list = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join("&");
    let key = [&rule.groups, &rule.resources, &rule.names, &rule.urls]
        .map(list)
        .join(" + ");
    (key, rule.verbs.iter().cloned().collect())
}

fn collapse(rule: Rule) -> PolicyRule {
    let verbs = if rule.verbs.contains("*") {
        ["*".to_owned()].into()
    } else {
        rule.verbs
    };
    PolicyRule {
        api_groups: rule.groups.into_iter().collect(),
        resources: rule.resources.into_iter().collect(),
        resource_names: rule.names.into_iter().collect(),
        non_resource_urls: rule.urls.into_iter().collect(),
        verbs: verbs.into_iter().collect(),
    }
}
