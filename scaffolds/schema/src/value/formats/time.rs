//! Dates, times and durations.

/// `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut part = |width: usize| {
        let part = parts.next().filter(|it| it.len() == width)?;
        part.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse::<u32>().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else {
        return false;
    };
    parts.next().is_none() && (1..=days(year, month)).contains(&day)
}

fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// A date and a time of day with an offset. The server is as lax as this about fractions and offsets.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else {
        return false;
    };
    let within = match *clock.as_bytes() {
        [h1, h2, b':', m1, m2, b':', s1, s2] => {
            [h1, h2, m1, m2, s1, s2].iter().all(u8::is_ascii_digit)
                && [h1, h2] <= *b"23"
                && [m1, m2] <= *b"59"
                && [s1, s2] <= *b"59"
        }
        _ => false,
    };
    within && (is_offset(rest) || is_offset(behind_fraction(rest)))
}

/// What follows a fraction, which begins with any character at all.
fn behind_fraction(text: &str) -> &str {
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if c != '\n' && chars.as_str().starts_with(|c: char| c.is_ascii_digit()) => {
            chars.as_str().trim_start_matches(|c: char| c.is_ascii_digit())
        }
        _ => "",
    }
}

fn is_offset(text: &str) -> bool {
    text == "z"
        || matches!(text.as_bytes(), [b'+' | b'-', h1, h2, b':', m1, m2]
            if [h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit))
}

/// `1h30m`, as Go writes durations, or with units in words (`3 days`) anywhere in the text.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_words(text)
}

/// The units of Go, in nanoseconds.
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

fn is_go_duration(text: &str) -> bool {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    // The lowest one has no positive counterpart.
    let most = (1u64 << 63) - u64::from(!negative);
    let mut sum = 0u64;
    while !rest.is_empty() {
        match go_part(rest) {
            Some((nanoseconds, tail)) => (sum, rest) = (sum.saturating_add(nanoseconds), tail),
            None => return false,
        }
        if sum > most {
            return false;
        }
    }
    !matches!(text, "" | "-" | "+")
}

/// A number with a unit, in nanoseconds, and what follows.
fn go_part(text: &str) -> Option<(u64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(digits(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanoseconds = whole.checked_mul(*unit).filter(|it| *it <= 1 << 63)?;
    // A fraction of a unit is below one hour, far from the bound that the sum is held to.
    let fraction = format!("0.{fraction}").parse::<f64>().unwrap_or(0.0) * *unit as f64;
    Some((nanoseconds + fraction as u64, rest))
}

/// Units in full or shortened: of each the last one may go on (`minutes`, `weekly`).
const WORDS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// Whether some number of the text has a unit behind it, and each that has letters behind it fits an `int64`.
fn has_words(text: &str) -> bool {
    let mut found = false;
    let mut rest = text;
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
        if digits.parse::<i64>().is_err() {
            return false;
        }
        found |= is_unit(&word.to_lowercase());
    }
    found
}

fn is_unit(word: &str) -> bool {
    WORDS
        .iter()
        .any(|names| names.contains(&word) || names.last().is_some_and(|last| word.starts_with(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        for yes in ["2024-02-29", "2000-02-29", "0000-01-01"] {
            assert!(is_date(yes), "{yes}");
        }
        for no in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-1-01",
            "2024-01-00",
            "2024-01-01Z",
            "+024-01-01",
        ] {
            assert!(!is_date(no), "{no}");
        }
        for yes in [
            "2024-01-01T00:00:00Z",
            "2024-01-01t23:59:59,5+99:99",
            "2024-01-01T00:00:00.1z",
        ] {
            assert!(is_date_time(yes), "{yes}");
        }
        for no in [
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00",
            "2024-01-01 00:00:00Z",
            "2024-01-01T24:00:00Z",
        ] {
            assert!(!is_date_time(no), "{no}");
        }
        for yes in [
            "0",
            "1h30m",
            "-1.5s",
            ".5s",
            "1µs",
            "3 days",
            "in 2weeks",
            "9223372036854775807ns",
            "1s 5x",
        ] {
            assert!(is_duration(yes), "{yes}");
        }
        for no in ["", "-", "1", "1x", "days", "99999999999999999999s", "1.h.", "é"] {
            assert!(!is_duration(no), "{no}");
        }
    }
}
