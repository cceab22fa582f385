//! Requests below `/openapi`.

use super::OpenApi;
use crate::{
    discovery::Document,
    request::Query,
    response::{self, Answer},
    status::Status,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

const JSON: &str = "application/json";

impl OpenApi {
    /// Answers a path; `None` for paths that are not below `/openapi`. As upstream, every method reads.
    ///
    /// # Errors
    /// 501 for clients that accept only protobuf.
    pub(crate) fn answer(&self, path: &str, query: &Query, headers: &HeaderMap) -> Option<Result<Answer, Status>> {
        match path.strip_prefix("/openapi/")? {
            "v2" => Some(serve(&self.swagger(), headers, "no-cache, private")),
            // Upstream does not declare the index as JSON.
            "v3" => Some(Ok(response::text(200, self.index().to_string()))),
            rest => {
                let place = rest.strip_prefix("v3/")?;
                let Some(document) = self.document(place) else {
                    return Some(Ok(empty(404)));
                };
                Some(self.versioned(place, &document, query, headers))
            }
        }
    }

    /// Answers a request for a v3 document. With the present hash the document may be cached for ever; an outdated hash
    /// is redirected to the present one.
    fn versioned(
        &self,
        place: &str,
        document: &Document,
        query: &Query,
        headers: &HeaderMap,
    ) -> Result<Answer, Status> {
        let current = document.etag.trim_matches('"');
        match query.get("hash") {
            None | Some("") => serve(document, headers, "no-cache, private"),
            Some(hash) if hash == current => serve(document, headers, "public, immutable"),
            Some(_) => {
                let mut answer = empty(301);
                let location = format!("/openapi/v3/{place}?hash={current}");
                put(&mut answer, header::LOCATION, &location);
                put(&mut answer, header::ETAG, &document.etag);
                Ok(answer)
            }
        }
    }
}

fn serve(document: &Document, headers: &HeaderMap, caching: &str) -> Result<Answer, Status> {
    let mut answer = match wanted(headers) {
        Wanted::Json if has(document, headers) => empty(304),
        Wanted::Json => response::bytes(200, JSON, document.body.clone()),
        Wanted::Protobuf => return Err(Status::not_implemented("OpenAPI in protobuf")),
        Wanted::Other => return Ok(empty(406)),
    };
    put(&mut answer, header::ETAG, &document.etag);
    put(&mut answer, header::VARY, "Accept");
    put(&mut answer, header::CACHE_CONTROL, caching);
    Ok(answer)
}

enum Wanted {
    Json,
    Protobuf,
    Other,
}

fn wanted(headers: &HeaderMap) -> Wanted {
    let accepted: Vec<&str> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .collect();
    let mut types = accepted
        .iter()
        .flat_map(|it| it.split(','))
        .map(|it| it.split(';').next().unwrap_or_default().trim());
    if accepted.is_empty() || types.clone().any(|it| matches!(it, JSON | "application/*" | "*/*")) {
        Wanted::Json
    } else if types.any(|it| it.contains("proto-openapi")) {
        Wanted::Protobuf
    } else {
        Wanted::Other
    }
}

fn has(document: &Document, headers: &HeaderMap) -> bool {
    headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|it| it.as_bytes() == document.etag.as_bytes())
}

fn empty(code: u16) -> Answer {
    let mut answer = response::bytes(code, JSON, Bytes::new());
    answer.headers_mut().remove(header::CONTENT_TYPE);
    answer
}

fn put(answer: &mut Answer, name: header::HeaderName, value: &str) {
    // Always valid: hashes, group and version names, and constants.
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
