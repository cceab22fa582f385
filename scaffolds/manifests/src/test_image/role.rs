//! The permissions of config/rbac/role.yaml, asked for in the cluster: what kustomize and the bindings made of the file.

use super::Deployed;
use super::components::Kustomization;
use crate::rendered::text;
use kubewright_schema::files::Streams;
use kubewright_schema::yaml;
use serde_json::Value;
use std::fs;

/// The role that `make manifests` writes.
const ROLE: &str = "config/rbac/role.yaml";
/// The annotation of a Role in another namespace than the operator's.
const NAMESPACE: &str = "/metadata/annotations/kubewright.dev~1namespace";
/// Permissions that no operator has.
const REFUSED: [[&str; 2]; 3] = [
    ["create", "clusterrolebindings.rbac.authorization.k8s.io"],
    ["impersonate", "users"],
    ["*", "*"],
];

/// Asks for each permission of the role as kustomize renders it among `objects`, and for three that the operator must not have.
///
/// # Errors
/// The answer to one is wrong, or the role has no rule, or kustomize leaves it out.
pub(super) fn ask(
    deployed: &Deployed<'_>,
    kustomization: &Kustomization,
    objects: &[Value],
    streams: &mut Streams<'_>,
) -> Result<(), String> {
    let content = fs::read_to_string(ROLE).map_err(|error| format!("cannot read `{ROLE}`: {error}"))?;
    let roles = yaml::documents(&content).map_err(|error| format!("`{ROLE}` is not YAML: {error}"))?;
    let mut granted = Vec::new();
    for role in roles.iter().filter(|role| text(role, "/kind").ends_with("Role")) {
        let name = kustomization.named(text(role, "/metadata/name"));
        granted.extend(questions(rendered(role, &name, objects)?, deployed.namespace));
    }
    if granted.is_empty() {
        return Err(format!("`{ROLE}` has no rule\n\nhint: make manifests"));
    }
    for question in &granted {
        may(deployed, "yes", question)?;
    }
    for refused in REFUSED {
        let question = refused.into_iter().chain(["--all-namespaces"]).map(str::to_owned);
        may(deployed, "no", &question.collect::<Vec<_>>())?;
    }
    _ = writeln!(
        streams.out,
        "{} permissions are granted, {} others are not",
        granted.len(),
        REFUSED.len()
    );
    Ok(())
}

/// The role of that name in the output of kustomize, which has renamed the objects that its rules name.
fn rendered<'a>(role: &Value, name: &str, objects: &'a [Value]) -> Result<&'a Value, String> {
    let kind = text(role, "/kind");
    let mut roles = objects.iter().filter(|object| text(object, "/kind") == kind);
    let role = roles.find(|role| text(role, "/metadata/name") == name);
    role.ok_or_else(|| format!("config/default has no {kind} `{name}`\n\nhint: list ../rbac in its kustomization.yaml"))
}

fn may(deployed: &Deployed<'_>, wanted: &str, question: &[String]) -> Result<(), String> {
    let words = ["auth", "can-i"].into_iter().chain(question.iter().map(String::as_str));
    let words: Vec<_> = words.chain(["--as", deployed.account]).collect();
    // For `no` kubectl fails.
    let answer = deployed.kubectl.printed(&words)?;
    match answer.trim() == wanted {
        true => Ok(()),
        false => Err(format!(
            "`kubectl {}` prints `{}` instead of `{wanted}`\n\nhint: compare config/rbac with the bindings in the cluster",
            words.join(" "),
            answer.trim()
        )),
    }
}

/// The arguments of `kubectl auth can-i` for each permission of a role.
fn questions(role: &Value, operators: &str) -> Vec<Vec<String>> {
    let scope = match (text(role, NAMESPACE), text(role, "/kind")) {
        ("", "Role") => format!("--namespace={operators}"),
        ("", _) => "--all-namespaces".to_owned(),
        (namespace, _) => format!("--namespace={namespace}"),
    };
    let mut questions = Vec::new();
    for rule in role["rules"].as_array().into_iter().flatten() {
        for verb in words(rule, "verbs") {
            for url in words(rule, "nonResourceURLs") {
                questions.push(vec![verb.to_owned(), url.to_owned()]);
            }
            for (group, resource) in
                words(rule, "apiGroups").flat_map(|group| words(rule, "resources").map(move |it| (group, it)))
            {
                let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                let resource = [resource, group].join(".");
                let resource = resource.trim_end_matches('.');
                let mut names: Vec<_> = words(rule, "resourceNames")
                    .map(|name| format!("{resource}/{name}"))
                    .collect();
                if names.is_empty() {
                    names.push(resource.to_owned());
                }
                for name in names {
                    let mut question = vec![verb.to_owned(), name, scope.clone()];
                    if !subresource.is_empty() {
                        question.push(format!("--subresource={subresource}"));
                    }
                    questions.push(question);
                }
            }
        }
    }
    questions
}

fn words<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    rule[field].as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(kind: &str, namespace: Option<&str>, rule: Value) -> Vec<String> {
        let role = json!({"kind": kind, "metadata": {"annotations": {"kubewright.dev/namespace": namespace}}, "rules": [rule]});
        questions(&role, "own")
            .into_iter()
            .map(|question| question.join(" "))
            .collect()
    }

    #[test]
    fn each_verb_of_each_resource_is_a_question() {
        let rule =
            json!({"apiGroups": ["", "apps"], "resources": ["configmaps", "foobars/status"], "verbs": ["get", "list"]});
        assert_eq!(
            asked("ClusterRole", None, rule),
            [
                "get configmaps --all-namespaces",
                "get foobars --all-namespaces --subresource=status",
                "get configmaps.apps --all-namespaces",
                "get foobars.apps --all-namespaces --subresource=status",
                "list configmaps --all-namespaces",
                "list foobars --all-namespaces --subresource=status",
                "list configmaps.apps --all-namespaces",
                "list foobars.apps --all-namespaces --subresource=status",
            ]
        );
    }

    #[test]
    fn names_are_asked_as_kustomize_renders_them() {
        let role = |name: &str, secret: &str| {
            let rule =
                json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": [secret]});
            json!({"kind": "Role", "metadata": {"name": name}, "rules": [rule]})
        };
        let raw = role("manager-role-own", "webhook-server-cert");
        let objects = [
            json!({"kind": "RoleBinding", "metadata": {"name": "a-manager-role-own"}}),
            role("a-manager-role-own", "a-webhook-server-cert"),
        ];
        let found = rendered(&raw, "a-manager-role-own", &objects).unwrap();
        assert_eq!(
            questions(found, "own"),
            [["get", "secrets/a-webhook-server-cert", "--namespace=own"]]
        );
        let error = rendered(&raw, "b-manager-role-own", &objects).unwrap_err();
        assert!(
            error.starts_with("config/default has no Role `b-manager-role-own`"),
            "{error}"
        );
    }

    #[test]
    fn names_urls_and_namespaces_are_asked_as_they_are_granted() {
        let named =
            json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["patch"], "resourceNames": ["a", "b"]});
        assert_eq!(
            asked("Role", None, named),
            ["patch secrets/a --namespace=own", "patch secrets/b --namespace=own"]
        );
        let every = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["watch"]});
        assert_eq!(
            asked("Role", Some("kube-system"), every),
            ["watch *.* --namespace=kube-system"]
        );
        let url = json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]});
        assert_eq!(asked("ClusterRole", None, url), ["get /metrics"]);
    }
}
