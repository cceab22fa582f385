//! Resource quantities: `100m`, `1.5Gi`, `2e3`. Parsed, compared and written the way apimachinery does.

use std::cmp::Ordering;

/// The suffix's family, which a quantity keeps when it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Format {
    DecimalSi,
    DecimalExponent,
    BinarySi,
}

/// An amount, exact to 10⁻⁹; what is finer was rounded away from zero.
///
/// # Caveats
/// Amounts beyond ±1.7·10²⁹ are refused as not numeric; upstream keeps those that have a decimal suffix.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    nanos: i128,
    format: Format,
    /// What was parsed, where that counts as canonical.
    text: Option<String>,
}

const NANO: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;
const WRONG: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX: &str = "unable to parse quantity's suffix";
const NUMERIC: &str = "unable to parse numeric part of quantity";

/// A quantity taken apart: the sign, digits before and after the point, and the suffix.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl Quantity {
    /// # Errors
    /// The sentence of the server.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(WRONG);
        }
        let parts = take_apart(text)?;
        let (base, exponent, mut format) = interpret(parts.suffix).ok_or(SUFFIX)?;
        let text_if_canonical = is_canonical(&parts, exponent, format).then(|| text.to_owned());
        let mut nanos = nanos(&parts, base, exponent)?;
        if format == Format::BinarySi {
            nanos = nanos.min(i128::from(i64::MAX) * NANO);
            if nanos > 0 && nanos < NANO {
                format = Format::DecimalSi;
            }
        }
        let nanos = if parts.negative { -nanos } else { nanos };
        Ok(Self {
            nanos,
            format,
            text: text_if_canonical,
        })
    }

    /// Below, at or above zero.
    pub fn sign(&self) -> Ordering {
        self.nanos.cmp(&0)
    }

    /// Compares the amounts.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// Whether it is a whole number.
    pub fn is_whole(&self) -> bool {
        self.nanos % NANO == 0
    }

    /// What it is rounded up to thousandths.
    pub fn rounded_to_milli(self) -> Self {
        let rest = self.nanos % MILLI;
        if rest == 0 {
            return self;
        }
        let nanos = self.nanos - rest + if rest > 0 { MILLI } else { -MILLI };
        Self {
            nanos,
            text: None,
            ..self
        }
    }

    /// How the server writes it.
    pub fn canonical(&self) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        if self.nanos == 0 {
            return "0".to_owned();
        }
        let small = self.nanos.abs() < 1024 * NANO;
        match self.format {
            Format::BinarySi if !small && self.is_whole() => binary(self.nanos / NANO),
            Format::DecimalExponent => decimal(self.nanos, true),
            _ => decimal(self.nanos, false),
        }
    }
}

fn take_apart(text: &str) -> Result<Parts<'_>, &'static str> {
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text).trim_start_matches('0');
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
        negative,
        whole,
        fraction,
        suffix,
    })
}

/// Base, exponent and format of a suffix.
fn interpret(suffix: &str) -> Option<(u32, i32, Format)> {
    let decimal = |exponent| Some((10, exponent, Format::DecimalSi));
    let binary = |exponent| Some((2, exponent, Format::BinarySi));
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
            Some((10, exponent, Format::DecimalExponent))
        }
    }
}

/// Upstream keeps the very text of numbers that it takes for canonical: a small whole mantissa and a fitting exponent.
fn is_canonical(parts: &Parts<'_>, exponent: i32, format: Format) -> bool {
    let shifted = format!(
        "{}{}",
        if parts.whole.is_empty() { "0" } else { parts.whole },
        parts.fraction
    );
    let Ok(value) = shifted.parse::<i64>() else {
        return false;
    };
    if format == Format::BinarySi {
        let digits = 15 - i64::try_from(parts.whole.len()).unwrap_or(i64::MAX) - i64::from(exponent * 3 / 10) - 1;
        return parts.fraction.is_empty() && digits >= 0 && value & 7 != 0;
    }
    let places = i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
    let scale = exponent.saturating_sub(places);
    shifted.len() <= 18 && scale >= -9 && scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
}

/// The amount without its sign, in units of 10⁻⁹.
fn nanos(parts: &Parts<'_>, base: u32, exponent: i32) -> Result<i128, &'static str> {
    let digits = format!("{}{}", parts.whole, parts.fraction);
    if digits.bytes().all(|byte| byte == b'0') {
        return Ok(0);
    }
    let mut unscaled: i128 = digits.parse().map_err(|_| NUMERIC)?;
    let places = i32::try_from(parts.fraction.len()).map_err(|_| NUMERIC)?;
    let mut scale = 9 - places;
    if base == 2 {
        unscaled = unscaled.checked_mul(1_i128 << exponent.clamp(0, 60)).ok_or(NUMERIC)?;
    } else {
        scale = scale.checked_add(exponent).ok_or(NUMERIC)?;
    }
    if scale >= 0 {
        let factor = 10_i128.checked_pow(scale.unsigned_abs()).ok_or(NUMERIC)?;
        return unscaled.checked_mul(factor).ok_or(NUMERIC);
    }
    let Some(divisor) = 10_i128.checked_pow(scale.unsigned_abs()) else {
        return Ok(1);
    };
    Ok(unscaled / divisor + i128::from(unscaled % divisor != 0))
}

fn binary(mut number: i128) -> String {
    let mut suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter();
    let mut suffix = suffixes.next();
    while number % 1024 == 0 {
        let Some(next) = suffixes.next() else { break };
        suffix = Some(next);
        number /= 1024;
    }
    format!("{number}{}", suffix.unwrap_or(&""))
}

fn decimal(mut nanos: i128, as_exponent: bool) -> String {
    let mut exponent = -9;
    while nanos % 1000 == 0 && (as_exponent || exponent < 18) {
        nanos /= 1000;
        exponent += 3;
    }
    if as_exponent && exponent != 0 {
        return format!("{nanos}e{exponent}");
    }
    let suffix = match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    };
    format!("{nanos}{suffix}")
}
