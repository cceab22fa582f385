//! Users: a name, groups, and further attributes from their credentials.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The group that may do everything.
pub const MASTERS: &str = "system:masters";
/// The group of all users with credentials.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of all users without credentials.
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of users without credentials.
pub(crate) const ANONYMOUS: &str = "system:anonymous";

/// A user, as a request has been authenticated or impersonated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct User {
    /// For example `admin`.
    pub name: String,
    /// Empty if the user has no UID.
    pub uid: String,
    /// In the order in which they were given, with `system:authenticated` last.
    pub groups: Vec<String>,
    /// Further attributes from the credentials.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user with credentials.
    pub fn new<S: Into<String>>(name: &str, groups: impl IntoIterator<Item = S>) -> Self {
        let mut user = Self {
            name: name.to_owned(),
            groups: groups.into_iter().map(Into::into).collect(),
            ..Self::default()
        };
        user.join(AUTHENTICATED);
        user
    }

    /// A user who may do everything.
    pub fn admin() -> Self {
        Self {
            uid: "admin".to_owned(),
            ..Self::new("admin", [MASTERS])
        }
    }

    /// A user without credentials.
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// Whether the user may do everything.
    pub fn is_master(&self) -> bool {
        self.is_in(MASTERS)
    }

    /// Whether the user is in a group.
    pub(crate) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|it| it == group)
    }

    /// Adds the user to a group.
    pub(crate) fn join(&mut self, group: &str) {
        if !self.is_in(group) {
            self.groups.push(group.to_owned());
        }
    }

    /// The user, as reviews show it.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"username": self.name});
        if !self.groups.is_empty() {
            body["groups"] = json!(self.groups);
        }
        if !self.uid.is_empty() {
            body["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            body["extra"] = json!(self.extra);
        }
        body
    }
}
