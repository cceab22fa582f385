//! Reads a quantity: its sign, digits and suffix, and the forms that upstream keeps it in.

/// The suffix's family, which a quantity keeps when it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Format {
    DecimalSi,
    DecimalExponent,
    BinarySi,
}

pub(super) const WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
pub(super) const SUFFIX: &str = "unable to parse quantity's suffix";
pub(super) const NUMERIC: &str = "unable to parse numeric part of quantity";

/// A quantity taken apart: the sign, digits before (without leading zeros) and after the point, and the suffix.
pub(super) struct Parts<'a> {
    pub(super) negative: bool,
    whole: &'a str,
    fraction: &'a str,
    pub(super) suffix: &'a str,
    /// Whether there are digits at all.
    pub(super) has_digits: bool,
}

/// The meaning of a suffix.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    base: u32,
    exponent: i32,
    pub(super) format: Format,
}

pub(super) fn take_apart(text: &str) -> Result<Parts<'_>, &'static str> {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let letters = suffix.bytes().take_while(|byte| b"eEinumkKMGTP".contains(byte)).count();
    let (_, exponent) = suffix.split_at(letters);
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(WRONG);
    }
    Ok(Parts {
        negative: text.starts_with('-'),
        whole: whole.trim_start_matches('0'),
        fraction,
        suffix,
        has_digits: !whole.is_empty() || !fraction.is_empty(),
    })
}

pub(super) fn interpret(suffix: &str) -> Option<Scale> {
    let scale = |base, exponent, format| Scale { base, exponent, format };
    let decimal = |exponent| Some(scale(10, exponent, Format::DecimalSi));
    let binary = |exponent| Some(scale(2, exponent, Format::BinarySi));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        other => {
            let exponent = other.strip_prefix(['e', 'E'])?.parse().ok()?;
            Some(scale(10, exponent, Format::DecimalExponent))
        }
    }
}

/// Upstream keeps the very text of numbers that it takes for canonical: a small whole mantissa and a fitting exponent.
pub(super) fn is_canonical(parts: &Parts<'_>, scale: Scale) -> bool {
    let shifted = format!(
        "{}{}",
        if parts.whole.is_empty() { "0" } else { parts.whole },
        parts.fraction
    );
    let Ok(value) = shifted.parse::<i64>() else {
        return false;
    };
    if scale.format == Format::BinarySi {
        let digits = 15 - i64::try_from(parts.whole.len()).unwrap_or(i64::MAX) - i64::from(scale.exponent * 3 / 10) - 1;
        return parts.fraction.is_empty() && digits >= 0 && value & 7 != 0;
    }
    let places = i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
    let power = scale.exponent.saturating_sub(places);
    shifted.len() <= 18 && power >= -9 && power % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
}

/// The form that the server calculates with quickly: at most eighteen digits, and for binary suffixes no fraction.
pub(super) fn small(parts: &Parts<'_>, scale: Scale) -> Option<(i64, i32)> {
    let length = |text: &str| i32::try_from(text.len()).ok();
    // The server counts a missing whole part as one digit.
    let (whole, fraction) = (length(parts.whole)?.max(1), length(parts.fraction)?);
    let (factor, power, room) = if scale.base == 10 {
        (1, scale.exponent, 18 - whole - fraction)
    } else if fraction == 0 {
        let factor = 1i64.checked_shl(u32::try_from(scale.exponent).ok()?)?;
        (factor, 0, 15 - whole - scale.exponent * 3 / 10 - 1)
    } else {
        return None;
    };
    let power = power.checked_sub(fraction)?;
    if room < 0 || power < -9 {
        return None;
    }
    let digits = format!("0{}{}", parts.whole, parts.fraction);
    Some((digits.parse::<i64>().ok()?.checked_mul(factor)?, power))
}

/// The amount without its sign, in billionths, rounded up; `None` for one that is too large.
pub(super) fn nanos(parts: &Parts<'_>, scale: Scale) -> Option<i128> {
    /// The digits that every `i128` holds.
    const MOST_DIGITS: usize = 38;
    let digits = format!("{}{}", parts.whole, parts.fraction);
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let mut number: i128 = digits[..digits.len().min(MOST_DIGITS)].parse().ok()?;
    let dropped = i64::try_from(digits.len().saturating_sub(MOST_DIGITS)).ok()?;
    let mut power = 9 - i64::try_from(parts.fraction.len()).ok()? + dropped;
    if scale.base == 2 {
        number = number.checked_mul(1 << scale.exponent)?;
    } else {
        power += i64::from(scale.exponent);
    }
    let factor = u32::try_from(power.unsigned_abs())
        .ok()
        .and_then(|power| 10i128.checked_pow(power));
    match factor {
        Some(factor) if power >= 0 => number.checked_mul(factor),
        Some(factor) => Some(number / factor + i128::from(number % factor != 0)),
        None if power >= 0 => None,
        None => Some(1),
    }
}
