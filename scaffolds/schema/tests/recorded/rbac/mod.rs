//! Tests of normalised RBAC rules: properties of any rules, and a comparison with controller-gen's output for random rules. That output is
//! recorded in `recorded.jsonl` by `fidelity record role-rules`, so that the comparison needs no Go.

mod compare;

use compare::{Recorded, Verdict, compare};
use kubewright_schema::rbac::{PolicyRule, normalise, role};
use kubewright_schema::yaml;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

fn list(words: &str) -> Vec<String> {
    words
        .split(';')
        .filter(|word| !word.is_empty())
        .map(|word| if word == "\"\"" { "" } else { word }.to_owned())
        .collect()
}

/// A rule in the form of a marker: groups, resources, verbs.
fn rule(groups: &str, resources: &str, verbs: &str) -> PolicyRule {
    PolicyRule {
        api_groups: list(groups),
        resources: list(resources),
        verbs: list(verbs),
        ..PolicyRule::default()
    }
}

fn urls(urls: &str, verbs: &str) -> PolicyRule {
    PolicyRule {
        non_resource_urls: list(urls),
        verbs: list(verbs),
        ..PolicyRule::default()
    }
}

#[test]
fn verbs_of_one_resource_are_united_and_sorted() {
    let rules = [
        rule("apps", "deployments", "watch;get"),
        rule("apps", "deployments", "list;get"),
    ];
    assert_eq!(normalise(rules), [rule("apps", "deployments", "get;list;watch")]);
}

#[test]
fn a_rule_for_several_resources_is_joined_with_rules_for_one() {
    let rules = [
        rule("apps", "deployments;statefulsets", "get"),
        rule("apps", "deployments", "list"),
    ];
    assert_eq!(
        normalise(rules),
        [
            rule("apps", "deployments", "get;list"),
            rule("apps", "statefulsets", "get")
        ]
    );
}

#[test]
fn resources_of_one_group_with_equal_verbs_are_joined_then_groups_then_urls() {
    let rules = [rule("\"\"", "pods", "get"), rule("core", "configmaps", "get")];
    assert_eq!(normalise(rules), [rule("\"\"", "configmaps;pods", "get")]);
    let rules = [
        rule("apps", "deployments", "get"),
        rule("extensions", "deployments", "get"),
    ];
    assert_eq!(normalise(rules), [rule("apps;extensions", "deployments", "get")]);
    assert_eq!(
        normalise([urls("/metrics", "get"), urls("/healthz", "get")]),
        [urls("/healthz;/metrics", "get")]
    );
}

#[test]
fn rules_with_different_names_stay_separate_and_a_star_replaces_other_verbs() {
    let named = PolicyRule {
        resource_names: list("one"),
        ..rule("\"\"", "secrets", "get")
    };
    assert_eq!(
        normalise([named.clone(), rule("\"\"", "secrets", "get")]),
        [rule("\"\"", "secrets", "get"), named]
    );
    assert_eq!(normalise([rule("a.b", "cs", "get;*")]), [rule("a.b", "cs", "*")]);
    // As in controller-gen, `*` replaces the other verbs only after joining, so these two rules are not joined.
    let rules = [rule("a.b", "cs", "*;get"), rule("a.b", "ds", "*")];
    assert_eq!(normalise(rules), [rule("a.b", "cs", "*"), rule("a.b", "ds", "*")]);
}

#[test]
fn rules_that_differ_only_in_verbs_after_joining_are_both_kept() {
    let rules = [
        rule("apps", "pods", "get"),
        rule("batch", "pods", "get"),
        rule("apps;batch", "pods", "list"),
    ];
    let both = [rule("apps;batch", "pods", "get"), rule("apps;batch", "pods", "list")];
    assert_eq!(normalise(rules), both);
}

#[test]
fn the_role_of_a_foobar_operator_is_the_same_as_from_controller_gen() {
    let rules = [
        rule("test.example.com", "foobars", "get;list;watch"),
        rule("test.example.com", "foobars/status", "get;patch;update"),
        rule("test.example.com", "foobars/finalizers", "update"),
        rule("core", "configmaps", "get;list;watch;create;patch;delete"),
        rule("events.k8s.io", "events", "create;patch"),
    ];
    let written = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
- apiGroups:
  - \"\"
  resources:
  - configmaps
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
  - patch
- apiGroups:
  - test.example.com
  resources:
  - foobars
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - test.example.com
  resources:
  - foobars/finalizers
  verbs:
  - update
- apiGroups:
  - test.example.com
  resources:
  - foobars/status
  verbs:
  - get
  - patch
  - update
";
    assert_eq!(yaml::to_string(&role("manager-role", None, rules)), written);
    let namespaced = role("manager-role", Some("team"), [rule("a.b", "cs", "get")]);
    assert_eq!(
        (&namespaced["kind"], &namespaced["metadata"]["namespace"]),
        (&"Role".into(), &"team".into())
    );
}

#[test]
fn a_rule_is_serialised_with_the_field_names_of_kubernetes() {
    let rule: PolicyRule = serde_json::from_str(r#"{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}"#).unwrap();
    assert_eq!(rule, urls("/metrics", "get"));
    assert_eq!(
        serde_json::to_string(&rule).unwrap(),
        r#"{"nonResourceURLs":["/metrics"],"verbs":["get"]}"#
    );
}

fn some(of: &'static [&'static str], least: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(of.to_vec()).prop_map(str::to_owned), least..4)
}

fn any_rule() -> impl Strategy<Value = PolicyRule> {
    let groups = some(&["", "core", "apps", "a.b"], 1);
    let resources = some(&["pods", "pods/log", "foos"], 1);
    (groups, resources, some(&["x", "y"], 0), some(&["get", "list", "*"], 1)).prop_map(
        |(api_groups, resources, resource_names, verbs)| PolicyRule {
            api_groups,
            resources,
            resource_names,
            verbs,
            ..PolicyRule::default()
        },
    )
}

/// Every single permission that rules grant: group, resource, name, verb.
fn grants(rules: &[PolicyRule]) -> BTreeSet<(String, String, String, String)> {
    let mut grants = BTreeSet::new();
    for rule in rules {
        let names = if rule.resource_names.is_empty() {
            vec!["any".to_owned()]
        } else {
            rule.resource_names.clone()
        };
        let all = rule.verbs.iter().any(|verb| verb == "*");
        for group in &rule.api_groups {
            let group = if group == "core" { "" } else { group };
            for resource in &rule.resources {
                for name in &names {
                    for verb in &rule.verbs {
                        let verb = if all { "*" } else { verb };
                        grants.insert((group.to_owned(), resource.clone(), name.clone(), verb.to_owned()));
                    }
                }
            }
        }
    }
    // A star makes every other verb redundant.
    let stars: Vec<_> = grants.iter().filter(|it| it.3 == "*").cloned().collect();
    grants.retain(|it| {
        it.3 == "*"
            || !stars
                .iter()
                .any(|star| (&star.0, &star.1, &star.2) == (&it.0, &it.1, &it.2))
    });
    grants
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_granted_or_lost_and_order_does_not_matter(rules in prop::collection::vec(any_rule(), 0..8)) {
        let once = normalise(rules.clone());
        prop_assert_eq!(grants(&rules), grants(&once));
        prop_assert_eq!(normalise(rules.into_iter().rev()), once.clone());
        prop_assert_eq!(grants(&normalise(once.clone())), grants(&once));
    }
}

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/rbac/recorded.jsonl");

#[test]
fn rules_are_normalised_as_by_controller_gen() {
    let text = std::fs::read_to_string(RECORDED).unwrap();
    let recorded: Vec<Recorded> = recordings::read(&text);
    assert!(recorded.len() > 190, "the recording is incomplete");
    let different = recorded.iter().filter_map(|it| match compare(it) {
        Verdict::Same => None,
        Verdict::Cut => Some(format!("{}\n  controller-gen has no certain result\n", json!(it.asked))),
        Verdict::Different(report) => Some(report),
    });
    let different: String = different.collect();
    assert!(different.is_empty(), "\n{different}");
}
