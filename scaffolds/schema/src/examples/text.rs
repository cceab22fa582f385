//! Texts for simple patterns.

use std::iter::Peekable;
use std::str::Chars;

/// A text that a simple pattern matches: the first branch of each group, the first character of each class, and the least number of each
/// repetition, but `many` of an operand with `+`. Other patterns may not match it.
pub(super) fn of(pattern: &str, many: usize) -> String {
    branch(&mut pattern.chars().peekable(), many)
}

/// Reads up to the end of a group or of the pattern.
fn branch(rest: &mut Peekable<Chars>, many: usize) -> String {
    let (mut text, mut last) = (String::new(), String::new());
    while let Some(c) = rest.next() {
        let operand = match c {
            ')' => break,
            '|' => {
                branch(rest, many);
                break;
            }
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    rest.by_ref().find(|it| [':', '>', ')'].contains(it));
                }
                branch(rest, many)
            }
            '[' => class(rest).into(),
            '\\' => escaped(rest.next().unwrap_or_default()).into(),
            '.' => "a".to_owned(),
            '^' | '$' => continue,
            '+' => {
                last = repeated(&last, many);
                rest.next_if_eq(&'?');
                continue;
            }
            '*' | '?' => {
                last.clear();
                rest.next_if_eq(&'?');
                continue;
            }
            '{' => {
                let counts: String = rest.by_ref().take_while(|it| *it != '}').collect();
                let least = counts.split(',').next().and_then(|it| it.parse().ok());
                last = repeated(&last, least.unwrap_or(1));
                rest.next_if_eq(&'?');
                continue;
            }
            c => c.into(),
        };
        text.push_str(&last);
        last = operand;
    }
    text + &last
}

/// At most some ten thousand characters: repetitions may be inside each other.
fn repeated(operand: &str, times: usize) -> String {
    operand.repeat(times.min(10_000 / operand.len().max(1)))
}

/// A character of a class, whose first bracket has been read.
fn class(rest: &mut Peekable<Chars>) -> char {
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut chars = Vec::new();
    while let Some(c) = rest.next() {
        match c {
            ']' if !chars.is_empty() => break,
            '\\' => chars.push(escaped(rest.next().unwrap_or_default())),
            '[' if rest.next_if_eq(&':').is_some() => {
                let name: String = rest.by_ref().take_while(|it| *it != ':').collect();
                rest.next();
                chars.push(named(&name));
            }
            c => chars.push(c),
        }
    }
    if !is_negated {
        return chars.first().copied().unwrap_or_default();
    }
    // The ranges are unknown, but for the characters that they begin with.
    let other = ['a', '0', 'A', '-', '_', ' ']
        .into_iter()
        .find(|it| !chars.contains(it));
    other.unwrap_or_default()
}

/// A character of a class with a name, such as `[:upper:]`.
fn named(class: &str) -> char {
    match class {
        "upper" => 'A',
        "digit" | "xdigit" => '0',
        "punct" => '-',
        "space" | "blank" => ' ',
        _ => 'a',
    }
}

/// A character that an escape stands for.
fn escaped(c: char) -> char {
    match c {
        'd' => '0',
        'w' | 'S' | 'D' => 'a',
        's' | 'W' => ' ',
        'n' => '\n',
        't' => '\t',
        c => c,
    }
}
