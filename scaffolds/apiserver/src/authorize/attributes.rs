//! The attributes of a request that authorization uses, and the message for a refusal.

use kubewright_machinery::go;

use crate::{
    request::{Info, Query},
    select::FieldSelector,
    status::{Status, Subject},
    user::User,
};

/// The attributes of a request, or of a question about one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Attributes {
    /// Whether the request is for a resource; otherwise only verb and path matter.
    pub is_resource: bool,
    /// For example `get` or `list`.
    pub verb: String,
    /// Empty for the core group.
    pub group: String,
    /// Empty for cluster-scoped resources and for all namespaces.
    pub namespace: String,
    /// The plural of the resource.
    pub resource: String,
    /// Empty for the resource itself.
    pub subresource: String,
    /// Empty for a collection.
    pub name: String,
    /// The path of a request that is not for a resource.
    pub path: String,
}

impl Attributes {
    /// The attributes of a request. A list or watch that selects one name has that name.
    pub(crate) fn of(info: &Info, query: &Query) -> Self {
        let mut name = info.name.clone();
        if name.is_empty() && ["list", "watch"].contains(&info.verb.as_str()) {
            let selector = FieldSelector::parse(query.get("fieldSelector").unwrap_or_default());
            let selected = selector.ok().and_then(|it| it.name().map(str::to_owned));
            name = selected.filter(|name| !name.contains(['/', '%'])).unwrap_or_default();
        }
        Self {
            is_resource: info.is_resource,
            verb: info.verb.clone(),
            group: info.group.clone(),
            namespace: info.namespace.clone(),
            resource: info.resource.clone(),
            subresource: info.subresource.clone(),
            name,
            path: info.path.clone(),
        }
    }

    /// `pods` or `pods/status`.
    pub(crate) fn qualified_resource(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }

    /// 403, with the reason of the decision if there is one.
    pub(crate) fn forbidden(&self, user: &User, reason: &str) -> Status {
        let mut why = harmless(&self.refusal(user));
        if !reason.is_empty() {
            why = format!("{why}: {reason}");
        }
        match self.is_resource {
            true => Status::forbidden(Subject::new(&self.group, &self.resource), &self.name, &why),
            false => Status::forbidden(Subject::new("", ""), "", &why),
        }
    }

    fn refusal(&self, user: &User) -> String {
        let (who, verb) = (go::quote(&user.name), &self.verb);
        if !self.is_resource {
            return format!("User {who} cannot {verb} path {}", go::quote(&self.path));
        }
        let place = match self.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", go::quote(namespace)),
        };
        let (resource, group) = (go::quote(&self.qualified_resource()), go::quote(&self.group));
        format!("User {who} cannot {verb} resource {resource} in API group {group} {place}")
    }
}

/// Escapes characters that a browser might interpret as markup.
fn harmless(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
