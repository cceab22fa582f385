//! The policy: all roles and bindings at one moment, and the permissions that they give.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use kubewright_machinery::go;
use serde::Deserialize;

use super::{Attributes, Authorization, Decision, Rule};
use crate::{
    store::{Change, ChangeKind, Record, Store},
    user::User,
};

/// The API group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// The store's resources from which a policy is read.
pub const RESOURCES: [&str; 4] = [
    "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/clusterroles",
    "rbac.authorization.k8s.io/rolebindings",
    "rbac.authorization.k8s.io/roles",
];

/// Namespace and name; the namespace of cluster-scoped objects is empty.
type Place = (String, String);

/// The roles and bindings of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    authorization: Authorization,
    roles: BTreeMap<Place, Arc<[Rule]>>,
    bindings: BTreeMap<Place, Arc<Binding>>,
    /// The names of the bindings in a namespace that have somebody as a subject.
    concerned: HashMap<(String, Who), BTreeSet<String>>,
}

/// A subject; a service account is a user with a name of a special form.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Who {
    User(String),
    Group(String),
}

#[derive(Debug, Deserialize)]
struct RoleMetadata {
    name: String,
    #[serde(default)]
    namespace: String,
}

#[derive(Deserialize)]
struct Role {
    #[serde(default)]
    rules: Option<Vec<Rule>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Binding {
    metadata: RoleMetadata,
    role_ref: Reference,
    #[serde(default)]
    subjects: Vec<BindingSubject>,
}

/// The reference of a binding to its role.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Reference {
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// The name of the role.
    pub name: String,
}

#[derive(Debug, Deserialize)]
struct BindingSubject {
    kind: String,
    name: String,
    #[serde(default)]
    namespace: String,
}

impl Policy {
    /// Reads the policy from a store.
    pub fn read(store: &Store, authorization: Authorization) -> Self {
        let mut policy = Self {
            authorization,
            ..Self::default()
        };
        for resource in RESOURCES {
            let records = store.all(resource, "").into_iter();
            records.for_each(|record| policy.put(&record));
        }
        policy
    }

    /// Applies a change of a role or binding.
    pub fn follow(&mut self, change: &Change) {
        match change.kind {
            ChangeKind::Deleted => self.take(&change.record),
            _ => self.put(&change.record),
        }
    }

    /// Adds a role or binding. One that an older server stored in another form grants nothing.
    fn put(&mut self, record: &Record) {
        self.take(record);
        let place = place(record);
        if !is_binding(record) {
            if let Ok(role) = record.read::<Role>() {
                self.roles.insert(place, role.rules.unwrap_or_default().into());
            }
        } else if let Ok(binding) = record.read::<Binding>() {
            for who in binding.concerned() {
                let names = self.concerned.entry((place.0.clone(), who)).or_default();
                names.insert(place.1.clone());
            }
            self.bindings.insert(place, Arc::new(binding));
        }
    }

    fn take(&mut self, record: &Record) {
        let place = place(record);
        if !is_binding(record) {
            self.roles.remove(&place);
        } else if let Some(binding) = self.bindings.remove(&place) {
            for who in binding.concerned() {
                let of = (place.0.clone(), who);
                let names = self.concerned.get_mut(&of);
                if names.is_some_and(|names| names.remove(&place.1) && names.is_empty()) {
                    self.concerned.remove(&of);
                }
            }
        }
    }

    /// Whether a user may make this request, and by which binding.
    pub fn decide(&self, user: &User, asked: &Attributes) -> Decision {
        if self.authorization == Authorization::AlwaysAllow {
            return Decision {
                allowed: true,
                reason: String::new(),
            };
        }
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
            false => format!("rbac: RBAC: {}", together(&missing)),
        };
        Decision { allowed: false, reason }
    }

    /// All rules that apply to a user in a namespace, and one sentence about the errors on the way.
    pub fn rules_of(&self, user: &User, namespace: &str) -> (Vec<Rule>, Option<String>) {
        if self.authorization == Authorization::AlwaysAllow {
            return (Rule::everything().into(), None);
        }
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        for (binding, _) in self.of(user, namespace) {
            match self.rules(&binding.role_ref, &binding.metadata.namespace) {
                Some(of_role) => rules.extend_from_slice(of_role),
                None => missing.push(binding.role_ref.lost()),
            }
        }
        (rules, (!missing.is_empty()).then(|| together(&missing)))
    }

    /// The rules of the role to which a binding in this namespace refers, if the role exists.
    pub fn rules(&self, role: &Reference, namespace: &str) -> Option<&[Rule]> {
        let namespace = if role.kind == "Role" { namespace } else { "" };
        let found = self.roles.get(&(namespace.to_owned(), role.name.clone()));
        found.map(|rules| &**rules)
    }

    /// The bindings that have a user among their subjects: cluster-scoped ones, then those of the namespace, by name.
    fn of<'a>(&'a self, user: &'a User, namespace: &'a str) -> impl Iterator<Item = (&'a Binding, &'a BindingSubject)> {
        let own = (!namespace.is_empty()).then_some(namespace);
        let all = [""].into_iter().chain(own).flat_map(move |namespace| {
            let names = self.names(user, namespace).into_iter();
            names.filter_map(move |name| self.bindings.get(&(namespace.to_owned(), name.clone())))
        });
        all.filter_map(|binding| {
            let is_meant = |subject: &&BindingSubject| subject.is(user, &binding.metadata.namespace);
            Some((&**binding, binding.subjects.iter().find(is_meant)?))
        })
    }

    fn names(&self, user: &User, namespace: &str) -> BTreeSet<&String> {
        let groups = user.groups.iter().cloned().map(Who::Group);
        let whos = groups.chain([Who::User(user.name.clone())]);
        let found = whos.filter_map(|who| self.concerned.get(&(namespace.to_owned(), who)));
        found.flatten().collect()
    }
}

impl Binding {
    /// The subjects of the binding.
    fn concerned(&self) -> impl Iterator<Item = Who> {
        self.subjects
            .iter()
            .map(|subject| subject.who(&self.metadata.namespace))
    }
}

impl Reference {
    /// The message about a role that does not exist.
    fn lost(&self) -> String {
        let (kind, name) = (self.kind.to_ascii_lowercase(), go::quote(&self.name));
        format!("{kind}.{GROUP} {name} not found")
    }
}

impl BindingSubject {
    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            _ => {
                let namespace = self.home(namespace);
                !namespace.is_empty() && user.name == account(namespace, &self.name)
            }
        }
    }

    fn who(&self, namespace: &str) -> Who {
        match self.kind.as_str() {
            "User" => Who::User(self.name.clone()),
            "Group" => Who::Group(self.name.clone()),
            _ => Who::User(account(self.home(namespace), &self.name)),
        }
    }

    /// The namespace of a service account, which defaults to the binding's.
    fn home<'a>(&'a self, namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            namespace
        } else {
            &self.namespace
        }
    }
}

fn source(binding: &Binding, subject: &BindingSubject) -> String {
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

/// Several errors like Go's aggregate: each once, and in brackets if there is more than one.
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

/// The user name of a service account.
fn account(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

fn place(record: &Record) -> Place {
    (record.key.namespace.clone(), record.key.name.clone())
}

fn is_binding(record: &Record) -> bool {
    record.key.resource.ends_with("bindings")
}
