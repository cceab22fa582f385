//! Points in time and lengths of time, as rules calculate with them and as Go writes them.

use super::{Fault, Outcome};
use kubewright_machinery::calendar::Date;
use kubewright_machinery::go;
pub(in crate::language) use kubewright_machinery::time::Moment;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A date and a time of day.
pub(in crate::language) struct Civil {
    pub(in crate::language) date: Date,
    /// From 0, which is the first of January.
    pub(in crate::language) day_of_year: i64,
    /// From 0, which is Sunday.
    pub(in crate::language) weekday: i64,
    /// Of the day.
    pub(in crate::language) second: i64,
}

/// The moment so many seconds after 1970 began, in UTC.
pub(in crate::language) fn unix(seconds: i64) -> Outcome<Moment> {
    bounded(utc(seconds))
}

const fn utc(seconds: i64) -> Moment {
    Moment {
        seconds,
        nanos: 0,
        offset: 0,
    }
}

/// A moment between the years 1 and 9999.
fn bounded(moment: Moment) -> Outcome<Moment> {
    if (FIRST..=LAST).contains(&moment.seconds) {
        Ok(moment)
    } else {
        Err(Fault::new("timestamp overflow"))
    }
}

/// `2006-01-02`.
pub(in crate::language) fn date(text: &str) -> Option<Moment> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let date = Date { year, month, day };
    (rest.is_empty() && date.is_valid()).then(|| utc(date.days() * DAY))
}

/// RFC 3339, or without a time zone; nothing at all is 1970.
pub(in crate::language) fn loose(text: &str) -> Option<Moment> {
    if text.is_empty() {
        return Some(utc(0));
    }
    let read = Moment::parse(text).or_else(|_| Moment::parse(&format!("{text}Z")));
    read.ok()
}

/// The date and time of a clock `offset` seconds east of UTC.
pub(in crate::language) fn civil(moment: &Moment, offset: i64) -> Civil {
    let local = moment.seconds.saturating_add(offset);
    let (days, second) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let date = Date::from_days(days);
    let new_year = Date {
        month: 1,
        day: 1,
        ..date
    };
    Civil {
        date,
        day_of_year: days - new_year.days(),
        weekday: (days + 4).rem_euclid(7),
        second,
    }
}

/// The moment so many nanoseconds later.
pub(in crate::language) fn plus(moment: Moment, duration: i64) -> Outcome<Moment> {
    let overflow = || Fault::new("integer overflow");
    let nanos = i64::from(moment.nanos) + duration % NANOS;
    let seconds = moment.seconds.checked_add(duration / NANOS).ok_or_else(overflow)?;
    let seconds = seconds.checked_add(nanos.div_euclid(NANOS)).ok_or_else(overflow)?;
    // A remainder is below a billion.
    let nanos = u32::try_from(nanos.rem_euclid(NANOS)).unwrap_or(0);
    bounded(Moment {
        seconds,
        nanos,
        offset: moment.offset,
    })
}

/// The nanoseconds from `other` to `moment`.
pub(in crate::language) fn minus(moment: Moment, other: Moment) -> Outcome<i64> {
    let seconds = i128::from(moment.seconds) - i128::from(other.seconds);
    let nanos = seconds * i128::from(NANOS) + i128::from(moment.nanos) - i128::from(other.nanos);
    i64::try_from(nanos).map_err(|_| Fault::new("integer overflow"))
}

/// The first `count` digits as a number, and what follows.
fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let head = text.get(..count)?;
    let number = head.bytes().all(|c| c.is_ascii_digit()).then(|| head.parse().ok())??;
    Some((number, &text[count..]))
}

/// Seconds with as many decimals as it takes: `90s`, `0.5s`.
pub(in crate::language) fn show_duration(nanos: i64) -> String {
    // As Go computes seconds: whole ones and the rest apart.
    let seconds = (nanos / NANOS) as f64 + (nanos % NANOS) as f64 / 1e9;
    format!("{seconds}s")
}

/// Seconds east of UTC of a time zone that is written as hours and minutes.
pub(in crate::language) fn offset(zone: &str) -> Outcome<i64> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return match zone {
            "" | "UTC" => Ok(0),
            _ => Err(Fault::new(format!("unknown time zone {zone}"))),
        };
    };
    let number = |text: &str| {
        let parsed = text
            .parse::<i64>()
            .ok()
            .filter(|number| number.unsigned_abs() <= 1_000_000);
        parsed.ok_or_else(|| {
            let text = go::quote(text);
            Fault::new(format!("strconv.Atoi: parsing {text}: invalid syntax"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_at_the_limit_of_integers_is_no_zone() {
        for zone in ["-9223372036854775808:00", "00:9223372036854775807", "1000001:00"] {
            assert!(offset(zone).is_err(), "{zone}");
        }
        assert!(matches!(offset("-05:30"), Ok(-19_800)));
    }
}
