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
use serde_json::json;
use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking, time::timeout};
use tracing::error;

use super::{
    convert::Converter,
    failure::Failure,
    marks::Shell,
    review::{self, Request},
};
use crate::{
    metrics::{Counter, Metrics},
    server::{Budget, Endpoint},
};

/// How many objects a thread converts at least: fewer take less time than starting it.
const SHARE: usize = 32;
/// How many objects an error message names.
const NAMED: usize = 3;
/// The longest request in bytes, if the container has memory for it. An API server may send the objects of a list together,
/// and each may have 1.5 MiB (etcd).
const LONGEST: usize = 256 << 20;
/// How many copies of a decoded object exist at a time while it is converted: the object, the argument and the result of both
/// functions, and what is restored.
const COPIES: usize = 6;

/// Answers requests for the conversion of one kind.
pub(super) struct Conversion {
    path: String,
    converter: Arc<Converter>,
    /// One permit for each thread that may convert: others wait, and start nothing once nobody waits for them.
    threads: Arc<Semaphore>,
    panics: Counter,
    failures: Counter,
}

/// The version that a request demands, and the end of the time for it.
struct Goal {
    desired: String,
    deadline: Instant,
}

/// What came of some objects: each of them in the desired version, and the failures.
#[derive(Default)]
struct Converted {
    objects: Vec<String>,
    /// With `true` if the object is in `objects` nevertheless, without what could not be converted.
    failures: Vec<(Failure, bool)>,
}

impl Conversion {
    pub(super) fn new(path: String, converter: Converter, metrics: &Metrics) -> Self {
        let panics = "controller_runtime_conversion_webhook_panics_total";
        let failures = "kubewright_conversion_failures_total";
        let labels = [("webhook", path.as_str())];
        Self {
            panics: metrics.counter(panics, "Panics of conversions.", &[]),
            failures: metrics.counter(failures, "Objects that could not be converted.", &labels),
            path,
            converter: Arc::new(converter),
            threads: Arc::new(Semaphore::new(threads())),
        }
    }

    async fn respond(&self, body: Bytes, limit: Duration) -> (StatusCode, String) {
        let (uid, desired, places) = match Request::read(&body) {
            Ok(request) => {
                let places = request.places(&body);
                (request.uid, request.desired, places)
            }
            Err(why) => {
                let status =
                    json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": why, "code": 400});
                return (StatusCode::BAD_REQUEST, status.to_string());
            }
        };
        let limit = limit - limit / 10;
        let converted = timeout(
            limit,
            self.convert(
                body,
                places,
                Goal {
                    desired,
                    deadline: Instant::now() + limit,
                },
            ),
        )
        .await;
        let converted = converted.unwrap_or_else(|_| Err(format!("the conversion did not end within {limit:?}")));
        if let Err(why) = &converted {
            error!(webhook = self.path, "{why}");
        }
        (StatusCode::OK, review::answer(&uid, converted))
    }

    /// All objects, in their order. The functions run on threads of their own: one that does not return blocks no other
    /// request.
    async fn convert(
        &self,
        body: Bytes,
        places: Vec<Range<usize>>,
        Goal { desired, deadline }: Goal,
    ) -> Result<Vec<String>, String> {
        let share = places.len().div_ceil(threads()).max(SHARE);
        let shares = places.chunks(share).map(|places| async {
            let thread = Arc::clone(&self.threads).acquire_owned().await;
            let (converter, desired) = (self.converter.clone(), desired.clone());
            let (body, places) = (body.clone(), places.to_vec());
            let converted = spawn_blocking(move || {
                let _thread = thread;
                let mut converted = Converted::default();
                for place in places {
                    if Instant::now() > deadline {
                        let why = "nobody waits for the answer any more".to_owned();
                        converted.failures.push((why.into(), false));
                        break;
                    }
                    // It is part of a text.
                    let text = String::from_utf8_lossy(&body[place]);
                    one(&converter, &text, &desired, &mut converted);
                }
                converted
            });
            converted.await
        });
        let (mut objects, mut failures) = (Vec::new(), Vec::new());
        for converted in try_join_all(shares).await.map_err(|error| error.to_string())? {
            objects.extend(converted.objects);
            failures.extend(converted.failures);
        }
        if failures.is_empty() {
            return Ok(objects);
        }
        let is_whole = failures.iter().all(|(_, is_shown)| *is_shown);
        let why = self.count(failures.iter().map(|(failure, _)| failure).collect());
        if !is_whole {
            return Err(why);
        }
        error!(webhook = self.path, "shown without their fields: {why}");
        Ok(objects)
    }

    /// Counts the failures, and names the first ones.
    fn count(&self, failed: Vec<&Failure>) -> String {
        failed.iter().for_each(|_| self.failures.inc());
        failed.iter().filter(|it| it.panicked).for_each(|_| self.panics.inc());
        let mut named: Vec<_> = failed.iter().take(NAMED).map(ToString::to_string).collect();
        if failed.len() > NAMED {
            named.push(format!("and {} more objects", failed.len() - NAMED));
        }
        named.join("; ")
    }
}

fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Converts one object. If that fails and the object will not be stored, its metadata is shown: an object that cannot be
/// converted must not take the list along that it is in.
fn one(converter: &Converter, text: &str, desired: &str, converted: &mut Converted) {
    let failure = match decoded(converter, text, desired) {
        Ok(object) => return converted.objects.push(object),
        Err(failure) => failure,
    };
    // A message is one line.
    let why = failure.message.replace("\n\nhint: ", "; ");
    let (message, shown) = match Shell::of(text) {
        Ok(shell) => {
            let is_read = converter.has(&shell.api_version) && converter.has(desired) && !converter.is_stored(desired);
            let message = format!("{shell}: {why}");
            let shown = is_read.then(|| shell.shown_in(desired));
            (message, shown.map(|(object, marks)| converter.marked(object, marks)))
        }
        Err(_) => (why, None),
    };
    converted
        .failures
        .push((Failure { message, ..failure }, shown.is_some()));
    converted.objects.extend(shown.map(|object| object.to_string()));
}

fn decoded(converter: &Converter, text: &str, desired: &str) -> Result<String, Failure> {
    let memory = Handle::current().block_on(Budget::shared().work(text.as_bytes(), COPIES));
    let _memory = memory?;
    let object = serde_json::from_str(text).map_err(|error| format!("it cannot be decoded: {error}"))?;
    Ok(converter.convert(object, desired)?.to_string())
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

    fn answer(self: Arc<Self>, body: Bytes, limit: Duration) -> BoxFuture<'static, (StatusCode, Vec<u8>)> {
        async move {
            let (code, answer) = self.respond(body, limit).await;
            (code, answer.into_bytes())
        }
        .boxed()
    }
}
