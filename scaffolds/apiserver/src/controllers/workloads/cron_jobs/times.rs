//! The times of a schedule in a time zone. A time that a change of the clocks skips has no run; one that it repeats has two.

use jiff::{Timestamp, tz::TimeZone};
use kubewright_machinery::{
    cron::{CronSchedule, zone_file},
    time::Moment,
};

/// A schedule, and the time zone for its fields.
pub(super) struct Times {
    pub schedule: CronSchedule,
    pub zone: TimeZone,
}

impl Times {
    /// The seconds by which clocks are ahead of UTC at a time.
    fn offset(&self, at: i64) -> i64 {
        let at = Timestamp::from_second(at).unwrap_or_default();
        i64::from(self.zone.to_offset(at).seconds())
    }

    /// A time as the clocks of the zone show it, in RFC 3339.
    pub fn show(&self, at: i64) -> String {
        let moment = Moment {
            seconds: at,
            nanos: 0,
            offset: self.offset(at),
        };
        moment.show()
    }

    /// The first time of the schedule after this one.
    pub fn next(&self, after: i64) -> Option<i64> {
        self.schedule.next(after, |at| self.offset(at))
    }
}

/// The time zone of this name, from the files of the system; `None` if there is none. jiff's own search is a feature, for which
/// cargo would compile jiff, k8s-openapi and kube once more for the operators of generated projects.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "" | "UTC" => Some(TimeZone::UTC),
        name => TimeZone::tzif(name, &zone_file(name)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_machinery::{cron::parse, time};

    use super::{Times, zone as zone_of};

    /// The three times of a schedule after another one.
    fn next(schedule: &str, zone: &str, after: &str) -> Vec<String> {
        let times = Times {
            schedule: parse(schedule).unwrap().1,
            zone: zone_of(zone).unwrap(),
        };
        let after = time::seconds(after).unwrap();
        let all = std::iter::successors(times.next(after), |at| times.next(*at));
        all.take(3).map(|at| times.show(at)).collect()
    }

    #[test]
    fn fields_steps_names_and_descriptors_have_their_times() {
        for (schedule, times) in [
            (
                "*/20 * * * *",
                ["2026-01-30T12:20:00Z", "2026-01-30T12:40:00Z", "2026-01-30T13:00:00Z"],
            ),
            (
                "5 4 * * *",
                ["2026-01-31T04:05:00Z", "2026-02-01T04:05:00Z", "2026-02-02T04:05:00Z"],
            ),
            (
                "0 12 31 * *",
                ["2026-01-31T12:00:00Z", "2026-03-31T12:00:00Z", "2026-05-31T12:00:00Z"],
            ),
            (
                "0 0 29 feb *",
                ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z"],
            ),
            (
                "0 9 * * MON-tue",
                ["2026-02-02T09:00:00Z", "2026-02-03T09:00:00Z", "2026-02-09T09:00:00Z"],
            ),
            (
                "0 0 13 * 5",
                ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"],
            ),
            // A step is not `*`, so either of the two days matches.
            (
                "0 0 */15 * 5",
                ["2026-01-31T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-06T00:00:00Z"],
            ),
            (
                "50/5 12 * * ?",
                ["2026-01-30T12:50:00Z", "2026-01-30T12:55:00Z", "2026-01-31T12:50:00Z"],
            ),
            (
                "@hourly",
                ["2026-01-30T13:00:00Z", "2026-01-30T14:00:00Z", "2026-01-30T15:00:00Z"],
            ),
            (
                "@weekly",
                ["2026-02-01T00:00:00Z", "2026-02-08T00:00:00Z", "2026-02-15T00:00:00Z"],
            ),
            (
                "@yearly",
                ["2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z", "2029-01-01T00:00:00Z"],
            ),
            (
                "@every 1h30m",
                ["2026-01-30T13:30:00Z", "2026-01-30T15:00:00Z", "2026-01-30T16:30:00Z"],
            ),
        ] {
            assert_eq!(next(schedule, "UTC", "2026-01-30T12:00:00Z"), times, "{schedule}");
        }
    }

    #[test]
    fn an_hour_that_is_skipped_has_no_run_and_one_that_is_repeated_two() {
        let spring = next("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z");
        assert_eq!(
            spring,
            [
                "2026-03-28T02:30:00+01:00",
                "2026-03-30T02:30:00+02:00",
                "2026-03-31T02:30:00+02:00"
            ]
        );
        let autumn = next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
        assert_eq!(
            autumn,
            [
                "2026-10-25T02:30:00+02:00",
                "2026-10-25T02:30:00+01:00",
                "2026-10-26T02:30:00+01:00"
            ]
        );
    }

    #[test]
    fn a_day_that_no_year_has_has_no_time() {
        assert_eq!(next("0 0 31 2 *", "UTC", "2026-01-30T12:00:00Z"), [""; 0]);
    }
}
