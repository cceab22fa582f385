//! Validates a value by a schema, keyword by keyword, in the server's order.

use super::correlate::Old;
use super::node::{Additional, Node};
use super::number::{self, Numeric};
use super::place::ValuePath;
use super::verdict::{At, Verdict};
use super::{junctors, kinds};
use kubewright_machinery::go;
use serde_json::{Map, Value, json};

/// Validates `value`, without objections to unchanged values (ratcheting).
pub(super) fn ratcheted(value: &Value, node: &Node, at: &At, old: Option<&Old>) -> Verdict {
    let mut verdict = plain(value, node, at, old);
    if let Some(old) = old.filter(|_| !verdict.is_valid())
        && old.equals(value, node)
    {
        verdict.objections.clear();
    }
    verdict
}

/// Validates `value`. `old` is the value before the update, for ratcheting inside `value`.
pub(super) fn plain(value: &Value, node: &Node, at: &At, old: Option<&Old>) -> Verdict {
    let mut verdict = kinds::check(value, node, at);
    if value.is_null() {
        verdict.merge(enumeration(value, node, at));
        return verdict;
    }
    if !node.types.is_empty() || node.format.is_some() {
        verdict.checks += 1;
    } else {
        verdict.checks = 0;
    }
    verdict.merge(junctors::check(value, node, at));
    verdict.checks += 1;
    match value {
        Value::String(text) => strings(text, node, at, &mut verdict),
        Value::Number(number) => {
            verdict.merge(number::check(Numeric::of(number), node, at));
            verdict.checks += 1;
        }
        Value::Array(list) => {
            verdict.merge(items(list, node, at, old));
            verdict.checks += 1;
        }
        _ => {}
    }
    verdict.merge(enumeration(value, node, at));
    verdict.checks += 1;
    if let Value::Object(object) = value {
        verdict.merge(fields(object, node, at, old));
        verdict.checks += 1;
    }
    verdict.checks += 1;
    verdict
}

/// Validates length, pattern and format. Of length and pattern only the first violation is reported.
fn strings(text: &str, node: &Node, at: &At, verdict: &mut Verdict) {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let rules = &node.text;
    let objection = match (rules.most, rules.least, &rules.pattern) {
        (Some(most), ..) if length > most => {
            let what = format!("should be at most {most} chars long");
            Some(at.other(&what, |path| path.too_long(usize::try_from(most).ok())))
        }
        (_, Some(least), _) if length < least => Some(at.invalid(
            text.into(),
            at.in_body(&format!("should be at least {least} chars long")),
        )),
        (.., Some((written, compiled))) => match compiled {
            Ok(pattern) if pattern.is_match(text) => None,
            Ok(_) => Some(at.invalid(text.into(), at.in_body(&format!("should match '{written}'")))),
            Err(error) => {
                let what = format!("should match '{written}, but pattern is invalid: {error}'");
                Some(at.invalid(text.into(), at.in_body(&what)))
            }
        },
        _ => None,
    };
    if let Some(objection) = objection {
        verdict.add(objection);
    }
    verdict.checks += 1;
    if let Some(format) = &node.format
        && format.is_of_texts()
    {
        if !format.fits(text) {
            verdict.add(at.type_invalid(&format.name, text));
        }
        verdict.checks += 1;
    }
}

fn enumeration(value: &Value, node: &Node, at: &At) -> Verdict {
    let allowed = &node.one_of_values;
    if allowed.is_empty() || allowed.iter().any(|allowed| is_same(value, allowed)) {
        return Verdict::default();
    }
    let names: Vec<String> = allowed
        .iter()
        .map(|allowed| match allowed {
            Value::String(text) => text.clone(),
            other => go::json(other),
        })
        .collect();
    let what = format!("should be one of [{}]", names.join(" "));
    at.other(&what, |path| path.unsupported(value.clone(), &names)).into()
}

/// Whether the values are equal after Go's conversion to the type of the allowed value, which truncates fractions and converts an integer to
/// the character with that code.
fn is_same(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (_, Value::Null) | (Value::Null, _) => false,
        (Value::Number(value), Value::Number(allowed)) => match (Numeric::of(value), Numeric::of(allowed)) {
            (Numeric::Integer(value), Numeric::Float(allowed)) => value as f64 == allowed,
            (Numeric::Float(value), Numeric::Integer(allowed)) => go::int64(value) == allowed,
            (value, allowed) => value == allowed,
        },
        (Value::Number(value), Value::String(allowed)) => match Numeric::of(value) {
            Numeric::Integer(code) => {
                let c = u32::try_from(code).ok().and_then(char::from_u32);
                allowed.chars().eq([c.unwrap_or(char::REPLACEMENT_CHARACTER)])
            }
            Numeric::Float(_) => false,
        },
        _ => go::equal(value, allowed),
    }
}

fn items(list: &[Value], node: &Node, at: &At, old: Option<&Old>) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some(items) = &node.items {
        let old = old.map(|old| old.items(node));
        for (index, item) in list.iter().enumerate() {
            let old = old.as_ref().and_then(|old| old.matching(item));
            let at = At {
                part: at.part,
                place: ValuePath::Item(&at.place, index),
            };
            verdict.merge(ratcheted(item, items, &at, old.as_ref()));
        }
    }
    let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.item_count.least.filter(|least| size < *least) {
        verdict.add(at.invalid(size.into(), at.in_body(&format!("should have at least {least} items"))));
    }
    if let Some(most) = node.item_count.most.filter(|most| size > *most) {
        let what = format!("should have at most {most} items");
        verdict.add(at.other(&what, |path| path.too_many(list.len(), usize::try_from(most).ok())));
    }
    verdict.checks += 1;
    verdict
}

fn fields(object: &Map<String, Value>, node: &Node, at: &At, old: Option<&Old>) -> Verdict {
    let mut verdict = Verdict::default();
    let size = i64::try_from(object.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.property_count.least.filter(|least| size < *least) {
        verdict.add(at.invalid(
            size.into(),
            at.in_body(&format!("should have at least {least} properties")),
        ));
    }
    if let Some(most) = node.property_count.most.filter(|most| size > *most) {
        let what = format!("should have at most {most} properties");
        verdict.add(at.other(&what, |path| path.too_many(object.len(), usize::try_from(most).ok())));
    }
    for (name, value) in object.iter().filter(|(name, _)| !node.properties.contains_key(*name)) {
        match &node.additional {
            Additional::Allowed(false) => {
                let text = format!("{}.{name} in body is a forbidden property", at.place);
                verdict.add(at.invalid(json!(name), text));
            }
            Additional::Schema(values) => {
                let place = ValuePath::Entry(&at.place, name);
                verdict.merge(field((name, value), values, &At { place, ..*at }, (at, old)));
            }
            Additional::Allowed(true) | Additional::Unsaid => {}
        }
    }
    for (name, property) in &node.properties {
        if let Some(value) = object.get(name) {
            let place = ValuePath::Property(&at.place, name);
            verdict.merge(field((name, value), property, &At { place, ..*at }, (at, old)));
        }
    }
    for name in node.required.iter().filter(|name| !object.contains_key(*name)) {
        let place = ValuePath::Entry(&at.place, name);
        verdict.add(At { place, ..*at }.other("is required", |path| path.required("")));
    }
    verdict
}

/// Validates one field. `above` is the object that contains it, and that object before the update.
fn field(field: (&str, &Value), node: &Node, at: &At, above: (&At, Option<&Old>)) -> Verdict {
    let (name, value) = field;
    let (object, old) = above;
    // Old and new objects are converted to the same version, so the old values of these fields are not comparable.
    let is_type = object.place.is_start() && matches!(name, "apiVersion" | "kind");
    let old = old.filter(|_| !is_type).and_then(|old| old.field(name));
    ratcheted(value, node, at, old.as_ref())
}
