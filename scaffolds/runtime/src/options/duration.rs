//! Durations in Go's syntax.

use std::time::Duration;

/// Nanoseconds of each unit.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

/// A hundred years; a longer duration is a typing error.
const MAX_NANOS: f64 = 100.0 * 365.0 * 86_400.0 * 1e9;

/// Parses `15s`, `1m30s`, `1.5h`, `500ms`, `0`.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    const FORM: &str = "write it as `15s`, `1m30s` or `500ms`";
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut nanos) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(FORM)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, next) = tail.split_at(letters);
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(FORM)?;
        nanos += number.parse::<f64>().map_err(|_| FORM)? * scale;
        rest = next;
    }
    if text.is_empty() || nanos > MAX_NANOS {
        return Err(FORM.to_owned());
    }
    Ok(Duration::from_nanos(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_in_go() {
        let millis = |text| parse(text).unwrap().as_millis();
        assert_eq!(
            ["15s", "1m30s", "1.5h", "500ms", "0", "0s"].map(millis),
            [15_000, 90_000, 5_400_000, 500, 0, 0]
        );
        for text in ["", "15", "s", "1x", "-1s", "1.2.3s", "1e9h", "9999999999h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
