//! The operator's permissions: the role that it generates for itself, and that of a generated project for its lease.

use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use clap::Parser;
use kubewright_runtime::{Manager, Operator, Options, Result};
use kubewright_schema::yaml;
use serde_json::{Value, json};

use crate::story;

/// The name of that project's operator, and of its lease.
pub const NAME: &str = "foobar-operator";

/// The role of every project.
const LEASES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/golden/one/config/rbac/leader_election_role.yaml"
);

/// One verb on one resource.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Grant {
    pub group: String,
    pub resource: String,
    /// The name of the one object that it applies to; empty for all.
    pub name: String,
    pub verb: String,
}

impl Grant {
    /// The API server's message for a request without this permission.
    pub fn refusal(&self) -> String {
        let Self {
            group, resource, verb, ..
        } = self;
        format!("cannot {verb} resource \"{resource}\" in API group \"{group}\"")
    }

    /// The hint in the log.
    pub fn declaration(&self) -> String {
        let Self {
            group, resource, verb, ..
        } = self;
        format!("add `.rule(&[\"{group}\"], &[\"{resource}\"], &[\"{verb}\"])` to the controller")
    }

    /// The lease is in the operator's own namespace, whichever namespaces it watches.
    pub fn is_of_the_lease(&self) -> bool {
        self.resource == "leases"
    }

    pub fn rule(&self) -> Value {
        let mut rule = json!({"apiGroups": [self.group], "resources": [self.resource], "verbs": [self.verb]});
        if !self.name.is_empty() {
            rule["resourceNames"] = json!([self.name]);
        }
        rule
    }
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

/// All permissions of a project's operator, one by one.
pub static ALL: LazyLock<Vec<Grant>> = LazyLock::new(|| {
    let leases = std::fs::read_to_string(LEASES).unwrap();
    let leases = yaml::documents(&leases).unwrap();
    let mut all = [grants(&written(false, story::register)[0]), grants(&leases[0])].concat();
    all.sort();
    all
});

/// The documents that `<operator> manifests` writes.
pub fn written(namespaced: bool, register: fn(&Manager) -> Result<()>) -> Vec<Value> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("kubewright-role-{}-{call}", std::process::id()));
    let flags = [
        "operator".as_ref(),
        "manifests".as_ref(),
        "--out".as_ref(),
        folder.as_os_str(),
    ];
    let flags = Flags::parse_from(flags);
    let operator = Operator::new(NAME, flags.options);
    let operator = if namespaced { operator.namespaced() } else { operator };
    // `run` creates a runtime of its own, so it needs a thread without one.
    let written = std::thread::spawn(move || operator.run(async |manager: &_| register(manager)));
    written.join().unwrap();
    let role = std::fs::read_to_string(folder.join("role.yaml")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    yaml::documents(&role).unwrap()
}

fn grants(role: &Value) -> Vec<Grant> {
    let texts = |rule: &Value, list: &str| -> Vec<String> {
        let items = rule[list].as_array().into_iter().flatten();
        items.map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut all = Vec::new();
    for rule in role["rules"].as_array().unwrap() {
        let name = texts(rule, "resourceNames").pop().unwrap_or_default();
        for group in texts(rule, "apiGroups") {
            for resource in texts(rule, "resources") {
                all.extend(texts(rule, "verbs").into_iter().map(|verb| Grant {
                    group: group.clone(),
                    resource: resource.clone(),
                    name: name.clone(),
                    verb,
                }));
            }
        }
    }
    all
}
