//! Functions on strings. Positions are counted in characters.

use super::ESCAPE_KEY;
use super::call::formatted;
use crate::language::value::{Fault, Outcome, Val};
use kubewright_machinery::pattern::Pattern;

pub(super) fn call<'a>(function: &'static str, text: &str, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    Some(match (function, rest) {
        ("contains", [Val::String(part)]) => Ok(Val::Bool(text.contains(&**part))),
        ("startsWith", [Val::String(part)]) => Ok(Val::Bool(text.starts_with(&**part))),
        ("endsWith", [Val::String(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        ("matches" | "find", [Val::String(regex)])
        | ("findAll", [Val::String(regex)] | [Val::String(regex), Val::Int(_)]) => {
            let mut args = rest.to_vec();
            args.insert(0, Val::text(text));
            compile(function, regex, &args)
        }
        ("charAt", [Val::Int(index)]) => char_at(text, *index),
        ("indexOf", [Val::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Val::String(part), Val::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Val::String(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Val::String(part), Val::Int(from)]) => last_index_of(text, part, Some(*from)),
        ("lowerAscii", []) => Ok(Val::text(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Val::text(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Val::text(text.trim())),
        ("replace", [Val::String(what), Val::String(with)]) => Ok(Val::text(replace(text, what, with, -1))),
        ("replace", [Val::String(what), Val::String(with), Val::Int(most)]) => {
            Ok(Val::text(replace(text, what, with, *most)))
        }
        ("split", [Val::String(by)]) => Ok(texts(split(text, by, -1))),
        ("split", [Val::String(by), Val::Int(most)]) => Ok(texts(split(text, by, *most))),
        ("substring", [Val::Int(start)]) => substring(text, *start, None),
        ("substring", [Val::Int(start), Val::Int(end)]) => substring(text, *start, Some(*end)),
        (ESCAPE_KEY, []) => Ok(Val::text(text.replace('~', "~0").replace('/', "~1"))),
        ("strings.quote", []) => Ok(Val::text(quote(text))),
        ("format", [args]) => return formatted(text, args),
        _ => return None,
    })
}

fn texts<'a>(list: Vec<String>) -> Val<'a> {
    Val::list(list.into_iter().map(Val::text).collect())
}

/// `matches`, `find` or `findAll`, with the pattern compiled before.
pub(in crate::language) fn search<'a>(function: &str, pattern: &Pattern, args: &[Val<'a>]) -> Outcome<Val<'a>> {
    let (text, most) = match args {
        [Val::String(text), _] => (text, usize::MAX),
        // A negative number means all matches.
        [Val::String(text), _, Val::Int(most)] => (text, usize::try_from(*most).unwrap_or(usize::MAX)),
        _ => return Err(Fault::no_overload()),
    };
    let mut found = pattern.find_all(text);
    Ok(match function {
        "matches" => Val::Bool(pattern.is_match(text)),
        "find" => Val::text(found.next().unwrap_or_default()),
        _ => texts(found.take(most).map(str::to_owned).collect()),
    })
}

fn compile<'a>(function: &str, regex: &str, args: &[Val<'a>]) -> Outcome<Val<'a>> {
    let pattern = Pattern::new(regex).map_err(|error| match function {
        "matches" => Fault::new(error),
        _ => Fault::new(format!("Illegal regex: {error}")),
    })?;
    search(function, &pattern, args)
}

fn beyond(index: i64) -> Fault {
    Fault::new(format!("index out of range: {index}"))
}

fn char_at<'a>(text: &str, index: i64) -> Outcome<Val<'a>> {
    let at = usize::try_from(index).map_err(|_| beyond(index))?;
    match text.chars().nth(at) {
        Some(c) => Ok(Val::text(c)),
        None if text.chars().count() == at => Ok(Val::text("")),
        None => Err(beyond(index)),
    }
}

fn number<'a>(index: usize) -> Outcome<Val<'a>> {
    Ok(Val::Int(i64::try_from(index).unwrap_or(i64::MAX)))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<Val<'a>> {
    let at = usize::try_from(from).map_err(|_| beyond(from))?;
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    if part.is_empty() {
        return number(at.min(text.len()));
    }
    let found = text
        .windows(part.len())
        .enumerate()
        .skip(at)
        .find(|(_, window)| *window == part);
    found.map_or(Ok(Val::Int(-1)), |(index, _)| number(index))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Outcome<Val<'a>> {
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    let from = from.map(|from| usize::try_from(from).map_err(|_| beyond(from)));
    let from = from.transpose()?;
    let last = match from {
        _ if part.is_empty() => return number(from.map_or(text.len(), |from| from.min(text.len()))),
        None if text.len() < part.len() => return Ok(Val::Int(-1)),
        None => text.len() - 1,
        Some(from) => from,
    };
    if last >= text.len() {
        return Ok(Val::Int(-1));
    }
    let windows: Vec<&[char]> = text.windows(part.len()).collect();
    let found = windows
        .iter()
        .enumerate()
        .take(last + 1)
        .rev()
        .find(|(_, window)| **window == part);
    found.map_or(Ok(Val::Int(-1)), |(index, _)| number(index))
}

/// Replaces the first `most` occurrences; all of them if `most` is negative.
fn replace(text: &str, what: &str, with: &str, most: i64) -> String {
    match usize::try_from(most) {
        Ok(most) => text.replacen(what, with, most),
        Err(_) => text.replace(what, with),
    }
}

/// Splits into at most `most` parts; without limit if `most` is negative.
fn split(text: &str, by: &str, most: i64) -> Vec<String> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most == 0 {
        return Vec::new();
    }
    if !by.is_empty() {
        return text.splitn(most, by).map(str::to_owned).collect();
    }
    let count = text.chars().count();
    let mut parts: Vec<String> = text
        .chars()
        .take(if count > most { most - 1 } else { most })
        .map(String::from)
        .collect();
    if count > most {
        parts.push(text.chars().skip(most - 1).collect());
    }
    parts
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Outcome<Val<'a>> {
    let length = text.chars().count();
    if let Some(end) = end
        && start > end
    {
        return Err(Fault::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let place = |index: i64| {
        usize::try_from(index)
            .ok()
            .filter(|at| *at <= length)
            .ok_or_else(|| beyond(index))
    };
    let from = place(start)?;
    let to = end.map_or(Ok(length), place)?;
    Ok(Val::text(
        text.chars()
            .skip(from)
            .take(to.saturating_sub(from))
            .collect::<String>(),
    ))
}

fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
