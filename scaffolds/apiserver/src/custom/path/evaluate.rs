//! Evaluates paths on objects.

use super::{Comparison, Found, PathStep, Slice};
use serde_json::Value;
use std::cmp::Ordering;

pub(super) fn steps<'a>(mut found: Vec<Found<'a>>, steps: &'a [PathStep]) -> Option<Vec<Found<'a>>> {
    for step in steps {
        found = one(found, step)?;
    }
    Some(found)
}

fn one<'a>(found: Vec<Found<'a>>, step: &'a PathStep) -> Option<Vec<Found<'a>>> {
    match step {
        PathStep::Literal(value) => Some(found.iter().map(|_| Found::Literal(value)).collect()),
        PathStep::Field(name) => Some(
            found
                .iter()
                .filter_map(|it| it.value().get(name))
                .map(Found::At)
                .collect(),
        ),
        PathStep::Wildcard => Some(found.iter().flat_map(|it| inside(it.value())).map(Found::At).collect()),
        PathStep::Descent => {
            let mut all = Vec::new();
            found.iter().for_each(|it| descend(it.value(), &mut all));
            Some(all)
        }
        PathStep::Union(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(|part| steps(found.clone(), part)).collect();
            Some(parts?.into_iter().flatten().collect())
        }
        PathStep::Slice(slice) => {
            let mut out = Vec::new();
            for it in found.iter().filter(|it| !it.value().is_null()) {
                out.extend(cut(it.value().as_array()?, *slice)?.into_iter().map(Found::At));
            }
            Some(out)
        }
        PathStep::Filter(left, comparison) => {
            let mut out = Vec::new();
            for it in &found {
                for item in it.value().as_array()? {
                    if passes(item, left, comparison.as_ref())? {
                        out.push(Found::At(item));
                    }
                }
            }
            Some(out)
        }
    }
}

fn inside(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

/// Collects the value and all values below it, outermost first.
fn descend<'a>(value: &'a Value, all: &mut Vec<Found<'a>>) {
    let inside = inside(value);
    if !inside.is_empty() {
        all.push(Found::At(value));
        inside.into_iter().for_each(|it| descend(it, all));
    }
}

fn cut(items: &[Value], slice: Slice) -> Option<Vec<&Value>> {
    let length = i64::try_from(items.len()).ok()?;
    let mut from = slice.from.unwrap_or(0);
    let mut to = match slice.to {
        Some(to) => to,
        None if slice.single => from.checked_add(1)?,
        None => length,
    };
    if from < 0 {
        from += length;
    }
    if to < 0 || (to == 0 && slice.single) {
        to += length;
    }
    if from == to {
        return Some(Vec::new());
    }
    let step = usize::try_from(slice.step.unwrap_or(1)).ok().filter(|step| *step > 0)?;
    if from >= length || from < 0 || to > length || from > to {
        return None;
    }
    let range = usize::try_from(from).ok()?..usize::try_from(to).ok()?;
    Some(items.get(range)?.iter().step_by(step).collect())
}

fn passes(item: &Value, left: &[PathStep], comparison: Option<&(Comparison, Vec<PathStep>)>) -> Option<bool> {
    let Some((comparison, right)) = comparison else {
        return Some(steps(vec![Found::At(item)], left).is_some_and(|found| !found.is_empty()));
    };
    let lefts = steps(vec![Found::At(item)], left)?;
    let rights = steps(vec![Found::At(item)], right)?;
    match (lefts.as_slice(), rights.as_slice()) {
        ([], _) | (_, []) => Some(false),
        ([left], [right]) => compare(*comparison, left.value(), right.value()),
        _ => None,
    }
}

/// Compares only values of the same type; booleans have no order.
fn compare(comparison: Comparison, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => {
            return match comparison {
                Comparison::Equal => Some(left == right),
                Comparison::NotEqual => Some(left != right),
                _ => None,
            };
        }
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
            _ => return None,
        },
        _ => return None,
    };
    Some(match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    })
}
