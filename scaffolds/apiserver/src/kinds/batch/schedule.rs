//! Cron schedules: five fields, or a descriptor, as robfig/cron's standard parser reads them.

use crate::kinds::faults::quoted;

/// What a field may be.
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

/// Checks that `text` is a schedule.
///
/// # Errors
/// The parser's error message.
pub(in crate::kinds) fn check(text: &str) -> Result<(), String> {
    let text = match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest.trim()),
        None => text,
    };
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
    fields.iter().zip(FIELDS).try_for_each(|(field, bounds)| {
        field
            .split(',')
            .filter(|part| !part.is_empty())
            .try_for_each(|part| range(part, bounds))
    })
}

fn descriptor(text: &str) -> Result<(), String> {
    let known = [
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
    ];
    if known.contains(&text) {
        return Ok(());
    }
    match text.strip_prefix("@every ") {
        Some(duration) => kubewright_machinery::go::duration(duration)
            .map(drop)
            .map_err(|why| format!("failed to parse duration {text}: time: {why}")),
        None => Err(format!("unrecognized descriptor: {text}")),
    }
}

/// Checks `number`, `first-last` or `*`, each with an optional `/step`.
fn range(text: &str, bounds: Bounds) -> Result<(), String> {
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
    Ok(())
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
            let quoted = quoted(text);
            Err(format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {quoted}: invalid syntax"
            ))
        }
    }
}
