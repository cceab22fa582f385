//! Parses paths.

use super::{Comparison, PathStep, Slice};
use serde_json::Value;

/// The depth to which filters and unions may nest: more than any column needs, and little enough for the stack.
const DEEPEST: usize = 16;

pub(super) fn path(text: &str) -> Option<Vec<PathStep>> {
    steps(text, 0)
}

fn steps(text: &str, depth: usize) -> Option<Vec<PathStep>> {
    if depth > DEEPEST {
        return None;
    }
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = if let Some(after) = rest.strip_prefix("[?(") {
            let (inside, after) = until_filter_ends(after)?;
            steps.push(filter(inside, depth)?);
            after
        } else if let Some(after) = rest.strip_prefix("..") {
            if matches!(steps.last(), Some(PathStep::Descent)) {
                return None;
            }
            steps.push(PathStep::Descent);
            match after.chars().next() {
                Some(c) if is_word(c) => field(after, &mut steps),
                _ => after,
            }
        } else {
            match first {
                ' ' | '@' | '$' => rest.get(1..)?,
                '[' => bracket(rest.get(1..)?, &mut steps, depth)?,
                '"' | '\'' => quoted(rest, first, &mut steps)?,
                '.' => field(rest.get(1..)?, &mut steps),
                c if c == '+' || c == '-' || c.is_ascii_digit() => number(rest, &mut steps)?,
                c if is_word(c) => flag(rest, &mut steps)?,
                _ => return None,
            }
        };
    }
    Some(steps)
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn ends_word(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

/// A field's name, which ends at the first character that cannot be part of one; a backslash escapes the next
/// character.
fn field<'a>(text: &'a str, steps: &mut Vec<PathStep>) -> &'a str {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = !escaped && ends_word(*c);
        escaped = !escaped && *c == '\\';
        ends
    });
    let (name, rest) = text.split_at(end.map_or(text.len(), |(at, _)| at));
    steps.push(match name {
        "*" => PathStep::Wildcard,
        name => PathStep::Field(name.replace('\\', "")),
    });
    rest
}

fn bracket<'a>(text: &'a str, steps: &mut Vec<PathStep>, depth: usize) -> Option<&'a str> {
    let (inside, rest) = text.split_once(']')?;
    if inside.contains('\n') {
        return None;
    }
    if inside.contains(',') {
        let parts = inside
            .split(',')
            .map(|part| self::steps(&format!("[{}]", part.trim_matches(' ')), depth + 1));
        steps.push(PathStep::Union(parts.collect::<Option<_>>()?));
        return Some(rest);
    }
    let name = inside.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    match name {
        Some(name) if !name.contains('\'') => steps.extend(self::steps(&format!(".{name}"), depth + 1)?),
        _ => steps.push(PathStep::Slice(slice(inside)?)),
    }
    Some(rest)
}

fn slice(text: &str) -> Option<Slice> {
    let mut parts = if text == "*" { ":" } else { text }.splitn(3, ':');
    let mut next = || match parts.next() {
        None => Some((None, false)),
        Some("") => Some((None, true)),
        Some(part) => part.parse::<i64>().ok().map(|number| (Some(number), true)),
    };
    let (from, _) = next()?;
    let (to, written) = next()?;
    let (step, _) = next()?;
    Some(Slice {
        from,
        to,
        step,
        single: !written,
    })
}

/// The text up to a `)]` outside of quotes.
fn until_filter_ends(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('\n', _) => return None,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open && before != '\\' => quote = None,
            (')', None) => return Some((text.get(..at)?, text.get(at + 1..)?.strip_prefix(']')?)),
            _ => {}
        }
        before = c;
    }
    None
}

fn filter(text: &str, depth: usize) -> Option<PathStep> {
    let is_operator = |c: char| "!<>=".contains(c);
    let Some(at) = text.find(is_operator).filter(|at| *at > 0) else {
        return Some(PathStep::Filter(steps(text, depth + 1)?, None));
    };
    let (left, rest) = text.split_at(at);
    let (operator, right) = rest.split_at(rest.find(|c| !is_operator(c))?);
    let comparison = match operator {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    };
    Some(PathStep::Filter(
        steps(left, depth + 1)?,
        Some((comparison, steps(right, depth + 1)?)),
    ))
}

fn quoted<'a>(text: &'a str, quote: char, steps: &mut Vec<PathStep>) -> Option<&'a str> {
    let inside = text.get(1..)?;
    let mut out = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return None,
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other => out.push(other),
            },
            c if c == quote => {
                steps.push(PathStep::Literal(Value::String(out)));
                return inside.get(at + 1..);
            }
            c => out.push(c),
        }
    }
    None
}

fn number<'a>(text: &'a str, steps: &mut Vec<PathStep>) -> Option<&'a str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let length = unsigned
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(unsigned.len());
    let (number, rest) = text.split_at(text.len() - unsigned.len() + length);
    let value = match number.parse::<i64>() {
        Ok(integer) => Value::from(integer),
        Err(_) => Value::from(number.parse::<f64>().ok()?),
    };
    steps.push(PathStep::Literal(value));
    Some(rest)
}

/// `true` and `false`; other words would be ranges, which only templates support.
fn flag<'a>(text: &'a str, steps: &mut Vec<PathStep>) -> Option<&'a str> {
    let (word, rest) = text.split_at(text.find(ends_word).unwrap_or(text.len()));
    steps.push(PathStep::Literal(Value::Bool(word.parse().ok()?)));
    Some(rest)
}
