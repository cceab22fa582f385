//! Arithmetic, ordering, membership and conversion.

use super::value::moment::{self, Moment};
use super::value::{Fault, Foreign, List, Outcome, Val, lenient};
use crate::ast::op;
use kubewright_machinery::go;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::rc::Rc;

impl<'a> Val<'a> {
    /// The order of two numbers of any types; `None` if one of the values is NaN or not a number.
    pub(super) fn compare_numbers(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => Some(one.cmp(other)),
            (Self::Uint(one), Self::Uint(other)) => Some(one.cmp(other)),
            (Self::Int(one), Self::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Uint(one), Self::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Double(one), Self::Double(other)) => one.partial_cmp(other),
            (Self::Int(one), Self::Double(other)) => against(*one as f64, *other, i64::MIN as f64..=i64::MAX as f64),
            (Self::Uint(one), Self::Double(other)) => against(*one as f64, *other, 0.0..=u64::MAX as f64),
            (Self::Double(_), Self::Int(_) | Self::Uint(_)) => other.compare_numbers(self).map(Ordering::reverse),
            _ => None,
        }
    }

    /// The order of two values.
    pub(super) fn order(&self, other: &Self) -> Outcome<Ordering> {
        Ok(match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => one.cmp(other),
            (Self::String(one), Self::String(other)) => one.cmp(other),
            (Self::Bytes(one), Self::Bytes(other)) => one.cmp(other),
            (Self::Duration(one), Self::Duration(other)) => one.cmp(other),
            (Self::Timestamp(one), Self::Timestamp(other)) => one.order().cmp(&other.order()),
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => self
                .compare_numbers(other)
                .ok_or_else(|| Fault::new("NaN values cannot be ordered"))?,
            _ => return Err(Fault::no_overload()),
        })
    }

    /// Whether values of this type have an order.
    pub(super) fn has_order(&self) -> bool {
        !matches!(
            self,
            Self::Null
                | Self::List(_)
                | Self::Map(_)
                | Self::Type(_)
                | Self::Optional(_)
                | Self::Foreign(_)
                | Self::Unknown(_)
        )
    }
}

/// Compares an integer, as a double, with a double that may be outside of `range`, the integer's range.
fn against(integer: f64, double: f64, range: RangeInclusive<f64>) -> Option<Ordering> {
    if double < *range.start() {
        Some(Ordering::Greater)
    } else if double > *range.end() {
        Some(Ordering::Less)
    } else {
        integer.partial_cmp(&double)
    }
}

/// `one != other`: on the server, values that cannot be compared are unequal.
pub(super) fn unequal(one: &Val<'_>, other: &Val<'_>) -> Outcome<bool> {
    lenient(one.equal(other)).map(|equal| !equal)
}

/// `left operator right`, where the operator is `_+_` and so on.
pub(super) fn arithmetic<'a>(operator: &str, left: Val<'a>, right: Val<'a>) -> Outcome<Val<'a>> {
    match (left, right) {
        (Val::Int(left), Val::Int(right)) => int(operator, left, right).map(Val::Int),
        (Val::Uint(left), Val::Uint(right)) => uint(operator, left, right).map(Val::Uint),
        (Val::Double(left), Val::Double(right)) => Ok(Val::Double(match operator {
            op::ADD => left + right,
            op::SUBTRACT => left - right,
            op::MULTIPLY => left * right,
            op::DIVIDE => left / right,
            _ => return Err(unfit(operator, &Val::Double(left))),
        })),
        (left, right) => match operator {
            op::ADD => plus(left, right),
            op::SUBTRACT => minus(&left, &right),
            _ if matches!(left, Val::Int(_) | Val::Uint(_) | Val::Double(_)) => Err(Fault::no_overload()),
            _ => Err(unfit(operator, &left)),
        },
    }
}

/// The error if the type of the left operand does not have the operator.
fn unfit(operator: &str, left: &Val<'_>) -> Fault {
    // For these types the server's error does not name the operator.
    if matches!(left, Val::String(_) | Val::Timestamp(_) | Val::Duration(_)) {
        return Fault::no_overload();
    }
    Fault::new(format!("no such overload: {operator}"))
}

fn int(operator: &str, left: i64, right: i64) -> Outcome<i64> {
    let result = match operator {
        op::ADD => left.checked_add(right),
        op::SUBTRACT => left.checked_sub(right),
        op::MULTIPLY => left.checked_mul(right),
        op::DIVIDE if right == 0 => return Err(Fault::new("division by zero")),
        op::DIVIDE => left.checked_div(right),
        _ if right == 0 => return Err(Fault::new("modulus by zero")),
        _ => left.checked_rem(right),
    };
    result.ok_or_else(|| Fault::new("integer overflow"))
}

fn uint(operator: &str, left: u64, right: u64) -> Outcome<u64> {
    let result = match operator {
        op::ADD => left.checked_add(right),
        op::SUBTRACT => left.checked_sub(right),
        op::MULTIPLY => left.checked_mul(right),
        op::DIVIDE if right == 0 => return Err(Fault::new("division by zero")),
        op::DIVIDE => left.checked_div(right),
        _ if right == 0 => return Err(Fault::new("modulus by zero")),
        _ => left.checked_rem(right),
    };
    result.ok_or_else(|| Fault::new("unsigned integer overflow"))
}

fn plus<'a>(left: Val<'a>, right: Val<'a>) -> Outcome<Val<'a>> {
    Ok(match (left, right) {
        (Val::String(left), Val::String(right)) => Val::text(left.into_owned() + &right),
        (Val::Bytes(left), Val::Bytes(right)) => Val::Bytes(Rc::from([&*left, &*right].concat())),
        (Val::List(left), Val::List(right)) => Val::List(left.plus(&right)?),
        (Val::Duration(left), Val::Duration(right)) => {
            Val::Duration(left.checked_add(right).ok_or_else(|| Fault::new("integer overflow"))?)
        }
        (Val::Duration(duration), Val::Timestamp(moment)) | (Val::Timestamp(moment), Val::Duration(duration)) => {
            Val::Timestamp(moment::plus(moment, duration)?)
        }
        (
            Val::Int(_)
            | Val::Uint(_)
            | Val::Double(_)
            | Val::String(_)
            | Val::Bytes(_)
            | Val::List(_)
            | Val::Duration(_)
            | Val::Timestamp(_),
            _,
        ) => return Err(Fault::no_overload()),
        (left, _) => return Err(unfit(op::ADD, &left)),
    })
}

fn minus<'a>(left: &Val<'a>, right: &Val<'a>) -> Outcome<Val<'a>> {
    let overflow = || Fault::new("integer overflow");
    Ok(match (left, right) {
        (Val::Duration(left), Val::Duration(right)) => Val::Duration(left.checked_sub(*right).ok_or_else(overflow)?),
        (Val::Timestamp(left), Val::Duration(right)) => {
            Val::Timestamp(moment::plus(*left, right.checked_neg().ok_or_else(overflow)?)?)
        }
        (Val::Timestamp(left), Val::Timestamp(right)) => Val::Duration(moment::minus(*left, *right)?),
        (Val::Int(_) | Val::Uint(_) | Val::Double(_) | Val::Duration(_) | Val::Timestamp(_), _) => {
            return Err(Fault::no_overload());
        }
        _ => return Err(unfit(op::SUBTRACT, left)),
    })
}

/// `-value`.
pub(super) fn negate<'a>(value: &Val<'a>) -> Outcome<Val<'a>> {
    let overflow = || Fault::new("integer overflow");
    Ok(match value {
        Val::Int(value) => Val::Int(value.checked_neg().ok_or_else(overflow)?),
        Val::Double(value) => Val::Double(-value),
        Val::Duration(value) => Val::Duration(value.checked_neg().ok_or_else(overflow)?),
        Val::Bool(_) => return Err(Fault::no_overload()),
        _ => return Err(unfit(op::NEGATE, value)),
    })
}

/// `left < right` and its like.
pub(super) fn ordered<'a>(operator: &str, left: &Val<'a>, right: &Val<'a>) -> Outcome<Val<'a>> {
    if !left.has_order() {
        return Err(unfit(operator, left));
    }
    let order = left.order(right)?;
    Ok(Val::Bool(match operator {
        op::LESS => order.is_lt(),
        op::LESS_EQUALS => order.is_le(),
        op::GREATER => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// `item in container`.
pub(super) fn within<'a>(item: &Val<'a>, container: &Val<'a>) -> Outcome<Val<'a>> {
    match container {
        Val::List(list) => list.contains(item).map(Val::Bool),
        Val::Map(map) => map.find(item).map(|found| Val::Bool(found.is_some())),
        _ => Err(Fault::no_overload()),
    }
}

/// `list + [item]`, in place if there is no other reference to the list.
pub(super) fn append<'a>(mut list: List<'a>, item: Val<'a>) -> Outcome<Val<'a>> {
    list.push(item)?;
    Ok(Val::List(list))
}

/// `to(value)`: `to` is the name of a conversion function, and of its type.
pub(super) fn convert<'a>(to: &str, value: &Val<'a>) -> Outcome<Val<'a>> {
    let overflow = || {
        Fault::new(if to == "uint" {
            "unsigned integer overflow"
        } else {
            "integer overflow"
        })
    };
    let failed = || {
        let to = match to {
            "duration" => "google.protobuf.Duration",
            "timestamp" => "google.protobuf.Timestamp",
            other => other,
        };
        Fault::new(format!("type conversion error from '{}' to '{to}'", value.type_name()))
    };
    Ok(match (to, value) {
        ("dyn", value) => value.clone(),
        ("type", value) => Val::Type(value.type_name()),
        ("string", value) => text(value).ok_or_else(failed)??,
        (_, Val::String(text)) => parse(to, text).ok_or_else(failed)??,
        ("bool", Val::Bool(_))
        | ("bytes", Val::Bytes(_))
        | ("double", Val::Double(_))
        | ("duration", Val::Duration(_))
        | ("int", Val::Int(_))
        | ("timestamp", Val::Timestamp(_))
        | ("uint", Val::Uint(_)) => value.clone(),
        ("int", Val::Uint(value)) => Val::Int(i64::try_from(*value).map_err(|_| overflow())?),
        ("uint", Val::Int(value)) => Val::Uint(u64::try_from(*value).map_err(|_| overflow())?),
        // Both ends are excluded, because doubles cannot represent the largest integers exactly.
        ("int", Val::Double(value)) if *value > i64::MIN as f64 && *value < i64::MAX as f64 => Val::Int(*value as i64),
        ("uint", Val::Double(value)) if *value >= 0.0 && *value < u64::MAX as f64 => Val::Uint(*value as u64),
        ("int" | "uint", Val::Double(_)) => return Err(overflow()),
        ("int", Val::Duration(value)) => Val::Int(*value),
        ("int", Val::Timestamp(value)) => Val::Int(value.seconds),
        ("double", Val::Int(value)) => Val::Double(*value as f64),
        ("double", Val::Uint(value)) => Val::Double(*value as f64),
        ("timestamp", Val::Int(value)) => Val::Timestamp(moment::unix(*value)?),
        _ => return Err(failed()),
    })
}

fn parse<'a>(to: &str, text: &str) -> Option<Outcome<Val<'a>>> {
    Some(Ok(match to {
        "int" => Val::Int(text.parse().ok()?),
        // Unlike Rust, Go accepts no sign here.
        "uint" => Val::Uint(text.parse().ok().filter(|_| !text.starts_with('+'))?),
        "double" => Val::Double(double(text)?),
        "bool" => Val::Bool(match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => return None,
        }),
        "bytes" => Val::Bytes(Rc::from(text.as_bytes())),
        "duration" => Val::Duration(go::duration(text).ok()?),
        "timestamp" => {
            let moment = Moment::parse(text).ok()?;
            return Some(moment::unix(moment.seconds).map(|_| Val::Timestamp(moment)));
        }
        _ => return None,
    }))
}

/// Parses a number as Go does; a number that is too large is an error, not infinite.
fn double(text: &str) -> Option<f64> {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number: f64 = ungrouped(text)?.parse().ok()?;
    let digits = bare.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (number.is_finite() || !digits).then_some(number)
}

/// A number without the underscores that group its digits; `None` if one is not between two digits.
fn ungrouped(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(text.into());
    }
    let is_digit = |part: Option<u8>| part.is_some_and(|byte| byte.is_ascii_digit());
    let groups: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'_').collect();
    let joins = |pair: &[&[u8]]| is_digit(pair[0].last().copied()) && is_digit(pair[1].first().copied());
    groups.windows(2).all(joins).then(|| text.replace('_', "").into())
}

fn text<'a>(value: &Val<'a>) -> Option<Outcome<Val<'a>>> {
    Some(Ok(Val::text(match value {
        Val::String(_) => return Some(Ok(value.clone())),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => double_text(*value),
        Val::Duration(value) => moment::show_duration(*value),
        Val::Timestamp(value) => value.show(),
        Val::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Some(Err(Fault::new("invalid UTF-8 in bytes, cannot convert to string"))),
        },
        Val::Null => "null".to_owned(),
        Val::Type(name) => (*name).to_owned(),
        Val::Foreign(foreign) => match &**foreign {
            Foreign::Ip(address) => address.to_string(),
            Foreign::Cidr(prefix) => prefix.to_string(),
            _ => return None,
        },
        _ => return None,
    })))
}

fn double_text(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 {
            "+Inf".to_owned()
        } else {
            "-Inf".to_owned()
        }
    } else {
        go::decimal(value)
    }
}
