//! Texts for simple patterns.

use std::iter::Peekable;
use std::str::Chars;

/// The number of each repeated operand.
#[derive(Clone, Copy)]
struct Repetition {
    /// Of an operand with `+`.
    many: usize,
    /// Whether operands that may be absent are repeated as well, up to their own limit.
    is_longest: bool,
}

/// A text that a simple pattern matches: the first branch of each group, the first character of each class, and the least number of each
/// repetition, but `many` of an operand with `+`. Other patterns may not match it.
pub(super) fn of(pattern: &str, many: usize) -> String {
    let repetition = Repetition {
        many,
        is_longest: false,
    };
    branch(&mut pattern.chars().peekable(), repetition)
}

/// The longest such text of at most `most` characters, with all repetitions, and the next longer one.
pub(super) fn around(pattern: &str, most: usize) -> [String; 2] {
    let of = |many| {
        let repetition = Repetition { many, is_longest: true };
        branch(&mut pattern.chars().peekable(), repetition)
    };
    let (mut few, mut many) = (0, most + 1);
    while many - few > 1 {
        let middle = usize::midpoint(few, many);
        match of(middle).chars().count() <= most {
            true => few = middle,
            false => many = middle,
        }
    }
    [of(few), of(many)]
}

/// Reads up to the end of a group or of the pattern.
fn branch(rest: &mut Peekable<Chars>, repetition: Repetition) -> String {
    let (mut text, mut last) = (String::new(), String::new());
    while let Some(c) = rest.next() {
        let operand = match c {
            ')' => break,
            '|' => {
                branch(rest, repetition);
                break;
            }
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    rest.by_ref().find(|it| [':', '>', ')'].contains(it));
                }
                branch(rest, repetition)
            }
            '[' => class(rest).into(),
            '\\' => escaped(rest.next().unwrap_or_default()).into(),
            '.' => "a".to_owned(),
            '^' | '$' => continue,
            '+' => {
                last = repeated(&last, repetition.many);
                rest.next_if_eq(&'?');
                continue;
            }
            '*' | '?' => {
                let most = if c == '*' { repetition.many } else { 1 };
                last = repeated(&last, if repetition.is_longest { most } else { 0 });
                rest.next_if_eq(&'?');
                continue;
            }
            '{' => {
                let counts: String = rest.by_ref().take_while(|it| *it != '}').collect();
                last = repeated(&last, repetition.within(&counts));
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

impl Repetition {
    /// The number for counts in braces: `2`, `2,` or `2,5`.
    fn within(self, counts: &str) -> usize {
        let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
        let least = least.parse().unwrap_or(1);
        match self.is_longest {
            true => self.many.min(most.parse().unwrap_or(usize::MAX)).max(least),
            false => least,
        }
    }
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
