//! Cron schedules: five fields, or a descriptor, as robfig/cron's standard parser reads them.

mod times;
mod zones;

pub use zones::zone_file;

use crate::go::{duration, quote};

/// The values that a field may have.
#[derive(Clone, Copy)]
struct Bounds {
    least: u32,
    most: u32,
    /// Of the values, in their order.
    names: &'static [&'static str],
}

impl Bounds {
    const fn new(least: u32, most: u32, names: &'static [&'static str]) -> Self {
        Self { least, most, names }
    }
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Minute, hour, day of the month, month, day of the week.
const FIELDS: [Bounds; 5] = [
    Bounds::new(0, 59, &[]),
    Bounds::new(0, 23, &[]),
    Bounds::new(1, 31, &[]),
    Bounds::new(1, 12, &MONTHS),
    Bounds::new(0, 6, &DAYS),
];

/// The values of a field, as bits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct FieldValues {
    bits: u64,
    /// Whether the field is `*`: if one of the two days is, the other one decides, otherwise either may match.
    is_any: bool,
}

impl FieldValues {
    fn has(self, value: i64) -> bool {
        u32::try_from(value).is_ok_and(|value| self.bits.checked_shr(value).unwrap_or_default() & 1 == 1)
    }
}

/// A schedule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CronSchedule(Form);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    /// The values of minute, hour, day of the month, month and day of the week.
    Fields([FieldValues; 5]),
    /// The seconds between two times.
    Every(i64),
}

/// Parses a schedule; returns the time zone that it names too.
///
/// # Errors
/// The parser's error message.
pub fn parse(text: &str) -> Result<(Option<&str>, CronSchedule), String> {
    match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        Some(rest) => {
            let (zone, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            Ok((Some(zone), schedule(rest.trim())?))
        }
        None => Ok((None, schedule(text)?)),
    }
}

fn schedule(text: &str) -> Result<CronSchedule, String> {
    if text.starts_with('@') {
        return descriptor(text);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    let mut values = [FieldValues::default(); 5];
    for ((values, field), bounds) in values.iter_mut().zip(fields).zip(FIELDS) {
        for part in field.split(',').filter(|part| !part.is_empty()) {
            let part = range(part, bounds)?;
            values.bits |= part.bits;
            values.is_any |= part.is_any;
        }
    }
    Ok(CronSchedule(Form::Fields(values)))
}

fn descriptor(text: &str) -> Result<CronSchedule, String> {
    let fields = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => {
            let every = text.strip_prefix("@every ");
            let every = every.ok_or_else(|| format!("unrecognized descriptor: {text}"))?;
            let every = duration(every).map_err(|why| format!("failed to parse duration {text}: time: {why}"))?;
            return Ok(CronSchedule(Form::Every((every / 1_000_000_000).max(1))));
        }
    };
    schedule(fields)
}

/// Parses `number`, `first-last` or `*`, each with an optional `/step`.
fn range(text: &str, bounds: Bounds) -> Result<FieldValues, String> {
    let Bounds { least, most, names } = bounds;
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts.first().copied().unwrap_or_default().split('-').collect();
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (least, most),
        [one] => number(one, names).map(|one| (one, one))?,
        [first, last] => (number(first, names)?, number(last, names)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 && !matches!(ends.first(), Some(&("*" | "?"))) {
                end = most;
            }
            number(step, &[])?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {text}"));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {text}"));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {text}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    let steps = (start..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    Ok(FieldValues {
        bits: steps.fold(0, |bits, value| bits | 1 << value),
        is_any: step == 1 && matches!(ends.first(), Some(&("*" | "?"))),
    })
}

fn number(text: &str, names: &[&str]) -> Result<u32, String> {
    let lower = text.to_lowercase();
    if let Some(at) = names.iter().position(|name| *name == lower) {
        // Months are counted from one, days of the week from zero.
        let first = u32::from(names.len() == 12);
        return Ok(u32::try_from(at).unwrap_or_default() + first);
    }
    match text.parse::<i64>() {
        Ok(number) => u32::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => {
            let quoted = quote(text);
            Err(format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {quoted}: invalid syntax"
            ))
        }
    }
}
