//! Finds requests of an operator that the API server refused, by the messages of RBAC's 403: in the operator's log, and
//! in the file of a server that writes them.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::{TestCluster, account::NAME};
use crate::error::refusal::{Missing, missing};

/// The source of the messages of one operator.
pub(super) struct Refusals {
    log: PathBuf,
    /// Also requests whose refusal the operator ignores.
    server: Option<PathBuf>,
    /// The operator's account, as in messages.
    user: String,
}

impl Refusals {
    pub(super) fn of(cluster: &TestCluster, log: PathBuf) -> Self {
        Self {
            log,
            server: cluster.refusals(),
            user: format!("User \"system:serviceaccount:{}:{NAME}\"", cluster.namespace()),
        }
    }

    /// The missing permissions so far, with the declarations that grant them; `None` if no request was refused.
    pub(super) fn describe(&self) -> Option<String> {
        let read = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let mut messages = read(&self.log);
        // The server names the users of all requests, such as the test's own.
        let answered = self.server.as_ref().map(read).unwrap_or_default();
        for line in answered.lines().filter(|line| line.contains(&self.user)) {
            messages.push('\n');
            messages.push_str(line);
        }
        describe(&messages)
    }
}

/// The missing permissions, with the declarations that grant them; `None` if no request was refused.
fn describe(log: &str) -> Option<String> {
    let log = log.replace('\\', "");
    let missing: BTreeSet<_> = missing(&log).collect();
    let sentences: Vec<_> = missing.iter().map(sentence).collect();
    let rules: Vec<_> = missing.iter().map(|missing| format!("  {missing}")).collect();
    (!missing.is_empty()).then(|| {
        let (sentences, rules) = (sentences.join("\n"), rules.join("\n"));
        format!("no role grants these requests of the operator:\n{sentences}\n\nhint: add to the controller, and run `make manifests`:\n{rules}")
    })
}

fn sentence(missing: &Missing<'_>) -> String {
    match missing {
        Missing::Resource { verb, resource, group } => {
            format!("  cannot {verb} resource \"{resource}\" in API group \"{group}\"")
        }
        Missing::Url { verb, path } => format!("  cannot {verb} path \"{path}\""),
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
    #[test]
    fn refusals_of_other_users_are_not_the_operators() {
        let file = std::env::temp_dir().join(format!("kubewright-refusals-{:016x}", crate::testing::random()));
        let line = |user: &str, resource: &str| {
            format!("x is forbidden: User {user} cannot list resource \"{resource}\" in API group \"\"\n")
        };
        fs::write(&file, line("\"somebody\"", "pods") + &line(USER, "secrets")).unwrap();
        let refusals = Refusals {
            log: PathBuf::from("/nowhere"),
            server: Some(file.clone()),
            user: format!("User {USER}"),
        };
        let said = refusals.describe().unwrap();
        fs::remove_file(file).unwrap();
        assert!(said.contains("secrets") && !said.contains("pods"), "{said}");
    }
}
