//! The panics of this thread, in which a whole run takes place. They are kept, and not printed.

use std::{
    cell::RefCell,
    panic::{self, PanicHookInfo},
    sync::Once,
};

thread_local! {
    /// The messages so far, while a run takes place.
    static SEEN: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Keeps the panics of this thread from now on.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_kept = SEEN.with_borrow_mut(|seen| match seen {
                Some(seen) => {
                    seen.push(describe(info));
                    true
                }
                None => false,
            });
            if !is_kept {
                before(info);
            }
        }));
    });
    SEEN.set(Some(Vec::new()));
}

/// The panics since the last call.
pub(super) fn take() -> Vec<String> {
    SEEN.with_borrow_mut(|seen| seen.as_mut().map(std::mem::take))
        .unwrap_or_default()
}

/// Prints them again.
pub(super) fn unwatch() {
    SEEN.set(None);
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    format!("`{}` at {place}", text.unwrap_or_default())
}
