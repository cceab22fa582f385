//! Points in time as the API writes them (RFC 3339), parsed with the rules and error messages of Go's `time.Parse`.

use crate::calendar::{Date, month_length};
use crate::go::quote_bytes;
use std::fmt::Write;

const RFC_3339: &str = "2006-01-02T15:04:05Z07:00";
const RFC_3339_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";
const DAY: i64 = 86_400;

/// A point in time, in the time zone that it was written in.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Seconds since 1970, UTC.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
    /// The offset of the time zone, in seconds east of UTC.
    pub offset: i64,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Moment {
    /// The key for comparisons; it does not depend on the time zone.
    pub fn order(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// Parses RFC 3339. The seconds may have a fraction of any length.
    ///
    /// # Errors
    /// Go's error message.
    pub fn parse(text: &str) -> Result<Self, String> {
        LayoutReader::new(text, RFC_3339).time()
    }

    /// Parses a `MicroTime`: like [`parse`](Self::parse), but a fraction of six digits is required.
    ///
    /// # Errors
    /// Go's error message.
    pub fn parse_micro(text: &str) -> Result<Self, String> {
        LayoutReader::new(text, RFC_3339_MICRO).time()
    }

    /// RFC 3339 in UTC, to the second.
    pub fn utc(&self) -> String {
        text(self.seconds)
    }

    /// RFC 3339 in UTC, to the microsecond: how a `MicroTime` is written.
    pub fn utc_micro(&self) -> String {
        format!("{}.{:06}Z", clock(self.seconds), self.nanos / 1_000)
    }

    /// RFC 3339 in its own time zone, with as many decimals as necessary.
    pub fn show(&self) -> String {
        let mut out = clock(self.seconds.saturating_add(self.offset));
        if self.nanos > 0 {
            out.push_str(format!(".{:09}", self.nanos).trim_end_matches('0'));
        }
        if self.offset == 0 {
            out.push('Z');
        } else {
            let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs() / 60);
            // Writing into a text cannot fail.
            _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
        out
    }
}

/// Formats seconds since 1970 as RFC 3339 in UTC.
pub fn text(seconds: i64) -> String {
    clock(seconds) + "Z"
}

/// Parses RFC 3339 into seconds since 1970.
pub fn seconds(text: &str) -> Option<i64> {
    Moment::parse(text).ok().map(|moment| moment.seconds)
}

/// A duration in the short form of tables, as apimachinery's `HumanDuration`.
pub fn human_duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let two = |large: i64, unit: char, small: i64, rest: char| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{rest}"),
    };
    match seconds {
        i64::MIN..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(hours / 24, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{}d", hours / 24),
        63_072_000..252_288_000 => two(hours / 24 / 365, 'y', hours / 24 % 365, 'd'),
        _ => format!("{}y", hours / 24 / 365),
    }
}

/// `2026-01-02T03:04:05`.
fn clock(seconds: i64) -> String {
    let Date { year, month, day } = Date::from_days(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Parses a layout element by element, with Go's order of errors.
struct LayoutReader<'a> {
    text: &'a str,
    layout: &'static str,
    rest: &'a str,
}

impl<'a> LayoutReader<'a> {
    fn new(text: &'a str, layout: &'static str) -> Self {
        let rest = text;
        Self { text, layout, rest }
    }

    fn time(&mut self) -> Result<Moment, String> {
        let year = self.number(4, "2006")?;
        self.mark("-")?;
        let month = self.number(2, "01")?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.mark("-")?;
        let day = self.number(2, "02")?;
        self.mark("T")?;
        let mut second = 0;
        for (layout, mark, most, name) in [
            ("15", "", 23, "hour"),
            ("04", ":", 59, "minute"),
            ("05", ":", 59, "second"),
        ] {
            self.mark(mark)?;
            let part = self.number(2, layout)?;
            if part > most {
                return Err(self.out_of_range(name));
            }
            second = second * 60 + part;
        }
        let nanos = self.fraction()?;
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(self.error(&format!(": extra text: {}", quote_bytes(self.rest))));
        }
        if !(1..=month_length(year, month)).contains(&day) {
            return Err(self.out_of_range("day"));
        }
        let days = Date { year, month, day }.days();
        Ok(Moment {
            seconds: days * DAY + second - offset,
            nanos,
            offset,
        })
    }

    fn number(&mut self, width: usize, layout: &str) -> Result<i64, String> {
        let digits = |width: usize| {
            let digits = self.rest.get(..width)?;
            digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| digits.parse().ok())?
        };
        // As in Go, one digit is enough for hours.
        let short = || (layout == "15").then(|| digits(1)).flatten().map(|it| (it, 1));
        match digits(width).map(|it| (it, width)).or_else(short) {
            Some((number, width)) => {
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

    /// Nanoseconds: the first nine digits after a point or a comma.
    fn fraction(&mut self) -> Result<u32, String> {
        let digits = self.rest.strip_prefix(['.', ',']).unwrap_or_default();
        let mut count = digits.bytes().take_while(u8::is_ascii_digit).count();
        if self.layout == RFC_3339_MICRO {
            if count < 6 {
                return Err(self.cannot(".000000"));
            }
            count = 6;
        }
        if count == 0 {
            return Ok(0);
        }
        let (number, rest) = digits.split_at(count);
        self.rest = rest;
        let number = &number[..count.min(9)];
        Ok(format!("{number:0<9}").parse().unwrap_or_default())
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

    fn cannot(&self, element: &str) -> String {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote_bytes(self.text),
            quote_bytes(self.layout),
            quote_bytes(self.rest),
            quote_bytes(element)
        )
    }

    fn out_of_range(&self, name: &str) -> String {
        self.error(&format!(": {name} out of range"))
    }

    fn error(&self, what: &str) -> String {
        format!("parsing time {}{what}", quote_bytes(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_converted_to_utc() {
        for (text, utc) in [
            ("2024-02-29T23:30:00.5-01:00", "2024-03-01T00:30:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
            ("1900-03-01T00:00:00+00:01", "1900-02-28T23:59:00Z"),
            ("2100-03-01T1:00:00Z", "2100-03-01T01:00:00Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Moment::parse(text).map(|it| it.utc()).as_deref(), Ok(utc), "{text}");
        }
    }

    #[test]
    fn an_invalid_time_has_the_error_of_go() {
        for (text, error) in [
            (
                "yesterday",
                "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
            ),
            (
                "2023-02-29T00:00:00Z",
                "parsing time \"2023-02-29T00:00:00Z\": day out of range",
            ),
            (
                "2023-13-01T00:00:00Z",
                "parsing time \"2023-13-01T00:00:00Z\": month out of range",
            ),
            (
                "2023-01-01T00:00:00",
                "parsing time \"2023-01-01T00:00:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"Z07:00\"",
            ),
            (
                "2023-01-01T00:00:00Zx",
                "parsing time \"2023-01-01T00:00:00Zx\": extra text: \"x\"",
            ),
        ] {
            assert_eq!(Moment::parse(text).unwrap_err(), error);
        }
    }

    #[test]
    fn micro_times_need_six_digits() {
        let micro = |text: &str| Moment::parse_micro(text).map(|it| it.utc_micro());
        let read = micro("2026-01-02T03:04:05.060708+01:00");
        assert_eq!(read.as_deref(), Ok("2026-01-02T02:04:05.060708Z"));
        assert_eq!(
            micro("2026-01-02T03:04:05Z").unwrap_err(),
            "parsing time \"2026-01-02T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\""
        );
        let long = micro("2026-01-02T03:04:05.0000001Z").unwrap_err();
        assert!(long.ends_with(": cannot parse \"1Z\" as \"Z07:00\""), "{long}");
    }

    #[test]
    fn a_moment_is_formatted_in_its_own_time_zone() {
        for text in [
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.5+01:00",
            "2026-01-02T03:04:05.000000001-11:30",
        ] {
            assert_eq!(Moment::parse(text).unwrap().show(), text);
        }
    }
}
