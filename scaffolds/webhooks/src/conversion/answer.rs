//! The webhook of one kind: converts the objects of a request in parallel and in time, and answers.

use std::{
    ops::Range,
    sync::Arc,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, try_join_all};
use http::StatusCode;
use kubewright_runtime::{
    Counter, Metrics,
    component::http::{AnswerBody, Share},
};
use serde_json::json;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};
use tracing::error;

use super::{
    each::{Converted, ObjectConverter, TargetVersion},
    failure::Failures,
    review::{self, ConversionRequest},
};
use crate::server::Endpoint;

/// The minimum of objects for a thread: fewer objects take less time than its start.
const SHARE: usize = 32;
/// The longest request in bytes, if the container has memory for it. An API server may send the objects of a list together,
/// and each may have 1.5 MiB (etcd).
const LONGEST: usize = 256 << 20;

/// Answers requests for the conversion of one kind.
pub(super) struct Conversion {
    path: String,
    each: Arc<ObjectConverter>,
    /// One permit for each thread that may convert: others wait, and start nothing once nobody waits for them.
    threads: Arc<Semaphore>,
    panics: Counter,
    failures: Counter,
}

impl Conversion {
    pub(super) fn new(path: String, each: ObjectConverter, metrics: &Metrics) -> Self {
        let panics = "controller_runtime_conversion_webhook_panics_total";
        let failures = "kubewright_conversion_failures_total";
        let labels = [("webhook", path.as_str())];
        Self {
            panics: metrics.counter(panics, "Panics of conversions.", &[]),
            failures: metrics.counter(failures, "Objects that could not be converted.", &labels),
            path,
            each: Arc::new(each),
            threads: Arc::new(Semaphore::new(threads())),
        }
    }

    async fn respond(&self, body: Bytes, limit: Duration, share: Arc<Share>) -> (StatusCode, AnswerBody) {
        let limit = limit - limit / 10;
        let deadline = Instant::now() + limit;
        let (uid, goal, parts) = {
            let Ok(_memory) = timeout(limit, share.scratch(body.len())).await else {
                let why = AnswerBody::of("other requests use all of the memory\n");
                return (StatusCode::SERVICE_UNAVAILABLE, why);
            };
            let request = match ConversionRequest::read(&body) {
                Ok(request) => request,
                Err(why) => {
                    let status =
                        json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": why, "code": 400});
                    return (StatusCode::BAD_REQUEST, AnswerBody::of(status.to_string()));
                }
            };
            let threads = threads().min(request.count().div_ceil(SHARE)).max(1);
            let goal = TargetVersion {
                is_alone: request.count() == 1,
                deadline,
                desired: request.desired.clone(),
                share: share.clone(),
            };
            (request.uid.clone(), goal, request.parts(&body, threads))
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let converted = timeout(left, self.convert(body, parts, goal)).await;
        let converted = converted.unwrap_or_else(|_| Err(format!("the conversion did not end within {limit:?}")));
        let answer = match converted {
            Ok(converted) => {
                let ([beginning, end], (mut list, memory)) = (review::around(&uid), converted.into_list());
                list.insert(0, beginning.into());
                list.push(end.into());
                AnswerBody::reserved(list, memory)
            }
            Err(why) => AnswerBody::of(review::failed(&uid, &why)),
        };
        (StatusCode::OK, answer)
    }

    /// All objects, in their order. The functions run on threads of their own: one that does not return blocks no other
    /// request.
    async fn convert(&self, body: Bytes, parts: Vec<Range<usize>>, goal: TargetVersion) -> Result<Converted, String> {
        let parts = parts.into_iter().map(|part| async {
            let turn = goal.share.turn().await;
            let thread = Arc::clone(&self.threads).acquire_owned().await;
            let (each, goal, body) = (self.each.clone(), goal.clone(), body.clone());
            let converted = spawn_blocking(move || {
                let _thread = (thread, turn);
                // It is part of a text.
                each.convert(&String::from_utf8_lossy(&body[part]), &goal)
            });
            converted.await
        });
        let mut all = Converted::default();
        for converted in try_join_all(parts).await.map_err(|error| error.to_string())? {
            all.extend(converted);
        }
        self.count(&all.failures);
        match all.failures.refusal() {
            None => Ok(all),
            Some(why) => Err(why),
        }
    }

    /// Counts the failures, and logs each of the first ones.
    fn count(&self, failures: &Failures) {
        (0..failures.count).for_each(|_| self.failures.inc());
        (0..failures.panics).for_each(|_| self.panics.inc());
        for failure in &failures.named {
            error!(webhook = self.path, "an object cannot be converted: {failure}");
        }
        let more = failures.count - failures.named.len();
        if more > 0 {
            error!(
                webhook = self.path,
                "{more} more objects of this request cannot be converted"
            );
        }
    }
}

fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl Endpoint for Conversion {
    fn path(&self) -> &str {
        &self.path
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn copies(&self) -> usize {
        0
    }

    fn answer(
        self: Arc<Self>,
        body: Bytes,
        limit: Duration,
        share: Arc<Share>,
    ) -> BoxFuture<'static, (StatusCode, AnswerBody)> {
        async move { self.respond(body, limit, share).await }.boxed()
    }
}
