//! A permission as an author declares it: what may be done, to which objects, and where.

use kubewright_schema::rbac::PolicyRule;

/// A permission, and where it applies: by default wherever the operator watches.
///
/// ```
/// # use kubewright_runtime::Rule;
/// // One Secret of the operator's own namespace.
/// Rule::new(&[""], &["secrets"], &["get"]).names(&["licence"]).in_own_namespace();
/// // The Services of another namespace.
/// Rule::new(&[""], &["services"], &["get"]).in_namespace("kube-system");
/// // A path that is no resource.
/// Rule::urls(&["/metrics"], &["get"]);
/// ```
///
/// # Caveats
///
/// The API server compares names with the request, and a `create` has none: a rule with [`names`](Self::names) grants no
/// `create` but that of a subresource. It grants `list` and `watch` only to requests with the field selector
/// `metadata.name`.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) policy: PolicyRule,
    /// The name of the role, unless it is the operator's main one.
    pub(super) role: Option<String>,
    pub(super) place: RuleScope,
}

/// The place where a rule applies.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum RuleScope {
    /// In all namespaces; if the operator works in named namespaces only, in those.
    #[default]
    Watched,
    /// In the namespace of the operator itself.
    Own,
    Named(String),
}

impl Rule {
    /// These verbs on these resources: plural names, with their subresource, as `pods/log`. The core group is `""`.
    pub fn new(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Self {
        Self::of(PolicyRule {
            api_groups: own(groups),
            resources: own(resources),
            verbs: own(verbs),
            ..PolicyRule::default()
        })
    }

    /// These verbs on paths that are no resources, as `/metrics` or `/logs/*`: the verbs are HTTP methods in lower case.
    /// Only a ClusterRole grants them.
    pub fn urls(urls: &[&str], verbs: &[&str]) -> Self {
        Self::of(PolicyRule {
            non_resource_urls: own(urls),
            verbs: own(verbs),
            ..PolicyRule::default()
        })
    }

    fn of(policy: PolicyRule) -> Self {
        Self {
            policy,
            role: None,
            place: RuleScope::default(),
        }
    }

    /// Only on objects with these names.
    pub fn names(mut self, names: &[&str]) -> Self {
        self.policy.resource_names = own(names);
        self
    }

    /// Only in this namespace, whichever namespaces the operator watches: a Role there, and its binding. `make deploy`
    /// expects the namespace to exist.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.place = RuleScope::Named(namespace.into());
        self
    }

    /// Only in the namespace of the operator itself, whichever namespaces it watches.
    pub fn in_own_namespace(mut self) -> Self {
        self.place = RuleScope::Own;
        self
    }

    /// In a role of this name instead of `manager-role`, with a binding of its own, so that a deployment can leave it
    /// out, or an administrator can bind it to others too.
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.role = Some(name.into());
        self
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
