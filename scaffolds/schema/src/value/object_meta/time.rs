//! Times as RFC 3339 has them, read as Go reads them.

use crate::go::quote;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// The same time in UTC and without fractions; `None` for Go's zero time, which counts as not set.
///
/// # Errors
/// The words of Go's `time.Parse`.
pub(super) fn read(text: &str) -> Result<Option<String>, String> {
    let mut reader = Reader { text, rest: text };
    let seconds = reader.time()?;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let time = format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    Ok((time != "0001-01-01T00:00:00Z").then_some(time))
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    /// Seconds since 1970.
    fn time(&mut self) -> Result<i64, String> {
        let year = self.number(4, "2006", 0..=9999)?;
        self.mark("-")?;
        let month = self.number(2, "01", 0..=99)?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.mark("-")?;
        let day = self.number(2, "02", 0..=99)?;
        self.mark("T")?;
        let mut second = 0;
        for (layout, mark, most, name) in [
            ("15", "", 23, "hour"),
            ("04", ":", 59, "minute"),
            ("05", ":", 59, "second"),
        ] {
            self.mark(mark)?;
            let part = self.number(2, layout, 0..=99)?;
            if part > most {
                return Err(self.out_of_range(name));
            }
            second = second * 60 + part;
        }
        self.fraction();
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(self.error(&format!(": extra text: {}", quote(self.rest))));
        }
        if !(1..=days_of(year, month)).contains(&day) {
            return Err(self.out_of_range("day"));
        }
        Ok(days(year, month, day) * 86_400 + second - offset)
    }

    fn number(&mut self, width: usize, layout: &str, range: std::ops::RangeInclusive<i64>) -> Result<i64, String> {
        let digits = self
            .rest
            .get(..width)
            .filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
        match digits.and_then(|it| it.parse().ok()).filter(|it| range.contains(it)) {
            Some(number) => {
                self.rest = &self.rest[width..];
                Ok(number)
            }
            None => Err(self.cannot(layout)),
        }
    }

    fn mark(&mut self, mark: &str) -> Result<(), String> {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.cannot(mark)),
        }
    }

    /// Digits behind a point or a comma, which are not kept.
    fn fraction(&mut self) {
        if let Some(rest) = self.rest.strip_prefix(['.', ','])
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            self.rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2, ..] = self.rest.as_bytes() else {
            return Err(self.cannot("Z07:00"));
        };
        if ![h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit) {
            return Err(self.cannot("Z07:00"));
        }
        let pair = |high: &u8, low: &u8| i64::from(high - b'0') * 10 + i64::from(low - b'0');
        let (hours, minutes) = (pair(h1, h2), pair(m1, m2));
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        let offset = (hours * 60 + minutes) * 60;
        let offset = if *sign == b'-' { -offset } else { offset };
        self.rest = &self.rest[6..];
        Ok(offset)
    }

    fn cannot(&self, layout: &str) -> String {
        let text = quote(self.text);
        format!(
            "parsing time {text} as \"{LAYOUT}\": cannot parse {} as \"{layout}\"",
            quote(self.rest)
        )
    }

    fn out_of_range(&self, name: &str) -> String {
        self.error(&format!(": {name} out of range"))
    }

    fn error(&self, what: &str) -> String {
        format!("parsing time {}{what}", quote(self.text))
    }
}

fn days_of(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days(next_year, next, 1) - days(year, month, 1)
}

/// Days since 1970 of a date of the Gregorian calendar. Years begin in March, so that leap days come last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_utc() {
        for (text, utc) in [
            ("2024-02-29T23:30:00.5-01:00", Some("2024-03-01T00:30:00Z")),
            ("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00Z")),
            ("1900-03-01T00:00:00+00:01", Some("1900-02-28T23:59:00Z")),
            ("0001-01-01T00:00:00Z", None),
        ] {
            assert_eq!(read(text).unwrap().as_deref(), utc, "{text}");
        }
        for (text, error) in [
            ("yesterday", ": cannot parse \"yesterday\" as \"2006\""),
            ("2023-02-29T00:00:00Z", ": day out of range"),
            ("2023-13-01T00:00:00Z", ": month out of range"),
            ("2023-01-01T00:00:00", ": cannot parse \"\" as \"Z07:00\""),
            ("2023-01-01T00:00:00Zx", ": extra text: \"x\""),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.ends_with(error), "{found}");
        }
    }
}
