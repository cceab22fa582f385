//! The names of the operator's objects in the cluster. Kustomize puts `namePrefix` before them and `nameSuffix` after them, and the name of the
//! ServiceAccount has both.

use std::fs;

use kubewright_machinery::base64::{self, Encoding};
use serde_json::Value;

/// The token of the Pod's ServiceAccount.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/// The name of the ServiceAccount in `config/rbac`.
const ACCOUNT: &str = "controller-manager";

/// The prefix and suffix that kustomize adds to the names in `config/`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Affixes {
    prefix: String,
    suffix: String,
}

impl Affixes {
    /// A prefix alone.
    pub fn prefix(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            suffix: String::new(),
        }
    }

    /// The affixes of the ServiceAccount that this Pod runs as; `None` outside of a Pod, or if its name is not made from that in `config/rbac`.
    pub fn of_this_pod() -> Option<Self> {
        Self::of_token(&fs::read_to_string(TOKEN).ok()?)
    }

    fn of_token(token: &str) -> Option<Self> {
        let claims = base64::decode(token.split('.').nth(1)?, Encoding::RawUrl).ok()?;
        let claims: Value = serde_json::from_slice(&claims).ok()?;
        let account = claims["sub"].as_str()?.strip_prefix("system:serviceaccount:")?;
        let (_, name) = account.split_once(':')?;
        let (prefix, suffix) = name.rsplit_once(ACCOUNT)?;
        Some(Self {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        })
    }

    /// The same suffix, and this prefix if there is one.
    pub fn with_prefix(&self, prefix: Option<&str>) -> Self {
        Self {
            prefix: prefix.unwrap_or(&self.prefix).to_owned(),
            suffix: self.suffix.clone(),
        }
    }

    /// The same prefix, and this suffix if there is one.
    pub fn with_suffix(self, suffix: Option<&str>) -> Self {
        Self {
            prefix: self.prefix,
            suffix: suffix.map_or(self.suffix, str::to_owned),
        }
    }

    /// The name of an object of `config/` in the cluster.
    pub fn apply(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affixes(subject: &str) -> Option<Affixes> {
        let claims = serde_json::json!({"sub": subject}).to_string();
        let claims = base64::encode(claims.as_bytes(), Encoding::RawUrl);
        Affixes::of_token(&format!("header.{claims}.signature"))
    }

    #[test]
    fn the_name_of_the_service_account_has_the_prefix_and_the_suffix() {
        for (account, wanted) in [
            ("foobar-operator-controller-manager", "foobar-operator-webhook-service"),
            ("other-controller-manager-zz", "other-webhook-service-zz"),
            ("controller-manager", "webhook-service"),
            (
                "controller-manager-controller-manager",
                "controller-manager-webhook-service",
            ),
        ] {
            let affixes = affixes(&format!("system:serviceaccount:elsewhere:{account}")).unwrap();
            assert_eq!(affixes.apply("webhook-service"), wanted);
        }
    }

    #[test]
    fn a_given_prefix_replaces_the_prefix_alone() {
        let affixes = affixes("system:serviceaccount:elsewhere:other-controller-manager-zz").unwrap();
        assert_eq!(affixes.with_prefix(Some("given-")).apply("a"), "given-a-zz");
        assert_eq!(affixes.with_prefix(None), affixes);
    }

    #[test]
    fn a_given_suffix_replaces_the_suffix_alone() {
        let affixes = affixes("system:serviceaccount:elsewhere:shop-controller-manager-sa").unwrap();
        let of = |suffix| affixes.clone().with_suffix(suffix).apply("a");
        assert_eq!(of(Some("")), "shop-a");
        assert_eq!(of(Some("-zz")), "shop-a-zz");
        assert_eq!(of(None), "shop-a-sa");
        // As a chart passes them to a release whose ServiceAccount has a name of its own.
        let of_release = affixes.with_prefix(Some("prod-")).with_suffix(Some(""));
        assert_eq!(of_release, Affixes::prefix("prod-"));
    }

    #[test]
    fn a_token_of_another_account_says_nothing() {
        assert_eq!(affixes("system:serviceaccount:ci:runner"), None);
        assert_eq!(affixes("jane"), None);
        for token in ["", "a", "a.b.c", "a.e30.c"] {
            assert_eq!(Affixes::of_token(token), None, "{token}");
        }
    }
}
