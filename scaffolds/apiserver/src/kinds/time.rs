//! Points in time as the API writes them, read with the complaints of Go's time package.

/// A layout's elements, in the order in which a time is read.
const ELEMENTS: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
const MICROS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// A `Time`, which is kept to the second.
///
/// # Errors
/// Go's sentence.
pub(crate) fn seconds(text: &str) -> Result<String, String> {
    let (seconds, _) = parse(text, SECONDS)?;
    Ok(format!("{}Z", civil(seconds)))
}

/// A `MicroTime`: six digits after the point are required.
///
/// # Errors
/// Go's sentence.
pub(crate) fn micros(text: &str) -> Result<String, String> {
    let (seconds, micros) = parse(text, MICROS)?;
    Ok(format!("{}.{micros:06}Z", civil(seconds)))
}

/// Seconds since 1970 of what [`seconds`] or [`micros`] wrote.
pub(crate) fn epoch(text: &str) -> Option<i64> {
    parse(text, SECONDS).ok().map(|(seconds, _)| seconds)
}

fn parse(text: &str, layout: &str) -> Result<(i64, u32), String> {
    let fail = |rest: &str, element: &str| {
        Err(format!(
            "parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}"
        ))
    };
    let mut numbers = [0_i64; 6];
    let (mut rest, mut count) = (text, 0);
    for element in ELEMENTS {
        let Some((taken, after)) = rest.split_at_checked(element.len()) else {
            return fail(rest, element);
        };
        if element.len() == 1 {
            if taken != element {
                return fail(rest, element);
            }
        } else {
            match (
                taken.bytes().all(|byte| byte.is_ascii_digit()),
                taken.parse(),
                numbers.get_mut(count),
            ) {
                (true, Ok(number), Some(slot)) => *slot = number,
                _ => return fail(rest, element),
            }
            count += 1;
        }
        rest = after;
    }
    let (micros, after) = match fraction(rest, layout == MICROS) {
        Some(found) => found,
        None => return fail(rest, ".000000"),
    };
    let Some((offset, after)) = zone(after) else {
        return fail(after, "Z07:00");
    };
    if let Some(field) = out_of_range(&numbers) {
        return Err(format!("parsing time {text:?}: {field} out of range"));
    }
    if !after.is_empty() {
        return Err(format!("parsing time {text:?}: extra text: {after:?}"));
    }
    let [year, month, day, hour, minute, second] = numbers;
    Ok((
        days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset,
        micros,
    ))
}

/// Microseconds and what follows; `None` when six digits are required and missing.
fn fraction(rest: &str, required: bool) -> Option<(u32, &str)> {
    let Some(digits) = rest.strip_prefix(['.', ',']) else {
        return (!required).then_some((0, rest));
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let taken = if required { 6 } else { count };
    if count == 0 || count < taken {
        return (!required).then_some((0, rest));
    }
    let (number, after) = digits.split_at(taken);
    let micros: String = number.chars().chain("000000".chars()).take(6).collect();
    Some((micros.parse().ok()?, after))
}

/// Seconds east of UTC and what follows.
fn zone(rest: &str) -> Option<(i64, &str)> {
    if let Some(after) = rest.strip_prefix('Z') {
        return Some((0, after));
    }
    let (text, after) = rest.split_at_checked(6)?;
    let sign = match text.as_bytes() {
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((0..=24).contains(&hours) && (0..60).contains(&minutes)).then_some((sign * (hours * 3_600 + minutes * 60), after))
}

fn out_of_range([year, month, day, hour, minute, second]: &[i64; 6]) -> Option<&'static str> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let checks = [
        ("month", (1..=12).contains(month)),
        ("hour", (0..24).contains(hour)),
        ("minute", (0..60).contains(minute)),
        ("second", (0..60).contains(second)),
        ("day", (1..=length).contains(day)),
    ];
    checks.iter().find(|(_, fits)| !fits).map(|(name, _)| *name)
}

/// Days from 1970-01-01 (Hinnant's civil calendar).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// `2026-01-02T03:04:05` of seconds since 1970.
fn civil(seconds: i64) -> String {
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}",
        rest / 3_600,
        rest % 3_600 / 60,
        rest % 60
    )
}
