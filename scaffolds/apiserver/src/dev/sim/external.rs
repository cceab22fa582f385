//! The simulated counterpart of another system, such as an HTTP service: its contents, and its answers. Requests to it meet
//! the faults of a connection.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use serde_json::Value;

use super::{
    state::{self, Live, State},
    world::World,
};

/// Contents of another system, by name or path.
pub type SystemContents = BTreeMap<String, Value>;

type AnswerOfSystem = dyn Fn(&mut SystemContents, &Request<Bytes>) -> Response<Bytes> + Send + Sync;

/// Another system.
#[derive(Clone)]
pub(super) struct ExternalSystem {
    pub name: String,
    answer: Arc<AnswerOfSystem>,
}

impl ExternalSystem {
    pub(super) fn new(
        name: &str,
        answer: impl Fn(&mut SystemContents, &Request<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            answer: Arc::new(answer),
        }
    }

    /// The answer to a request, and whether it has changed what the system holds.
    pub(super) fn answer(&self, world: &World, request: &Request<Bytes>) -> (Response<Bytes>, bool) {
        let mut systems = world.systems.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = systems.entry(self.name.clone()).or_default();
        let before = contents.clone();
        let answer = (self.answer)(contents, request);
        (answer, *contents != before)
    }
}

/// Contents of all systems, in the form of compared objects.
pub(super) fn held(world: &World, lives: &[Live]) -> State {
    let systems = world.systems.lock().unwrap_or_else(PoisonError::into_inner);
    let names = |(system, contents): (&String, &SystemContents)| -> Vec<_> {
        let named = contents
            .iter()
            .map(|(name, value)| (format!("{system} {name}"), value.clone()));
        named.collect()
    };
    state::without_uids(systems.iter().flat_map(names), lives)
}

/// The answers of a service that keeps a JSON document at each path: `PUT` creates or replaces one, `POST` creates one, `GET`
/// reads one, and `DELETE` deletes one.
pub fn documents(contents: &mut SystemContents, request: &Request<Bytes>) -> Response<Bytes> {
    let path = request.uri().path();
    let present = contents.get(path).cloned();
    let exists = present.is_some();
    let sent = serde_json::from_slice::<Value>(request.body());
    let (status, body) = match (request.method(), sent) {
        (&Method::PUT | &Method::POST, Err(error)) => (StatusCode::BAD_REQUEST, error.to_string()),
        (&Method::POST, Ok(_)) if exists => (StatusCode::CONFLICT, String::new()),
        (&Method::PUT | &Method::POST, Ok(document)) => {
            let text = document.to_string();
            contents.insert(path.to_owned(), document);
            (if exists { StatusCode::OK } else { StatusCode::CREATED }, text)
        }
        (&Method::GET | &Method::DELETE, _) if !exists => (StatusCode::NOT_FOUND, String::new()),
        (&Method::GET, _) => (StatusCode::OK, present.unwrap_or_default().to_string()),
        (&Method::DELETE, _) => {
            contents.remove(path);
            (StatusCode::NO_CONTENT, String::new())
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
    };
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_created_replaced_read_and_deleted() {
        let mut contents = SystemContents::new();
        for (method, body, code, left) in [
            ("GET", "", 404, None),
            ("DELETE", "", 404, None),
            ("POST", "{", 400, None),
            ("POST", "1", 201, Some(1)),
            ("POST", "2", 409, Some(1)),
            ("PUT", "2", 200, Some(2)),
            ("GET", "", 200, Some(2)),
            ("PATCH", "3", 405, Some(2)),
            ("DELETE", "", 204, None),
            ("PUT", "3", 201, Some(3)),
        ] {
            let request = Request::builder()
                .method(method)
                .uri("http://dns/records/a")
                .body(body.into());
            let answer = documents(&mut contents, &request.unwrap());
            assert_eq!(answer.status().as_u16(), code, "{method} {body}");
            assert_eq!(
                contents.get("/records/a").and_then(Value::as_i64),
                left,
                "{method} {body}"
            );
        }
    }
}
