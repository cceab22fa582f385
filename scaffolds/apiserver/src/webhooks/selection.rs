//! The requests that a webhook or a policy matches.

use serde_json::Value;

use crate::select::LabelSelector;

/// The requests that a webhook or a policy matches.
#[derive(Debug)]
pub struct Selection {
    /// Objects that match one of them; all objects without a list.
    pub rules: Option<Vec<Rule>>,
    /// But not those that match one of these.
    pub excluded: Vec<Rule>,
    /// Whether rules also match requests for the same objects in other versions.
    pub is_equivalent: bool,
    /// In which namespaces.
    pub namespaces: LabelSelector,
    /// For which objects.
    pub objects: LabelSelector,
}

/// The requests that a rule matches.
#[derive(Debug)]
pub struct Rule {
    /// `CREATE`, …, or `*`.
    pub operations: Vec<String>,
    /// API groups, or `*`.
    pub groups: Vec<String>,
    /// Their versions, or `*`.
    pub versions: Vec<String>,
    /// `pods`, `pods/status`, `*`, `*/*`, …
    pub resources: Vec<String>,
    /// `Cluster`, `Namespaced` or `*`.
    pub scope: String,
    /// The names of objects; empty for all.
    pub names: Vec<String>,
}

impl Selection {
    /// The selection of a webhook, which matches nothing without rules.
    pub(super) fn of_webhook(hook: &Value) -> Self {
        Self::read(hook, Some(items(&hook["rules"]).map(Rule::read).collect()))
    }

    /// The selection of a policy or a binding (`MatchResources`), which matches everything without rules.
    pub fn of_policy(matching: &Value) -> Self {
        let rules: Vec<Rule> = items(&matching["resourceRules"]).map(Rule::read).collect();
        Self::read(matching, Some(rules).filter(|rules| !rules.is_empty()))
    }

    fn read(object: &Value, rules: Option<Vec<Rule>>) -> Self {
        Self {
            rules,
            excluded: items(&object["excludeResourceRules"]).map(Rule::read).collect(),
            is_equivalent: object["matchPolicy"] == "Equivalent",
            namespaces: LabelSelector::of(&object["namespaceSelector"]),
            objects: LabelSelector::of(&object["objectSelector"]),
        }
    }
}

impl Rule {
    fn read(rule: &Value) -> Self {
        Self {
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: texts(&rule["resources"]),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
            names: texts(&rule["resourceNames"]),
        }
    }
}

pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

pub(super) fn texts(list: &Value) -> Vec<String> {
    items(list).filter_map(Value::as_str).map(str::to_owned).collect()
}
