//! The reconcile that the present thread works on, from the spans of the runtime: requests are told with their controller.
//! Nothing is printed.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Dispatch, Event, Metadata, Subscriber,
    dispatcher::{self, DefaultGuard},
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

/// The name of a reconcile's span.
const SPAN: &str = "reconcile";

/// Follows the reconciles of this thread until the guard is dropped.
pub(super) fn follow() -> DefaultGuard {
    dispatcher::set_default(&Dispatch::new(Reconciles::default()))
}

/// The controller and the object that are being reconciled, as `foobar default/sample`.
pub(super) fn present() -> Option<String> {
    dispatcher::get_default(|it| it.downcast_ref::<Reconciles>().and_then(Reconciles::present))
}

/// Knows the spans that were begun, and those that are entered.
#[derive(Default)]
struct Reconciles(Mutex<Spans>);

#[derive(Default)]
struct Spans {
    names: BTreeMap<u64, String>,
    entered: Vec<u64>,
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
        metadata.is_span() && metadata.name() == SPAN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut named = Named::default();
        span.record(&mut named);
        let mut spans = self.lock();
        let id = spans.names.last_key_value().map_or(1, |(last, _)| last + 1);
        spans.names.insert(id, format!("{} {}", named.controller, named.object));
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.lock().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut spans = self.lock();
        if let Some(last) = spans.entered.iter().rposition(|id| *id == span.into_u64()) {
            spans.entered.remove(last);
        }
    }
}

/// The fields of a span that name its reconcile.
#[derive(Default)]
struct Named {
    controller: String,
    object: String,
}

impl Visit for Named {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "controller" => value.clone_into(&mut self.controller),
            "object" => value.clone_into(&mut self.object),
            _ => {}
        }
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
}
