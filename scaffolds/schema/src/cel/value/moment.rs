//! Points in time and lengths of time, read and written as Go does.

use super::{Fault, Outcome};

/// A point in time between the years 1 and 9999, in the time zone that it was written in.
#[derive(Clone, Copy, Debug)]
pub(in crate::cel) struct Moment {
    /// Since 1970, UTC.
    pub(in crate::cel) seconds: i64,
    pub(in crate::cel) nanos: u32,
    /// East of UTC, in seconds.
    pub(in crate::cel) offset: i64,
}

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

const NANOS: i64 = 1_000_000_000;

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

/// What clocks and calendars show.
pub(in crate::cel) struct Civil {
    pub(in crate::cel) year: i64,
    /// From 1.
    pub(in crate::cel) month: i64,
    /// From 1.
    pub(in crate::cel) day: i64,
    /// From 0, which is the first of January.
    pub(in crate::cel) day_of_year: i64,
    /// From 0, which is Sunday.
    pub(in crate::cel) weekday: i64,
    /// Of the day.
    pub(in crate::cel) second: i64,
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

impl Moment {
    pub(in crate::cel) fn order(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    pub(in crate::cel) fn unix(seconds: i64) -> Outcome<Self> {
        Self {
            seconds,
            nanos: 0,
            offset: 0,
        }
        .bounded()
    }

    fn bounded(self) -> Outcome<Self> {
        if (FIRST..=LAST).contains(&self.seconds) {
            Ok(self)
        } else {
            Err(Fault::new("timestamp overflow"))
        }
    }

    /// `2006-01-02`.
    pub(in crate::cel) fn date(text: &str) -> Option<Self> {
        let (date, rest) = read_date(text)?;
        rest.is_empty().then_some(Self {
            seconds: date * 86_400,
            nanos: 0,
            offset: 0,
        })
    }

    /// RFC 3339.
    pub(in crate::cel) fn parse(text: &str) -> Option<Self> {
        let (date, rest) = read_date(text)?;
        let (second, nanos, zone) = read_clock(rest.strip_prefix('T')?)?;
        let offset = if zone == "Z" { 0 } else { read_zone(zone)? };
        Some(Self {
            seconds: date * 86_400 + second - offset,
            nanos,
            offset,
        })
    }

    /// RFC 3339, or without a time zone; nothing at all is 1970.
    pub(in crate::cel) fn loose(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self {
                seconds: 0,
                nanos: 0,
                offset: 0,
            });
        }
        Self::parse(text).or_else(|| {
            let (date, rest) = read_date(text)?;
            let (second, nanos, zone) = read_clock(rest.strip_prefix('T')?)?;
            zone.is_empty().then_some(Self {
                seconds: date * 86_400 + second,
                nanos,
                offset: 0,
            })
        })
    }

    /// What a clock `offset` seconds east of UTC shows.
    pub(in crate::cel) fn civil(&self, offset: i64) -> Civil {
        let local = self.seconds.saturating_add(offset);
        let (date, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let shifted = date + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let (day_of_year, weekday) = (date - days(year, 1, 1), (date + 4).rem_euclid(7));
        Civil {
            year,
            month,
            day,
            day_of_year,
            weekday,
            second,
        }
    }

    /// RFC 3339 with as many decimals as it takes.
    pub(in crate::cel) fn show(&self) -> String {
        let Civil {
            year,
            month,
            day,
            second,
            ..
        } = self.civil(self.offset);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if self.nanos > 0 {
            out.push_str(format!(".{:09}", self.nanos).trim_end_matches('0'));
        }
        if self.offset == 0 {
            out.push('Z');
        } else {
            let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs() / 60);
            out.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        }
        out
    }

    pub(in crate::cel) fn plus(self, duration: i64) -> Outcome<Self> {
        let overflow = || Fault::new("integer overflow");
        let nanos = i64::from(self.nanos) + duration % NANOS;
        let seconds = self.seconds.checked_add(duration / NANOS).ok_or_else(overflow)?;
        let seconds = seconds.checked_add(nanos.div_euclid(NANOS)).ok_or_else(overflow)?;
        // A remainder is below a billion.
        let nanos = u32::try_from(nanos.rem_euclid(NANOS)).unwrap_or(0);
        Self {
            seconds,
            nanos,
            offset: self.offset,
        }
        .bounded()
        .map_err(|_| Fault::new("timestamp overflow"))
    }

    pub(in crate::cel) fn minus(self, other: Self) -> Outcome<i64> {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let nanos = seconds * i128::from(NANOS) + i128::from(self.nanos) - i128::from(other.nanos);
        i64::try_from(nanos).map_err(|_| Fault::new("integer overflow"))
    }
}

/// The first `count` digits as a number, and what follows.
fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let head = text.get(..count)?;
    let number = head.bytes().all(|c| c.is_ascii_digit()).then(|| head.parse().ok())??;
    Some((number, &text[count..]))
}

fn read_date(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let valid = (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
    valid.then(|| (days(year, month, day), rest))
}

/// The second of the day, nanoseconds, and what follows.
fn read_clock(text: &str) -> Option<(i64, u32, &str)> {
    // One digit is enough for hours, as Go reads them.
    let (hour, rest) = digits(text, 2).or_else(|| digits(text, 1))?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, mut rest) = digits(rest.strip_prefix(':')?, 2)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let kept = fraction.get(..count.min(9)).filter(|kept| !kept.is_empty())?;
        nanos = format!("{kept:0<9}").parse().ok()?;
        rest = &fraction[count..];
    }
    (hour < 24 && minute < 60 && second < 60).then_some((hour * 3600 + minute * 60 + second, nanos, rest))
}

fn read_zone(zone: &str) -> Option<i64> {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, rest) = digits(zone.strip_prefix(['+', '-'])?, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2)?;
    (rest.is_empty() && hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Seconds with as many decimals as it takes: `90s`, `0.5s`.
pub(in crate::cel) fn show_duration(nanos: i64) -> String {
    // As Go computes seconds: whole ones and the rest apart.
    let seconds = (nanos / NANOS) as f64 + (nanos % NANOS) as f64 / 1e9;
    format!("{seconds}s")
}

/// Seconds east of UTC of a time zone that is written as hours and minutes.
pub(in crate::cel) fn offset(zone: &str) -> Outcome<i64> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return match zone {
            "" | "UTC" => Ok(0),
            _ => Err(Fault::new(format!("unknown time zone {zone}"))),
        };
    };
    let number = |text: &str| {
        let parsed = text.parse::<i64>().ok().filter(|number| number.abs() <= 1_000_000);
        parsed.ok_or_else(|| {
            Fault::new(format!(
                "strconv.Atoi: parsing {}: invalid syntax",
                crate::go::quote(text)
            ))
        })
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if zone.starts_with('-') {
        hours * 60 - minutes
    } else {
        hours * 60 + minutes
    };
    Ok(minutes * 60)
}
