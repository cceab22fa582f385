//! The names of rendered objects, which have the prefix and the suffix of a kustomization: each has to be valid for its kind.

use super::text;
use kubewright_machinery::names::{self, LONGEST_LABEL, LONGEST_SUBDOMAIN, Unit};
use serde_json::Value;

/// The file with the prefix and the suffix.
const KUSTOMIZATION: &str = "config/default/kustomization.yaml";

/// The placeholder of the operator's namespace. In selectors, kustomize replaces it by the name of the Namespace among the objects.
const PLACEHOLDER: &str = "system";
/// The label with the name of a namespace.
const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";

/// The rule for a name.
#[derive(Clone, Copy)]
enum Rule {
    Label,
    ServiceLabel,
    Subdomain,
}

impl Rule {
    fn most(self) -> usize {
        match self {
            Self::Label | Self::ServiceLabel => LONGEST_LABEL,
            Self::Subdomain => LONGEST_SUBDOMAIN,
        }
    }

    /// The first error of an API server about a name.
    fn fault(self, name: &str) -> Option<String> {
        let faults = match self {
            Self::Label => names::label(name, Unit::Characters),
            Self::ServiceLabel => names::label_1035(name, Unit::Characters),
            Self::Subdomain => names::subdomain(name, Unit::Characters),
        };
        faults.into_iter().next()
    }
}

/// Checks the name and the namespace of an object as an API server would. The names of RBAC's kinds have no rule that a prefix can break.
///
/// # Errors
/// The error names the object, the limit, and the remedy.
pub(super) fn check(object: &Value) -> Result<(), String> {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    let namespace = text(object, "/metadata/namespace");
    if !namespace.is_empty() {
        obeys(namespace, "Namespace", Rule::Label)?;
    }
    for hook in object["webhooks"].as_array().into_iter().flatten() {
        leaves_itself_out(hook)?;
    }
    let group = text(object, "/apiVersion").split('/').next().unwrap_or_default();
    match (group, kind) {
        // The program that reads the objects reports an object without a name.
        _ if name.is_empty() => Ok(()),
        ("rbac.authorization.k8s.io", _) => Ok(()),
        ("v1", "Service") => obeys(name, kind, Rule::ServiceLabel),
        ("v1", "Namespace") => obeys(name, kind, Rule::Label),
        _ => obeys(name, kind, Rule::Subdomain),
    }
}

/// Refuses a webhook that leaves out the placeholder, and not the operator's namespace: it would be called for the operator's own Pods.
fn leaves_itself_out(hook: &Value) -> Result<(), String> {
    let expressions = hook.pointer("/namespaceSelector/matchExpressions");
    let left_out: Vec<&str> = expressions
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|it| it["key"] == NAME_OF_NAMESPACE && it["operator"] == "NotIn")
        .flat_map(|it| it["values"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    let own = text(hook, "/clientConfig/service/namespace");
    if own.is_empty() || left_out.contains(&own) || !left_out.contains(&PLACEHOLDER) {
        return Ok(());
    }
    Err(format!(
        "the webhook `{}` leaves out the namespace `{PLACEHOLDER}`, and not the operator's, `{own}`\n\nhint: list ../namespace in \
         {KUSTOMIZATION}; with the annotation `config.kubernetes.io/local-config: \"true\"`, the Namespace is not applied",
        text(hook, "/name")
    ))
}

fn obeys(name: &str, kind: &str, rule: Rule) -> Result<(), String> {
    let Some(fault) = rule.fault(name) else {
        return Ok(());
    };
    let fields = match kind {
        "Namespace" => "`namespace`",
        _ => "`namePrefix` or `nameSuffix`",
    };
    let remedy = match name.len().saturating_sub(rule.most()) {
        0 => format!("change {fields} in {KUSTOMIZATION}"),
        more => format!("shorten {fields} in {KUSTOMIZATION}: the name has {more} more"),
    };
    Err(format!(
        "the {kind} `{name}` has an invalid name: {fault}\n\nhint: {remedy}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(api_version: &str, kind: &str, name: &str) -> Result<(), String> {
        check(&json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "a"}}))
    }

    #[test]
    fn the_longest_name_of_each_kind_is_valid_and_one_more_character_is_not() {
        let kinds = [
            ("v1", "Service", 63),
            ("v1", "Namespace", 63),
            ("v1", "ServiceAccount", 253),
            ("v1", "Secret", 253),
            ("apps/v1", "Deployment", 253),
            ("monitoring.coreos.com/v1", "ServiceMonitor", 253),
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", 253),
        ];
        for (api_version, kind, most) in kinds {
            assert_eq!(checked(api_version, kind, &"a".repeat(most)), Ok(()), "{kind}");
            let refused = checked(api_version, kind, &"a".repeat(most + 1)).unwrap_err();
            let parts = [
                kind,
                &"a".repeat(most + 1),
                &format!("no more than {most} characters"),
                "kustomization.yaml: the name has 1 more",
            ];
            assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
        }
        assert_eq!(
            checked("rbac.authorization.k8s.io/v1", "ClusterRole", &"a".repeat(300)),
            Ok(())
        );
    }

    #[test]
    fn a_webhook_that_leaves_out_a_placeholder_in_the_place_of_its_operator_is_refused() {
        let checked = |left_out: &[&str], own: &str| {
            let expression = json!({"key": NAME_OF_NAMESPACE, "operator": "NotIn", "values": left_out});
            let service = json!({"name": "foo-webhook-service", "namespace": own});
            check(&json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "foo"},
                "webhooks": [{
                    "name": "vpod.example.com", "clientConfig": {"service": service},
                    "namespaceSelector": {"matchExpressions": [expression]},
                }],
            }))
        };
        assert_eq!(checked(&["system", "foo-system"], "foo-system"), Ok(()));
        assert_eq!(checked(&["system"], "system"), Ok(()));
        let refused = checked(&["system"], "foo-system").unwrap_err();
        assert!(
            refused.starts_with(
                "the webhook `vpod.example.com` leaves out the namespace `system`, and not the operator's, `foo-system`"
            ),
            "{refused}"
        );
    }

    #[test]
    fn a_prefix_that_a_name_cannot_begin_with_is_refused() {
        let refused = checked("v1", "Service", "3a-service").unwrap_err();
        assert!(
            refused.contains("DNS-1035")
                && refused.ends_with("change `namePrefix` or `nameSuffix` in config/default/kustomization.yaml"),
            "{refused}"
        );
        assert!(checked("v1", "Secret", "Other-secret").is_err());
        let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "a_b"}});
        assert!(check(&object).unwrap_err().contains("change `namespace` in"));
        object["metadata"]["namespace"] = json!("a-b");
        assert_eq!(check(&object), Ok(()));
    }
}
