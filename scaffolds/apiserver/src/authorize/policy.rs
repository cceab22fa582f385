//! All roles and bindings at one moment, and what they give to whom.

use std::collections::BTreeMap;

use kubewright_schema::go;
use serde::{Deserialize, de::DeserializeOwned};

use super::{Attributes, Decision, Rule};
use crate::{
    auth::User,
    store::{Range, Store},
};

pub const GROUP: &str = "rbac.authorization.k8s.io";

/// What a policy is read from: the resources of the store.
pub const RESOURCES: [&str; 4] = [
    "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/clusterroles",
    "rbac.authorization.k8s.io/rolebindings",
    "rbac.authorization.k8s.io/roles",
];

/// The roles and bindings of a cluster.
#[derive(Debug, Default)]
pub struct Policy {
    /// By namespace and name; the namespace of cluster roles is empty.
    roles: BTreeMap<(String, String), Vec<Rule>>,
    /// By namespace, in the order of their names.
    bindings: BTreeMap<String, Vec<Binding>>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
}

#[derive(Deserialize)]
struct Role {
    metadata: Metadata,
    #[serde(default)]
    rules: Option<Vec<Rule>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Binding {
    metadata: Metadata,
    role_ref: Reference,
    #[serde(default)]
    subjects: Vec<Subject>,
}

/// The role of a binding.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Reference {
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// The role's.
    pub name: String,
}

#[derive(Debug, Deserialize)]
struct Subject {
    kind: String,
    name: String,
    #[serde(default)]
    namespace: String,
}

impl Policy {
    /// Reads all of a store.
    pub fn read(store: &Store) -> Self {
        let [cluster_bindings, cluster_roles, bindings, roles] = RESOURCES;
        let mut policy = Self::default();
        for role in all::<Role>(store, cluster_roles).into_iter().chain(all(store, roles)) {
            let key = (role.metadata.namespace, role.metadata.name);
            policy.roles.insert(key, role.rules.unwrap_or_default());
        }
        for binding in all::<Binding>(store, cluster_bindings)
            .into_iter()
            .chain(all(store, bindings))
        {
            let namespace = binding.metadata.namespace.clone();
            policy.bindings.entry(namespace).or_default().push(binding);
        }
        policy
    }

    /// Whether somebody may do this, and by which binding.
    pub fn decide(&self, user: &User, asked: &Attributes) -> Decision {
        let mut missing = Vec::new();
        for (binding, subject) in self.of(user, &asked.namespace) {
            match self.rules(&binding.role_ref, &binding.metadata.namespace) {
                Some(rules) if rules.iter().any(|rule| rule.allows(asked)) => {
                    let reason = format!("RBAC: allowed by {}", source(binding, subject));
                    return Decision { allowed: true, reason };
                }
                Some(_) => {}
                None => missing.push(binding.role_ref.lost()),
            }
        }
        let reason = match missing.is_empty() {
            true => String::new(),
            false => format!("RBAC: {}", together(&missing)),
        };
        Decision { allowed: false, reason }
    }

    /// All rules that somebody has in a namespace, and what went wrong in finding them, in one sentence.
    pub fn rules_of(&self, user: &User, namespace: &str) -> (Vec<Rule>, Option<String>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        for (binding, _) in self.of(user, namespace) {
            match self.rules(&binding.role_ref, &binding.metadata.namespace) {
                Some(of_role) => rules.extend_from_slice(of_role),
                None => missing.push(binding.role_ref.lost()),
            }
        }
        (rules, (!missing.is_empty()).then(|| together(&missing)))
    }

    /// The rules of the role that a binding in this namespace refers to, if it is there.
    pub fn rules(&self, role: &Reference, namespace: &str) -> Option<&[Rule]> {
        let namespace = if role.kind == "Role" { namespace } else { "" };
        let found = self.roles.get(&(namespace.to_owned(), role.name.clone()));
        found.map(Vec::as_slice)
    }

    /// The bindings that concern somebody: those of the cluster, then those of the namespace.
    fn of<'a>(&'a self, user: &'a User, namespace: &'a str) -> impl Iterator<Item = (&'a Binding, &'a Subject)> {
        let own = (!namespace.is_empty()).then(|| self.bindings.get(namespace)).flatten();
        let all = self.bindings.get("").into_iter().chain(own).flatten();
        all.filter_map(|binding| {
            let is_meant = |subject: &&Subject| subject.is(user, &binding.metadata.namespace);
            Some((binding, binding.subjects.iter().find(is_meant)?))
        })
    }
}

impl Reference {
    /// What is said of a role that is not there.
    fn lost(&self) -> String {
        let (kind, name) = (self.kind.to_ascii_lowercase(), go::quote(&self.name));
        format!("{kind}.{GROUP} {name} not found")
    }
}

impl Subject {
    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            _ => {
                let namespace = self.home(namespace);
                !namespace.is_empty() && user.name == format!("system:serviceaccount:{namespace}:{}", self.name)
            }
        }
    }

    /// A service account without a namespace is one of the binding's.
    fn home<'a>(&'a self, namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            namespace
        } else {
            &self.namespace
        }
    }
}

fn source(binding: &Binding, subject: &Subject) -> String {
    let (name, namespace) = (&binding.metadata.name, &binding.metadata.namespace);
    let (kind, name) = match namespace.as_str() {
        "" => ("ClusterRoleBinding", go::quote(name)),
        namespace => ("RoleBinding", go::quote(&format!("{name}/{namespace}"))),
    };
    let whom = match subject.kind.as_str() {
        "ServiceAccount" => format!("{}/{}", subject.name, subject.home(namespace)),
        _ => subject.name.clone(),
    };
    let role = &binding.role_ref;
    format!(
        "{kind} {name} of {} {} to {} {}",
        role.kind,
        go::quote(&role.name),
        subject.kind,
        go::quote(&whom)
    )
}

/// Several errors as Go's aggregate shows them: each once, in brackets if more than one.
fn together(messages: &[String]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for message in messages {
        if !once.contains(&message.as_str()) {
            once.push(message);
        }
    }
    match once.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// All objects of a resource. One that an older server kept in another shape grants nothing.
fn all<T: DeserializeOwned>(store: &Store, resource: &str) -> Vec<T> {
    let page = store.list(&Range::new(resource, ""), None, None, 0);
    let records = page.into_iter().flat_map(|page| page.records);
    records
        .filter_map(|record| serde_json::from_slice(&record.object).ok())
        .collect()
}
