//! Requests below `/openapi`.

use super::{Document, OpenApi};
use crate::{
    request::{Query, accept},
    response::{self, Answer},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

const JSON: &str = "application/json";

impl OpenApi {
    /// Answers a path; `None` for paths that are not below `/openapi`. As upstream, every method reads.
    pub(crate) fn answer(&self, path: &str, query: &Query, headers: &HeaderMap) -> Option<Answer> {
        match path.strip_prefix("/openapi/")? {
            "v2" => Some(serve(&self.swagger(), headers, "no-cache, private")),
            // Upstream does not declare the index as JSON.
            "v3" => Some(response::text(200, self.index().to_string())),
            rest => {
                let place = rest.strip_prefix("v3/")?;
                let Some(document) = self.document(place) else {
                    return Some(empty(404));
                };
                Some(self.versioned(place, &document, query, headers))
            }
        }
    }

    /// Answers a request for a v3 document. With the present hash the document may be cached for ever; an outdated hash
    /// is redirected to the present one.
    fn versioned(&self, place: &str, document: &Document, query: &Query, headers: &HeaderMap) -> Answer {
        let current = document.etag.trim_matches('"');
        match query.get("hash") {
            None | Some("") => serve(document, headers, "no-cache, private"),
            Some(hash) if hash == current => serve(document, headers, "public, immutable"),
            Some(_) => {
                let mut answer = empty(301);
                let location = format!("/openapi/v3/{place}?hash={current}");
                put(&mut answer, header::LOCATION, &location);
                put(&mut answer, header::ETAG, &document.etag);
                answer
            }
        }
    }
}

fn serve(document: &Document, headers: &HeaderMap, caching: &str) -> Answer {
    let [sent, formerly] = document.version.media_types();
    let mut answer = match accept::preferred(headers, &[JSON, sent, formerly]) {
        None => return empty(406),
        Some(_) if has(document, headers) => empty(304),
        Some(JSON) => response::bytes(200, JSON, document.json.clone()),
        Some(_) => response::bytes(200, sent, document.protobuf()),
    };
    put(&mut answer, header::ETAG, &document.etag);
    put(&mut answer, header::VARY, "Accept");
    put(&mut answer, header::CACHE_CONTROL, caching);
    answer
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::Catalogue, kinds};

    const V2: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

    fn answer(accept: &str, known: &str) -> Answer {
        let catalogue = Catalogue::default();
        catalogue.add_built_in(kinds::resources());
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        headers.insert(header::IF_NONE_MATCH, known.parse().unwrap());
        let openapi = OpenApi::new(catalogue);
        openapi.answer("/openapi/v2", &Query::default(), &headers).unwrap()
    }

    #[test]
    fn the_preferred_form_of_a_document_is_sent() {
        let content_type = |accept: &str| answer(accept, "").headers()[header::CONTENT_TYPE].clone();
        let protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        assert_eq!(content_type(V2), protobuf);
        assert_eq!(content_type(&format!("{JSON};q=0.5, {protobuf}")), protobuf);
        assert_eq!(content_type(&format!("{V2};q=0.5, {JSON}")), JSON);
        assert_eq!(content_type("*/*"), JSON);
        assert_eq!(answer("text/html", "").status(), 406);
        let document = answer(V2, "");
        assert!(document.body().whole().unwrap().starts_with(b"\n\x032.0\x12"));
    }

    #[test]
    fn both_forms_of_a_document_have_the_same_etag() {
        let etag = answer(JSON, "").headers()[header::ETAG].clone();
        assert_eq!(answer(V2, etag.to_str().unwrap()).status(), 304);
    }
}
