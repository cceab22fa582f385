//! The standards that the labels of a namespace name, and the errors in invalid labels.

use std::fmt;

use kubewright_machinery::{Cause, cause::Path};
use serde_json::Value;

use crate::meta;

/// The labels of the modes `enforce`, `audit` and `warn`: the level, and the version of Kubernetes whose checks of that level apply.
const MODES: [[&str; 2]; 3] = [
    [
        "pod-security.kubernetes.io/enforce",
        "pod-security.kubernetes.io/enforce-version",
    ],
    [
        "pod-security.kubernetes.io/audit",
        "pod-security.kubernetes.io/audit-version",
    ],
    [
        "pod-security.kubernetes.io/warn",
        "pod-security.kubernetes.io/warn-version",
    ],
];

/// A level, from the loosest to the strictest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum SecurityLevel {
    Privileged,
    Baseline,
    Restricted,
}

/// A level in a version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PodStandard {
    pub level: SecurityLevel,
    /// The minor version of Kubernetes; the newest one if this is `None`.
    pub minor: Option<i64>,
}

/// The standards that a namespace enforces and warns of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct SecurityPolicy {
    pub enforce: PodStandard,
    pub warn: PodStandard,
}

/// The labels of a namespace, and the errors that were found in them.
struct PolicyLabels<L> {
    label: L,
    causes: Vec<Cause>,
}

impl SecurityLevel {
    fn parse(text: &str) -> Option<Self> {
        let all = [Self::Privileged, Self::Baseline, Self::Restricted];
        all.into_iter().find(|level| level.name() == text)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

impl PodStandard {
    /// Whether every Pod that meets `other` meets this standard too; false for standards of different versions.
    pub fn is_like_or_looser_than(self, other: Self) -> bool {
        self.minor == other.minor && self.level <= other.level
    }
}

impl fmt::Display for PodStandard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            Some(minor) => write!(f, "{}:v1.{minor}", self.level.name()),
            None => write!(f, "{}:latest", self.level.name()),
        }
    }
}

impl SecurityPolicy {
    /// The policy of a namespace, and the errors of its labels.
    pub fn of(namespace: &Value) -> (Self, Vec<Cause>) {
        let labels = meta::of(namespace).get("labels");
        Self::read(|label| labels?.get(label)?.as_str())
    }

    /// The policy that labels name, and their errors. An invalid level counts as `restricted` where it is enforced, and as `privileged`
    /// where it only warns; an invalid version counts as the newest one.
    pub fn read<'a>(label: impl Fn(&str) -> Option<&'a str>) -> (Self, Vec<Cause>) {
        let causes = Vec::new();
        let mut labels = PolicyLabels { label, causes };
        let [(enforced, version), _, (warned, warn_version)] =
            MODES.map(|[level, version]| (labels.level(level), labels.version(version)));
        let enforce = PodStandard {
            level: match enforced {
                None => SecurityLevel::Privileged,
                Some(level) => level.unwrap_or(SecurityLevel::Restricted),
            },
            minor: version.flatten(),
        };
        let warn = match (warned, enforced.flatten()) {
            // Without a label of its own, this mode follows a valid enforced level.
            (None, Some(level)) => PodStandard {
                level,
                minor: warn_version.unwrap_or(enforce.minor),
            },
            (level, _) => PodStandard {
                level: level.flatten().unwrap_or(SecurityLevel::Privileged),
                minor: warn_version.flatten(),
            },
        };
        (Self { enforce, warn }, labels.causes)
    }

    /// Whether the policy allows every Pod.
    pub fn is_privileged(self) -> bool {
        [self.enforce, self.warn]
            .iter()
            .all(|standard| standard.level == SecurityLevel::Privileged)
    }
}

impl<'a, L: Fn(&str) -> Option<&'a str>> PolicyLabels<L> {
    /// The level of a label, if there is one; `Some(None)` if it is invalid.
    fn level(&mut self, name: &str) -> Option<Option<SecurityLevel>> {
        let text = (self.label)(name)?;
        let level = SecurityLevel::parse(text);
        if level.is_none() {
            self.refuse(name, text, "must be one of privileged, baseline, restricted");
        }
        Some(level)
    }

    /// The minor version of a label, if there is one; `Some(None)` is the newest version.
    fn version(&mut self, name: &str) -> Option<Option<i64>> {
        let text = (self.label)(name)?;
        let minor = minor(text);
        if minor.is_none() && text != "latest" {
            self.refuse(name, text, "must be \"latest\" or \"v1.x\"");
        }
        Some(minor)
    }

    fn refuse(&mut self, name: &str, value: &str, why: &str) {
        let at = Path::new("metadata").child("labels").key(name);
        self.causes.push(at.invalid(value, why));
    }
}

/// The minor version in `v1.30`, without leading zeros.
fn minor(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("v1.")?;
    let minor: i64 = digits.parse().ok()?;
    (minor.to_string() == digits && minor >= 0).then_some(minor)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn policy(labels: &[(&str, &str)]) -> (String, Vec<String>) {
        let labels = labels
            .iter()
            .map(|(name, value)| (format!("pod-security.kubernetes.io/{name}"), json!(value)));
        let labels: Map<String, Value> = labels.collect();
        let (policy, causes) = SecurityPolicy::of(&json!({"metadata": {"labels": labels}}));
        let causes = causes.iter().map(ToString::to_string);
        (format!("{} {}", policy.enforce, policy.warn), causes.collect())
    }

    #[test]
    fn labels_name_the_standards_of_a_namespace() {
        for (labels, expected) in [
            (vec![], "privileged:latest privileged:latest"),
            (vec![("enforce", "baseline")], "baseline:latest baseline:latest"),
            (
                vec![("enforce", "restricted"), ("enforce-version", "v1.24")],
                "restricted:v1.24 restricted:v1.24",
            ),
            (
                vec![
                    ("enforce", "restricted"),
                    ("enforce-version", "v1.24"),
                    ("warn-version", "latest"),
                ],
                "restricted:v1.24 restricted:latest",
            ),
            (
                vec![
                    ("enforce", "restricted"),
                    ("warn", "baseline"),
                    ("warn-version", "v1.0"),
                ],
                "restricted:latest baseline:v1.0",
            ),
            (
                vec![("audit", "restricted"), ("audit-version", "v1.1")],
                "privileged:latest privileged:latest",
            ),
        ] {
            assert_eq!(policy(&labels), (expected.to_owned(), vec![]), "{labels:?}");
        }
    }

    #[test]
    fn invalid_labels_have_errors_and_still_enforce() {
        let labels = [
            ("enforce", "foo"),
            ("enforce-version", "v1.01"),
            ("audit", ""),
            ("audit-version", "1.2"),
            ("warn", "Baseline"),
            ("warn-version", "v1.+2"),
        ];
        let (standards, causes) = policy(&labels);
        assert_eq!(standards, "restricted:latest privileged:latest");
        let places: Vec<_> = labels.iter().map(|(name, _)| name).collect();
        assert_eq!(causes.len(), places.len());
        for ((name, value), cause) in labels.iter().zip(&causes) {
            let start =
                format!("metadata.labels[pod-security.kubernetes.io/{name}]: Invalid value: {value:?}: must be ");
            assert!(cause.starts_with(&start), "{cause}");
        }
    }
}
