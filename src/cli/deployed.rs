//! The names of the project's objects in a cluster, as `config/default` sets them.

use super::session::Session;
use crate::project::Project;
use anyhow::Result;
use serde_yaml::Value;

/// The kustomization of everything that `make deploy` applies.
const DEFAULT: &str = "config/default/kustomization.yaml";

/// What `config/default` makes of the names in `config/`.
#[derive(Debug, PartialEq, Eq)]
pub struct DeployedNames {
    /// The namespace of the operator.
    pub namespace: String,
    prefix: String,
    suffix: String,
}

impl DeployedNames {
    /// The names that the project in the folder has now.
    pub fn of(session: &Session) -> Result<Self> {
        let text = session.root.read(&DEFAULT.parse()?)?.unwrap_or_default();
        Ok(Self::set_by(&String::from_utf8_lossy(&text), &session.project))
    }

    /// The names that this kustomization sets. One that cannot be read counts as the kustomization of a new project.
    fn set_by(kustomization: &str, project: &Project) -> Self {
        let Ok(Value::Mapping(fields)) = serde_yaml::from_str(kustomization) else {
            return Self {
                namespace: format!("{}-system", project.name),
                prefix: format!("{}-", project.name),
                suffix: String::new(),
            };
        };
        let field = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            // The namespace in the files of config/.
            namespace: field("namespace").unwrap_or_else(|| "system".to_owned()),
            prefix: field("namePrefix").unwrap_or_default(),
            suffix: field("nameSuffix").unwrap_or_default(),
        }
    }

    /// The name in the cluster of an object of `config/`.
    pub fn named(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::file;

    #[test]
    fn names_follow_the_kustomization_and_without_one_the_project() {
        let text =
            "version: VERSION\nname: op\ndomain: example.com\nlicense: none\nowner: me\nyear: 2026\ncrates: registry\n";
        let project = file::parse(&text.replace("VERSION", env!("CARGO_PKG_VERSION"))).unwrap();
        for (kustomization, namespace, name) in [
            ("namespace: ops\nnamePrefix: a-\nnameSuffix: -b\n", "ops", "a-role-b"),
            ("resources: []\n", "system", "role"),
            ("", "op-system", "op-role"),
            ("<<<<<<< ours\n", "op-system", "op-role"),
        ] {
            let names = DeployedNames::set_by(kustomization, &project);
            assert_eq!(
                (names.namespace.as_str(), names.named("role")),
                (namespace, name.to_owned())
            );
        }
    }
}
