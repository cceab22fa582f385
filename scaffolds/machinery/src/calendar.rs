//! The Gregorian calendar: days since 1970 and dates, both ways (Howard Hinnant's civil calendar). Not `jiff`, which k8s-openapi
//! brings: only these forty lines are needed, and `make manifests` would compile the crate for them alone.

/// A date of the Gregorian calendar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Date {
    /// Zero is 1 BC.
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
}

impl Date {
    /// The date that is this number of days after 1970-01-01.
    pub fn from_days(days: i64) -> Self {
        // Years begin in March here, so that the leap day comes last.
        let days = days + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Self { year, month, day }
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
    }

    /// Whether the calendar has this date.
    pub fn is_valid(self) -> bool {
        (1..=12).contains(&self.month) && (1..=month_length(self.year, self.month)).contains(&self.day)
    }
}

/// The number of days of a month; `month` is from 1 to 12.
pub fn month_length(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_thousand_years_follows_the_one_before() {
        let mut date = Date {
            year: 1600,
            month: 1,
            day: 1,
        };
        for days in date.days()..date.days() + 365_250 {
            assert!(date.is_valid());
            assert_eq!((date.days(), Date::from_days(days)), (days, date));
            date.day += 1;
            if !date.is_valid() {
                (date.month, date.day) = (date.month + 1, 1);
            }
            if !date.is_valid() {
                (date.year, date.month) = (date.year + 1, 1);
            }
        }
    }

    #[test]
    fn the_epoch_is_day_zero() {
        let epoch = Date {
            year: 1970,
            month: 1,
            day: 1,
        };
        assert_eq!(epoch.days(), 0);
    }
}
