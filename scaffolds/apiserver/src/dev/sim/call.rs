//! One request of the operator, in the words of a trace.

use http::{Method, Request, header::CONTENT_TYPE};

use super::reconciles;

/// The part that a request plays in a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    Write,
    Read,
    Watch,
    /// Events and leases, which nothing waits for: they have no faults and are not counted.
    Aside,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct SentRequest {
    pub class: Class,
    /// Whether it reads many objects.
    pub is_list: bool,
    pub is_delete: bool,
    /// For example `applies configmaps default/sample-foobar`.
    pub text: String,
    /// The controller and the object whose reconcile sends it, if one does.
    pub reconcile: Option<String>,
    /// The query, by which requests of one text differ.
    pub query: String,
}

impl SentRequest {
    /// All that is known of it, for the order of requests.
    pub(super) fn identity(&self) -> String {
        let reconcile = self.reconcile.as_deref().unwrap_or_default();
        format!("{} {} {reconcile}", self.text, self.query)
    }

    /// The object or collection, and the subresource.
    pub(super) fn target(&self) -> &str {
        self.text.split_once(' ').map_or("", |(_, target)| target)
    }

    /// The plural of its kind.
    pub(super) fn plural(&self) -> &str {
        self.target().split(' ').next().unwrap_or_default()
    }

    /// A request to another system.
    pub(super) fn to_system<B>(name: &str, request: &Request<B>) -> Self {
        let (method, path) = (request.method(), request.uri().path());
        let is_read = method == Method::GET || method == Method::HEAD;
        Self {
            class: if is_read { Class::Read } else { Class::Write },
            is_list: false,
            is_delete: method == Method::DELETE,
            text: format!("{} {name} {path}", verb(method)),
            reconcile: reconciles::present(),
            query: request.uri().query().unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let path = request.uri().path();
        let query = request.uri().query().unwrap_or_default();
        let has = |start: &str| query.split('&').any(|pair| pair.starts_with(start));
        let is_get = request.method() == Method::GET;
        let (target, name) = target(path);
        let class = if path.contains("/events") || path.contains("/leases") {
            Class::Aside
        } else if !is_get {
            Class::Write
        } else if has("watch=true") || has("watch=1") {
            Class::Watch
        } else {
            Class::Read
        };
        let content = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|it| it.to_str().ok())
            .unwrap_or_default();
        let verb = match verb(request.method()) {
            "patches" if content.contains("apply-patch") => "applies",
            "reads" if class == Class::Watch => "watches",
            verb => verb,
        };
        Self {
            class,
            is_list: is_get && name.is_none(),
            is_delete: request.method() == Method::DELETE,
            text: format!("{verb} {target}"),
            reconcile: reconciles::present(),
            query: query.to_owned(),
        }
    }
}

fn verb(method: &Method) -> &'static str {
    match *method {
        Method::POST => "creates",
        Method::PUT => "replaces",
        Method::DELETE => "deletes",
        Method::PATCH => "patches",
        _ => "reads",
    }
}

/// The object or collection of a path, as `configmaps default/sample (status)`, and the name of the object.
pub(super) fn target(path: &str) -> (String, Option<&str>) {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let prefix = if path.starts_with("/apis/") { 3 } else { 2 };
    parts.drain(..prefix.min(parts.len()));
    let mut namespace = None;
    if let ["namespaces", name, _, ..] = parts[..]
        && !matches!(parts[2], "status" | "finalize")
    {
        namespace = Some(name);
        parts.drain(..2);
    }
    let Some((plural, rest)) = parts.split_first() else {
        return (path.to_owned(), None);
    };
    let name = rest.first().copied();
    let place = [namespace, name].into_iter().flatten().collect::<Vec<_>>().join("/");
    let mut text = [*plural, &place].join(" ").trim_end().to_owned();
    if let Some(subresource) = rest.get(1) {
        text = format!("{text} ({subresource})");
    }
    (text, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_named_as_people_name_them() {
        for (method, uri, class, text) in [
            (
                "GET",
                "/api/v1/namespaces/a/configmaps?limit=500",
                Class::Read,
                "reads configmaps a",
            ),
            (
                "GET",
                "/apis/apps/v1/deployments?watch=true",
                Class::Watch,
                "watches deployments",
            ),
            (
                "PUT",
                "/apis/x.io/v1/namespaces/a/foos/b/status",
                Class::Write,
                "replaces foos a/b (status)",
            ),
            ("DELETE", "/api/v1/namespaces/a", Class::Write, "deletes namespaces a"),
            ("POST", "/api/v1/namespaces/a/events", Class::Aside, "creates events a"),
        ] {
            let request = Request::builder().method(method).uri(uri).body(()).unwrap();
            let call = SentRequest::of(&request);
            assert_eq!((call.class, call.text.as_str()), (class, text));
        }
    }
}
