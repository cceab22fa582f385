//! Formats for dates, times and durations.

use crate::calendar::Date;

/// `2006-01-02`.
pub fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut part = |width: usize| {
        let part = parts.next().filter(|it| it.len() == width)?;
        part.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse::<i64>().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else {
        return false;
    };
    parts.next().is_none() && Date { year, month, day }.is_valid()
}

/// A date and a time of day with an offset. Fractions and offsets are parsed as leniently as on the server.
pub fn is_date_time(text: &str) -> bool {
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

/// The text after the fraction. As on the server, any character may start the fraction.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_as_in_go() {
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
    }
}
