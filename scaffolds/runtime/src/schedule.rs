//! The times of a cron schedule, in a time zone.

use k8s_openapi::jiff::{Timestamp, tz::TimeZone};
use kubewright_machinery::cron::{CronSchedule, parse, zone_file};

use crate::error::{Error, Result};

/// The times of a cron schedule, as Kubernetes' CronJobs have them.
///
/// Five fields (minute, hour, day of the month, month, day of the week), or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`, or
/// `@every 90m`. A time that a change of the clocks skips is left out, and a time that it repeats comes twice.
#[derive(Clone, Debug)]
pub struct Schedule {
    cron: CronSchedule,
    zone: TimeZone,
}

impl Schedule {
    /// Reads a schedule. Its fields are times of the zone, such as `Europe/Berlin`, or of UTC without one; zones are read from the
    /// files of the system (`/usr/share/zoneinfo`).
    ///
    /// # Errors
    ///
    /// Terminal, with the reason `InvalidSchedule`, if the schedule is invalid or the system has no such zone.
    pub fn parse(schedule: &str, zone: Option<&str>) -> Result<Self> {
        let invalid = |why: &str| Error::terminal("InvalidSchedule", format!("`{schedule}`: {why}"));
        let (inner, cron) = parse(schedule).map_err(|why| invalid(&why))?;
        if inner.is_some() {
            return Err(invalid("the time zone has a field of its own"));
        }
        let zone = match zone {
            None | Some("UTC") => TimeZone::UTC,
            Some(name) => zone_file(name)
                .and_then(|file| TimeZone::tzif(name, &file).ok())
                .ok_or_else(|| invalid(&format!("unknown time zone `{name}`")))?,
        };
        Ok(Self { cron, zone })
    }

    /// The first time after `after`; `None` if the next five years have none. Those of `@every` are counted from `after`.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let next = self.cron.next(after.as_second(), |at| self.offset(at))?;
        Timestamp::from_second(next).ok()
    }

    /// The last time after `since` and not after `now`, however many there are between: the one to catch up with after a pause.
    pub fn latest(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let (since, now) = (since.as_second(), now.as_second());
        let latest = self.cron.latest(since, now, |at| self.offset(at))?;
        Timestamp::from_second(latest).ok()
    }

    fn offset(&self, at: i64) -> i64 {
        let at = Timestamp::from_second(at).unwrap_or_default();
        i64::from(self.zone.to_offset(at).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_of_day_follows_the_clocks_of_its_zone() {
        let nightly = Schedule::parse("30 2 * * *", Some("Europe/Berlin")).unwrap();
        let next = |after| nightly.next(at(after)).unwrap();
        assert_eq!(next("2026-01-30T12:00:00Z"), at("2026-01-31T01:30:00Z"));
        assert_eq!(next("2026-07-30T12:00:00Z"), at("2026-07-31T00:30:00Z"));
        // The clocks skip 02:30 on 29 March, and repeat it on 25 October.
        assert_eq!(next("2026-03-28T12:00:00Z"), at("2026-03-30T00:30:00Z"));
        assert_eq!(next("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z"));
    }

    #[test]
    fn after_a_pause_the_latest_missed_time_is_the_one() {
        let hourly = Schedule::parse("0 * * * *", None).unwrap();
        let latest = |since, now| hourly.latest(at(since), at(now));
        assert_eq!(
            latest("2020-01-01T00:00:00Z", "2026-01-30T12:34:56Z"),
            Some(at("2026-01-30T12:00:00Z"))
        );
        assert_eq!(latest("2026-01-30T12:00:00Z", "2026-01-30T12:34:56Z"), None);
    }

    #[test]
    fn what_cannot_be_read_is_a_terminal_error_with_its_reason() {
        for (schedule, zone) in [
            ("", None),
            ("60 * * * *", None),
            ("TZ=UTC 0 * * * *", None),
            ("0 * * * *", Some("Nowhere/Nothing")),
            ("0 * * * *", Some("../../etc/passwd")),
        ] {
            let error = Schedule::parse(schedule, zone).unwrap_err();
            assert!(
                matches!(error, Error::Terminal { ref reason, .. } if reason == "InvalidSchedule"),
                "{error}"
            );
        }
    }
}
