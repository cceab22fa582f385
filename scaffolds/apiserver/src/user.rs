//! Somebody: a name, groups, and what else the server knows of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The group that may do everything.
pub const MASTERS: &str = "system:masters";
/// What everybody with credentials is in.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// What nobody with credentials is in.
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Who comes without credentials.
pub(crate) const ANONYMOUS: &str = "system:anonymous";

/// Somebody.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct User {
    /// `admin`.
    pub name: String,
    /// Empty where there is none.
    pub uid: String,
    /// In the order in which they were given; `system:authenticated` comes last.
    pub groups: Vec<String>,
    /// What else came with the credentials.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Somebody with credentials.
    pub fn new<S: Into<String>>(name: &str, groups: impl IntoIterator<Item = S>) -> Self {
        let mut user = Self {
            name: name.to_owned(),
            groups: groups.into_iter().map(Into::into).collect(),
            ..Self::default()
        };
        user.join(AUTHENTICATED);
        user
    }

    /// Who may do everything.
    pub fn admin() -> Self {
        Self {
            uid: "admin".to_owned(),
            ..Self::new("admin", [MASTERS])
        }
    }

    /// Who comes without credentials.
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// Whether everything is allowed.
    pub fn is_master(&self) -> bool {
        self.is_in(MASTERS)
    }

    /// Whether they are of a group.
    pub(crate) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|it| it == group)
    }

    /// Makes them one of a group.
    pub(crate) fn join(&mut self, group: &str) {
        if !self.is_in(group) {
            self.groups.push(group.to_owned());
        }
    }

    /// As reviews show it.
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
