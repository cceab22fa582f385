//! Parses an expression by Go's rules, from left to right, and writes its translation at the same time.

use std::{collections::BTreeMap, ops::Range};

/// Go's limit for counted repetition; the counts of nested repetitions are multiplied.
const MOST_REPEATS: u64 = 1000;

/// The beginning of a group without a capture.
const GROUP: &str = "(?:";

/// Translates `pattern` to the syntax of the `regex` crate.
///
/// # Errors
/// Go's error message.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut reader = PatternReader {
        whole: pattern,
        rest: pattern,
        groups: vec![Group::default()],
        out: String::new(),
        next: 0,
        operand: 0..0,
        is_repeated: false,
    };
    match reader.read() {
        Ok(()) => Ok(reader.out),
        Err(Error::At(what, text)) => Err(format!("error parsing regexp: {what}: `{text}`")),
    }
}

pub(super) enum Error {
    /// The error, and the part of the pattern that has it.
    At(&'static str, String),
}

/// The repetition counts of the current group: of its last operand, and the highest of those before.
#[derive(Default)]
struct Group {
    /// The offset of the group in the translation.
    start: usize,
    operand: Option<u64>,
    most: u64,
}

pub(super) struct PatternReader<'a> {
    whole: &'a str,
    pub(super) rest: &'a str,
    groups: Vec<Group>,
    /// The translation so far.
    pub(super) out: String,
    /// The offset in `out` of the part that is being read.
    next: usize,
    /// The last operand in `out`. Flags, which are not operands, may be between an operand and its repetition.
    operand: Range<usize>,
    /// Whether that operand has a repetition already.
    is_repeated: bool,
}

impl<'a> PatternReader<'a> {
    fn read(&mut self) -> Result<(), Error> {
        // The pattern from the start of the repetition that was read just before.
        let mut repeated: Option<&'a str> = None;
        while let Some(c) = self.rest.chars().next() {
            let start = self.rest;
            let count = match c {
                '*' | '+' | '?' => {
                    self.take(1);
                    Some(None)
                }
                '{' => self.counts().map(Some),
                _ => None,
            };
            if let Some(counts) = count {
                self.repeat(start, counts, repeated)?;
                repeated = Some(start);
                continue;
            }
            repeated = None;
            self.next = self.out.len();
            match c {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.take(1);
                    self.out.push('|');
                    self.end_branch();
                }
                '[' => {
                    self.class()?;
                    self.operand(1);
                }
                '\\' => self.escape()?,
                '.' | '^' | '$' => {
                    self.take(1);
                    self.out.push(c);
                    self.operand(1);
                }
                c => {
                    self.take(c.len_utf8());
                    self.literal(u32::from(c));
                    self.operand(1);
                }
            }
        }
        if self.groups.len() > 1 {
            self.error("missing closing )", self.whole)
        } else {
            Ok(())
        }
    }

    pub(super) fn error<T>(&self, what: &'static str, text: &str) -> Result<T, Error> {
        Err(Error::At(what, text.to_owned()))
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// The text from `start`, an earlier position, to the current position.
    pub(super) fn since(&self, start: &'a str) -> &'a str {
        &start[..start.len() - self.rest.len()]
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    /// Called after an operand, which can be repeated, was written.
    fn operand(&mut self, weight: u64) {
        self.operand = self.next..self.out.len();
        self.is_repeated = false;
        let group = self.group();
        group.most = group.most.max(group.operand.unwrap_or(0));
        group.operand = Some(weight);
    }

    fn end_branch(&mut self) {
        let group = self.group();
        group.most = group.most.max(group.operand.take().unwrap_or(0));
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`, with an inner `None` for a number that is too large for 64 bits. Anything else is a literal brace.
    fn counts(&mut self) -> Option<(Option<u64>, Option<u64>)> {
        let inner = self.rest[1..].split_once('}')?.0;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            (digits && (text.len() == 1 || !text.starts_with('0'))).then(|| text.parse::<u64>().ok())
        };
        let counts = match inner.split_once(',') {
            None => number(inner).map(|n| (n, n)),
            // Without an upper bound, the lower one counts for the limit.
            Some((least, "")) => number(least).map(|n| (n, n)),
            Some((least, most)) => number(least).and_then(|least| Some((least, number(most)?))),
        }?;
        self.take(inner.len() + 2);
        Some(counts)
    }

    fn repeat(
        &mut self,
        start: &'a str,
        counts: Option<(Option<u64>, Option<u64>)>,
        repeated: Option<&'a str>,
    ) -> Result<(), Error> {
        let counted = self.since(start);
        if let Some(counts) = counts {
            match counts {
                (Some(least), Some(most)) if least <= most && most <= MOST_REPEATS => {}
                _ => return self.error("invalid repeat count", counted),
            }
        }
        if self.rest.starts_with('?') {
            self.take(1);
        }
        if let Some(repeated) = repeated {
            return self.error("invalid nested repetition operator", self.since(repeated));
        }
        let whole = self.since(start);
        let Some(weight) = self.group().operand else {
            return self.error("missing argument to repetition operator", whole);
        };
        let times = counts.and_then(|(_, most)| most).unwrap_or(1);
        let weight = weight.saturating_mul(times.max(1));
        if times >= 2 && weight > MOST_REPEATS {
            return self.error("invalid repeat count", whole);
        }
        self.group().operand = Some(weight);
        if self.is_repeated {
            // Flags separate the two; side by side, the second one would make the first one lazy.
            self.out.insert(self.operand.end, ')');
            self.out.insert_str(self.operand.start, GROUP);
            self.operand.end += GROUP.len() + 1;
        }
        self.is_repeated = true;
        // The range is always inside `out`.
        self.out.insert_str(self.operand.end, whole);
        self.operand.end += whole.len();
        Ok(())
    }

    fn open_group(&mut self) {
        let start = self.out.len();
        self.groups.push(Group {
            start,
            ..Group::default()
        });
    }

    fn open(&mut self) -> Result<(), Error> {
        let start = self.rest;
        if !start.starts_with("(?") {
            self.take(1);
            self.open_group();
            self.out.push_str(GROUP);
            return Ok(());
        }
        let name = start
            .strip_prefix("(?P<")
            .or(start.strip_prefix("(?<"))
            .filter(|rest| !rest.is_empty());
        if let Some(name) = name {
            let Some((name, rest)) = name.split_once('>') else {
                return self.error("invalid named capture", start);
            };
            self.rest = rest;
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return self.error("invalid named capture", self.since(start));
            }
            self.open_group();
            self.out.push_str(GROUP);
            return Ok(());
        }
        self.take(2);
        self.flags(start)
    }

    /// Reads `(?i)`, `(?i-s:…)` or `(?:…)`, from after the question mark.
    fn flags(&mut self, start: &'a str) -> Result<(), Error> {
        let (mut negated, mut seen) = (false, false);
        // If a flag is given twice, the last one counts.
        let mut flags = BTreeMap::new();
        while let Some(c) = self.rest.chars().next() {
            self.take(c.len_utf8());
            match c {
                'i' | 'm' | 's' | 'U' => {
                    seen = true;
                    flags.insert(c, !negated);
                }
                '-' if !negated => (negated, seen) = (true, false),
                ':' | ')' if seen || !negated => {
                    if c == ':' {
                        self.open_group();
                    }
                    self.write_flags(&flags, c);
                    return Ok(());
                }
                _ => break,
            }
        }
        self.error("invalid or unsupported Perl syntax", self.since(start))
    }

    fn write_flags(&mut self, flags: &BTreeMap<char, bool>, end: char) {
        if flags.is_empty() && end == ')' {
            return;
        }
        self.out.push_str("(?");
        self.out.extend(flags.iter().filter(|it| *it.1).map(|it| it.0));
        if flags.values().any(|on| !on) {
            self.out.push('-');
            self.out.extend(flags.iter().filter(|it| !*it.1).map(|it| it.0));
        }
        self.out.push(end);
    }

    fn close(&mut self) -> Result<(), Error> {
        self.take(1);
        self.end_branch();
        if self.groups.len() < 2 {
            return self.error("unexpected )", self.whole);
        }
        let group = self.groups.pop().unwrap_or_default();
        let most = group.most.max(1);
        self.next = group.start;
        self.out.push(')');
        self.operand(most);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Error> {
        match self.rest[1..].chars().next() {
            Some(c @ ('A' | 'b' | 'B' | 'z')) => {
                self.take(2);
                // In Go, a word consists of ASCII letters, digits and underscores.
                self.out.push_str(&format!("(?-u:\\{c})"));
                self.operand(1);
            }
            Some('C') => return self.error("invalid escape sequence", "\\C"),
            Some('Q') => {
                let literal = &self.rest[2..];
                let (literal, rest) = literal.split_once("\\E").unwrap_or((literal, ""));
                self.rest = rest;
                for c in literal.chars() {
                    self.next = self.out.len();
                    self.literal(u32::from(c));
                    self.operand(1);
                }
            }
            _ => {
                if !self.class_escape(false)? {
                    let code = self.character()?;
                    self.literal(code);
                }
                self.operand(1);
            }
        }
        Ok(())
    }
}
