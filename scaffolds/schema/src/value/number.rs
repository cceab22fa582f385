//! Validates numbers. A number is an `int64` if its text is one, otherwise a `float64`.

use super::node::{Bounds, Node};
use super::verdict::{At, Objection, Verdict};
use kubewright_machinery::go;
use serde_json::{Number, Value, json};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numeric {
    Integer(i64),
    Float(f64),
}

impl Numeric {
    pub fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Integer(integer),
            // Without arbitrary precision every number that is not an integer is a float.
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Integer(integer) => integer.into(),
            Self::Float(float) => json!(float),
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Integer(integer) => integer.to_string(),
            Self::Float(float) => go::decimal(float),
        }
    }

    /// A bound, converted to the type of the number that is compared with it. For a float that does not fit, Go gives the lowest integer
    /// on the processors on which this was measured.
    fn bound(self, bound: f64) -> Self {
        match self {
            Self::Integer(_) => Self::Integer(go::int64(bound)),
            Self::Float(_) => Self::Float(bound),
        }
    }
}

/// Whether a float counts as an integer: it differs from one by less than a relative 1e-9, and JavaScript can represent it.
pub(super) fn is_integral(float: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    if !(-MOST..=MOST).contains(&float) {
        return false;
    }
    let whole = float.round();
    float == whole || whole != 0.0 && (float - whole).abs() < 1e-9 * whole.abs()
}

pub(super) fn check(number: Numeric, node: &Node, at: &At) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some(objection) = range(number, node, "Checked", at) {
        verdict.add(objection);
    }
    let Bounds {
        multiple_of,
        minimum,
        maximum,
        ..
    } = node.number;
    let rules: [(&str, Option<f64>, Rule); 3] = [
        ("MultipleOf", multiple_of, multiple),
        ("Minimum boundary", minimum, least),
        ("Maximum boundary", maximum, most),
    ];
    for (name, bound, rule) in rules {
        let Some(bound) = bound else { continue };
        // A bound outside of the type's range is compared with the number as a float.
        let (number, bound) = match range(Numeric::Float(bound), node, name, at) {
            Some(objection) => {
                verdict.add(objection);
                (Numeric::Float(number.float()), Numeric::Float(bound))
            }
            None => (number, number.bound(bound)),
        };
        if let Some(objection) = rule(number, bound, node, at) {
            verdict.add(objection);
        }
    }
    verdict.checks = 1;
    verdict
}

type Rule = fn(Numeric, Numeric, &Node, &At) -> Option<Objection>;

/// The objection if a number is outside of the range of the type and format.
fn range(number: Numeric, node: &Node, name: &str, at: &At) -> Option<Objection> {
    let [kind] = node.types.as_slice() else { return None };
    let format = node.format.as_ref().map_or("", |format| format.name.as_str());
    let fits = match (kind.as_str(), format) {
        ("integer", _) => match number {
            Numeric::Float(float) if float.trunc() != float => false,
            Numeric::Float(float) => {
                (-(2f64.powi(63))..2f64.powi(63)).contains(&float) && fits(go::int64(float), format)
            }
            Numeric::Integer(integer) => fits(integer, format),
        },
        ("number", "float") => (number.float() as f32).is_finite(),
        _ => true,
    };
    let form = match format {
        "" => "(default format)".to_owned(),
        format => format!("with format {format}"),
    };
    (!fits).then(|| at.general(format!("{name} value must be of type {kind} {form} in {}", at.place)))
}

fn fits(integer: i64, format: &str) -> bool {
    format != "int32" || i32::try_from(integer).is_ok()
}

fn multiple(number: Numeric, factor: Numeric, _: &Node, at: &At) -> Option<Objection> {
    if factor.float() <= 0.0 {
        let text = format!(
            "factor MultipleOf declared for {} must be positive: {}",
            at.place,
            factor.shown()
        );
        return Some(at.invalid(factor.value(), text));
    }
    let fits = match (number, factor) {
        (Numeric::Integer(number), Numeric::Integer(factor)) => number.checked_rem(factor) == Some(0),
        _ if factor.float() < 1.0 => is_integral(1.0 / factor.float() * number.float()),
        _ => is_integral(number.float() / factor.float()),
    };
    (!fits).then(|| {
        let text = at.in_body(&format!("should be a multiple of {}", factor.shown()));
        at.invalid(number.value(), text)
    })
}

fn least(number: Numeric, bound: Numeric, node: &Node, at: &At) -> Option<Objection> {
    let exclusive = node.number.exclusive_minimum;
    let fits = match (number, bound) {
        (Numeric::Integer(number), Numeric::Integer(bound)) => number > bound || number == bound && !exclusive,
        _ => number.float() > bound.float() || number.float() == bound.float() && !exclusive,
    };
    let words = if exclusive {
        "greater than"
    } else {
        "greater than or equal to"
    };
    (!fits).then(|| {
        at.invalid(
            number.value(),
            at.in_body(&format!("should be {words} {}", bound.shown())),
        )
    })
}

fn most(number: Numeric, bound: Numeric, node: &Node, at: &At) -> Option<Objection> {
    let exclusive = node.number.exclusive_maximum;
    let fits = match (number, bound) {
        (Numeric::Integer(number), Numeric::Integer(bound)) => number < bound || number == bound && !exclusive,
        _ => number.float() < bound.float() || number.float() == bound.float() && !exclusive,
    };
    let words = if exclusive {
        "less than"
    } else {
        "less than or equal to"
    };
    (!fits).then(|| {
        at.invalid(
            number.value(),
            at.in_body(&format!("should be {words} {}", bound.shown())),
        )
    })
}
