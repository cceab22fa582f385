//! Limits the pages of a list in bytes: the number of requested objects depends on the sizes of earlier ones, and a
//! response that is too large is not read to its end.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use http::{Request, Response, StatusCode, Uri, request::Parts};
use http_body_util::{BodyExt, Either, Full, combinators::MapErr};
use kube::{Client, Error, client::Body};
use tower::{BoxError, service_fn};

/// The target size of a page. Decoded it takes as much again, and twice as much while it is stored.
const WANTED: usize = 2 << 20;
/// The maximum size of a page with more than one object. etcd accepts objects of up to 1.5 MiB.
const MOST: usize = 8 << 20;

/// The number of objects to request next.
#[derive(Debug)]
struct Pages {
    next: usize,
    most: usize,
    /// The next list is read in one response: one in pages was too old for its next page.
    whole: bool,
}

impl Pages {
    fn new(most: u32) -> Self {
        let most = usize::try_from(most.max(1)).unwrap_or(usize::MAX);
        Self {
            next: most,
            most,
            whole: false,
        }
    }

    /// Records the size of a page for which `asked` objects were requested.
    fn took(&mut self, asked: usize, bytes: usize) {
        self.next = if bytes > WANTED {
            asked.saturating_mul(WANTED) / bytes
        } else if bytes < WANTED / 2 {
            // The objects of the next page may be larger.
            asked.saturating_mul(2)
        } else {
            asked
        }
        .clamp(1, self.most);
    }

    /// Records that the page for this many objects was not read to its end.
    fn was_too_large(&mut self, asked: usize) {
        self.next = (asked / 8).clamp(1, self.most);
    }
}

/// A page in one piece, or the response to any other request.
type Answer = Response<Either<Full<Bytes>, Passed>>;

/// A body that is passed on unchanged.
type Passed = MapErr<Body, fn(Error) -> BoxError>;

/// The same client, except for lists: they are read in pages of `most` objects, and fewer if objects are large.
pub(crate) fn paged(client: &Client, most: u32) -> Client {
    let (inner, pages) = (client.clone(), Arc::new(Mutex::new(Pages::new(most))));
    let service = service_fn(
        move |request: Request<Body>| -> BoxFuture<'static, Result<Answer, BoxError>> {
            let (client, pages) = (inner.clone(), pages.clone());
            if asks_for_page(request.uri()) {
                page(client, pages, request.into_parts().0).boxed()
            } else {
                async move { Ok(client.send(request).await?.map(pass)) }.boxed()
            }
        },
    );
    Client::new(service, client.default_namespace())
}

/// Whether the request is a list with a page size.
fn asks_for_page(uri: &Uri) -> bool {
    let pairs = || uri.query().unwrap_or_default().split('&');
    pairs().any(|pair| pair.starts_with("limit=")) && !pairs().any(|pair| pair.starts_with("watch="))
}

/// Requests a page until one is small enough. If the API server does not remember the version of the first page any more
/// (410), the next list is one without pages, as in client-go (`tools/pager`: `FullListIfExpired`), whatever its size.
async fn page(client: Client, pages: Arc<Mutex<Pages>>, asked: Parts) -> Result<Answer, BoxError> {
    let lock = || pages.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let later = is_later_page(&asked.uri);
        let (limit, whole) = {
            let pages = lock();
            (pages.next, pages.whole && !later)
        };
        let mut request = Request::from_parts(asked.clone(), Body::empty());
        *request.uri_mut() = with_limit(&asked.uri, (!whole).then_some(limit))?;
        let (parts, body) = client.send(request).await?.into_parts();
        if parts.status.is_success() {
            lock().whole = false;
        }
        if whole && parts.status.is_success() {
            return Ok(Response::from_parts(parts, pass(body)));
        }
        if !parts.status.is_success() {
            lock().whole |= later && parts.status == StatusCode::GONE;
            return Ok(Response::from_parts(parts, pass(body)));
        }
        let most = if limit > 1 { MOST } else { usize::MAX };
        if let Some(bytes) = read(body, most).await? {
            lock().took(limit, bytes.len());
            return Ok(Response::from_parts(parts, Either::Left(Full::new(bytes))));
        }
        lock().was_too_large(limit);
        tracing::debug!(
            path = asked.uri.path(),
            objects = limit,
            "a page is larger than {MOST} bytes"
        );
    }
}

/// The whole body, or `None` if it is longer than `most`.
async fn read(mut body: Body, most: usize) -> Result<Option<Bytes>, Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes.into()))
}

fn pass(body: Body) -> Either<Full<Bytes>, Passed> {
    Either::Right(body.map_err(source as fn(Error) -> BoxError))
}

/// The cause of a body's error, without kube's wrapper: the outer client wraps it again.
fn source(error: Error) -> BoxError {
    match error {
        Error::Service(source) => source,
        error => error.into(),
    }
}

/// Whether the request is for a page after the first.
fn is_later_page(uri: &Uri) -> bool {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.any(|pair| pair.strip_prefix("continue=").is_some_and(|token| !token.is_empty()))
}

/// The same list with this page size, or without pages.
fn with_limit(uri: &Uri, limit: Option<usize>) -> Result<Uri, http::Error> {
    let query = uri.query().unwrap_or_default();
    let others = query.split('&').filter(|pair| !pair.starts_with("limit="));
    let limit = limit.map(|limit| format!("limit={limit}"));
    let pairs: Vec<_> = others.map(str::to_owned).chain(limit).collect();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{}?{}", uri.path(), pairs.join("&")).parse()?);
    Ok(Uri::from_parts(parts)?)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::StreamExt;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{Api, api::ListParams};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_grows_in_steps_and_shrinks_at_once() {
        let mut pages = Pages::new(500);
        pages.took(500, 100 << 10);
        assert_eq!(pages.next, 500, "never more than the configured number");
        pages.was_too_large(500);
        assert_eq!(pages.next, 62);
        pages.took(62, 4 << 20);
        assert_eq!(pages.next, 31);
        pages.took(31, 3 << 19);
        assert_eq!(pages.next, 31);
        pages.took(31, 1 << 10);
        assert_eq!(pages.next, 62);
        pages.was_too_large(3);
        assert_eq!(pages.next, 1);
    }

    /// The number of objects in each requested page, and how many of its bytes were read.
    type Seen = Arc<Mutex<Vec<(usize, usize)>>>;

    /// A server of `count` ConfigMaps of `size` bytes each; and what was requested and read.
    fn server(count: usize, size: usize) -> (Client, Seen) {
        let seen = Seen::default();
        let answers = seen.clone();
        let service = service_fn(move |request: Request<Body>| {
            let query: Vec<_> = request.uri().query().unwrap().split('&').map(str::to_owned).collect();
            let number = |name| {
                let value = query.iter().find_map(|pair| pair.strip_prefix(name));
                value.map_or(0, |value| value.parse().unwrap())
            };
            let (limit, start): (usize, usize) = (number("limit="), number("continue="));
            let items: Vec<_> = (start..count.min(start + limit))
                .map(|n| {
                    format!(
                        r#"{{"metadata":{{"name":"m{n}"}},"data":{{"a":"{}"}}}}"#,
                        "x".repeat(size)
                    )
                })
                .collect();
            let next = start + items.len();
            let rest = if next < count { next.to_string() } else { String::new() };
            let end = json!({"resourceVersion": "9", "continue": rest});
            let text = format!(
                "{{\"kind\":\"List\",\"items\":[{}],\"metadata\":{end}}}",
                items.join(",")
            );
            let (place, read) = (answers.lock().unwrap().len(), answers.clone());
            answers.lock().unwrap().push((limit, 0));
            // In pieces, as from a connection.
            let pieces: Vec<_> = text.as_bytes().chunks(16 << 10).map(Bytes::copy_from_slice).collect();
            let pieces = futures::stream::iter(pieces).map(move |piece| {
                read.lock().unwrap()[place].1 += piece.len();
                Ok::<_, Infallible>(http_body::Frame::data(piece))
            });
            std::future::ready(Ok::<_, Infallible>(Response::new(http_body_util::StreamBody::new(
                pieces,
            ))))
        });
        (Client::new(service, "default"), seen)
    }

    /// Lists everything page by page, and returns the names in order.
    async fn list(client: &Client) -> Vec<String> {
        let (api, mut params) = (
            Api::<ConfigMap>::default_namespaced(client.clone()),
            ListParams::default().limit(500),
        );
        let mut names = Vec::new();
        loop {
            let page = api.list(&params).await.unwrap();
            names.extend(page.items.into_iter().filter_map(|map| map.metadata.name));
            match page.metadata.continue_.filter(|next| !next.is_empty()) {
                Some(next) => params = params.continue_token(&next),
                None => return names,
            }
        }
    }

    #[tokio::test]
    async fn a_page_is_read_up_to_the_limit_only() {
        let (client, seen) = server(60, 512 << 10);
        let names = list(&paged(&client, 500)).await;
        assert_eq!(names, (0..60).map(|n| format!("m{n}")).collect::<Vec<_>>());
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|(_, read)| *read <= MOST + (16 << 10)), "{seen:?}");
        assert!(
            seen.iter().filter(|(_, read)| *read > MOST).count() <= 3,
            "few pages are requested in vain: {seen:?}"
        );
    }

    #[tokio::test]
    async fn small_objects_are_listed_in_pages_of_the_configured_size() {
        let (client, seen) = server(1200, 100);
        assert_eq!(list(&paged(&client, 500)).await.len(), 1200);
        let limits: Vec<_> = seen.lock().unwrap().iter().map(|(limit, _)| *limit).collect();
        assert_eq!(limits, [500, 500, 500]);
    }

    #[tokio::test]
    async fn an_object_larger_than_a_page_is_read_alone() {
        let (client, _) = server(2, MOST + 1);
        assert_eq!(list(&paged(&client, 500)).await, ["m0", "m1"]);
    }
}
