//! Paths of the operator's author on the metrics server, with the same authentication and authorization.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, StatusCode, Uri, header};
use tokio::{runtime::Handle, task::AbortHandle, time::timeout};
use tracing::error;

use super::{
    answer_body::AnswerBody,
    http1::{Answer, text},
    profile, scrape,
};
use crate::{
    error::{Error, Result},
    isolate::{Authored, isolated_future},
};

/// The time limit of a handler: as for a request of the runtime itself.
const LIMIT: Duration = Duration::from_secs(30);

/// A GET request for an author's path.
#[derive(Clone, Debug)]
pub struct RouteRequest {
    uri: Uri,
}

impl RouteRequest {
    /// The path, as it was registered.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// The value of a parameter of the query, as it was sent: percent-encoding is not decoded. The first one, if it is
    /// repeated; empty for one without `=`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.uri.query()?.split('&');
        let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// The response of an author's path.
#[derive(Clone, Debug)]
pub struct RouteResponse {
    status: u16,
    content_type: String,
    body: Bytes,
}

impl RouteResponse {
    /// A text of the type `text/plain`, with this status code.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into())
    }

    /// A JSON value, with the status code 200.
    pub fn json(value: &serde_json::Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// A body of this media type. If the status code (200 to 599) or the media type is invalid, the client gets a 500.
    pub fn new(status: u16, content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            content_type: content_type.into(),
            body: Bytes::from(body.into()),
        }
    }

    fn into_answer(self) -> Option<Answer> {
        let status = StatusCode::from_u16(self.status).ok()?;
        if !(200..600).contains(&self.status) {
            return None;
        }
        let mut answer = Answer::new(AnswerBody::of(self.body));
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(&self.content_type).ok()?);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Some(answer)
    }
}

type Handler = Authored<dyn Fn(RouteRequest) -> BoxFuture<'static, RouteResponse> + Send + Sync>;

/// An author's path: its handler, and the runtime that runs it.
#[derive(Clone)]
pub(super) struct Route {
    handler: Handler,
    runtime: Handle,
}

/// The author's paths. Clones share them.
#[derive(Clone, Default)]
pub struct Routes(Arc<Mutex<BTreeMap<String, Route>>>);

impl Routes {
    /// Adds a path, whose handler runs on the current runtime, not on the servers' thread.
    pub(crate) fn add<F>(&self, path: &str, handler: impl Fn(RouteRequest) -> F + Send + Sync + 'static) -> Result<()>
    where
        F: Future<Output = RouteResponse> + Send + 'static,
    {
        check(path)?;
        let runtime = Handle::try_current();
        let runtime = runtime.map_err(|error| Error::Setup(format!("the route `{path}` cannot be served: {error}")))?;
        let boxed = move |request: RouteRequest| -> BoxFuture<'static, RouteResponse> { Box::pin(handler(request)) };
        let handler: Handler = Authored::new(Arc::new(boxed));
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if routes.contains_key(path) {
            return Err(taken(path));
        }
        routes.insert(path.to_owned(), Route { handler, runtime });
        Ok(())
    }

    pub(super) fn get(&self, path: &str) -> Option<Route> {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        routes.get(path).cloned()
    }

    /// The paths.
    pub(crate) fn paths(&self) -> Vec<String> {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        routes.keys().cloned().collect()
    }
}

fn taken(path: &str) -> Error {
    Error::Setup(format!(
        "the path `{path}` is taken\n\nhint: choose another path for the route"
    ))
}

/// A path is matched as a whole, so it has one form: segments of unreserved characters.
fn check(path: &str) -> Result<()> {
    if path == scrape::PATH || path.starts_with(profile::PATHS) || format!("{path}/") == profile::PATHS {
        return Err(taken(path));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_segment = |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(plain);
    let segments = path
        .strip_prefix('/')
        .map(|path| path.strip_suffix('/').unwrap_or(path));
    if segments.is_some_and(|segments| segments.split('/').all(is_segment)) {
        return Ok(());
    }
    let path = path.escape_debug();
    let hint = "write it as `/debug/queue`: letters, digits, `-`, `.`, `_` and `~` between slashes";
    Err(Error::Setup(format!("`{path}` is no path of a route\n\nhint: {hint}")))
}

/// Ends the task of a client that has gone.
struct Cancelled(AbortHandle);

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Route {
    /// Calls the handler. A panic, a response that cannot be sent, or no response within [`LIMIT`], is a 500 or a 503.
    pub(super) async fn answer(self, uri: Uri) -> Answer {
        let path = uri.path().to_owned();
        let Self { handler, runtime } = self;
        let task = runtime.spawn(async move {
            match handler.call(|handler| handler(RouteRequest { uri })) {
                Ok(response) => isolated_future(response).await,
                Err(panic) => Err(panic),
            }
        });
        let _cancelled = Cancelled(task.abort_handle());
        let failed = |why: &str| {
            error!(path, "a route failed: {why}");
            text(StatusCode::INTERNAL_SERVER_ERROR, "the route failed\n")
        };
        match timeout(LIMIT, task).await {
            Ok(Ok(Ok(response))) => response
                .into_answer()
                .unwrap_or_else(|| failed("its response has an invalid status code or media type")),
            Ok(Ok(Err(panic))) => failed(&format!("it panicked: {panic}")),
            // The operator ends.
            Ok(Err(_)) => text(StatusCode::SERVICE_UNAVAILABLE, "the operator ends\n"),
            Err(_) => {
                error!(path, "a route did not respond within {LIMIT:?}");
                text(StatusCode::SERVICE_UNAVAILABLE, "the route did not respond in time\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_route_has_a_path_of_its_own_in_one_form() {
        let routes = Routes::default();
        let add = |path: &str| {
            let added = routes.add(path, |_| async { RouteResponse::text(200, "") });
            added.map_err(|error| error.to_string())
        };
        for path in ["/debug/queue", "/a", "/a/", "/debug/pprofile", "/metrics/more"] {
            assert_eq!(add(path), Ok(()), "{path}");
        }
        for path in ["/metrics", "/debug/pprof", "/debug/pprof/", "/debug/pprof/x", "/a"] {
            let error = add(path).unwrap_err();
            assert!(
                error.starts_with(&format!("the path `{path}` is taken\n\nhint: ")),
                "{error}"
            );
        }
        for path in [
            "", "/", "a", "//a", "/a//b", "/a/../b", "/.", "/a?b", "/a b", "/a%20b", "/ä",
        ] {
            let error = add(path).unwrap_err();
            assert!(error.contains("is no path of a route\n\nhint: "), "{path}: {error}");
        }
    }

    #[test]
    fn parameters_are_those_of_the_query() {
        let uri = Uri::from_static("/a?x=1&y&x=2&z=a%20b");
        let request = RouteRequest { uri };
        assert_eq!(request.path(), "/a");
        assert_eq!(
            ["x", "y", "z", "w"].map(|name| request.parameter(name)),
            [Some("1"), Some(""), Some("a%20b"), None]
        );
    }
}
