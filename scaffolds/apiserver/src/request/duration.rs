//! Go's `time.ParseDuration`, for the parameter `timeout`.

use std::time::Duration;

use crate::status::Status;

use super::Query;

/// The longest duration of a request other than a watch, as upstream's `--request-timeout`.
pub const MOST: Duration = Duration::from_secs(60);

/// The time that a request other than a watch may take.
///
/// # Errors
/// 400 for a `timeout` that is not a duration.
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

/// Parses a duration; negative ones become zero, because no timeout is negative.
fn parse(text: &str) -> Result<Duration, String> {
    let nanoseconds = kubewright_machinery::go::duration(text)?;
    Ok(Duration::from_nanos(nanoseconds.try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_in_go() {
        assert_eq!(parse("1h15m30.5s"), Ok(Duration::from_millis(4_530_500)));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
        assert_eq!(parse("-1s"), Ok(Duration::ZERO));
        assert_eq!(parse("1x").unwrap_err(), "unknown unit \"x\" in duration \"1x\"");
        assert_eq!(parse("1").unwrap_err(), "missing unit in duration \"1\"");
        assert_eq!(parse("x").unwrap_err(), "invalid duration \"x\"");
        assert!(parse("9999999999999h").is_err());
    }
}
