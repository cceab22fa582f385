//! Whether a pattern is a regular expression to the API server, which takes those of Go's `regexp` (RE2): no
//! look-around, no backreferences. Recognises only; builds nothing.
//!
//! Two things are taken on trust: that a named Unicode class (`\p{Greek}`) exists, and that the expression is not too
//! large to compile.

mod chars;

/// Go's bound on counted repetition, nested ones multiplied.
const MOST_REPEATS: u64 = 1000;

/// What is wrong with `pattern`, in Go's words.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    let mut reader = Reader {
        whole: pattern,
        rest: pattern,
        groups: vec![Group::default()],
    };
    reader.read().map_err(|error| match error {
        Error::At(what, text) => format!("error parsing regexp: {what}: `{text}`"),
    })
}

enum Error {
    /// What is wrong and with which part of the pattern.
    At(&'static str, String),
}

/// What has been read of a group: how often its last operand, and any before it, may repeat.
#[derive(Default)]
struct Group {
    operand: Option<u64>,
    most: u64,
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    groups: Vec<Group>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), Error> {
        // The repetition that was read just before, from its beginning.
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
            match c {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.take(1);
                    self.end_branch();
                }
                '[' => {
                    self.class()?;
                    self.operand(1);
                }
                '\\' => self.escape()?,
                c => {
                    self.take(c.len_utf8());
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

    fn error<T>(&self, what: &'static str, text: &str) -> Result<T, Error> {
        Err(Error::At(what, text.to_owned()))
    }

    fn take(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// The text from `start`, where the reader stood before, to where it stands.
    fn since(&self, start: &'a str) -> &'a str {
        &start[..start.len() - self.rest.len()]
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn operand(&mut self, weight: u64) {
        let group = self.group();
        group.most = group.most.max(group.operand.unwrap_or(0));
        group.operand = Some(weight);
    }

    fn end_branch(&mut self) {
        let group = self.group();
        group.most = group.most.max(group.operand.take().unwrap_or(0));
    }

    /// `{n}`, `{n,}` or `{n,m}`, with `None` for a number that is out of all bounds; anything else is a literal brace.
    fn counts(&mut self) -> Option<(Option<u64>, Option<u64>)> {
        let inner = self.rest[1..].split_once('}')?.0;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            (digits && (text.len() == 1 || !text.starts_with('0'))).then(|| text.parse::<u64>().ok())
        };
        let counts = match inner.split_once(',') {
            None => number(inner).map(|n| (n, n)),
            // No upper bound repeats as often as the lower one for the purpose of the limit.
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
        Ok(())
    }

    fn open(&mut self) -> Result<(), Error> {
        let start = self.rest;
        if !start.starts_with("(?") {
            self.take(1);
            self.groups.push(Group::default());
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
            self.groups.push(Group::default());
            return Ok(());
        }
        self.take(2);
        self.flags(start)
    }

    /// `(?i)`, `(?i-s:…)`, `(?:…)`; the reader stands behind the question mark.
    fn flags(&mut self, start: &'a str) -> Result<(), Error> {
        let (mut negated, mut seen) = (false, false);
        while let Some(c) = self.rest.chars().next() {
            self.take(c.len_utf8());
            match c {
                'i' | 'm' | 's' | 'U' => seen = true,
                '-' if !negated => (negated, seen) = (true, false),
                ':' | ')' if seen || !negated => {
                    if c == ':' {
                        self.groups.push(Group::default());
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        self.error("invalid or unsupported Perl syntax", self.since(start))
    }

    fn close(&mut self) -> Result<(), Error> {
        self.take(1);
        self.end_branch();
        if self.groups.len() < 2 {
            return self.error("unexpected )", self.whole);
        }
        let most = self.groups.pop().map_or(1, |group| group.most.max(1));
        self.operand(most);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Error> {
        match self.rest[1..].chars().next() {
            Some('A' | 'b' | 'B' | 'z') => {
                self.take(2);
                self.operand(1);
            }
            Some('C') => return self.error("invalid escape sequence", "\\C"),
            Some('Q') => {
                let literal = &self.rest[2..];
                let (literal, rest) = literal.split_once("\\E").unwrap_or((literal, ""));
                self.rest = rest;
                if !literal.is_empty() {
                    self.operand(1);
                }
            }
            _ => {
                if !self.class_escape()? {
                    self.character()?;
                }
                self.operand(1);
            }
        }
        Ok(())
    }
}
