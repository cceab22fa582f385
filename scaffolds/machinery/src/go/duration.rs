//! Durations in nanoseconds: `time.ParseDuration` of Go, and the additional forms of the OpenAPI format `duration`.

use super::quote_bytes;

/// The limit of an `int64`, plus one: only a negative duration can reach it.
const MOST: u64 = 1 << 63;

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

/// Parses a duration in Go's format: `1h30m`, `1.5s`, `-2ms`, `0`.
///
/// # Errors
/// Go's error message without its `time: `.
pub fn duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("invalid duration {}", quote_bytes(text));
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum = 0;
    while !rest.is_empty() {
        let (whole, fraction, unit);
        (whole, fraction, rest) = number(rest).ok_or_else(invalid)?;
        (unit, rest) = rest.split_at(
            rest.find(|c: char| c == '.' || c.is_ascii_digit())
                .unwrap_or(rest.len()),
        );
        if unit.is_empty() {
            return Err(format!("missing unit in duration {}", quote_bytes(text)));
        }
        let (_, unit) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| format!("unknown unit {} in duration {}", quote_bytes(unit), quote_bytes(text)))?;
        sum = added(sum, whole, fraction, *unit).ok_or_else(invalid)?;
    }
    if negative {
        return Ok(0i64.wrapping_sub_unsigned(sum));
    }
    i64::try_from(sum).map_err(|_| invalid())
}

/// The digits before and after a point, of which there is at least one, and the rest of the text.
fn number(text: &str) -> Option<(&str, &str, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(digits(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    (!whole.is_empty() || !fraction.is_empty()).then_some((whole, fraction, rest))
}

/// Adds a number of units to a sum, truncated to nanoseconds.
fn added(sum: u64, whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let (mut digits, mut scale) = (0u64, 1.0);
    for digit in fraction.bytes() {
        // Go drops the digits that no longer fit.
        let next = digits
            .checked_mul(10)
            .and_then(|it| it.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|it| *it <= MOST) else {
            break;
        };
        (digits, scale) = (next, scale * 10.0);
    }
    let part = digits as f64 * (unit as f64 / scale);
    let sum = whole.checked_mul(unit)?.checked_add(part as u64)?.checked_add(sum)?;
    (sum <= MOST).then_some(sum)
}

/// Units in words. The last name of each unit also matches as the beginning of a word (`minutes`, `weekly`).
const WORDS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

/// Parses the format `duration`: either like [`duration`], or the sum of all numbers with a unit in words anywhere in the
/// text (`2 days`, `1 week 3h`). `None` if there is no such number, or a number with letters after it is too large.
pub fn loose_duration(text: &str) -> Option<i64> {
    if let Ok(exact) = duration(text) {
        return Some(exact);
    }
    let (mut sum, mut rest) = (None, text);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &number[..number.len() - behind.len()];
        let word = behind.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        rest = word.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
        let word = &word[..word.len() - rest.len()];
        if word.is_empty() {
            continue;
        }
        let count: i64 = digits.parse().ok()?;
        if let Some(unit) = in_words(&word.to_lowercase()) {
            sum = Some(sum.unwrap_or(0i64).wrapping_add(count.wrapping_mul(unit)));
        }
    }
    sum
}

/// The nanoseconds of all units that a word matches.
fn in_words(word: &str) -> Option<i64> {
    let named = WORDS.iter().flat_map(|(names, unit)| {
        let begins = names.last().is_some_and(|last| word.starts_with(last));
        // Upstream adds all matches, so `week` matches twice: as a name and as a beginning.
        let times = usize::from(begins) + names.iter().rev().skip(1).filter(|name| **name == word).count();
        std::iter::repeat_n(*unit, times)
    });
    named.reduce(i64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_in_go() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("-0", 0),
            ("1h15m30.5s", 4_530_500_000_000),
            (".5ms", 500_000),
            ("1.s", 1_000_000_000),
            ("-1s", -1_000_000_000),
            ("+1µs", 1_000),
            ("0.3333333333333333333333h", 1_200_000_000_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(duration(text), Ok(nanoseconds), "{text}");
        }
        for (text, sentence) in [
            ("", "invalid duration \"\""),
            ("x", "invalid duration \"x\""),
            (".s", "invalid duration \".s\""),
            ("1", "missing unit in duration \"1\""),
            ("1s2", "missing unit in duration \"1s2\""),
            ("1x", "unknown unit \"x\" in duration \"1x\""),
            (
                "1\"µ",
                "unknown unit \"\\\"\\xc2\\xb5\" in duration \"1\\\"\\xc2\\xb5\"",
            ),
            ("1 s", "unknown unit \" s\" in duration \"1 s\""),
            ("9223372036854775808ns", "invalid duration \"9223372036854775808ns\""),
            ("9999999999999h", "invalid duration \"9999999999999h\""),
        ] {
            assert_eq!(duration(text), Err(sentence.to_owned()), "{text}");
        }
    }

    #[test]
    fn units_in_words_are_found_anywhere() {
        assert_eq!(loose_duration("90m"), Some(5_400_000_000_000));
        assert_eq!(loose_duration("in 2 days, 3 hr"), Some(183_600_000_000_000));
        for yes in ["0", "in 2weeks", "9223372036854775807ns", "1s 5x"] {
            assert!(loose_duration(yes).is_some(), "{yes}");
        }
        for no in [
            "",
            "-",
            "1",
            "1x",
            "days",
            "3 apples",
            "99999999999999999999s",
            "1.h.",
            "é",
        ] {
            assert_eq!(loose_duration(no), None, "{no}");
        }
    }
}
