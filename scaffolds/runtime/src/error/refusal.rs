//! Reads which permission is missing from the messages of RBAC's 403, and names the declaration that grants it.

use std::fmt;

/// A permission that no role grants.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Missing<'a> {
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

/// The permissions that a text names, one for each message in it.
pub(crate) fn missing(text: &str) -> impl Iterator<Item = Missing<'_>> {
    text.split("cannot ").skip(1).filter_map(parse)
}

/// A remedy for a refused request; `None` if the text does not contain a permission.
pub(crate) fn hint(text: &str) -> Option<String> {
    let missing = missing(text).next()?;
    Some(format!(
        "if `config/rbac/role.yaml` does not grant it, add `{missing}` to the controller and run `make manifests`; \
         `make deploy` and `make run AS_OPERATOR=1` apply it"
    ))
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

/// The declaration that grants the permission.
impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource { verb, resource, group } => {
                write!(f, ".rule(&[\"{group}\"], &[\"{resource}\"], &[\"{verb}\"])")
            }
            Self::Url { verb, path } => write!(f, ".grant(Rule::urls(&[\"{path}\"], &[\"{verb}\"]))"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_declaration_that_grants_it() {
        let user = "User \"system:serviceaccount:a:b\"";
        for (message, rule) in [
            (
                "cannot patch resource \"foobars/status\" in API group \"test.example.com\" in the namespace \"a\"",
                r#".rule(&["test.example.com"], &["foobars/status"], &["patch"])"#,
            ),
            (
                "cannot get path \"/metrics\"",
                r#".grant(Rule::urls(&["/metrics"], &["get"]))"#,
            ),
        ] {
            let hint = hint(&format!("it is forbidden: {user} {message} (403)")).unwrap();
            assert!(hint.contains(&format!("add `{rule}` to the controller")), "{hint}");
        }
        for other in [
            "no (403)",
            "cannot find it",
            "cannot get path \"/a b\"",
            "cannot get path \"x\"",
        ] {
            assert_eq!(hint(other), None, "{other}");
        }
    }
}
