//! The names of rendered objects, which have the prefix and the suffix of a kustomization: each has to be valid for its kind.

use super::text;
use kubewright_machinery::names::{self, LONGEST_LABEL, LONGEST_SUBDOMAIN, Unit};
use serde_json::Value;

/// The file with the prefix and the suffix.
const KUSTOMIZATION: &str = "config/default/kustomization.yaml";

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
