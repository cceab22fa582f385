//! Failed requests: the API's Status objects, with the messages, reasons and details of kube-apiserver 1.37.

use std::borrow::Cow;

use kubewright_machinery::Cause;
use serde_json::{Map, Value, json};

/// A failed request: `kind: Status`, `status: Failure`.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason, for example `NotFound`; empty for the few answers without one.
    pub reason: Cow<'static, str>,
    /// The message that kubectl prints.
    pub message: String,
    /// The object, and the causes. Some answers have empty details, others none, and clients can tell the difference.
    pub details: Option<Box<Details>>,
    /// `metadata.continue`: the token with which to continue a list whose own token has expired; empty otherwise.
    pub continue_token: String,
}

/// The `details` of a [`Status`]; empty fields are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The API group.
    pub group: String,
    /// The object's UID, if a webhook names it.
    pub uid: String,
    /// The resource (plural) or the kind, whichever the real server uses for the reason.
    pub kind: String,
    /// The individual errors.
    pub causes: Vec<Value>,
    /// Also sent as the header `Retry-After`.
    pub retry_after_seconds: u32,
}

/// The subject of most answers: a resource or a kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Subject<'a> {
    /// `apps`; empty for the core group.
    pub group: &'a str,
    /// `deployments` or `Deployment`, as the real server has it for the reason at hand.
    pub name: &'a str,
}

impl<'a> Subject<'a> {
    /// The resource or kind of this name in this group.
    pub const fn new(group: &'a str, name: &'a str) -> Self {
        Self { group, name }
    }
}

/// The server's own failure, among the faults of an object.
pub fn failure(message: String) -> Cause {
    let (reason, field) = (FAILURE, String::new());
    Cause { reason, field, message }
}

/// The reason of a failure, which concerns no field.
const FAILURE: &str = "InternalError";

fn is_failure(cause: &Cause) -> bool {
    cause.reason == FAILURE && cause.field.is_empty()
}

/// 500: a stored object cannot be decoded.
impl From<serde_json::Error> for Status {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(&error.to_string())
    }
}

impl Status {
    /// A Status with this code, reason and message, without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
            message: message.into(),
            details: None,
            continue_token: String::new(),
        }
    }

    /// Adds details with a resource and the name of an object.
    #[must_use]
    pub fn about(mut self, subject: Subject, name: &str) -> Self {
        let details = self.details.get_or_insert_default();
        (details.group, details.kind) = (subject.group.to_owned(), subject.name.to_owned());
        details.name = name.to_owned();
        self
    }

    /// Adds the time in seconds after which the client may try again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// Adds a token with which to continue a list.
    #[must_use]
    pub fn continuing_with(mut self, token: &str) -> Self {
        token.clone_into(&mut self.continue_token);
        self
    }

    /// Adds a cause, of a type such as `NamespaceTerminating`.
    #[must_use]
    pub fn because(mut self, reason: &str, message: &str, field: &str) -> Self {
        self.details
            .get_or_insert_default()
            .causes
            .push(cause(reason, message, field));
        self
    }

    /// 404: the object does not exist.
    pub fn not_found(resource: Subject, name: &str) -> Self {
        let message = format!("{} {} not found", qualified(resource), quoted(name));
        Self::new(404, "NotFound", message).about(resource, name)
    }

    /// 404: nothing is served at this path below `/api` or `/apis`.
    pub fn no_such_resource() -> Self {
        Self::generic(404, "NotFound", "the server could not find the requested resource")
    }

    /// 409: the object to create exists already.
    pub fn already_exists(resource: Subject, name: &str) -> Self {
        let message = format!("{} {} already exists", qualified(resource), quoted(name));
        Self::new(409, "AlreadyExists", message).about(resource, name)
    }

    /// Whether the object to create exists already: a webhook may refuse a write with the same code.
    pub fn is_taken(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// 409: the object's state does not allow the request, because of `why`.
    pub fn conflict(resource: Subject, name: &str, why: &str) -> Self {
        let (subject, name_shown) = (qualified(resource), quoted(name));
        let message = format!("Operation cannot be fulfilled on {subject} {name_shown}: {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 409: the resourceVersion in the request is not the object's.
    pub fn modified(resource: Subject, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// 422: the object is invalid. `kind` is its group and kind. As upstream, a repeated cause is listed once in the
    /// message and each time in the causes. If one of them is a `failure`, the answer is that one's 500.
    pub fn invalid(kind: Subject, name: &str, causes: &[Cause]) -> Self {
        if let Some(failure) = causes.iter().find(|cause| is_failure(cause)) {
            return Self::internal(&failure.message);
        }
        let mut said: Vec<String> = Vec::new();
        for it in causes.iter().map(Cause::to_string) {
            if !said.contains(&it) {
                said.push(it);
            }
        }
        let list = match said.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let message = format!("{} {} is invalid: {list}", qualified(kind), quoted(name));
        let mut status = Self::new(422, "Invalid", message).about(kind, name);
        let listed = causes.iter().map(|it| cause(it.reason, &it.message, &it.field));
        status.details.get_or_insert_default().causes.extend(listed);
        status
    }

    /// 400: the request is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 403: the user may not do this, or the object's state forbids it. The name is empty for a collection.
    pub fn forbidden(resource: Subject, name: &str, why: &str) -> Self {
        let message = match (resource.name, name) {
            ("", _) => format!("forbidden: {why}"),
            (_, "") => format!("{} is forbidden: {why}", qualified(resource)),
            _ => format!("{} {} is forbidden: {why}", qualified(resource), quoted(name)),
        };
        Self::new(403, "Forbidden", message).about(resource, name)
    }

    /// 401: invalid credentials.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 405: the path does not support the method.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::generic(405, "MethodNotAllowed", message)
    }

    /// 405: the resource does not support this action (`create`, `list`, …).
    pub fn not_supported(resource: Subject, action: &str) -> Self {
        let message = format!(
            "{action} is not supported on resources of kind {}",
            quoted(&qualified(resource))
        );
        Self::new(405, "MethodNotAllowed", message).about(resource, "")
    }

    /// 406: the answer is available in none of the media types that the client accepts.
    pub fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", offered.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// 415: the body's media type is not supported here.
    pub fn unsupported_media_type(understood: &[&str]) -> Self {
        let offered = understood.join(", ");
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {offered}");
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 410 with reason `Expired`: the requested revision or continue token is compacted.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 504: the request took too long.
    pub fn timeout(message: &str, retry_after: u32) -> Self {
        let mut status = Self::new(504, "Timeout", format!("Timeout: {message}")).retry_after(retry_after);
        status.details.get_or_insert_default();
        status
    }

    /// 504: the requested revision lies in the future.
    pub fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        Self::timeout(&message, 1).because("ResourceVersionTooLarge", "Too large resource version", "")
    }

    /// 413: the body is longer than this many bytes.
    pub fn request_entity_too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 429: the client should try again later.
    pub fn too_many_requests(message: impl Into<String>, retry_after: u32) -> Self {
        Self::new(429, "TooManyRequests", message).retry_after(retry_after)
    }

    /// 500: a bug, or a request to which upstream gives this answer.
    pub fn internal(message: &str) -> Self {
        let text = format!("Internal error occurred: {message}");
        Self::new(500, "InternalError", text).because("", message, "")
    }

    /// The number of objects that cannot be decoded at which a list ends (`maxCorruptObjErrsToAggregate`).
    pub const MOST_UNREADABLE: usize = 100;

    /// 500: objects of a list cannot be decoded; each with its message and its key in the storage.
    pub fn storage_read_error(resource: Subject, objects: &[(String, String)]) -> Self {
        let first = objects.first().map_or("", |(message, _)| message);
        let mut message = format!(
            "failed to read one or more {} from the storage: {first}",
            qualified(resource)
        );
        if objects.len() > 1 {
            message += &format!(" (and {} more)", objects.len() - 1);
        }
        let mut status = Self::new(500, "StorageReadError", message).about(resource, "list");
        let causes = objects
            .iter()
            .map(|(message, key)| cause("UnexpectedServerResponse", message, key));
        let ended = (objects.len() >= Self::MOST_UNREADABLE)
            .then(|| cause("FieldValueTooMany", "too many errors, the list is truncated", ""));
        status
            .details
            .get_or_insert_default()
            .causes
            .extend(causes.chain(ended));
        status
    }

    /// 501: kube-apiserver supports this and this server does not. Such requests are never approximated; the ledger has
    /// a row for each.
    pub fn not_implemented(feature: &str) -> Self {
        let message =
            format!("{feature} is not implemented by kubewright-apiserver: see docs/src/reference/fidelity.md");
        Self::new(501, "NotImplemented", message)
    }

    /// A Status whose details are present but empty.
    pub(crate) fn generic(code: u16, reason: &'static str, message: &str) -> Self {
        let mut status = Self::new(code, reason, message);
        status.details = Some(Box::default());
        status
    }

    /// The JSON object, which is also the object of an ERROR event.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = self.reason.as_ref().into();
        }
        if !self.continue_token.is_empty() {
            body["metadata"]["continue"] = self.continue_token.as_str().into();
        }
        if let Some(details) = &self.details {
            body["details"] = details.body();
        }
        body
    }
}

impl Details {
    /// The details as JSON, for failures and successes.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        let Self {
            name, group, uid, kind, ..
        } = self;
        let texts = [("name", name), ("group", group), ("uid", uid), ("kind", kind)];
        for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            body.insert(field.to_owned(), text.as_str().into());
        }
        if !self.causes.is_empty() {
            body.insert("causes".to_owned(), self.causes.clone().into());
        }
        if self.retry_after_seconds > 0 {
            body.insert("retryAfterSeconds".to_owned(), self.retry_after_seconds.into());
        }
        body.into()
    }
}

fn cause(reason: &str, message: &str, field: &str) -> Value {
    let parts = [("reason", reason), ("message", message), ("field", field)];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    parts
        .map(|(name, text)| (name.to_owned(), Value::from(text)))
        .collect::<Map<_, _>>()
        .into()
}

/// `deployments.apps`; the core group has no suffix. Upstream also prints the dot if only the kind is missing.
fn qualified(subject: Subject) -> String {
    let Subject { group, name } = subject;
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// A string in the notation of Go's `%q`.
fn quoted(text: &str) -> String {
    kubewright_machinery::go::quote(text)
}
