//! The metrics server: `/metrics`, the author's routes and CPU profiles, for all clients or for authorized ones.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use http::{HeaderValue, Method, StatusCode, header};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::{
    auth::{Gatekeeper, Verdict},
    http1::{Answer, Handler, Question, text},
    profile::{self, Profiles},
    routes::{Route, Routes},
};
use crate::metrics::Metrics;

/// The path of the metrics.
pub(super) const PATH: &str = "/metrics";
/// The content type of Prometheus' text format.
const FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The metrics of the process, and what is served beside them.
pub(super) struct Scrape {
    metrics: Metrics,
    routes: Routes,
    profiles: Option<Profiles>,
    gatekeeper: Option<Gatekeeper>,
    /// Held while the metrics are encoded: one text at a time.
    turn: Mutex<()>,
}

/// The page at a path.
enum ScrapePage<'a> {
    Metrics,
    Route(Route),
    Profile(&'a Profiles),
}

impl Scrape {
    /// Serves all clients.
    pub(super) fn new(metrics: Metrics, routes: Routes, profiles: Option<Profiles>) -> Self {
        Self {
            metrics,
            routes,
            profiles,
            gatekeeper: None,
            turn: Mutex::default(),
        }
    }

    /// Serves the clients that the gatekeeper allows.
    pub(super) fn guarded(mut self, gatekeeper: Gatekeeper) -> Self {
        self.gatekeeper = Some(gatekeeper);
        self
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn page(&self, path: &str) -> Option<ScrapePage<'_>> {
        if path == PATH {
            return Some(ScrapePage::Metrics);
        }
        match &self.profiles {
            Some(profiles) if path == profile::PATH => Some(ScrapePage::Profile(profiles)),
            _ => self.routes.get(path).map(ScrapePage::Route),
        }
    }

    async fn respond(&self, question: Question) -> Answer {
        let page = self.page(question.uri.path());
        // First of all: an unauthorized client does not even learn which paths exist.
        if let Some(refused) = self.refused(&question, page.is_some()).await {
            return refused;
        }
        let Some(page) = page else {
            return text(StatusCode::NOT_FOUND, "404 page not found\n");
        };
        if question.method != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
        }
        match page {
            ScrapePage::Route(route) => route.answer(question.uri).await,
            ScrapePage::Profile(profiles) => profiles.answer(question.uri.query().unwrap_or_default()).await,
            ScrapePage::Metrics => self.encoded().await,
        }
    }

    /// All metrics, encoded on a thread of its own: probes have to be answered meanwhile.
    async fn encoded(&self) -> Answer {
        let _turn = self.turn.lock().await;
        let metrics = self.metrics.clone();
        match spawn_blocking(move || metrics.encode()).await {
            Ok(encoded) => {
                let mut answer = text(StatusCode::OK, encoded);
                answer.headers_mut().insert(header::CONTENT_TYPE, FORMAT);
                answer
            }
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("no metrics: {error}\n")),
        }
    }

    /// The response for a client that may not `get` this URL. For a path that does not exist, the client has to be
    /// allowed to read the metrics.
    async fn refused(&self, question: &Question, exists: bool) -> Option<Answer> {
        let path = if exists { question.uri.path() } else { PATH };
        let verdict = self
            .gatekeeper
            .as_ref()?
            .ask(path, &question.headers, question.peer)
            .await;
        match verdict {
            Verdict::Allowed => None,
            Verdict::Unknown => {
                let mut answer = text(StatusCode::UNAUTHORIZED, "Unauthorized\n");
                let headers = answer.headers_mut();
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                Some(answer)
            }
            Verdict::Denied => Some(text(StatusCode::FORBIDDEN, "Forbidden\n")),
            Verdict::Failed => Some(text(StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n")),
        }
    }
}

impl Handler for Scrape {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer> {
        async move { self.respond(question).await }.boxed()
    }
}
