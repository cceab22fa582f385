//! Semantic versions, as `github.com/blang/semver` parses them.

use crate::language::value::{Fault, Foreign, Outcome, Val};
use kubewright_machinery::go::quote;
use std::cmp::Ordering;

/// A version; build metadata does not affect the order.
#[derive(Clone, Debug)]
pub(in crate::language) struct Version {
    numbers: [u64; 3],
    before: Vec<Part>,
}

/// A part of a pre-release; numbers come before words.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    Number(u64),
    Word(String),
}

impl Version {
    pub(in crate::language) fn cmp(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| match (self.before.is_empty(), other.before.is_empty()) {
                (true, true) => Ordering::Equal,
                // A release comes after its pre-releases.
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.before.cmp(&other.before),
            })
    }
}

/// Parses a version. With `lenient`, it may have a `v` before it, fewer than three parts, and leading zeros.
pub(super) fn parse(text: &str, lenient: bool) -> Outcome<Version> {
    let normal;
    let text = if lenient {
        normal = normalised(text)?;
        normal.as_str()
    } else {
        text
    };
    if text.is_empty() {
        return Err(Fault::new("Version string empty"));
    }
    let parts: Vec<&str> = text.splitn(3, '.').collect();
    let [major, minor, rest] = parts.as_slice() else {
        return Err(Fault::new("No Major.Minor.Patch elements found"));
    };
    let major = number(major, "major", "Major")?;
    let minor = number(minor, "minor", "Minor")?;
    let (rest, build) = rest
        .split_once('+')
        .map_or((*rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, before) = rest
        .split_once('-')
        .map_or((rest, None), |(patch, before)| (patch, Some(before)));
    let patch = number(patch, "patch", "Patch")?;
    let before = before
        .into_iter()
        .flat_map(|it| it.split('.'))
        .map(part)
        .collect::<Outcome<_>>()?;
    for word in build.into_iter().flat_map(|it| it.split('.')) {
        if word.is_empty() {
            return Err(Fault::new("Build meta data is empty"));
        }
        if !word.bytes().all(is_word) {
            return Err(Fault::new(format!(
                "Invalid character(s) found in build meta data {}",
                quote(word)
            )));
        }
    }
    Ok(Version {
        numbers: [major, minor, patch],
        before,
    })
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'-'
}

fn number(text: &str, name: &str, title: &str) -> Outcome<u64> {
    if !text.bytes().all(|c| c.is_ascii_digit()) {
        return Err(Fault::new(format!(
            "Invalid character(s) found in {name} number {}",
            quote(text)
        )));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(Fault::new(format!(
            "{title} number must not contain leading zeroes {}",
            quote(text)
        )));
    }
    integer(text)
}

fn integer(text: &str) -> Outcome<u64> {
    text.parse().map_err(|_| {
        let why = if text.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        Fault::new(format!("strconv.ParseUint: parsing {}: {why}", quote(text)))
    })
}

fn part(text: &str) -> Outcome<Part> {
    if text.is_empty() {
        return Err(Fault::new("Prerelease is empty"));
    }
    if text.bytes().all(|c| c.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            let what = "Numeric PreRelease version must not contain leading zeroes";
            return Err(Fault::new(format!("{what} {}", quote(text))));
        }
        return integer(text).map(Part::Number);
    }
    if text.bytes().all(is_word) {
        return Ok(Part::Word(text.to_owned()));
    }
    Err(Fault::new(format!(
        "Invalid character(s) found in prerelease {}",
        quote(text)
    )))
}

fn normalised(text: &str) -> Outcome<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err(Fault::new("short version cannot contain PreRelease/Build meta data"));
        }
        parts.resize(3, "0".to_owned());
    }
    Ok(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        rest.to_owned()
    } else {
        format!("0{rest}")
    }
}

pub(super) fn of<'a>(function: &str, version: &Version, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let other = match rest {
        [] => {
            let [major, minor, patch] = version.numbers;
            let number = match function {
                "major" => major,
                "minor" => minor,
                "patch" => patch,
                _ => return None,
            };
            // As in Go, the conversion keeps the bits.
            return Some(Ok(Val::Int(number as i64)));
        }
        [Val::Foreign(other)] => match &**other {
            Foreign::Semver(other) => other,
            _ => return None,
        },
        _ => return None,
    };
    let order = version.cmp(other);
    Some(Ok(match function {
        "isGreaterThan" => Val::Bool(order.is_gt()),
        "isLessThan" => Val::Bool(order.is_lt()),
        "compareTo" => Val::Int(order as i64),
        _ => return None,
    }))
}
