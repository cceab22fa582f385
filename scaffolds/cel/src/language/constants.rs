//! Constants in expressions: what the server validates when it compiles, and computes before it evaluates.

use super::check::Checked;
use super::library;
use super::library::format::{Piece, piece, refusal};
use super::program::constant_argument;
use super::value::{Fault, Key, Map, Outcome, Val};
use crate::ast::{Expr, Kind, Literal};
use crate::issue::Issues;
use crate::types::Type;
use kubewright_machinery::pattern::Pattern;
use std::collections::{BTreeMap, HashMap};

/// Functions that are computed when the expression is compiled, if their argument is constant.
const CONVERSIONS: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Marks, by node id, the nodes that the server computes when it compiles. Returns whether `expr` is one of them.
pub(super) fn mark(expr: &Expr, constant: &mut [bool]) -> bool {
    // Visits every part, even after one that is not constant.
    let parts = expr.children().into_iter().filter(|part| !mark(part, constant)).count() == 0;
    let can_be = match &expr.kind {
        Kind::Literal(_) => true,
        Kind::List(items) => items.iter().all(|(_, optional)| !optional),
        Kind::Map(entries) => entries.iter().all(|entry| !entry.optional),
        Kind::Call {
            function,
            target: None,
            args,
        } => args.len() == 1 && CONVERSIONS.contains(&function.as_str()),
        _ => false,
    };
    if let Some(mark) = constant.get_mut(expr.id) {
        *mark = parts && can_be;
    }
    parts && can_be
}

/// Whether the server looks up membership in a constant list in a set, without cost. That is so for scalar items.
pub(super) fn is_set(list: &Expr) -> bool {
    let simple = |(item, _): &(Expr, bool)| {
        matches!(
            value(item),
            Ok(Val::String(_) | Val::Bool(_) | Val::Int(_) | Val::Uint(_) | Val::Double(_))
        )
    };
    matches!(&list.kind, Kind::List(items) if items.iter().all(simple))
}

/// The value of a constant.
pub(super) fn value(expr: &Expr) -> Outcome<Val<'_>> {
    match &expr.kind {
        Kind::Literal(literal) => Ok(Val::literal(literal)),
        Kind::List(items) => items
            .iter()
            .map(|(item, _)| value(item))
            .collect::<Outcome<_>>()
            .map(Val::list),
        Kind::Map(entries) => {
            let mut out = BTreeMap::new();
            for entry in entries {
                let key = Key::of(&value(&entry.key)?).ok_or_else(Fault::no_overload)?;
                out.insert(key, value(&entry.value)?);
            }
            Ok(Val::Map(Map::own(out)))
        }
        Kind::Call { function, args, .. } => match (library::name(function), args.as_slice()) {
            (Some(function), [arg]) => library::call(function, "", &[value(arg)?]),
            _ => Err(Fault::no_overload()),
        },
        _ => Err(Fault::no_overload()),
    }
}

/// Computes the constants. Returns the compiled regular expressions by the ids of the calls. The error is the server's message.
pub(super) fn compute(expr: &Expr, constant: &[bool]) -> Result<HashMap<usize, Pattern>, String> {
    let mut patterns = Ok(HashMap::new());
    expr.walk(&mut |node| {
        let Kind::Call { function, target, args } = &node.kind else {
            return;
        };
        if constant.get(node.id) == Some(&true)
            && let Err(Fault::Error(message)) = value(node)
        {
            patterns = Err(message.to_string());
        }
        let regex = match (function.as_str(), target, args.as_slice()) {
            ("find" | "findAll" | "matches", Some(_), [regex, ..]) | ("matches", None, [_, regex]) => regex,
            _ => return,
        };
        if let Kind::Literal(Literal::String(regex)) = &regex.kind
            && let Ok(known) = &mut patterns
        {
            match Pattern::new(regex) {
                Ok(pattern) => _ = known.insert(node.id, pattern),
                Err(message) => patterns = Err(message),
            }
        }
    });
    patterns
}

/// Validates literals; needs the types.
pub(super) fn check(expr: &Expr, checked: &Checked, issues: &mut Issues) {
    let mut formats = Vec::new();
    expr.walk(&mut |node| {
        for function in ["duration", "timestamp"] {
            if let Some((arg, _)) = constant_argument(node, function)
                && value(node).is_err()
            {
                issues.add(Some(arg.at), format!("invalid {function} argument"));
            }
        }
        if let Some((arg, Literal::String(regex))) = constant_argument(node, "matches")
            && Pattern::new(regex).is_err()
        {
            issues.add(Some(arg.at), "invalid matches argument".to_owned());
        }
        if let Kind::Call {
            function,
            target: Some(target),
            args,
        } = &node.kind
            && function == "format"
            && let (Kind::Literal(Literal::String(text)), [arg]) = (&target.kind, args.as_slice())
            && let Kind::List(items) = &arg.kind
        {
            formats.push((node, text, items));
        }
    });
    homogeneous(expr, checked, issues, false);
    for (node, text, items) in formats {
        if let Err((at, message)) = clauses(text, items, checked) {
            issues.add(Some(at.unwrap_or(node.at)), message);
        }
    }
}

/// Checks that all items of a literal have the same type, unless they are arguments of a format.
fn homogeneous(expr: &Expr, checked: &Checked, issues: &mut Issues, exempt: bool) {
    let mut mismatch = |at: usize, expected: &Type, found: &Type| {
        if expected != found && !exempt {
            issues.add(Some(at), format!("expected type '{expected}' but found '{found}'"));
            return true;
        }
        false
    };
    let inner = |expr: &Expr, optional: bool| {
        let r#type = checked.of(expr);
        if optional {
            r#type.unwrapped().unwrap_or(r#type).clone()
        } else {
            r#type.clone()
        }
    };
    match &expr.kind {
        Kind::List(items) => {
            if let Some((first, optional)) = items.first() {
                let expected = inner(first, *optional);
                for (item, optional) in &items[1..] {
                    if mismatch(item.at, &expected, &inner(item, *optional)) {
                        break;
                    }
                }
            }
        }
        Kind::Map(entries) => {
            if let Some(first) = entries.first() {
                let (key, value) = (inner(&first.key, false), inner(&first.value, first.optional));
                for entry in &entries[1..] {
                    mismatch(entry.key.at, &key, &inner(&entry.key, false));
                    mismatch(entry.value.at, &value, &inner(&entry.value, entry.optional));
                }
            }
        }
        _ => {}
    }
    let exempt = exempt || matches!(&expr.kind, Kind::Call { function, .. } if function == "format");
    for child in expr.children() {
        homogeneous(child, checked, issues, exempt);
    }
}

/// Checks that the clauses of a format match their arguments.
fn clauses(text: &str, items: &[(Expr, bool)], checked: &Checked) -> Result<(), (Option<usize>, String)> {
    let (mut rest, mut count) = (text, 0);
    while !rest.is_empty() {
        let (piece, after) = match piece(rest) {
            Ok(it) => it,
            Err(message) => return Err((None, message)),
        };
        if let Piece::Clause(clause) = piece {
            let Some((item, _)) = items.get(count) else {
                return Err((None, format!("index {count} out of range")));
            };
            if let Some(bad) = misfit(clause.letter, item, checked) {
                return Err((Some(bad.at), refusal(clause.letter, type_name(checked.of(bad)))));
            }
            count += 1;
        }
        rest = after;
    }
    if items.len() > count {
        let message = format!(
            "too many arguments supplied to string.format (expected {count}, got {})",
            items.len()
        );
        return Err((None, message));
    }
    Ok(())
}

/// The part of an item that a clause cannot format.
fn misfit<'a>(letter: char, item: &'a Expr, checked: &Checked) -> Option<&'a Expr> {
    let r#type = checked.of(item);
    let fits = match letter {
        _ if r#type.is_dyn() => true,
        's' => !matches!(
            r#type,
            Type::Opaque(..) | Type::Object(_) | Type::Built(_) | Type::Message(_)
        ),
        'd' | 'o' => matches!(r#type, Type::Int | Type::Uint),
        'f' | 'e' => matches!(r#type, Type::Double | Type::String),
        'b' => matches!(r#type, Type::Int | Type::Uint | Type::Bool),
        _ => matches!(r#type, Type::Int | Type::Uint | Type::String | Type::Bytes),
    };
    if !fits {
        return Some(item);
    }
    if letter != 's' || !matches!(item.kind, Kind::List(_) | Kind::Map(_)) {
        return None;
    }
    item.children()
        .into_iter()
        .find_map(|part| misfit(letter, part, checked))
}

/// The name of a type without its parameters.
fn type_name(r#type: &Type) -> &str {
    match r#type {
        Type::Opaque(name, _) | Type::Message(name) => name,
        Type::Object(object) => &object.name,
        Type::Built(name) => name,
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Bool => "bool",
        Type::Bytes => "bytes",
        Type::Double => "double",
        Type::Int => "int",
        Type::List(_) => "list",
        Type::Map(_) => "map",
        Type::Null => "null_type",
        Type::String => "string",
        Type::Meta(_) => "type",
        Type::Uint => "uint",
        Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_) => "dyn",
    }
}
