//! Ages, in the short form of table cells.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The time from `time`, in RFC 3339, to `now`, in seconds since 1970. An empty or null time gives `<unknown>`; a time
/// in the future or one that cannot be parsed gives `<invalid>`.
pub(crate) fn since(time: &str, now: i64) -> String {
    if matches!(time, "" | "null") {
        return "<unknown>".to_owned();
    }
    match crate::kinds::time::epoch(time) {
        Some(then) => duration(now.saturating_sub(then)),
        None => "<invalid>".to_owned(),
    }
}

/// A duration, in two units where the larger alone would be too coarse.
fn duration(seconds: i64) -> String {
    let two = |(unit, name): (i64, char), (smaller, small_name): (i64, char)| {
        let (count, rest) = (seconds / unit, seconds % unit / smaller);
        if rest == 0 {
            format!("{count}{name}")
        } else {
            format!("{count}{name}{rest}{small_name}")
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        it if it < 2 * MINUTE => format!("{it}s"),
        it if it < 10 * MINUTE => two((MINUTE, 'm'), (1, 's')),
        it if it < 3 * HOUR => format!("{}m", it / MINUTE),
        it if it < 8 * HOUR => two((HOUR, 'h'), (MINUTE, 'm')),
        it if it < 2 * DAY => format!("{}h", it / HOUR),
        it if it < 8 * DAY => two((DAY, 'd'), (HOUR, 'h')),
        it if it < 2 * YEAR => format!("{}d", it / DAY),
        it if it < 8 * YEAR => two((YEAR, 'y'), (DAY, 'd')),
        it => format!("{}y", it / YEAR),
    }
}
