//! The reconcile that the present thread works on, from the spans of the runtime: requests are told with their controller.
//! The errors of those that failed last are kept. Nothing is printed.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use tracing_core::{
    Dispatch, Event, Level, LevelFilter, Metadata, Subscriber,
    dispatcher::{self, DefaultGuard},
    field::{Field, Visit},
    span::{Attributes, Current, Id, Record},
};

/// The name of a reconcile's span.
const SPAN: &str = "reconcile";
/// The `result` of a reconcile that failed.
const FAILED: &str = "error";
/// Reconciles of one object in a minute that are no loop.
const MOST_A_MINUTE: u32 = 1200;
const MINUTE: Duration = Duration::from_secs(60);

/// Follows the reconciles of this thread until the guard is dropped.
pub(super) fn follow() -> DefaultGuard {
    dispatcher::set_default(&Dispatch::new(Reconciles::default()))
}

/// The controller and the object that are being reconciled, as `foobar default/sample`.
pub(super) fn present() -> Option<String> {
    dispatcher::get_default(|it| it.downcast_ref::<Reconciles>().and_then(Reconciles::present))
}

/// The controller and object of each reconcile that failed the last time and will run again, with its error. A terminal error is
/// the reconciler's answer to an object that is wrong.
pub(super) fn failing() -> BTreeMap<String, String> {
    let failing = |it: &Dispatch| it.downcast_ref::<Reconciles>().map(|it| it.lock().failing.clone());
    dispatcher::get_default(failing).unwrap_or_default()
}

/// The same of reconciles whose last error was terminal.
pub(super) fn refused() -> BTreeMap<String, String> {
    let refused = |it: &Dispatch| it.downcast_ref::<Reconciles>().map(|it| it.lock().refused.clone());
    dispatcher::get_default(refused).unwrap_or_default()
}

/// A controller and an object that it reconciles in a loop, whether or not it sends a request.
pub(super) fn hot() -> Option<String> {
    dispatcher::get_default(|it| it.downcast_ref::<Reconciles>().and_then(|it| it.lock().hot.clone()))
}

/// Forgets what has failed: another process begins.
pub(super) fn forget_failing() {
    dispatcher::get_default(|it| {
        if let Some(reconciles) = it.downcast_ref::<Reconciles>() {
            let mut spans = reconciles.lock();
            spans.failing.clear();
            spans.refused.clear();
        }
    });
}

/// Knows the spans that were begun, and those that are entered.
#[derive(Default)]
struct Reconciles(Mutex<Spans>);

#[derive(Default)]
struct Spans {
    names: BTreeMap<u64, String>,
    /// That of all spans: they have one place in the code.
    metadata: Option<&'static Metadata<'static>>,
    entered: Vec<u64>,
    /// The last error that each logged, and whether it was terminal.
    errors: BTreeMap<String, (String, bool)>,
    failing: BTreeMap<String, String>,
    refused: BTreeMap<String, String>,
    /// The reconciles of each object: the beginning of the present minute, and how many began in it.
    counts: BTreeMap<String, (Instant, u32)>,
    hot: Option<String>,
}

impl Spans {
    fn count(&mut self, name: &str) {
        let now = Instant::now();
        let (began, count) = self.counts.entry(name.to_owned()).or_insert((now, 0));
        if *began + MINUTE <= now {
            (*began, *count) = (now, 0);
        }
        *count += 1;
        if *count > MOST_A_MINUTE {
            self.hot.get_or_insert_with(|| name.to_owned());
        }
    }
}

impl Reconciles {
    fn lock(&self) -> MutexGuard<'_, Spans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present(&self) -> Option<String> {
        let spans = self.lock();
        spans.entered.last().and_then(|id| spans.names.get(id)).cloned()
    }
}

impl Subscriber for Reconciles {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match metadata.is_span() {
            true => metadata.name() == SPAN,
            false => *metadata.level() <= Level::WARN,
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = RecordedFields::default();
        span.record(&mut fields);
        let [controller, object] = ["controller", "object"].map(|name| fields.get(name).unwrap_or_default());
        let mut spans = self.lock();
        let id = spans.names.last_key_value().map_or(1, |(last, _)| last + 1);
        let name = format!("{controller} {object}");
        spans.count(&name);
        spans.names.insert(id, name);
        spans.metadata = Some(span.metadata());
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = RecordedFields::default();
        values.record(&mut fields);
        let Some(result) = fields.get("result") else { return };
        let spans = &mut *self.lock();
        let Some(name) = spans.names.get(&span.into_u64()) else {
            return;
        };
        let (error, terminal) = spans.errors.get(name).cloned().unwrap_or_default();
        spans.failing.remove(name);
        spans.refused.remove(name);
        if result == FAILED {
            let errors = if terminal {
                &mut spans.refused
            } else {
                &mut spans.failing
            };
            errors.insert(name.clone(), error);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let Some(name) = self.present() else { return };
        let mut fields = RecordedFields::default();
        event.record(&mut fields);
        let error = fields.get("message").unwrap_or_default().to_owned();
        // The runtime logs what it will try again as a warning.
        let terminal = *event.metadata().level() == Level::ERROR;
        self.lock().errors.insert(name, (error, terminal));
    }

    fn enter(&self, span: &Id) {
        self.lock().entered.push(span.into_u64());
    }

    fn current_span(&self) -> Current {
        let spans = self.lock();
        match (spans.entered.last(), spans.metadata) {
            (Some(&id), Some(metadata)) => Current::new(Id::from_u64(id), metadata),
            _ => Current::none(),
        }
    }

    fn exit(&self, span: &Id) {
        let mut spans = self.lock();
        if let Some(last) = spans.entered.iter().rposition(|id| *id == span.into_u64()) {
            spans.entered.remove(last);
        }
    }
}

/// The fields of a span or an event, as texts.
#[derive(Default)]
struct RecordedFields(BTreeMap<&'static str, String>);

impl RecordedFields {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl Visit for RecordedFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use tracing::info_span;

    use super::*;

    #[test]
    fn the_innermost_reconcile_is_the_present_one() {
        assert_eq!(present(), None);
        let guard = follow();
        let [outer, inner] = ["one", "two"].map(|controller| info_span!("reconcile", controller, object = %"ns/x"));
        let entered = outer.enter();
        inner.in_scope(|| assert_eq!(present().as_deref(), Some("two ns/x")));
        assert_eq!(present().as_deref(), Some("one ns/x"));
        drop(entered);
        assert_eq!(present(), None);
        drop(guard);
        outer.in_scope(|| assert_eq!(present(), None));
    }

    #[test]
    fn a_reconcile_fails_until_it_succeeds() {
        let _guard = follow();
        for (result, terminal, failing) in [
            ("error", false, 1),
            ("success", false, 0),
            ("error", false, 1),
            ("error", true, 0),
            ("error", false, 1),
        ] {
            let span = info_span!("reconcile", controller = "one", object = %"ns/x", result = tracing::field::Empty);
            span.in_scope(|| match terminal {
                true => tracing::error!("reconcile failed: no such disk"),
                false => tracing::warn!("reconcile failed: no {}", "disk"),
            });
            let inside = || tracing::Span::current();
            span.in_scope(inside).record("result", result);
            assert_eq!(super::failing().len(), failing);
            assert_eq!(super::refused().len(), usize::from(terminal));
        }
        assert_eq!(super::failing()["one ns/x"], "reconcile failed: no disk");
        forget_failing();
        assert!(super::failing().is_empty());
    }
}
