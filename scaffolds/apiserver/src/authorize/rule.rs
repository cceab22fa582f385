//! One rule of a role: the requests that it allows, the rules that it covers, and its notation in messages.

use kubewright_machinery::go;
use serde::Deserialize;

use super::Attributes;

/// A `PolicyRule`.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(default, rename_all = "camelCase")]
pub struct Rule {
    /// Empty strings stand for the core group, `*` for all groups.
    pub api_groups: Vec<String>,
    /// Plurals, optionally with a subresource: `pods/log`, `*/scale`, `*`.
    pub resources: Vec<String>,
    /// Paths of requests that are not for resources; a `*` at the end matches any rest.
    #[serde(rename = "nonResourceURLs")]
    pub non_resource_urls: Vec<String>,
    /// The names of the objects to which the rule applies; all objects if empty.
    pub resource_names: Vec<String>,
    /// For example `get`; `*` stands for all verbs.
    pub verbs: Vec<String>,
}

impl Rule {
    /// The rules of a cluster's administrator, which `AlwaysAllow` of the real server lists, too: all requests for resources,
    /// and all others.
    pub fn everything() -> [Self; 2] {
        let all = || vec!["*".to_owned()];
        let resources = Self {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            ..Self::default()
        };
        let others = Self {
            verbs: all(),
            non_resource_urls: all(),
            ..Self::default()
        };
        [resources, others]
    }

    /// Whether the rule allows this request.
    pub fn allows(&self, asked: &Attributes) -> bool {
        if !has(&self.verbs, &asked.verb) {
            return false;
        }
        if !asked.is_resource {
            return self
                .non_resource_urls
                .iter()
                .any(|url| url == "*" || covers_url(url, &asked.path));
        }
        has(&self.api_groups, &asked.group)
            && self.has_resource(&asked.qualified_resource())
            && (self.resource_names.is_empty() || self.resource_names.contains(&asked.name))
    }

    /// Whether the rule allows everything that `part` allows, which is one of [`Self::parts`].
    pub fn covers(&self, part: &Self) -> bool {
        let all = |own: &[String], wanted: &[String]| wanted.iter().all(|it| has(own, it));
        let names = match part.resource_names.is_empty() {
            true => self.resource_names.is_empty(),
            false => {
                self.resource_names.is_empty() || part.resource_names.iter().all(|it| self.resource_names.contains(it))
            }
        };
        let urls = |wanted: &String| self.non_resource_urls.iter().any(|own| covers_url(own, wanted));
        names
            && all(&self.verbs, &part.verbs)
            && all(&self.api_groups, &part.api_groups)
            && part.resources.iter().all(|it| self.has_resource(it))
            && part.non_resource_urls.iter().all(urls)
    }

    /// The smallest rules of which this rule consists: each has one verb, and one resource and name or one path.
    pub fn parts(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        let one = |text: &String| vec![text.clone()];
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let part = Self {
                        api_groups: one(group),
                        resources: one(resource),
                        verbs: one(verb),
                        ..Self::default()
                    };
                    if self.resource_names.is_empty() {
                        parts.push(part);
                        continue;
                    }
                    parts.extend(self.resource_names.iter().map(|name| Self {
                        resource_names: one(name),
                        ..part.clone()
                    }));
                }
            }
        }
        for url in &self.non_resource_urls {
            parts.extend(self.verbs.iter().map(|verb| Self {
                non_resource_urls: one(url),
                verbs: one(verb),
                ..Self::default()
            }));
        }
        parts
    }

    fn has_resource(&self, wanted: &str) -> bool {
        let (_, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
        let of_any = |own: &String| !subresource.is_empty() && own.strip_prefix("*/") == Some(subresource);
        self.resources
            .iter()
            .any(|own| own == "*" || own == wanted || of_any(own))
    }
}

/// The parts of `wanted` that no rule of `owned` covers; verbs of the same resource are combined.
pub fn missing(owned: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let mut missing: Vec<Rule> = Vec::new();
    let parts = wanted.iter().flat_map(Rule::parts);
    for part in parts.filter(|part| !owned.iter().any(|rule| rule.covers(part))) {
        let alike = |other: &&mut Rule| {
            other.non_resource_urls.is_empty()
                && (&other.api_groups, &other.resources, &other.resource_names)
                    == (&part.api_groups, &part.resources, &part.resource_names)
        };
        match missing.iter_mut().find(alike) {
            Some(other) if part.non_resource_urls.is_empty() => other.verbs.extend(part.verbs),
            _ => missing.push(part),
        }
    }
    missing
}

/// The server's notation of a rule: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
pub fn describe(rule: &Rule) -> String {
    let lists = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.non_resource_urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    let lists: Vec<String> = lists.map(|(name, list)| format!("{name}:{}", quoted(list))).collect();
    format!("{{{}}}", lists.join(", "))
}

/// A list of strings in the notation of Go's `%q`.
pub fn quoted(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| go::quote(text)).collect();
    format!("[{}]", quoted.join(" "))
}

fn has(own: &[String], wanted: &str) -> bool {
    own.iter().any(|it| it == "*" || it == wanted)
}

fn covers_url(own: &str, wanted: &str) -> bool {
    own == wanted || own.ends_with('*') && wanted.starts_with(own.trim_end_matches('*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(groups: &str, resources: &str, verbs: &str) -> Rule {
        let list = |text: &str| text.split(',').map(str::to_owned).collect();
        Rule {
            api_groups: list(groups),
            resources: list(resources),
            verbs: list(verbs),
            ..Rule::default()
        }
    }

    fn asked(verb: &str, group: &str, resource: &str) -> Attributes {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Attributes {
            is_resource: true,
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            ..Attributes::default()
        }
    }

    #[test]
    fn a_rule_matches_resources_subresources_and_stars() {
        let pods = rule("", "pods", "get");
        assert!(pods.allows(&asked("get", "", "pods")));
        for other in [
            asked("list", "", "pods"),
            asked("get", "apps", "pods"),
            asked("get", "", "pods/log"),
        ] {
            assert!(!pods.allows(&other), "{other:?}");
        }
        assert!(rule("", "pods/log", "*").allows(&asked("get", "", "pods/log")));
        assert!(rule("apps", "*/scale", "get").allows(&asked("get", "apps", "deployments/scale")));
        assert!(!rule("apps", "*/scale", "get").allows(&asked("get", "apps", "deployments")));
        assert!(rule("*", "*", "*").allows(&asked("watch", "apps", "deployments/status")));
    }

    #[test]
    fn resource_names_exclude_requests_without_a_name() {
        let named = Rule {
            resource_names: vec!["one".to_owned()],
            ..rule("", "pods", "*")
        };
        let of = |name: &str| Attributes {
            name: name.to_owned(),
            ..asked("get", "", "pods")
        };
        assert!(named.allows(&of("one")));
        assert!(!named.allows(&of("two")) && !named.allows(&of("")));
    }

    #[test]
    fn a_path_of_a_rule_matches_exactly_or_by_prefix() {
        let urls = Rule {
            non_resource_urls: vec!["/api/*".to_owned(), "/healthz".to_owned()],
            verbs: vec!["get".to_owned()],
            ..Rule::default()
        };
        let of = |path: &str| Attributes {
            verb: "get".to_owned(),
            path: path.to_owned(),
            ..Attributes::default()
        };
        assert!(urls.allows(&of("/api/v1")) && urls.allows(&of("/healthz")));
        assert!(!urls.allows(&of("/healthz/etcd")) && !urls.allows(&of("/apis")));
    }

    #[test]
    fn missing_permissions_are_listed_by_resource() {
        let owned = [rule("", "pods", "get"), rule("apps", "*/scale", "*")];
        let wanted = [
            rule("", "pods,secrets", "get,list"),
            rule("apps", "deployments/scale", "get"),
        ];
        let said: Vec<String> = missing(&owned, &wanted).iter().map(describe).collect();
        assert_eq!(
            said,
            [
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["list"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}"#
            ]
        );
        assert!(missing(&[rule("*", "*", "*")], &wanted).is_empty());
    }
}
