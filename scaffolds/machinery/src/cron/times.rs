//! The times of a schedule, by clocks that may change. A time that a change of the clocks skips has no run; one that it repeats
//! has two.

use super::{CronSchedule, FieldValues, Form};
use crate::calendar::Date;

const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;
/// A schedule without a time in so many days has none, as upstream.
const MOST_DAYS: i64 = 5 * 366;

impl CronSchedule {
    /// The first time of the schedule after this one. Times are seconds since 1970; `offset` returns the seconds by which clocks are
    /// ahead of UTC at a time.
    pub fn next(&self, after: i64, offset: impl Fn(i64) -> i64) -> Option<i64> {
        match &self.0 {
            Form::Every(seconds) => Some(after + seconds),
            Form::Fields(fields) => {
                let first = (after + 1 + offset(after + 1)).div_euclid(DAY);
                let mut days = (first..=first + MOST_DAYS).filter(|day| has_day(fields, *day));
                days.find_map(|day| first_of(fields, day, after, &offset))
            }
        }
    }

    /// The last time of the schedule after `since` and not after `now`.
    pub fn latest(&self, since: i64, now: i64, offset: impl Fn(i64) -> i64) -> Option<i64> {
        if let Form::Every(seconds) = self.0 {
            let periods = (now - since).div_euclid(seconds);
            return (periods > 0).then_some(since + periods * seconds);
        }
        // Years may have passed: the search goes back from now, by twice the time in each turn.
        let mut back = HOUR;
        loop {
            let from = since.max(now.saturating_sub(back));
            let times = std::iter::successors(self.next(from, &offset), |at| self.next(*at, &offset));
            match times.take_while(|at| *at <= now).last() {
                None if from > since => back = back.saturating_mul(2),
                latest => return latest,
            }
        }
    }
}

/// The first time on a day, after this time.
fn first_of(
    [minutes, hours, ..]: &[FieldValues; 5],
    day: i64,
    after: i64,
    offset: &impl Fn(i64) -> i64,
) -> Option<i64> {
    let midnight = day * DAY;
    // Clocks may change at midnight, by two hours at most.
    let mut at = (midnight - offset(midnight) - 2 * HOUR).max(after + 1);
    loop {
        let local = at + offset(at);
        if local.div_euclid(DAY) > day {
            return None;
        }
        let (hour, minute) = (local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / 60);
        let is_hour = local.div_euclid(DAY) == day && hours.has(hour);
        match (is_hour, local.rem_euclid(60)) {
            (false, _) => at += HOUR - local.rem_euclid(HOUR),
            (true, 0) if minutes.has(minute) => return Some(at),
            (true, second) => at += 60 - second,
        }
    }
}

/// Whether a day matches both of its fields, or, if both of them are restricted (not `*`), either one.
fn has_day([_, _, days, months, weekdays]: &[FieldValues; 5], day: i64) -> bool {
    let date = Date::from_days(day);
    // The first day of 1970 was a Thursday.
    let (is_day, is_weekday) = (days.has(date.day), weekdays.has((day + 4).rem_euclid(7)));
    let matches = match days.is_any || weekdays.is_any {
        true => is_day && is_weekday,
        false => is_day || is_weekday,
    };
    months.has(date.month) && matches
}

#[cfg(test)]
mod tests {
    use crate::{cron::parse, time};

    fn latest(schedule: &str, since: &str, now: &str) -> Option<String> {
        let [since, now] = [since, now].map(|at| time::seconds(at).unwrap());
        let schedule = parse(schedule).unwrap().1;
        schedule.latest(since, now, |_| 0).map(time::text)
    }

    #[test]
    fn the_latest_time_is_found_after_years_and_between_irregular_times() {
        let since = "2020-01-01T00:00:00Z";
        for (schedule, now, expected) in [
            ("* * * * *", "2026-01-30T12:00:30Z", Some("2026-01-30T12:00:00Z")),
            // A time is not after itself, but it may be now.
            ("0 12 * * *", "2026-01-30T12:00:00Z", Some("2026-01-30T12:00:00Z")),
            ("0 0 1 1 *", "2020-12-31T12:00:00Z", None),
            ("0,1 0 1 1 *", "2026-07-30T12:00:00Z", Some("2026-01-01T00:01:00Z")),
            (
                "30 6-16/4 * * 1-5",
                "2026-02-01T12:00:00Z",
                Some("2026-01-30T14:30:00Z"),
            ),
            ("0 0 29 2 *", "2026-01-30T12:00:00Z", Some("2024-02-29T00:00:00Z")),
            ("0 0 31 2 *", "2026-01-30T12:00:00Z", None),
            ("@every 36h", "2020-01-04T00:00:00Z", Some("2020-01-04T00:00:00Z")),
            ("@every 36h", "2020-01-02T11:59:59Z", None),
        ] {
            assert_eq!(latest(schedule, since, now).as_deref(), expected, "{schedule}");
        }
        assert_eq!(latest("* * * * *", "2026-01-01T00:00:00Z", since), None);
    }
}
