//! Discovery: `/api`, `/apis` and the paths below them that are not resources.

use http::{HeaderValue, Method, header, request::Parts};
use serde_json::Value;

use super::{ApiServer, incoming::Incoming};
use crate::{
    discovery::{AGGREGATED, Document, Root},
    request::accept,
    response::{self, Answer},
    status::Status,
};

/// Answers a discovery path; `None` for other paths.
pub fn answer(server: &ApiServer, request: &Incoming<'_>) -> Option<Answer> {
    let Incoming {
        parts, info, format, ..
    } = *request;
    if !info.is_whole {
        return None;
    }
    let segments: Vec<&str> = info.path.trim_matches('/').split('/').collect();
    let discovery = &server.shared.discovery;
    let found = match segments.as_slice() {
        ["api"] => return Some(root(server, request, Root::Api)),
        ["apis"] => return Some(root(server, request, Root::Apis)),
        ["api", version] => discovery.version("", version),
        ["apis", group] => discovery.group(group),
        ["apis", group, version] => discovery.version(group, version),
        _ => return None,
    };
    let is_built_in = |group: &str| server.shared.core().catalogue.snapshot().is_built_in(group);
    match (found, segments.as_slice()) {
        // Upstream, the aggregator answers these paths, whatever the method.
        (Some(object), ["apis", _]) => Some(document(request, &object, false)),
        (Some(_), _) if parts.method != Method::GET => Some(response::failure(&Status::method_not_allowed(), format)),
        (Some(object), ["api", ..]) => Some(document(request, &object, true)),
        (Some(object), [_, group, ..]) => Some(document(request, &object, is_built_in(group))),
        (None, ["api", _]) => Some(response::failure(&Status::no_such_resource(), format)),
        (None, ["apis", group, _]) if is_built_in(group) => {
            Some(response::failure(&Status::no_such_resource(), format))
        }
        _ => None,
    }
}

fn root(server: &ApiServer, request: &Incoming<'_>, root: Root) -> Answer {
    let Incoming { parts, format, .. } = *request;
    let is_routed = matches!(root, Root::Api);
    if is_routed && parts.method != Method::GET {
        return response::failure(&Status::method_not_allowed(), format);
    }
    if accept::wants_aggregated(&parts.headers) {
        return aggregated(server.shared.discovery.aggregated(root), parts);
    }
    let object = server.shared.discovery.root(root, &server.shared.address);
    document(request, &object, is_routed)
}

/// The answer with a document, if the client accepts it.
fn document(request: &Incoming<'_>, object: &Value, is_routed: bool) -> Answer {
    match accept::check_document(&request.parts.headers, is_routed) {
        Ok(()) => response::object(200, object, request.format),
        Err(status) => response::failure(&status, request.format),
    }
}

/// Answers 304 to a client that already has the document.
fn aggregated(document: Document, parts: &Parts) -> Answer {
    let has_it = parts
        .headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|it| it.as_bytes() == document.etag.as_bytes());
    let mut answer = match has_it {
        true => response::bytes(304, AGGREGATED, ""),
        false => response::bytes(200, AGGREGATED, document.body),
    };
    let headers = answer.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    if let Ok(etag) = HeaderValue::from_str(&document.etag) {
        headers.insert(header::ETAG, etag);
    }
    answer
}
