//! Quantities: `1.5Gi`, `100m`, `1e3`.
//!
//! Amounts are exact in billionths up to 1.7e29; larger ones, which no resource has, all count as that.

use crate::cel::value::{Fault, Foreign, Outcome, Val};
use std::cmp::Ordering;

const WRONG: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NOT_NUMERIC: &str = "unable to parse numeric part of quantity";
const NO_SUFFIX: &str = "unable to parse quantity's suffix";

/// An amount.
#[derive(Clone, Copy, Debug)]
pub(in crate::cel) struct Quantity {
    /// In billionths.
    nanos: i128,
    /// The number and the power of ten that the server keeps it as, if it is one that it calculates with quickly; only
    /// those can be integers for a rule.
    small: Option<(i64, i32)>,
}

impl Quantity {
    pub(in crate::cel) fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    fn integer(&self) -> Option<i64> {
        let (number, scale) = self.small?;
        scaled(number, u32::try_from(scale).ok()?)
    }

    fn float(&self) -> f64 {
        match self.small {
            Some((number, 0)) => number as f64,
            Some((number, scale)) => number as f64 * 10f64.powi(scale),
            None => self.nanos as f64 * 1e-9,
        }
    }

    fn of(number: i64) -> Self {
        Self {
            nanos: i128::from(number) * 1_000_000_000,
            small: Some((number, 0)),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let small = self.small.zip(other.small).and_then(|(one, other)| sum(one, other));
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            small,
        }
    }

    fn negated(&self) -> Self {
        let small = self
            .small
            .and_then(|(number, scale)| Some((number.checked_neg()?, scale)));
        Self {
            nanos: self.nanos.saturating_neg(),
            small,
        }
    }
}

fn scaled(number: i64, power: u32) -> Option<i64> {
    if number == 0 {
        Some(0)
    } else {
        number.checked_mul(10i64.checked_pow(power)?)
    }
}

fn sum(one: (i64, i32), other: (i64, i32)) -> Option<(i64, i32)> {
    if other.0 == 0 {
        return Some(one);
    }
    if one.0 == 0 {
        return Some(other);
    }
    let scale = one.1.min(other.1);
    let at = |(number, from): (i64, i32)| scaled(number, u32::try_from(from - scale).ok()?);
    Some((at(one)?.checked_add(at(other)?)?, scale))
}

/// Base and exponent of a suffix.
fn suffix(text: &str) -> Option<(u32, i32)> {
    let decimal = [
        ("n", -9),
        ("u", -6),
        ("m", -3),
        ("", 0),
        ("k", 3),
        ("M", 6),
        ("G", 9),
        ("T", 12),
        ("P", 15),
        ("E", 18),
    ];
    let binary = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
    if let Some((_, exponent)) = decimal.iter().find(|(name, _)| *name == text) {
        return Some((10, *exponent));
    }
    if let Some((_, exponent)) = binary.iter().find(|(name, _)| *name == text) {
        return Some((2, *exponent));
    }
    let exponent: i64 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
    i32::try_from(exponent).ok().map(|exponent| (10, exponent))
}

pub(super) fn parse(text: &str) -> Outcome<Quantity> {
    if text.is_empty() {
        return Err(Fault::new(WRONG));
    }
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => after.split_at(digits(after)),
        None => ("", rest),
    };
    let letters = rest.find(|c| !"eEinumkKMGTP".contains(c)).unwrap_or(rest.len());
    let exponent = rest[letters..].strip_prefix(['-', '+']).unwrap_or(&rest[letters..]);
    if digits(exponent) != exponent.len() {
        return Err(Fault::new(WRONG));
    }
    let (base, exponent) = suffix(rest).ok_or_else(|| Fault::new(NO_SUFFIX))?;
    if whole.is_empty() && fraction.is_empty() && !text.trim_start_matches(['-', '+']).is_empty() {
        return Err(Fault::new(NOT_NUMERIC));
    }
    let whole = whole.trim_start_matches('0');
    let small =
        small(whole, fraction, base, exponent).map(|(number, scale)| (if negative { -number } else { number }, scale));
    let nanos = nanos(whole, fraction, base, exponent);
    Ok(Quantity {
        nanos: if negative { -nanos } else { nanos },
        small,
    })
}

/// The quick form: at most eighteen digits, and for binary suffixes no fraction.
fn small(whole: &str, fraction: &str, base: u32, exponent: i32) -> Option<(i64, i32)> {
    let length = |text: &str| i32::try_from(text.len()).ok();
    // The server counts a missing whole part as one digit.
    let whole_length = length(whole)?.max(1);
    let (factor, scale, room) = if base == 10 {
        (1, exponent, 18 - whole_length - length(fraction)?)
    } else if fraction.is_empty() {
        (
            1i64.checked_shl(u32::try_from(exponent).ok()?)?,
            0,
            15 - whole_length - exponent * 3 / 10 - 1,
        )
    } else {
        return None;
    };
    let scale = scale.checked_sub(length(fraction)?)?;
    if room < 0 || scale < -9 {
        return None;
    }
    let digits = format!("0{whole}{fraction}");
    Some((digits.parse::<i64>().ok()?.checked_mul(factor)?, scale))
}

/// Billionths, rounded up.
fn nanos(whole: &str, fraction: &str, base: u32, exponent: i32) -> i128 {
    const MOST: i128 = i128::MAX;
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return 0;
    }
    let Ok(number) = digits.get(..digits.len().min(38)).unwrap_or_default().parse::<i128>() else {
        return MOST;
    };
    let dropped = i64::try_from(digits.len().saturating_sub(38)).unwrap_or(i64::MAX);
    let decimals = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let (number, power) = if base == 2 {
        (number.saturating_mul(1 << exponent), 9 - decimals + dropped)
    } else {
        (number, i64::from(exponent) + 9 - decimals + dropped)
    };
    match u32::try_from(power.unsigned_abs())
        .ok()
        .and_then(|power| 10i128.checked_pow(power))
    {
        Some(factor) if power >= 0 => number.saturating_mul(factor),
        Some(factor) => number / factor + i128::from(number % factor != 0),
        None if power >= 0 => MOST,
        None => 1,
    }
}

pub(super) fn of<'a>(function: &str, quantity: &Quantity, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let give = |quantity: Quantity| Some(Ok(Val::foreign(Foreign::Quantity(quantity))));
    let other = match rest {
        [] => {
            return Some(Ok(match function {
                "sign" => Val::Int(quantity.nanos.signum() as i64),
                "isInteger" => Val::Bool(quantity.integer().is_some()),
                "asInteger" => {
                    let failed = || Fault::new("cannot convert value to integer");
                    return Some(quantity.integer().map(Val::Int).ok_or_else(failed));
                }
                "asApproximateFloat" => Val::Double(quantity.float()),
                _ => return None,
            }));
        }
        [Val::Int(number)] => match function {
            "add" => return give(quantity.plus(&Quantity::of(*number))),
            "sub" => return give(quantity.plus(&Quantity::of(*number).negated())),
            _ => return None,
        },
        [Val::Foreign(other)] => match &**other {
            Foreign::Quantity(other) => other,
            _ => return None,
        },
        _ => return None,
    };
    let order = quantity.cmp(other);
    Some(Ok(match function {
        "isGreaterThan" => Val::Bool(order.is_gt()),
        "isLessThan" => Val::Bool(order.is_lt()),
        "compareTo" => Val::Int(order as i64),
        "add" => return give(quantity.plus(other)),
        "sub" => return give(quantity.plus(&other.negated())),
        _ => return None,
    }))
}
