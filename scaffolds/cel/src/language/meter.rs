//! Counts the cost of an evaluation.

use super::cost::{REGEX, TRAVERSAL, compares_sizes, is_flat, scaled};
use super::value::{Fault, Foreign, List, Outcome, Val};
use crate::ast::op;

/// The cost limit of one evaluation of an expression (celconfig.PerCallLimit).
pub(super) const MOST: u64 = 1_000_000;

/// The cost of one question to the authorizer, so that an expression can ask two.
const CHECK: u64 = 350_000;

#[derive(Default)]
pub(super) struct Meter {
    spent: u64,
}

impl Meter {
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    pub(super) fn spend(&mut self, cost: u64) -> Outcome<()> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > MOST { Err(Fault::Budget) } else { Ok(()) }
    }

    /// Subtracts a cost that was counted too much.
    pub(super) fn refund(&mut self, cost: u64) {
        self.spent = self.spent.saturating_sub(cost);
    }

    /// Counts the cost of a call by its arguments and its result (`None` after an error).
    pub(super) fn call(
        &mut self,
        function: &str,
        overload: &str,
        args: &[Val<'_>],
        result: Option<&Val<'_>>,
    ) -> Outcome<()> {
        let cost = extension(overload, args, result)
            .or_else(|| kubernetes(function, overload, args, result))
            .unwrap_or_else(|| standard(overload, function, args));
        self.spend(cost)
    }
}

fn size(value: Option<&Val<'_>>) -> u64 {
    match value {
        Some(Val::Optional(Some(inner))) => size(Some(inner)),
        Some(value) => value.size().unwrap_or(1),
        None => 1,
    }
}

fn read(value: Option<&Val<'_>>, factor: f64) -> u64 {
    scaled(size(value), TRAVERSAL * factor)
}

/// Costs of cel-go's list and set functions.
fn extension(overload: &str, args: &[Val<'_>], result: Option<&Val<'_>>) -> Option<u64> {
    let allocates = |factor: f64, count: u64| (count as f64 * factor) as u64 + 11;
    if overload.starts_with("list_") && (overload.ends_with("_sort") || overload.ends_with("_sortByAssociatedKeys")) {
        return args.last().map(|keys| compare_all(keys, allocates));
    }
    Some(match overload {
        "list_slice" | "lists_range" | "list_reverse" => allocates(1.0, size(result)),
        "list_flatten" => allocates(1.0, size(args.first())),
        "list_flatten_int" => match args.get(1) {
            Some(Val::Int(depth)) => allocates(*depth as f64, size(args.first())),
            _ => return None,
        },
        "list_distinct" => compare_all(args.first()?, allocates),
        "list_sets_contains_list" | "list_sets_intersects_list" => {
            1 + size(args.first()).saturating_mul(size(args.get(1)))
        }
        "list_sets_equivalent_list" => 1 + size(args.first()).saturating_mul(size(args.get(1))).saturating_mul(2),
        _ => return None,
    })
}

fn compare_all(list: &Val<'_>, allocates: impl Fn(f64, u64) -> u64) -> u64 {
    let count = size(Some(list));
    let texts = match list {
        Val::List(list) => matches!(list.get(0), Some(Ok(Val::String(_) | Val::Bytes(_)))),
        _ => false,
    };
    allocates(if texts { 2.0 + TRAVERSAL } else { 2.0 }, count.saturating_mul(count))
}

/// Costs from apiserver's `pkg/cel/library/cost.go`.
fn kubernetes(function: &str, overload: &str, args: &[Val<'_>], result: Option<&Val<'_>>) -> Option<u64> {
    let (first, second) = (args.first(), args.get(1));
    Some(match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => first.map_or(0, traversal),
        "jsonpatch.escapeKey"
        | "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver" => read(first, 1.0),
        "replace" | "split" | "ip.isCanonical" => read(first, 2.0),
        "join" => read(result, 2.0),
        "find" | "findAll" => regex(first, second),
        "ip" if overload == "cidr_ip" => 1,
        "ip" => read(first, 1.0),
        "containsIP" | "containsCIDR" => contains(function, overload, first, second),
        "validate" => {
            let Some(Val::Foreign(format)) = first else {
                return None;
            };
            let Foreign::Format(format) = &**format else {
                return None;
            };
            text_cost(second).saturating_mul((format.regex * REGEX).ceil() as u64)
        }
        "check" => CHECK,
        "fieldSelector" | "labelSelector" => selector(second),
        name if is_flat(name) => 1,
        op::EQUALS if matches!(first, Some(Val::Foreign(_))) => 1,
        _ => return None,
    })
}

/// A selector is read into a list of requirements, each of them at least two characters long.
fn selector(text: Option<&Val<'_>>) -> u64 {
    let length = size(text);
    10 + scaled(length, TRAVERSAL) + scaled(scaled(length, 0.5), 50.0)
}

fn contains(function: &str, overload: &str, first: Option<&Val<'_>>, second: Option<&Val<'_>>) -> u64 {
    let mut cost = read(first, 2.0);
    if function == "containsCIDR" {
        cost += read(first, 1.0) + 1;
    }
    if matches!(overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
        cost += read(second, 1.0);
    }
    cost
}

/// The cost of reading a text, counted as one character longer, so that an empty text has a cost too.
fn text_cost(value: Option<&Val<'_>>) -> u64 {
    scaled(size(value).saturating_add(1), TRAVERSAL)
}

fn regex(text: Option<&Val<'_>>, pattern: Option<&Val<'_>>) -> u64 {
    text_cost(text).saturating_mul(scaled(size(pattern), REGEX))
}

/// Costs from cel-go's `interpreter/runtimecost.go`.
fn standard(overload: &str, function: &str, args: &[Val<'_>]) -> u64 {
    let (first, second) = (args.first(), args.get(1));
    match overload {
        "starts_with_string" | "ends_with_string" => read(second, 1.0),
        "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => read(first, 1.0),
        "in_list" => size(second),
        "add_string" | "add_bytes" => scaled(size(first).saturating_add(size(second)), TRAVERSAL),
        "matches" | "matches_string" => regex(first, second),
        "contains_string" => read(first, 1.0).saturating_mul(read(second, 1.0)),
        // On the server these operators have one name for all types.
        _ if compares_sizes(overload) || matches!(function, op::EQUALS | op::NOT_EQUALS) => {
            scaled(size(first).min(size(second)), TRAVERSAL)
        }
        _ => 1,
    }
}

/// One for each value in a tree, and a tenth for each byte of text.
fn traversal(value: &Val<'_>) -> u64 {
    let texts = |length: usize| (length as f64 * TRAVERSAL) as u64;
    match value {
        Val::String(text) => texts(text.len()),
        Val::Bytes(bytes) => texts(bytes.len()),
        Val::List(list) => items(list),
        Val::Map(map) => map
            .keys()
            .iter()
            .map(|key| traversal(key) + map.find(key).ok().flatten().map_or(1, |value| traversal(&value)))
            .sum(),
        _ => 1,
    }
}

fn items(list: &List<'_>) -> u64 {
    list.iter().map(|item| item.map_or(1, |item| traversal(&item))).sum()
}
