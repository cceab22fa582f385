//! `/healthz` and `/readyz`, with the texts of Kubernetes' own probes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::{BoxFuture, FutureExt, ready};
use http::{Method, StatusCode};

use super::http1::{Answer, Handler, Question, text};
use crate::isolate::Authored;

/// The checks behind one probe, by name. Clones share them. A probe without checks succeeds.
#[derive(Clone, Default)]
pub struct Checks(Arc<Mutex<BTreeMap<String, Check>>>);

type Check = Authored<dyn Fn() -> Result<(), String> + Send + Sync>;

impl Checks {
    /// Adds a check, or replaces the check of this name. Its error is shown only in the response for this single check.
    /// It must not block: all servers wait for it. A panic is a failure.
    pub fn add(&self, name: impl Into<String>, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.into(), Authored::new(Arc::new(check)));
    }

    /// A copy of the checks, so that a check can run without the lock, and may add one.
    fn snapshot(&self) -> BTreeMap<String, Check> {
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if checks.is_empty() {
            checks.insert("ping".to_owned(), Authored::new(Arc::new(|| Ok(()))));
        }
        checks
    }
}

fn run(check: &Check) -> Result<(), String> {
    check
        .call(|check| check())
        .unwrap_or_else(|panic| Err(format!("the check panicked: {panic}")))
}

/// Both probes. Clones share the checks.
#[derive(Clone, Default)]
pub struct Probes {
    pub(crate) healthz: Checks,
    pub(crate) readyz: Checks,
}

impl Probes {
    fn respond(&self, question: &Question) -> Answer {
        if !matches!(question.method, Method::GET | Method::HEAD) {
            return text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
        }
        let mut path = question.uri.path().split('/').filter(|part| !part.is_empty());
        let (probe, check, rest) = (path.next().unwrap_or_default(), path.next(), path.next());
        let checks = match (probe, rest) {
            ("healthz", None) => &self.healthz,
            ("readyz", None) => &self.readyz,
            _ => return not_found(),
        };
        match check {
            None => all(probe, checks, question.uri.query().unwrap_or_default()),
            Some(name) => match checks.snapshot().get(name).map(run) {
                None => not_found(),
                Some(Ok(())) => text(StatusCode::OK, "ok"),
                Some(Err(error)) => text(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    format!("internal server error: {error}\n"),
                ),
            },
        }
    }
}

impl Handler for Probes {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer> {
        ready(self.respond(&question)).boxed()
    }
}

/// All checks of a probe. Reasons are withheld, because every client may request them.
fn all(probe: &str, checks: &Checks, query: &str) -> Answer {
    let pairs: Vec<_> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    let verbose = pairs.iter().any(|(name, _)| *name == "verbose");
    let mut excluded: BTreeSet<_> = pairs
        .iter()
        .filter(|(name, _)| *name == "exclude")
        .map(|(_, check)| *check)
        .collect();
    let (mut lines, mut failed) = (String::new(), false);
    for (name, check) in checks.snapshot() {
        // Writing to a String does not fail.
        let _ = if excluded.remove(name.as_str()) {
            writeln!(lines, "[+]{name} excluded: ok")
        } else if run(&check).is_ok() {
            writeln!(lines, "[+]{name} ok")
        } else {
            failed = true;
            writeln!(lines, "[-]{name} failed: reason withheld")
        };
    }
    if !excluded.is_empty() {
        let names: Vec<_> = excluded.iter().map(|name| format!("{name:?}")).collect();
        let _ = writeln!(
            lines,
            "warn: some health checks cannot be excluded: no matches for {}",
            names.join(",")
        );
    }
    match (failed, verbose) {
        (true, _) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{lines}{probe} check failed\n"),
        ),
        (false, true) => text(StatusCode::OK, format!("{lines}{probe} check passed\n")),
        (false, false) => text(StatusCode::OK, "ok"),
    }
}

fn not_found() -> Answer {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}
