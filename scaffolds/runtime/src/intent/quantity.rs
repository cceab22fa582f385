//! Quantities of resources as Kubernetes writes them: the API server stores `1000m` as `1`.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// An amount as `mantissa · 2^twos · 5^fives`, the mantissa without these factors, so that equal amounts are equal values.
#[derive(PartialEq)]
struct Amount {
    negative: bool,
    mantissa: u128,
    twos: i32,
    fives: i32,
}

/// Whether both texts are quantities of the same amount.
pub(super) fn same(one: &str, other: &str) -> bool {
    amount(one).is_some_and(|one| amount(other).is_some_and(|other| one == other))
}

/// The amount of a quantity as a number: `1.5` of `1500m`, 10,737,418,240 of `10Gi`; the nearest one, if no number is exact.
/// `None` if it is no quantity.
pub fn quantity_value(quantity: &Quantity) -> Option<f64> {
    let amount = kubewright_machinery::quantity::Quantity::parse(&quantity.0);
    amount.ok().map(|amount| amount.float())
}

fn amount(text: &str) -> Option<Amount> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && part.is_empty()) || part.contains('.') {
        return None;
    }
    let mantissa: u128 = format!("{whole}{part}").parse().ok()?;
    let (tens, twos) = exponents(suffix)?;
    let tens = tens - i32::try_from(part.len()).ok()?;
    if mantissa == 0 {
        return Some(Amount {
            negative: false,
            mantissa,
            twos: 0,
            fives: 0,
        });
    }
    let (mantissa, more_twos) = without(mantissa, 2);
    let (mantissa, fives) = without(mantissa, 5);
    Some(Amount {
        negative,
        mantissa,
        twos: tens + twos + more_twos,
        fives: tens + fives,
    })
}

/// The powers of ten and of two that a suffix stands for.
fn exponents(suffix: &str) -> Option<(i32, i32)> {
    if let Some(power) = suffix.strip_prefix(['e', 'E']).filter(|power| !power.is_empty()) {
        let power: i16 = power.parse().ok()?;
        return Some((power.into(), 0));
    }
    let decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let place = |list: &[&str]| list.iter().position(|known| *known == suffix)?.try_into().ok();
    let tens = || place(&decimal).map(|nth: i32| ((nth - 3) * 3, 0));
    let twos = || place(&binary).map(|nth: i32| (0, (nth + 1) * 10));
    tens().or_else(twos)
}

/// A number without its factors of this prime, and how many there were.
fn without(mut number: u128, prime: u128) -> (u128, i32) {
    let mut times = 0;
    while number.is_multiple_of(prime) {
        number /= prime;
        times += 1;
    }
    (number, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_amounts_in_two_forms_are_equal() {
        let pairs = [
            ("1000m", "1"),
            ("1", "1.0"),
            ("0.5", "500m"),
            ("1Gi", "1024Mi"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("0", "0m"),
            ("-1", "-1000m"),
            ("+2", "2"),
            ("1024", "1Ki"),
            (".5", "500m"),
            ("1E", "1000P"),
            ("0", "-0"),
        ];
        for (one, other) in pairs {
            assert!(same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn different_amounts_and_other_strings_are_not_equal() {
        let pairs = [
            ("1000m", "2"),
            ("1Gi", "1G"),
            ("1", "-1"),
            ("", ""),
            ("a", "a"),
            ("1x", "1x"),
            (".", "."),
            ("1..0", "1"),
            ("1e", "1"),
            ("1 ", "1"),
            ("99999999999999999999999999999999999999999", "1"),
        ];
        for (one, other) in pairs {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn the_value_of_a_quantity_is_a_number() {
        let value = |text: &str| quantity_value(&Quantity(text.to_owned()));
        assert_eq!(value("10Gi"), Some(10_737_418_240.0));
        assert_eq!(value("10Gi"), value("10240Mi"));
        assert_eq!(value("1500m"), Some(1.5));
        assert_eq!(value("-2k"), Some(-2000.0));
        assert!(value("1G") < value("1Gi"));
        assert_eq!(value("much"), None);
    }
}
