//! `time.ParseDuration` of Go, for the parameter `timeout`.

use std::time::Duration;

use crate::status::Status;

use super::Query;

/// Upstream's `--request-timeout`: what a request that is no watch may take at most.
pub const MOST: Duration = Duration::from_secs(60);

/// How long a request that is no watch may take.
///
/// # Errors
/// 400 for a `timeout` that is no duration.
pub fn timeout(query: &Query) -> Result<Duration, Status> {
    match query.get("timeout") {
        None | Some("") => Ok(MOST),
        Some(text) => match parse(text) {
            Ok(duration) if duration.is_zero() => Ok(MOST),
            Ok(duration) => Ok(duration.min(MOST)),
            Err(why) => {
                let why = format!("invalid timeout specified in the request URL - time: {why}");
                Err(Status::bad_request(why))
            }
        },
    }
}

/// Nanoseconds in each unit.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Negative durations are zero here: no timeout is.
fn parse(text: &str) -> Result<Duration, String> {
    let shown = kubewright_schema::go::quote(text);
    let invalid = || format!("invalid duration {shown}");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanoseconds = 0_f64;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return Err(format!("missing unit in duration {shown}"));
        }
        let size = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size);
        let Some(size) = size else {
            return Err(format!(
                "unknown unit {} in duration {shown}",
                kubewright_schema::go::quote(unit)
            ));
        };
        nanoseconds += number * size as f64;
        rest = after;
    }
    // An int64 of nanoseconds is all that Go has.
    if nanoseconds > i64::MAX as f64 {
        return Err(invalid());
    }
    Ok(if negative {
        Duration::ZERO
    } else {
        Duration::from_nanos(nanoseconds as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        assert_eq!(parse("1h15m30.5s"), Ok(Duration::from_millis(4_530_500)));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
        assert_eq!(parse("-1s"), Ok(Duration::ZERO));
        assert_eq!(parse("1x").unwrap_err(), "unknown unit \"x\" in duration \"1x\"");
        assert_eq!(parse("1").unwrap_err(), "missing unit in duration \"1\"");
        assert_eq!(parse("x").unwrap_err(), "invalid duration \"x\"");
        assert!(parse("9999999999999h").is_err());
    }
}
