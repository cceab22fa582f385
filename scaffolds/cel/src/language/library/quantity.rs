//! Quantities: `1.5Gi`, `100m`, `1e3`.

use crate::language::value::{Fault, Foreign, Outcome, Val};
use kubewright_machinery::quantity::Quantity;

pub(super) fn parse(text: &str) -> Outcome<Quantity> {
    Quantity::parse(text).map_err(Fault::new)
}

pub(super) fn of<'a>(function: &str, quantity: &Quantity, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let give = |quantity: Quantity| Some(Ok(Val::foreign(Foreign::Quantity(quantity))));
    let other = match rest {
        [] => {
            return Some(Ok(match function {
                "sign" => Val::Int(quantity.sign() as i64),
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
    let order = quantity.compare(other);
    Some(Ok(match function {
        "isGreaterThan" => Val::Bool(order.is_gt()),
        "isLessThan" => Val::Bool(order.is_lt()),
        "compareTo" => Val::Int(order as i64),
        "add" => return give(quantity.plus(other)),
        "sub" => return give(quantity.plus(&other.negated())),
        _ => return None,
    }))
}
