//! Whole requests, one after the other, to one server.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Clock, Controllers, Options};
use serde_json::Value;
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::parts;

/// The maximum of requests in one input; a line of equals signs separates them.
const MOST: usize = 6;

/// Requests as HTTP has them, `---` between two: a line of method and path, headers, an empty line, the body. Every answer
/// is an object or a Status that says what the HTTP status says, or one of the few texts, and no request causes a panic.
pub fn request(bytes: &[u8]) {
    let requests: Vec<Request<Full<Bytes>>> = parts::split(bytes, MOST).into_iter().filter_map(read).collect();
    if requests.is_empty() {
        return;
    }
    // Virtual time: a watch that waits for an hour is done at once.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(async {
        let server = ApiServer::new(Options {
            controllers: Controllers::NONE,
            clock: Clock::starting_at(UNIX_EPOCH + Duration::from_secs(1_767_323_045)),
            ..Options::default()
        });
        for request in requests {
            ask(&server, request).await;
        }
    });
}

/// A request that HTTP itself allows.
fn read(part: &[u8]) -> Option<Request<Full<Bytes>>> {
    const END: &[u8] = b"\n\n";
    let end = part.windows(2).position(|it| it == END);
    let (head, body) = end.map_or((part, &b""[..]), |at| (&part[..at], &part[at + 2..]));
    let mut lines = str::from_utf8(head).ok()?.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
    *request.uri_mut() = path.parse::<Uri>().ok().filter(|uri| uri.path().starts_with('/'))?;
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        let (name, value) = (HeaderName::try_from(name).ok()?, HeaderValue::from_str(value).ok()?);
        request.headers_mut().append(name, value);
    }
    Some(request)
}

async fn ask(server: &ApiServer, request: Request<Full<Bytes>>) {
    let (method, line) = (
        request.method().clone(),
        format!("{} {}", request.method(), request.uri()),
    );
    let Ok(answer) = server.service().oneshot(request).await;
    let (head, body) = answer.into_parts();
    // A watch may go on for as long as it likes.
    let Ok(body) = timeout(Duration::from_secs(1), body.collect()).await else {
        return;
    };
    let Ok(body) = body;
    let body = body.to_bytes();
    let code = head.status.as_u16();
    let shown = String::from_utf8_lossy(&body).into_owned();
    // Other answers may quote these words from the request.
    assert!(
        code != 500 || !shown.contains("the request caused a panic"),
        "{line}: {shown}"
    );
    let media_type = head
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if method == Method::HEAD || !media_type.starts_with("application/json") {
        return;
    }
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&body).into_iter().collect();
    let values = values.unwrap_or_else(|why| panic!("{line}: {why}: {shown}"));
    if code >= 400 {
        assert_eq!(values.len(), 1, "{line}: {shown}");
        assert_eq!(
            (&values[0]["kind"], &values[0]["code"]),
            (&"Status".into(), &code.into()),
            "{line}: {shown}"
        );
    }
}
