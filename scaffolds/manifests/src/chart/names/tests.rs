//! The names that follow a release, and those that do not.

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
        ("ü foo-operator-web ü", format!("ü {FULLNAME}-web ü")),
        ("--namespace=foo-system", format!("--namespace={NAMESPACE}")),
        (
            "up{namespace=\"foo-system\"}",
            format!("up{{namespace=\"{NAMESPACE}\"}}"),
        ),
        ("foo-operator-web.foo-system", format!("{FULLNAME}-web.{NAMESPACE}")),
        (
            "--namespace=team-a,foo-system",
            format!("--namespace=team-a,{NAMESPACE}"),
        ),
        (
            "up{namespace!=\"foo-system\"}",
            format!("up{{namespace!=\"{NAMESPACE}\"}}"),
        ),
        (
            "request.namespace == 'foo-system'",
            format!("request.namespace == '{NAMESPACE}'"),
        ),
        (
            "{\"namespace\":\"foo-system\"}",
            format!("{{\"namespace\":\"{NAMESPACE}\"}}"),
        ),
        ("other.foo-system.svc:443", format!("other.{NAMESPACE}.svc:443")),
        // Words, API groups and images.
        ("in foo-system", "in foo-system".to_owned()),
        ("foo-system/v1", "foo-system/v1".to_owned()),
        ("foo-system.example.com", "foo-system.example.com".to_owned()),
        ("foos.foo-system.example.com", "foos.foo-system.example.com".to_owned()),
        ("foo-system/agent:v1", "foo-system/agent:v1".to_owned()),
    ];
    for (text, wanted) in cases {
        assert_eq!(names().marked(text), wanted, "{text}");
    }
}

#[test]
fn the_namespace_is_not_taken_for_a_part_of_an_api_group() {
    let names = Names::of(&[], "foo", "apps", "foo-controller-manager");
    let api = json!({
        "apiVersion": "apps/v1",
        "kind": "ValidatingWebhookConfiguration",
        "rules": [{"apiGroups": ["apps", "apps.example.com"], "resources": ["apps"]}],
        "webhooks": [{"name": "foo.apps.svc"}],
        "validations": [{"expression": "object.kind != 'apps' && apps.all(it, it == 1)"}],
        "roleRef": {"kind": "ClusterRole", "name": "apps"},
    });
    let mut value = api.clone();
    names.mark(&mut value);
    assert_eq!(value, api);
    let mut value = json!({
        "kind": "Namespace", "metadata": {"name": "apps"},
        "env": [{"name": "WATCH_NAMESPACE", "value": "apps"}, {"name": "MODE", "value": "apps"}],
        "namespaceSelector": {"matchNames": ["apps", "other"]},
    });
    names.mark(&mut value);
    let wanted = json!({
        "kind": "Namespace", "metadata": {"name": NAMESPACE},
        "env": [{"name": "WATCH_NAMESPACE", "value": NAMESPACE}, {"name": "MODE", "value": "apps"}],
        "namespaceSelector": {"matchNames": [NAMESPACE, "other"]},
    });
    assert_eq!(value, wanted);
}

#[test]
fn an_object_in_a_named_namespace_has_the_name_of_an_object_of_the_cluster() {
    let role =
        |name: &str, namespace: &str| json!({"kind": "Role", "metadata": {"name": name, "namespace": namespace}});
    let objects = [role("foo-role", "foo-system"), role("foo-role-in-b", "b")];
    let names = Names::of(&objects, "foo", "foo-system", "foo-controller-manager");
    let mut marked = objects;
    marked.iter_mut().for_each(|object| names.mark(object));
    let wanted = [
        role(&format!("{FULLNAME}-role"), NAMESPACE),
        role(&format!("{CLUSTERNAME}-role-in-b"), "b"),
    ];
    assert_eq!(marked, wanted);
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

#[test]
fn namespaces_follow_in_lists_arguments_and_fields_for_them() {
    let mut pod = json!({
        "args": ["--namespace", "foo-system", "foo-system"],
        "env": [{"name": "WATCH_NAMESPACE", "value": "team-a,foo-system"}, {"name": "TEAM", "value": "foo-system"}],
        "targetNamespace": "foo-system",
    });
    names().mark(&mut pod);
    let expected = json!({
        "args": ["--namespace", NAMESPACE, "foo-system"],
        "env": [
            {"name": "WATCH_NAMESPACE", "value": format!("team-a,{NAMESPACE}")},
            {"name": "TEAM", "value": "foo-system"},
        ],
        "targetNamespace": NAMESPACE,
    });
    assert_eq!(pod, expected);
}
