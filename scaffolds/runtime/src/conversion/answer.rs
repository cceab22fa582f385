//! The webhook of one kind: converts the objects of a request in parallel and in time, and answers.

use std::{sync::Arc, thread::available_parallelism, time::Duration};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, try_join_all};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::timeout};
use tracing::error;

use super::{
    convert::{Converter, Failure},
    review::{self, Request},
};
use crate::{
    metrics::{Counter, Metrics},
    server::Endpoint,
};

/// How many objects a thread converts at least: fewer take less time than starting it.
const SHARE: usize = 32;
/// How many objects an error message names.
const NAMED: usize = 3;
/// The longest request in bytes. An API server sends the objects of a list together, and each may have 1.5 MiB (etcd).
const LONGEST: usize = 256 << 20;

/// Answers requests for the conversion of one kind.
pub(super) struct Conversion {
    path: String,
    converter: Arc<Converter>,
    panics: Counter,
    failures: Counter,
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
        }
    }

    async fn respond(&self, body: Bytes, limit: Duration) -> (StatusCode, Value) {
        let request = match Request::read(&body) {
            Ok(request) => request,
            Err(why) => {
                let status =
                    json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": why, "code": 400});
                return (StatusCode::BAD_REQUEST, status);
            }
        };
        drop(body);
        let limit = limit - limit / 10;
        let converted = timeout(limit, self.convert(request.objects, &request.desired)).await;
        let converted = converted.unwrap_or_else(|_| Err(format!("the conversion did not end within {limit:?}")));
        if let Err(why) = &converted {
            error!(webhook = self.path, "{why}");
        }
        (StatusCode::OK, review::answer(&request.uid, converted))
    }

    /// All objects, in their order. The functions run on threads of their own: one that does not return blocks no other
    /// request.
    async fn convert(&self, mut objects: Vec<Value>, desired: &str) -> Result<Vec<Value>, String> {
        let threads = available_parallelism().map_or(1, usize::from);
        let share = objects.len().div_ceil(threads).max(SHARE);
        let mut shares = Vec::new();
        while !objects.is_empty() {
            let rest = objects.split_off(share.min(objects.len()));
            let (converter, desired) = (self.converter.clone(), desired.to_owned());
            shares.push(spawn_blocking(move || {
                let convert = |object| one(&converter, object, &desired);
                objects.into_iter().map(convert).collect::<Vec<_>>()
            }));
            objects = rest;
        }
        let results = try_join_all(shares).await.map_err(|error| error.to_string())?;
        let (mut converted, mut failed) = (Vec::new(), Vec::new());
        for result in results.into_iter().flatten() {
            match result {
                Ok(object) => converted.push(object),
                Err(failure) => failed.push(failure),
            }
        }
        if failed.is_empty() {
            return Ok(converted);
        }
        Err(self.count(&failed))
    }

    /// Counts the failures, and names the first ones.
    fn count(&self, failed: &[Failure]) -> String {
        failed.iter().for_each(|_| self.failures.inc());
        failed.iter().filter(|it| it.panicked).for_each(|_| self.panics.inc());
        let mut named: Vec<_> = failed.iter().take(NAMED).map(ToString::to_string).collect();
        if failed.len() > NAMED {
            named.push(format!("and {} more objects", failed.len() - NAMED));
        }
        named.join("; ")
    }
}

/// One object.
///
/// # Errors
///
/// Its name, and why it could not be converted.
fn one(converter: &Converter, object: Value, desired: &str) -> Result<Value, Failure> {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let slash = if namespace.is_empty() { "" } else { "/" };
    converter.convert(object, desired).map_err(|mut failure| {
        // A message is one line.
        let why = failure.message.replace("\n\nhint: ", "; ");
        failure.message = format!("{kind} {namespace}{slash}{name}: {why}");
        failure
    })
}

impl Endpoint for Conversion {
    fn path(&self) -> &str {
        &self.path
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn answer(self: Arc<Self>, body: Bytes, limit: Duration) -> BoxFuture<'static, (StatusCode, Vec<u8>)> {
        async move {
            let (code, answer) = self.respond(body, limit).await;
            (code, answer.to_string().into_bytes())
        }
        .boxed()
    }
}
