//! Ages, in the short form of table cells.

use kubewright_machinery::time::{human_duration, seconds};

/// The time from `time`, in RFC 3339, to `now`, in seconds since 1970. An empty or null time gives `<unknown>`; a time
/// in the future or one that cannot be parsed gives `<invalid>`.
pub(crate) fn since(time: &str, now: i64) -> String {
    if matches!(time, "" | "null") {
        return "<unknown>".to_owned();
    }
    match seconds(time) {
        Some(then) => human_duration(now.saturating_sub(then)),
        None => "<invalid>".to_owned(),
    }
}
