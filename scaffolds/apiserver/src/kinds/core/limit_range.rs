//! LimitRanges.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use kubewright_machinery::quantity::Quantity;
use serde_json::{Map, Value};

use crate::{
    kinds::{
        amounts::{HUGE_PAGES, container_name, is_native, quantity, resource_name},
        edit::{Fields, made, set, text},
        faults::{Faults, quoted},
        format::qualified,
        kind::BuiltInKind,
        located::Located,
    },
    strategy::{Passes, Put, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            put: Put::CREATES,
            passes: Passes::VALIDATE,
            ..Rules::default()
        },
        defaults: &[("core.v1.LimitRangeItem", default_item)],
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        cells: |row| vec![row.name(), row.text("metadata.creationTimestamp")],
        ..BuiltInKind::default()
    }
}

fn default_item(item: &mut Fields) {
    if text(item, "type") != "Container" {
        return;
    }
    for (target, source) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        if let Some(Value::Object(from)) = item.get(source).cloned()
            && !from.is_empty()
            && let Some(to) = made(item, target)
        {
            from.into_iter().for_each(|(name, amount)| set(to, &name, amount));
        }
    }
    // Upstream makes both maps also when they stay empty, so an empty one is not a change.
    for field in ["default", "defaultRequest"] {
        if item.get(field).and_then(Value::as_object).is_some_and(Map::is_empty) {
            item.remove(field);
        }
    }
}

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];
/// The fields with amounts, in the order in which upstream reads them.
const AMOUNTS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let mut types = BTreeSet::new();
    for limit in at.at("spec.limits").items() {
        let kind = limit.get("type");
        type_name(&kind, faults);
        if !types.insert(kind.str()) {
            faults.duplicate(&kind);
        }
        validate_item(&limit, faults);
    }
}

fn type_name(kind: &Located<'_>, faults: &mut Faults) {
    let wrong = qualified(kind.str());
    if wrong.is_empty() && !kind.str().contains('/') && !TYPES.contains(&kind.str()) {
        faults.invalid(kind, "must be a standard limit type or fully qualified");
    }
    for sentence in wrong {
        faults.invalid_as(kind, &quoted(kind.str()), &sentence);
    }
}

/// The amounts of one resource, by their fields.
type LimitedAmounts<'a> = BTreeMap<&'static str, (Located<'a>, Quantity)>;

fn validate_item(limit: &Located<'_>, faults: &mut Faults) {
    let kind = limit.get("type").str();
    let mut resources = BTreeMap::<&str, LimitedAmounts<'_>>::new();
    for field in AMOUNTS {
        let amounts = limit.get(field);
        if kind == "Pod" && field.starts_with("default") {
            if amounts.len() > 0 {
                faults.forbidden(&amounts, "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, amount) in amounts.entries() {
            match kind {
                "Pod" | "Container" => container_name(name, &amount, faults),
                _ => _ = resource_name(name, &amount, faults),
            }
            if let Some(quantity) = quantity(&amount) {
                resources.entry(name).or_default().insert(field, (amount, quantity));
            }
        }
    }
    let has_storage = ["min", "max"]
        .iter()
        .any(|field| limit.get(field).get("storage").is_set());
    if kind == "PersistentVolumeClaim" && !has_storage {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        faults.required(&limit.get("limits"), why);
    }
    for (name, amounts) in &resources {
        compare(name, amounts, faults);
    }
}

/// Pairs of fields of which the first may not be greater: which of them the error is about and whose amount it shows, and the names of both.
const ORDERED: [[&str; 6]; 6] = [
    ["min", "max", "min", "min", "min value", "max value"],
    [
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value",
        "default request value",
    ],
    [
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value",
        "max value",
    ],
    [
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value",
        "default limit value",
    ],
    ["min", "default", "default", "min", "min value", "default value"],
    ["default", "max", "default", "max", "default value", "max value"],
];

/// Compares the amounts of one resource with each other.
fn compare(name: &str, amounts: &LimitedAmounts<'_>, faults: &mut Faults) {
    for [low, high, place, shown, low_name, high_name] in ORDERED {
        if let (Some((low, less)), Some((high, more))) = (amounts.get(low), amounts.get(high))
            && less.compare(more) == Ordering::Greater
            && let (Some((at, _)), Some((shown, _))) = (amounts.get(place), amounts.get(shown))
        {
            let detail = format!("{low_name} {} is greater than {high_name} {}", low.str(), high.str());
            faults.invalid_as(at, &quoted(shown.str()), &detail);
        }
    }
    ratio(amounts, faults);
    let overcommits = is_native(name) && !name.starts_with(HUGE_PAGES);
    if let (Some((limit, most)), Some((request, wanted))) = (amounts.get("default"), amounts.get("defaultRequest"))
        && !overcommits
        && most.compare(wanted) != Ordering::Equal
    {
        let (limit, wanted) = (limit.str(), request.str());
        let detail = format!("default value {limit} must equal to defaultRequest value {wanted} in {name}");
        faults.invalid(request, &detail);
    }
}

fn ratio(amounts: &LimitedAmounts<'_>, faults: &mut Faults) {
    let Some((at, ratio)) = amounts.get("maxLimitRequestRatio") else {
        return;
    };
    if ratio.compare(&Quantity::of(1)) == Ordering::Less {
        faults.invalid(at, &format!("ratio {} is less than 1", at.str()));
    }
    if let (Some((_, least)), Some((_, most))) = (amounts.get("min"), amounts.get("max")) {
        let possible = most.float() / least.float();
        if ratio.float() > possible {
            faults.invalid(
                at,
                &format!("ratio {} is greater than max/min = {possible:.6}", at.str()),
            );
        }
    }
}
