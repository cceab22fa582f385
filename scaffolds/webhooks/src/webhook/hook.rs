//! One webhook at work: reads a request, lets the author's code decide in time, and writes the answer.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use http::StatusCode;
use kubewright_runtime::{
    AnyObject, Counter, Metrics,
    component::{
        http::{AnswerBody, Share},
        isolated_future,
    },
};
use serde_json::Value;
use tokio::time::timeout;
use tracing::{debug, error, warn};

use super::{
    Admission,
    admission::Shared,
    decide::{Decides, Decision},
    envelope::undecodable,
    review::{Answer, Request},
    verdict::{Verdict, failure},
};
use crate::{
    scope::{FailurePolicy, Operation},
    server::Endpoint,
};

/// Of the time that the API server waits, what is left for the way of the answer: a tenth, but at least this.
const MARGIN: Duration = Duration::from_millis(100);

/// A webhook for objects of kind `K`.
pub(super) struct Hook<K, A> {
    /// As in the configuration.
    name: String,
    path: String,
    code: A,
    shared: Arc<Shared>,
    counters: Counters,
    kind: PhantomData<fn() -> K>,
}

/// Counters of panics, denied requests and undecodable requests.
struct Counters {
    panics: Counter,
    denied: Counter,
    undecodable: Counter,
}

impl Counters {
    fn new(metrics: &Metrics, path: &str) -> Self {
        let labels = [("webhook", path)];
        let panics = "controller_runtime_webhook_panics_total";
        let denied = "kubewright_webhook_denied_total";
        let undecodable = "kubewright_webhook_undecodable_total";
        Self {
            panics: metrics.counter(panics, "Panics of webhooks.", &[]),
            denied: metrics.counter(denied, "Requests that webhooks refused.", &labels),
            undecodable: metrics.counter(undecodable, "Objects that did not fit the type of their kind.", &labels),
        }
    }
}

impl<K: AnyObject, A: Decides<K>> Hook<K, A> {
    pub(super) fn new([name, path]: [String; 2], code: A, shared: Shared, metrics: &Metrics) -> Self {
        Self {
            counters: Counters::new(metrics, &path),
            name,
            path,
            code,
            shared: Arc::new(shared),
            kind: PhantomData,
        }
    }

    async fn respond(&self, body: Bytes, limit: Duration) -> (StatusCode, Value) {
        let request = match Request::read(&body) {
            Ok(request) => request,
            Err(why) => return (StatusCode::BAD_REQUEST, failure(400, "BadRequest", why)),
        };
        // It may be 7 MiB.
        drop(body);
        let cx = Admission::new(request, self.shared.clone());
        if self.shared.spares && cx.request().only_lets_an_object_go() {
            // The same rule as the API server's match condition, for configurations without it, such as OLM's.
            let allowed = self.answer(&cx, Decision::Verdict(Verdict::allowed()));
            return (StatusCode::OK, allowed.review(cx.uid()));
        }
        match self.decide(&cx, limit).await {
            Ok(decision) => (StatusCode::OK, self.answer(&cx, decision).review(cx.uid())),
            // Not an answer: whether the request goes on is the failure policy's decision.
            Err(why) => {
                error!(
                    webhook = self.name,
                    name = cx.name(),
                    namespace = cx.namespace(),
                    "{why}"
                );
                (StatusCode::INTERNAL_SERVER_ERROR, failure(500, "InternalError", why))
            }
        }
    }

    async fn decide(&self, cx: &Admission, limit: Duration) -> Result<Decision, String> {
        let limit = limit.saturating_sub(MARGIN.max(limit / 10));
        let decided = isolated_future(async {
            self.shared.caches.synced().await;
            self.code.decide(cx).await
        });
        match timeout(limit, decided).await {
            Ok(Ok(Ok(decision))) => Ok(decision),
            Ok(Ok(Err(error))) => Err(error.to_string()),
            Ok(Err(panic)) => {
                self.counters.panics.inc();
                Err(format!("the webhook panicked: {panic}"))
            }
            Err(_) => Err(format!("the webhook did not decide within {limit:?}")),
        }
    }

    fn answer(&self, cx: &Admission, decision: Decision) -> Answer {
        let (mut refusal, mut patch) = (None, Vec::new());
        match decision {
            Decision::Verdict(verdict) => refusal = verdict.status(&cx.request().subject()),
            Decision::Patch(operations) => patch = operations,
            Decision::Undecodable(why) => {
                self.counters.undecodable.inc();
                let [kind, ..] = cx.request().subject();
                let why = format!(
                    "the {kind} does not fit its type, so {} cannot check it: {}",
                    self.name,
                    undecodable(&why)
                );
                // Changes that are spared all checks have been allowed before this.
                let goes_anyway = cx.operation() == Operation::Delete || cx.request().only_removes_finalizers();
                if goes_anyway || self.shared.failure_policy == FailurePolicy::Ignore {
                    warn!(webhook = self.name, name = cx.name(), "{why}");
                    cx.warn(why);
                } else {
                    refusal = Some(failure(400, "BadRequest", why));
                }
            }
        }
        if let Some(status) = &refusal {
            self.counters.denied.inc();
            debug!(webhook = self.name, name = cx.name(), "refused: {}", status["message"]);
        }
        let said = cx.take_said();
        Answer { refusal, patch, said }
    }
}

impl<K: AnyObject, A: Decides<K>> Endpoint for Hook<K, A> {
    fn path(&self) -> &str {
        &self.path
    }

    fn answer(
        self: Arc<Self>,
        body: Bytes,
        limit: Duration,
        _: Arc<Share>,
    ) -> BoxFuture<'static, (StatusCode, AnswerBody)> {
        async move {
            let (code, answer) = self.respond(body, limit).await;
            (code, AnswerBody::of(answer.to_string()))
        }
        .boxed()
    }
}
