//! Estimates the cost of calls.

use super::range::{REGEX, Range, TRAVERSAL};
use super::{Entries, Estimator, LIST, declared_size};
use crate::ast::{Expr, Kind, Literal, op};
use crate::language::check::Name;
use crate::types::Type;

/// The cost of a call without its arguments, and the size of its result.
#[derive(Clone, Copy)]
struct Price {
    cost: Range,
    size: Option<Range>,
}

impl Price {
    fn of(cost: Range) -> Self {
        Self { cost, size: None }
    }

    fn sized(cost: Range, size: Range) -> Self {
        Self { cost, size: Some(size) }
    }
}

/// A call with one of its overloads.
struct Call<'a> {
    expr: &'a Expr,
    function: &'a str,
    overload: &'static str,
    target: Option<&'a Expr>,
    args: &'a [Expr],
}

/// The length of the regular expression that the server assumes for a named format.
const FORMAT_REGEX: f64 = 128.0;

impl<'a> Estimator<'a> {
    pub(super) fn call(
        &mut self,
        expr: &'a Expr,
        function: &'a str,
        target: Option<&'a Expr>,
        args: &'a [Expr],
    ) -> Range {
        if function == "dyn"
            && let [arg] = args
            && target.is_none()
        {
            let cost = self.cost(arg);
            self.copy_sizes(expr, arg);
            return cost.plus(Range::exactly(1));
        }
        let (function, target) = match self.checked.name(expr) {
            Some(Name::Function(full)) => (*full, None),
            _ => (function, target),
        };
        let costs: Vec<Range> = args.iter().map(|arg| self.cost(arg)).collect();
        for arg in args {
            self.size(arg);
        }
        let overloads = self.checked.overloads(expr);
        if overloads.is_empty() {
            return Range::ZERO;
        }
        let before = target.map_or(Range::ZERO, |target| self.cost(target));
        let mut cost = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for overload in overloads {
            let call = Call {
                expr,
                function,
                overload: overload.id,
                target,
                args,
            };
            let price = self.price(&call, &costs);
            cost = cost.union(price.cost);
            size = match (size, price.size) {
                (Some(size), Some(other)) => Some(size.union(other)),
                (size, other) => size.or(other),
            };
            if matches!(overload.id, "index_list" | "index_map")
                && let Some(container) = args.first()
            {
                size = self.entry_sizes(container).map(|it| it.value);
                let step = if overload.id == "index_list" {
                    "@items"
                } else {
                    "@values"
                };
                let place = self.step(self.place(container), None, step);
                self.places.insert(expr.id, place);
            }
            if size.is_none() {
                size = self.size(expr);
            }
        }
        self.set_size(expr, size);
        before.plus(cost)
    }

    /// The cost including the cost of the arguments; a few operators do not evaluate all arguments.
    fn price(&mut self, call: &Call<'a>, costs: &[Range]) -> Price {
        match call.overload {
            "logical_and" | "logical_or" => {
                let all = costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
                let min = costs.first().map_or(0, |first| first.min);
                return Price::of(Range { min, max: all.max });
            }
            "conditional" => {
                if let ([_, yes, no], [condition, if_yes, if_no]) = (call.args, costs) {
                    let size = self.size_or_unknown(yes).union(self.size_or_unknown(no));
                    self.unite(call.expr, yes, no);
                    return Price::sized(condition.plus(if_yes.union(*if_no)), size);
                }
            }
            _ => {}
        }
        let arguments = costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
        let price = self
            .extension(call)
            .or_else(|| self.kubernetes(call))
            .or_else(|| self.standard(call));
        let price = price.unwrap_or(Price::of(Range::exactly(1)));
        Price {
            cost: price.cost.plus(arguments),
            ..price
        }
    }

    fn unite(&mut self, to: &Expr, one: &Expr, other: &Expr) {
        if let (Some(one), Some(other)) = (self.entry_sizes(one), self.entry_sizes(other)) {
            let (key, value) = (one.key.union(other.key), one.value.union(other.value));
            self.entries.insert(
                to.id,
                Entries {
                    list: one.list,
                    key,
                    value,
                },
            );
        }
    }

    /// Costs of cel-go's list and set functions.
    fn extension(&mut self, call: &Call<'a>) -> Option<Price> {
        let allocates =
            |factor: f64, size: Range| Price::sized(size.scaled(factor).plus(Range::exactly(1 + LIST)), size);
        if call.overload.ends_with("_sort") || call.overload.ends_with("_sortByAssociatedKeys") {
            let keys = if call.overload.ends_with("_sort") {
                call.target?
            } else {
                call.args.first()?
            };
            let text = call.overload.starts_with("list_string_") || call.overload.starts_with("list_bytes_");
            let size = self.size_or_unknown(keys);
            return Some(allocates(if text { 2.0 + TRAVERSAL } else { 2.0 }, size.times(size)));
        }
        Some(match call.overload {
            "list_slice" => {
                let most = self.size_or_unknown(call.target?).max;
                let (start, end) = (number(call.args.first()?, 0), number(call.args.get(1)?, most));
                // As on the server, an end before the start wraps around.
                allocates(1.0, Range::exactly(self.between(start, end)))
            }
            "lists_range" => allocates(1.0, Range::exactly(number(call.args.first()?, self.unknown().max))),
            "list_reverse" => allocates(1.0, self.size_or_unknown(call.target?)),
            "list_flatten" | "list_flatten_int" => {
                let depth = call.args.first().map_or(1, |depth| number(depth, u64::MAX));
                allocates(depth as f64, self.size_or_unknown(call.target?))
            }
            "list_distinct" => {
                let size = self.size_or_unknown(call.target?);
                allocates(2.0, size.times(size))
            }
            "list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list" => {
                let factor = if call.overload == "list_sets_equivalent_list" {
                    2.0
                } else {
                    1.0
                };
                let both = self
                    .size_or_unknown(call.args.first()?)
                    .times(self.size_or_unknown(call.args.get(1)?));
                Price::of(both.scaled(factor).plus(Range::exactly(1)))
            }
            _ => return None,
        })
    }

    /// Costs from apiserver's `pkg/cel/library/cost.go`.
    fn kubernetes(&mut self, call: &Call<'a>) -> Option<Price> {
        let one = Price::of(Range::exactly(1));
        Some(match call.function {
            "check" => Price::of(Range::exactly(350_000)),
            name if is_flat(name) => one,
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => self.scan(call)?,
            "url" => {
                let size = self.size_or_unknown(call.args.first().filter(|_| call.args.len() == 1)?);
                Price::sized(size.scaled(TRAVERSAL), size)
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.size_or_unknown(call.target?);
                Price::sized(size.scaled(TRAVERSAL), size)
            }
            "replace" => self.replace(call)?,
            "split" => {
                let size = self.size_or_unknown(call.target?);
                let most = match call.args.get(1).map(|it| &it.kind) {
                    Some(Kind::Literal(Literal::Int(count))) => *count as u64,
                    _ => size.max,
                };
                Price::sized(size.scaled(2.0 * TRAVERSAL), Range { min: 0, max: most })
            }
            "join" => self.join(call)?,
            "find" | "findAll" => {
                let size = self.size_or_unknown(call.target?);
                let text = size.plus(Range::exactly(1)).scaled(TRAVERSAL);
                let regex = self.size_or_unknown(call.args.first()?).scaled(REGEX);
                Price::sized(text.times(regex), Range { min: 0, max: size.max })
            }
            "ip" if call.overload == "cidr_ip" => one,
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                Price::of(self.size_or_unknown(call.args.first()?).scaled(TRAVERSAL))
            }
            "ip.isCanonical" => Price::of(self.size_or_unknown(call.args.first()?).scaled(2.0 * TRAVERSAL)),
            "containsIP" | "containsCIDR" => self.contains(call)?,
            "validate" => {
                let size = self.size_or_unknown(call.args.first()?);
                Price::of(size.scaled(TRAVERSAL).scaled(FORMAT_REGEX * REGEX))
            }
            op::EQUALS => self.equal(call)?,
            _ => return None,
        })
    }

    /// Functions that read every item of a list, or every character of a string.
    fn scan(&mut self, call: &Call<'a>) -> Option<Price> {
        let target = call.target?;
        let size = self.size_or_unknown(target);
        let Type::List(item) = self.checked.of(target).clone() else {
            return Some(Price::of(size.scaled(TRAVERSAL)));
        };
        let mut each = Range::exactly(1);
        if matches!(*item, Type::String | Type::Bytes) {
            each = each.plus(self.item_size(target).scaled(TRAVERSAL));
        }
        Some(Price::of(size.times(each)))
    }

    /// The size of a list's items, if the schema specifies it.
    fn item_size(&self, list: &Expr) -> Range {
        match self.place(list) {
            super::Origin::Nowhere => self.unknown(),
            place => declared_size(self.step(place, None, "@items")).unwrap_or(self.unknown()),
        }
    }

    fn replace(&mut self, call: &Call<'a>) -> Option<Price> {
        let size = self.size_or_unknown(call.target?);
        let (what, with) = (
            self.size_or_unknown(call.args.first()?),
            self.size_or_unknown(call.args.get(1)?),
        );
        let parts = |length: u64, by: u64| (length as f64 / by as f64).ceil() as u64;
        let (most, most_kept) = if what.min == 0 {
            (size.max.saturating_add(1), size.max)
        } else if with.max <= what.min {
            (0, size.max)
        } else {
            (parts(size.max, what.min), 0)
        };
        let (fewest, fewest_kept) = if what.max == 0 {
            (size.min.saturating_add(1), size.min)
        } else if what.max <= with.min {
            (0, size.min)
        } else {
            (parts(size.min, what.max), 0)
        };
        let count = Range { min: fewest, max: most };
        let result = count.times(with).plus(Range {
            min: fewest_kept,
            max: most_kept,
        });
        Some(Price::sized(size.scaled(2.0 * TRAVERSAL), result))
    }

    fn join(&mut self, call: &Call<'a>) -> Option<Price> {
        let target = call.target?;
        let count = self.size_or_unknown(target);
        let mut size = Range::ZERO;
        if matches!(self.checked.of(target), Type::List(_)) {
            size = count.times(self.item_size(target));
        }
        if let Some(separator) = call.args.first() {
            let gaps = Range {
                min: count.min.saturating_sub(1),
                max: count.max.saturating_sub(1),
            };
            size = size.plus(self.size_or_unknown(separator).times(gaps));
        }
        Some(Price::sized(size.scaled(TRAVERSAL), size))
    }

    fn contains(&mut self, call: &Call<'a>) -> Option<Price> {
        // Four bytes of an IPv4 address, sixteen of IPv6.
        let address = Range { min: 4, max: 16 };
        let mut cost = address.plus(address).scaled(TRAVERSAL);
        if call.function == "containsCIDR" {
            cost = cost.plus(address.scaled(TRAVERSAL)).plus(Range::exactly(1));
        }
        if matches!(call.overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
            cost = cost.plus(self.size_or_unknown(call.args.first()?).scaled(TRAVERSAL));
        }
        Some(Price::of(cost))
    }

    fn equal(&mut self, call: &Call<'a>) -> Option<Price> {
        let [left, right] = call.args else {
            return None;
        };
        let r#type = self.checked.of(left);
        if r#type != self.checked.of(right) {
            return None;
        }
        Some(match r#type {
            Type::Opaque("net.IP" | "net.CIDR", _) | Type::Message("kubernetes.Quantity" | "kubernetes.Semver") => {
                Price::of(Range::exactly(1))
            }
            Type::Message("kubernetes.NamedFormat") => Price::of(Range { min: 1, max: 64 }.scaled(TRAVERSAL)),
            Type::Message("kubernetes.URL") => {
                let most = self.size(right).map_or(1, |size| size.max);
                Price::of(Range { min: 1, max: most }.scaled(TRAVERSAL))
            }
            _ => return None,
        })
    }

    /// Costs from cel-go's `checker/cost.go`.
    fn standard(&mut self, call: &Call<'a>) -> Option<Price> {
        let (first, second) = (call.args.first(), call.args.get(1));
        Some(match call.overload {
            "string_format" => Price::of(self.size_or_unknown(call.target?).scaled(TRAVERSAL)),
            "string_to_bytes" => {
                let size = self.size_or_unknown(first?);
                let result = Range {
                    min: size.min,
                    max: size.max.wrapping_mul(4),
                };
                Price::sized(size.scaled(TRAVERSAL), result)
            }
            "bytes_to_string" => {
                let size = self.size_or_unknown(first?);
                Price::sized(
                    size.scaled(TRAVERSAL),
                    Range {
                        min: size.min / 4,
                        max: size.max,
                    },
                )
            }
            "strings_quote" => {
                let size = self.size_or_unknown(first?);
                let result = Range {
                    min: size.min.wrapping_add(2),
                    max: size.max.wrapping_mul(2).wrapping_add(2),
                };
                Price::sized(size.scaled(TRAVERSAL), result)
            }
            "starts_with_string" | "ends_with_string" => Price::of(self.size_or_unknown(first?).scaled(TRAVERSAL)),
            "in_list" => Price::of(self.size_or_unknown(second?)),
            "matches" | "matches_string" => {
                let regex = if call.target.is_some() { first } else { second };
                let text = self.size_or_unknown(call.target.or(first)?);
                let text = text.plus(Range::exactly(1)).scaled(TRAVERSAL);
                Price::of(text.times(self.size_or_unknown(regex?).scaled(REGEX)))
            }
            "contains_string" => {
                let text = self.size_or_unknown(call.target?).scaled(TRAVERSAL);
                Price::of(text.times(self.size_or_unknown(first?).scaled(TRAVERSAL)))
            }
            "add_string" | "add_bytes" | "add_list" => {
                let (left, right) = (first?, second?);
                let size = self.size_or_unknown(left).plus(self.size_or_unknown(right));
                self.unite(call.expr, left, right);
                let cost = if call.overload == "add_list" {
                    Range::exactly(1)
                } else {
                    size.scaled(TRAVERSAL)
                };
                Price::sized(cost, size)
            }
            overload if compares_sizes(overload) => {
                let most = self.size_or_unknown(first?).max.min(self.size_or_unknown(second?).max);
                Price::of(
                    Range {
                        min: u64::from(most > 0),
                        max: most,
                    }
                    .scaled(TRAVERSAL),
                )
            }
            _ => return None,
        })
    }
}

/// Whether the cost of a comparison is the size of the smaller side.
pub(in crate::language) fn compares_sizes(overload: &str) -> bool {
    let ordered = ["less", "greater", "less_equals", "greater_equals"];
    matches!(overload, "equals" | "not_equals")
        || overload
            .strip_suffix("_string")
            .or_else(|| overload.strip_suffix("_bytes"))
            .is_some_and(|operator| ordered.contains(&operator))
}

fn number(expr: &Expr, otherwise: u64) -> u64 {
    match expr.kind {
        Kind::Literal(Literal::Int(number)) => u64::try_from(number).unwrap_or(0),
        _ => otherwise,
    }
}

/// Functions whose cost is one for all arguments (`pkg/cel/library/cost.go`). The first functions belong to the authorizer.
const FLAT: [&str; 38] = [
    "serviceAccount",
    "path",
    "group",
    "resource",
    "subresource",
    "namespace",
    "name",
    "allowed",
    "reason",
    "error",
    "errored",
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "format.named",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
    "getScheme",
    "getHostname",
    "getHost",
    "getPort",
    "getEscapedPath",
    "getQuery",
];

/// Whether a call of the function costs one, in the estimate and at runtime.
pub(in crate::language) fn is_flat(function: &str) -> bool {
    FLAT.contains(&function)
}
