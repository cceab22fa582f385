//! `/metrics`, for all clients or for authorized ones.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use http::{HeaderValue, Method, StatusCode, header};

use super::{
    auth::{Gatekeeper, Verdict},
    http1::{Answer, Handler, Question, text},
};
use crate::metrics::Metrics;

/// The only path.
pub(super) const PATH: &str = "/metrics";
/// The content type of Prometheus' text format.
const FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The metrics of the process.
pub(super) struct Scrape {
    metrics: Metrics,
    gatekeeper: Option<Gatekeeper>,
}

impl Scrape {
    /// Serves all clients.
    pub(super) fn open(metrics: Metrics) -> Self {
        Self {
            metrics,
            gatekeeper: None,
        }
    }

    /// Serves the clients that the gatekeeper allows.
    pub(super) fn guarded(metrics: Metrics, gatekeeper: Gatekeeper) -> Self {
        Self {
            metrics,
            gatekeeper: Some(gatekeeper),
        }
    }

    async fn respond(&self, question: Question) -> Answer {
        if let Some(gatekeeper) = &self.gatekeeper {
            // First of all: an unauthorized client does not even learn which paths exist.
            match gatekeeper.ask(&question.headers, question.peer).await {
                Verdict::Allowed => {}
                Verdict::Unknown => {
                    let mut answer = text(StatusCode::UNAUTHORIZED, "Unauthorized\n");
                    answer
                        .headers_mut()
                        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                    return answer;
                }
                Verdict::Denied => return text(StatusCode::FORBIDDEN, "Forbidden\n"),
                Verdict::Failed => return text(StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n"),
            }
        }
        if question.uri.path() != PATH {
            return text(StatusCode::NOT_FOUND, "404 page not found\n");
        }
        if question.method != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
        }
        let mut answer = text(StatusCode::OK, self.metrics.encode());
        answer.headers_mut().insert(header::CONTENT_TYPE, FORMAT);
        answer
    }
}

impl Handler for Scrape {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer> {
        async move { self.respond(question).await }.boxed()
    }
}
