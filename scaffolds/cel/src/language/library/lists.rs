//! Functions on lists and sets.

use crate::ast::op;
use crate::language::operators::arithmetic;
use crate::language::value::{Fault, List, Outcome, Val, lenient};
use std::cmp::Ordering;

pub(super) fn call<'a>(function: &'static str, list: &List<'a>, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    Some(match (function, rest) {
        ("isSorted", []) => is_sorted(list),
        ("sum", []) => sum(list),
        ("min", []) => extreme(list, "min", Ordering::Greater),
        ("max", []) => extreme(list, "max", Ordering::Less),
        ("indexOf", [item]) => index_of(list, item, false).map(Val::Int),
        ("lastIndexOf", [item]) => index_of(list, item, true).map(Val::Int),
        ("join", []) => join(list, ""),
        ("join", [Val::String(separator)]) => join(list, separator),
        ("first", []) => Ok(nth(list, 0)),
        ("last", []) => Ok(list
            .len()
            .checked_sub(1)
            .map_or(Val::Optional(None), |last| nth(list, last))),
        ("optional.unwrap" | "unwrapOpt", []) => unwrap(list),
        ("distinct", []) => distinct(list),
        ("flatten", []) => flatten(list, 1).map(Val::list),
        ("flatten", [Val::Int(depth)]) => flatten(list, *depth).map(Val::list),
        ("reverse", []) => list.all().map(|items| Val::list(items.into_iter().rev().collect())),
        ("slice", [Val::Int(start), Val::Int(end)]) => slice(list, *start, *end),
        ("sort", []) => sort(list, list),
        ("@sortByAssociatedKeys", [Val::List(keys)]) => sort(list, keys),
        ("sets.contains", [Val::List(part)]) => contains(list, part).map(Val::Bool),
        ("sets.equivalent", [Val::List(other)]) => {
            contains(list, other).and_then(|all| Ok(Val::Bool(all && contains(other, list)?)))
        }
        ("sets.intersects", [Val::List(other)]) => intersects(list, other).map(Val::Bool),
        _ => return None,
    })
}

fn nth<'a>(list: &List<'a>, index: usize) -> Val<'a> {
    list.get(index)
        .and_then(Result::ok)
        .map_or(Val::Optional(None), Val::some)
}

pub(super) fn range<'a>(count: i64) -> Outcome<Val<'a>> {
    const MOST: i64 = 1_000_000;
    if count < 0 {
        return Err(Fault::new(format!(
            "lists.range: size must be non-negative, got {count}"
        )));
    }
    if count > MOST {
        let why = format!("lists.range: size {count} exceeds maximum allowed ({MOST})");
        return Err(Fault::new(why));
    }
    Ok(Val::list((0..count).map(Val::Int).collect()))
}

fn is_sorted<'a>(list: &List<'a>) -> Outcome<Val<'a>> {
    let items = list.all()?;
    if let Some(item) = items.iter().find(|item| !item.has_order()) {
        return Err(Fault::new(format!("no such overload: isSorted({})", item.type_name())));
    }
    let falls = items
        .windows(2)
        .any(|pair| matches!(pair, [one, two] if matches!(one.order(two), Ok(Ordering::Greater))));
    Ok(Val::Bool(!falls))
}

fn sum<'a>(list: &List<'a>) -> Outcome<Val<'a>> {
    let mut items = list.all()?.into_iter();
    let Some(mut sum) = items.next() else {
        return Ok(Val::Int(0));
    };
    for item in items {
        sum = arithmetic(op::ADD, sum, item)?;
    }
    Ok(sum)
}

fn extreme<'a>(list: &List<'a>, function: &str, worse: Ordering) -> Outcome<Val<'a>> {
    let mut best: Option<Val<'a>> = None;
    for item in list.iter() {
        let item = item?;
        if !item.has_order() {
            return Err(Fault::no_overload());
        }
        let better = match &best {
            None => true,
            Some(best) => best.order(&item).is_ok_and(|order| order == worse),
        };
        if better {
            best = Some(item);
        }
    }
    best.ok_or_else(|| Fault::new(format!("{function} called on empty list")))
}

fn index_of<'a>(list: &List<'a>, item: &Val<'a>, last: bool) -> Outcome<i64> {
    let count = list.len();
    for step in 0..count {
        let index = if last { count - 1 - step } else { step };
        if let Some(Ok(other)) = list.get(index)
            && lenient(other.equal(item))?
        {
            return Ok(i64::try_from(index).unwrap_or(i64::MAX));
        }
    }
    Ok(-1)
}

fn join<'a>(list: &List<'a>, separator: &str) -> Outcome<Val<'a>> {
    let mut out = String::new();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        match item? {
            Val::String(text) => out.push_str(&text),
            other => return Err(Fault::new(format!("join: invalid input: {}", other.shown()))),
        }
    }
    Ok(Val::text(out))
}

fn unwrap<'a>(list: &List<'a>) -> Outcome<Val<'a>> {
    let mut out = Vec::new();
    for item in list.iter() {
        match item? {
            Val::Optional(Some(value)) => out.push((*value).clone()),
            Val::Optional(None) => {}
            other => return Err(Fault::new(format!("value {} is not optional", other.shown()))),
        }
    }
    Ok(Val::list(out))
}

fn distinct<'a>(list: &List<'a>) -> Outcome<Val<'a>> {
    let mut out: Vec<Val<'a>> = Vec::new();
    for item in list.iter() {
        let item = item?;
        let mut is_new = true;
        for other in &out {
            is_new &= !lenient(item.equal(other))?;
        }
        if is_new {
            out.push(item);
        }
    }
    Ok(Val::list(out))
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> Outcome<Vec<Val<'a>>> {
    if depth < 0 {
        return Err(Fault::new("level must be non-negative"));
    }
    let mut out = Vec::new();
    for item in list.iter() {
        match item? {
            Val::List(inner) if depth > 0 => out.extend(flatten(&inner, depth - 1)?),
            item => out.push(item),
        }
    }
    Ok(out)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Outcome<Val<'a>> {
    let refused = |why: &str| Err(Fault::new(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refused("negative indexes not supported");
    };
    if from > to {
        return refused("start index must be less than or equal to end index");
    }
    if list.len() < to {
        return refused(&format!("list is length {}", list.len()));
    }
    Ok(Val::list(list.all()?.into_iter().skip(from).take(to - from).collect()))
}

fn sort<'a>(list: &List<'a>, keys: &List<'a>) -> Outcome<Val<'a>> {
    let (items, keys) = (list.all()?, keys.all()?);
    if items.len() != keys.len() {
        return Err(Fault::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            items.len(),
            keys.len()
        )));
    }
    if keys.first().is_some_and(|key| !key.has_order()) {
        return Err(Fault::new("list elements must be comparable"));
    }
    if keys
        .windows(2)
        .any(|pair| matches!(pair, [one, two] if one.type_name() != two.type_name()))
    {
        return Err(Fault::new("list elements must have the same type"));
    }
    let mut pairs: Vec<(Val<'a>, Val<'a>)> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(one, _), (other, _)| one.order(other).unwrap_or(Ordering::Equal));
    Ok(Val::list(pairs.into_iter().map(|(_, item)| item).collect()))
}

fn intersects<'a>(list: &List<'a>, other: &List<'a>) -> Outcome<bool> {
    for item in list.all()? {
        if lenient(other.contains(&item))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains<'a>(list: &List<'a>, part: &List<'a>) -> Outcome<bool> {
    for item in part.iter() {
        if !list.contains(&item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}
