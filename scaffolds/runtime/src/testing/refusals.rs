//! Finds requests of an operator that the API server refused, by the messages of RBAC's 403 in its log.

use std::collections::BTreeSet;

/// A permission that no role grants.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Missing<'a> {
    Resource {
        verb: &'a str,
        resource: &'a str,
        group: &'a str,
    },
    Url {
        verb: &'a str,
        path: &'a str,
    },
}

/// The missing permissions, with the declarations that grant them; `None` if no request was refused.
pub(super) fn describe(log: &str) -> Option<String> {
    let log = log.replace('\\', "");
    let missing: BTreeSet<_> = log.split("cannot ").skip(1).filter_map(parse).collect();
    let sentences: Vec<_> = missing.iter().map(sentence).collect();
    let rules: Vec<_> = missing.iter().map(rule).collect();
    (!missing.is_empty()).then(|| {
        let (sentences, rules) = (sentences.join("\n"), rules.join("\n"));
        format!("no role grants these requests of the operator:\n{sentences}\n\nhint: add to the controller, and run `make manifests`:\n{rules}")
    })
}

/// Parses the rest of `cannot patch resource "foobars" in API group "test.example.com"`, or of `cannot get path
/// "/metrics"` (kube-apiserver, `endpoints/handlers/responsewriters/errors.go`: `forbiddenMessage`).
fn parse(rest: &str) -> Option<Missing<'_>> {
    let is_word = |text: &str, others: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c));
    let (verb, rest) = rest.split_once(' ')?;
    if let Some(rest) = rest.strip_prefix("path \"") {
        let (path, _) = rest.split_once('"')?;
        let is_one = is_word(verb, "") && path.starts_with('/') && is_word(path, "/.-_~%");
        return is_one.then_some(Missing::Url { verb, path });
    }
    let (resource, rest) = rest.strip_prefix("resource \"")?.split_once("\" in API group \"")?;
    let (group, _) = rest.split_once('"')?;
    let is_one = is_word(verb, "") && is_word(resource, "/.-") && is_word(group, ".-");
    is_one.then_some(Missing::Resource { verb, resource, group })
}

fn sentence(missing: &Missing<'_>) -> String {
    match missing {
        Missing::Resource { verb, resource, group } => {
            format!("  cannot {verb} resource \"{resource}\" in API group \"{group}\"")
        }
        Missing::Url { verb, path } => format!("  cannot {verb} path \"{path}\""),
    }
}

fn rule(missing: &Missing<'_>) -> String {
    match missing {
        Missing::Resource { verb, resource, group } => {
            format!("  .rule(&[\"{group}\"], &[\"{resource}\"], &[\"{verb}\"])")
        }
        Missing::Url { verb, path } => format!("  .grant(Rule::urls(&[\"{path}\"], &[\"{verb}\"]))"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "\"system:serviceaccount:test-1:controller-manager\"";

    #[test]
    fn each_missing_permission_is_named_once_with_the_rule_that_grants_it() {
        let line = format!(
            "WARN it failed: secrets is forbidden: User {USER} cannot list resource \"secrets\" in API group \"\" at the cluster scope"
        );
        let json = line.replace('"', "\\\"").replace("secrets", "foobars/status");
        let said = describe(&format!("cannot find it\n{line}\n{line}\n{json}\n")).unwrap();
        assert_eq!(
            said,
            "no role grants these requests of the operator:
  cannot list resource \"foobars/status\" in API group \"\"
  cannot list resource \"secrets\" in API group \"\"

hint: add to the controller, and run `make manifests`:
  .rule(&[\"\"], &[\"foobars/status\"], &[\"list\"])
  .rule(&[\"\"], &[\"secrets\"], &[\"list\"])"
        );
        assert_eq!(describe("cannot reach the API server"), None);
    }

    #[test]
    fn a_path_that_is_no_resource_is_named_with_its_rule() {
        let said = describe(&format!("forbidden: User {USER} cannot get path \\\"/metrics\\\"")).unwrap();
        assert!(said.contains("\n  cannot get path \"/metrics\"\n"), "{said}");
        assert!(
            said.ends_with("\n  .grant(Rule::urls(&[\"/metrics\"], &[\"get\"]))"),
            "{said}"
        );
    }
}
