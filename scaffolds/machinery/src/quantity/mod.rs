//! Resource quantities: `100m`, `1.5Gi`, `2e3`. Parsed, compared and formatted as in apimachinery.

mod parse;

use parse::{Format, NUMERIC, SUFFIX, WRONG, interpret, is_canonical, nanos, small, take_apart};
use std::cmp::Ordering;

/// An amount, exact to 10⁻⁹; smaller fractions were rounded away from zero.
///
/// # Caveats
/// Amounts beyond ±1.7·10²⁹, which no resource has, are replaced by that limit, see [`parse_exact`](Self::parse_exact). Upstream keeps
/// those that have a decimal suffix.
#[derive(Clone, Debug)]
pub struct Quantity {
    nanos: i128,
    is_exact: bool,
    /// The number and the power of ten in the server's fast representation, if the amount has one. Rules treat only
    /// such amounts as integers.
    small: Option<(i64, i32)>,
    format: Format,
    /// The parsed text, if it counts as canonical.
    text: Option<String>,
}

const NANO: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;
impl Quantity {
    /// Parses a quantity.
    ///
    /// # Errors
    /// The server's error message.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(WRONG);
        }
        let parts = take_apart(text)?;
        let scale = interpret(parts.suffix).ok_or(SUFFIX)?;
        if !parts.has_digits && !text.trim_start_matches(['-', '+']).is_empty() {
            return Err(NUMERIC);
        }
        let found = nanos(&parts, scale);
        let mut format = scale.format;
        let mut nanos = found.unwrap_or(i128::MAX);
        if format == Format::BinarySi {
            nanos = nanos.min(i128::from(i64::MAX) * NANO);
            if nanos > 0 && nanos < NANO {
                format = Format::DecimalSi;
            }
        }
        let small = small(&parts, scale);
        Ok(Self {
            nanos: if parts.negative { -nanos } else { nanos },
            is_exact: found.is_some() || scale.format == Format::BinarySi,
            small: small.map(|(number, power)| (if parts.negative { -number } else { number }, power)),
            format,
            text: is_canonical(&parts, scale).then(|| text.to_owned()),
        })
    }

    /// Like [`parse`](Self::parse), but refuses amounts beyond the limit.
    ///
    /// # Errors
    /// The server's error message.
    pub fn parse_exact(text: &str) -> Result<Self, &'static str> {
        let quantity = Self::parse(text)?;
        if quantity.is_exact { Ok(quantity) } else { Err(NUMERIC) }
    }

    /// A whole number.
    pub fn of(number: i64) -> Self {
        Self {
            nanos: i128::from(number) * NANO,
            is_exact: true,
            small: Some((number, 0)),
            format: Format::DecimalSi,
            text: None,
        }
    }

    /// Whether the amount is below, at or above zero.
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

    /// The whole number in the server's fast representation, if there is one.
    pub fn integer(&self) -> Option<i64> {
        let (number, power) = self.small?;
        scaled(number, u32::try_from(power).ok()?)
    }

    /// The nearest float.
    pub fn float(&self) -> f64 {
        match self.small {
            Some((number, 0)) => number as f64,
            Some((number, power)) => number as f64 * 10f64.powi(power),
            None => self.nanos as f64 * 1e-9,
        }
    }

    /// The sum, in the form of this amount; if this amount is zero, in the form of the other.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            small: self.small.zip(other.small).and_then(|(one, other)| sum(one, other)),
            is_exact: self.is_exact && other.is_exact,
            format: if self.nanos == 0 { other.format } else { self.format },
            text: None,
        }
    }

    /// The amount with the opposite sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        let negated = |(number, power): (i64, i32)| Some((number.checked_neg()?, power));
        Self {
            nanos: self.nanos.saturating_neg(),
            small: self.small.and_then(negated),
            text: None,
            ..*self
        }
    }

    /// The amount, rounded up to thousandths.
    #[must_use]
    pub fn rounded_to_milli(self) -> Self {
        let rest = self.nanos % MILLI;
        if rest == 0 {
            return self;
        }
        let nanos = (self.nanos - rest).saturating_add(if rest > 0 { MILLI } else { -MILLI });
        Self {
            nanos,
            small: None,
            text: None,
            ..self
        }
    }

    /// The amount, rounded up to a whole number.
    #[must_use]
    pub fn rounded_up(&self) -> Self {
        let rest = self.nanos.rem_euclid(NANO);
        if rest == 0 {
            return self.clone();
        }
        Self {
            nanos: self.nanos.saturating_sub(rest).saturating_add(NANO),
            small: None,
            text: None,
            ..*self
        }
    }

    /// The amount as a whole number, rounded up.
    pub fn rounded_up_number(&self) -> i128 {
        self.rounded_up().nanos / NANO
    }

    /// The amount in thousandths, rounded up.
    pub fn rounded_up_thousandths(&self) -> i128 {
        self.clone().rounded_to_milli().nanos / MILLI
    }

    /// The canonical form, in which the server writes it.
    pub fn canonical(&self) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        if self.nanos == 0 {
            return "0".to_owned();
        }
        let small = self.nanos.unsigned_abs() < 1024 * NANO.unsigned_abs();
        match self.format {
            Format::BinarySi if !small && self.is_whole() => binary(self.nanos / NANO),
            Format::DecimalExponent => decimal(self.nanos, true),
            _ => decimal(self.nanos, false),
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
    let power = one.1.min(other.1);
    let at = |(number, from): (i64, i32)| scaled(number, u32::try_from(from - power).ok()?);
    Some((at(one)?.checked_add(at(other)?)?, power))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_canonical_form_of_the_server() {
        for (text, written) in [
            ("0", "0"),
            ("1000m", "1"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("-100m", "-100m"),
            ("1.0000000001", "1000000001n"),
            ("100Ei", "9223372036854775807"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().canonical(), written, "{text}");
        }
        for (text, sentence) in [
            ("", WRONG),
            ("1x", WRONG),
            ("1mm", SUFFIX),
            ("Ki", NUMERIC),
            (".", NUMERIC),
        ] {
            assert_eq!(Quantity::parse(text).unwrap_err(), sentence, "{text}");
        }
    }

    #[test]
    fn amounts_beyond_the_limit_are_refused_or_replaced_by_it() {
        assert!(Quantity::parse_exact("1e29").is_ok());
        assert_eq!(Quantity::parse_exact("1e30").unwrap_err(), NUMERIC);
        let vast = Quantity::parse("1e30").unwrap();
        assert_eq!(vast.compare(&Quantity::parse("1e29").unwrap()), Ordering::Greater);
    }

    #[test]
    fn sums_stay_integers_in_the_fast_representation() {
        let sum = Quantity::parse("1k").unwrap().plus(&Quantity::of(1).negated());
        assert_eq!((sum.integer(), sum.float()), (Some(999), 999.0));
        assert_eq!(Quantity::parse("1.5").unwrap().integer(), None);
        let sum = Quantity::of(0).plus(&Quantity::parse("3Gi").unwrap());
        assert_eq!(sum.canonical(), "3Gi");
    }

    #[test]
    fn amounts_at_the_limit_are_rounded_and_written() {
        let most = Quantity::parse("1e30").unwrap();
        let least = Quantity::parse("-1e30").unwrap().plus(&Quantity::of(-1));
        for amount in [most, least] {
            assert_eq!(amount.rounded_up_thousandths() > 0, amount.rounded_up_number() > 0);
            assert!(
                !amount.rounded_up().canonical().is_empty() && !amount.plus(&Quantity::of(0)).canonical().is_empty()
            );
        }
    }

    #[test]
    fn fractions_are_rounded_up_to_whole_numbers() {
        for (text, whole) in [("1500m", "2"), ("2Gi", "2Gi"), ("-1500m", "-1"), ("1n", "1")] {
            assert_eq!(Quantity::parse(text).unwrap().rounded_up().canonical(), whole, "{text}");
        }
    }
}
