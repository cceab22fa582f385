//! Calls functions: selects the implementation by name and by the runtime types of the arguments.

use super::{authz, format, formats, lists, net, quantity, semver, text, url};
use crate::ast::op;
use crate::language::operators;
use crate::language::value::{Fault, Foreign, Outcome, Val, moment};
use crate::types::JSON_PATCH;
use std::rc::Rc;

/// The result of a function. The overload's id is empty if the checker could not determine it.
pub(in crate::language) fn call<'a>(function: &'static str, overload: &str, args: &[Val<'a>]) -> Outcome<Val<'a>> {
    match (function, args) {
        // The sum of an empty list has the type of the list's items.
        ("sum", [Val::List(list)]) if list.len() == 0 => Ok(match overload {
            "list_uint_sum_uint" => Val::Uint(0),
            "list_double_sum_double" => Val::Double(0.0),
            "list_duration_sum_duration" => Val::Duration(0),
            _ => Val::Int(0),
        }),
        (op::NOT, [Val::Bool(value)]) => Ok(Val::Bool(!value)),
        (op::NOT, _) => Err(Fault::no_overload()),
        (op::NEGATE, [value]) => operators::negate(value),
        (op::ADD | op::SUBTRACT | op::MULTIPLY | op::DIVIDE | op::MODULO, [left, right]) => {
            operators::arithmetic(function, left.clone(), right.clone())
        }
        (op::LESS | op::LESS_EQUALS | op::GREATER | op::GREATER_EQUALS, [left, right]) => {
            operators::ordered(function, left, right)
        }
        (op::IN, [item, container]) => operators::within(item, container),
        ("string", [Val::Foreign(_)]) => operators::convert(function, &args[0]),
        (
            "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint",
            [value],
        ) => converted(function, value),
        ("size", [value]) => match value.size() {
            // No value has more entries than fit into an integer.
            Some(size) if !matches!(value, Val::Foreign(_)) => Ok(Val::Int(i64::try_from(size).unwrap_or(i64::MAX))),
            _ => Err(Fault::new("no such overload: size")),
        },
        _ => library(function, args).unwrap_or_else(|| Err(unfit(function, args))),
    }
}

/// Converts a value if there is an overload; the conversion itself would accept more types.
fn converted<'a>(to: &'static str, value: &Val<'a>) -> Outcome<Val<'a>> {
    let fits = match to {
        "dyn" | "type" => true,
        "bool" => matches!(value, Val::Bool(_) | Val::String(_)),
        "bytes" => matches!(value, Val::Bytes(_) | Val::String(_)),
        "double" => matches!(value, Val::Double(_) | Val::Int(_) | Val::String(_) | Val::Uint(_)),
        "duration" => matches!(value, Val::Duration(_) | Val::String(_)),
        "timestamp" => matches!(value, Val::Timestamp(_) | Val::Int(_) | Val::String(_)),
        "uint" => matches!(value, Val::Uint(_) | Val::Double(_) | Val::Int(_) | Val::String(_)),
        "int" => !matches!(
            value,
            Val::Null
                | Val::Bool(_)
                | Val::Bytes(_)
                | Val::List(_)
                | Val::Map(_)
                | Val::Type(_)
                | Val::Built(_)
                | Val::Optional(_)
                | Val::Foreign(_)
                | Val::Unknown(_)
        ),
        _ => !matches!(
            value,
            Val::Null | Val::List(_) | Val::Map(_) | Val::Type(_) | Val::Built(_) | Val::Optional(_) | Val::Unknown(_)
        ),
    };
    if fits {
        operators::convert(to, value)
    } else {
        Err(unfit(to, std::slice::from_ref(value)))
    }
}

/// The error if no overload accepts the values.
fn unfit(function: &str, args: &[Val<'_>]) -> Fault {
    if matches!(function, "contains" | "startsWith" | "endsWith") {
        return Fault::no_overload();
    }
    let types: Vec<&str> = args.iter().map(Val::type_name).collect();
    Fault::new(format!("no such overload: {function}({})", types.join(", ")))
}

fn library<'a>(function: &'static str, args: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    match args {
        [Val::String(subject), rest @ ..] => {
            text::call(function, subject, rest).or_else(|| made(function, subject, rest))
        }
        [Val::List(list), rest @ ..] => lists::call(function, list, rest),
        [Val::Foreign(value), rest @ ..] => foreign(function, value, rest),
        [Val::Timestamp(moment), rest @ ..] => clock(function, *moment, rest),
        [Val::Duration(nanos)] => elapsed(function, *nanos),
        [Val::Optional(value), rest @ ..] => optional(function, value.as_ref(), rest),
        _ => None,
    }
    .or_else(|| free(function, args))
}

/// Functions whose first argument has no fixed type.
fn free<'a>(function: &'static str, args: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    Some(Ok(match (function, args) {
        ("optional.none", []) => Val::Optional(None),
        ("optional.of", [value]) => value.clone().some(),
        ("optional.ofNonZeroValue", [value]) if is_zero(value) => Val::Optional(None),
        ("optional.ofNonZeroValue", [value]) => value.clone().some(),
        ("lists.range", [Val::Int(count)]) => return Some(lists::range(*count)),
        ("cel.@mapInsert", [Val::Map(map), key, value]) => {
            return Some(map.clone().insert(key, value.clone()).map(Val::Map));
        }
        ("cel.@mapInsert", [Val::Map(map), Val::Map(more)]) => {
            let mut map = map.clone();
            for key in more.keys() {
                match more
                    .find(&key)
                    .and_then(|value| map.insert(&key, value.unwrap_or(Val::Null)))
                {
                    Ok(grown) => map = grown,
                    Err(fault) => return Some(Err(fault)),
                }
            }
            Val::Map(map)
        }
        (name, []) => Val::foreign(Foreign::Format(formats::named(name.strip_prefix("format.")?)?)),
        _ => return None,
    }))
}

fn is_zero(value: &Val<'_>) -> bool {
    match value {
        Val::Null | Val::Bool(false) | Val::Int(0) | Val::Uint(0) | Val::Duration(0) | Val::Optional(None) => true,
        Val::Double(number) => *number == 0.0,
        Val::String(text) => text.is_empty(),
        Val::Bytes(bytes) => bytes.is_empty(),
        Val::List(list) => list.len() == 0,
        Val::Map(map) => map.len() == 0,
        Val::Built(built) => built.name != JSON_PATCH && built.fields.is_empty(),
        _ => false,
    }
}

/// Functions that parse a text into a value of the Kubernetes libraries.
fn made<'a>(function: &'static str, text: &str, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let flag = match rest {
        [] => false,
        [Val::Bool(flag)] if matches!(function, "semver" | "isSemver") => *flag,
        _ => return None,
    };
    Some(Ok(match function {
        "url" => return Some(url::parse(text).map(|it| Val::foreign(Foreign::Url(it)))),
        "isURL" => Val::Bool(url::is_uri(text)),
        "ip" => return Some(net::ip(text).map(|it| Val::foreign(Foreign::Ip(it)))),
        "isIP" => Val::Bool(net::ip(text).is_ok()),
        "ip.isCanonical" => return Some(net::ip(text).map(|it| Val::Bool(it.to_string() == text))),
        "cidr" => return Some(net::prefix(text).map(|it| Val::foreign(Foreign::Cidr(it)))),
        "isCIDR" => Val::Bool(net::prefix(text).is_ok()),
        "quantity" => return Some(quantity::parse(text).map(|it| Val::foreign(Foreign::Quantity(it)))),
        "isQuantity" => Val::Bool(quantity::parse(text).is_ok()),
        "semver" => return Some(semver::parse(text, flag).map(|it| Val::foreign(Foreign::Semver(it)))),
        "isSemver" => Val::Bool(semver::parse(text, flag).is_ok()),
        "format.named" => Val::Optional(formats::named(text).map(|it| Rc::new(Val::foreign(Foreign::Format(it))))),
        _ => return None,
    }))
}

fn foreign<'a>(function: &'static str, value: &Foreign, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    match (value, rest) {
        (Foreign::Ip(address), []) => net::of_ip(function, *address),
        (Foreign::Cidr(prefix), rest) => net::of_prefix(function, prefix, rest),
        (Foreign::Url(url), []) => url::of(function, url),
        (Foreign::Quantity(quantity), rest) => quantity::of(function, quantity, rest),
        (Foreign::Semver(version), rest) => semver::of(function, version, rest),
        (Foreign::Question(question), rest) => authz::of_question(function, question, rest),
        (Foreign::Decision(decision), []) => authz::of_decision(function, decision),
        (Foreign::Format(format), [Val::String(text)]) if function == "validate" => {
            Some(Ok(formats::validate(format, text)))
        }
        _ => None,
    }
}

fn optional<'a>(function: &'static str, value: Option<&Rc<Val<'a>>>, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    Some(match (function, rest) {
        ("hasValue", []) => Ok(Val::Bool(value.is_some())),
        ("value", []) => value.map_or_else(
            || Err(Fault::new("optional.none() dereference")),
            |it| Ok((**it).clone()),
        ),
        _ => return None,
    })
}

fn elapsed<'a>(function: &'static str, nanos: i64) -> Option<Outcome<Val<'a>>> {
    let unit = match function {
        "getHours" => 3_600_000_000_000,
        "getMinutes" => 60_000_000_000,
        "getSeconds" => 1_000_000_000,
        "getMilliseconds" => 1_000_000,
        _ => return None,
    };
    Some(Ok(Val::Int(nanos / unit)))
}

fn clock<'a>(function: &'static str, moment: moment::Moment, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    if !function.starts_with("get") {
        return None;
    }
    let offset = match rest {
        [] => 0,
        [Val::String(zone)] => match moment::offset(zone) {
            Ok(offset) => offset,
            Err(fault) => return Some(Err(fault)),
        },
        _ => return None,
    };
    let civil = moment::civil(&moment, offset);
    Some(Ok(Val::Int(match function {
        "getFullYear" => civil.date.year,
        "getMonth" => civil.date.month - 1,
        "getDayOfYear" => civil.day_of_year,
        "getDayOfMonth" => civil.date.day - 1,
        "getDate" => civil.date.day,
        "getDayOfWeek" => civil.weekday,
        "getHours" => civil.second / 3600,
        "getMinutes" => civil.second / 60 % 60,
        "getSeconds" => civil.second % 60,
        "getMilliseconds" => i64::from(moment.nanos / 1_000_000),
        _ => return None,
    })))
}

/// `text.format(list)`.
pub(super) fn formatted<'a>(text: &str, args: &Val<'a>) -> Option<Outcome<Val<'a>>> {
    match args {
        Val::List(list) => Some(list.all().and_then(|args| format::format(text, &args)).map(Val::text)),
        _ => None,
    }
}
