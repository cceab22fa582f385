//! Mail addresses, as Go's `mail.ParseAddress` accepts them: `a@b`, `A Name <a@b>`, a group of one, with comments in between.

use std::net::IpAddr;

pub(super) fn is_address(text: &str) -> bool {
    let mut reader = AddressReader { rest: text };
    reader.addresses(true) == Some(1) && reader.comments().is_some() && reader.rest.is_empty()
}

/// A parser. Each method consumes the element of its name, or returns `None`.
struct AddressReader<'a> {
    rest: &'a str,
}

impl AddressReader<'_> {
    /// One address or a group of addresses; returns their number.
    fn addresses(&mut self, groups: bool) -> Option<usize> {
        self.blanks();
        if self.rest.is_empty() {
            return None;
        }
        let start = self.rest;
        if self.plain().is_some() {
            self.blanks();
            if self.take('(') {
                self.comment()?;
            }
            return Some(1);
        }
        self.rest = start;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.blanks();
        if groups && self.take(':') {
            return self.group();
        }
        (self.take('<') && self.plain().is_some() && self.take('>')).then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.blanks();
        let mut count = 0;
        if !self.take(';') {
            loop {
                self.blanks();
                count += self.addresses(false)?;
                self.comments()?;
                if self.take(';') {
                    break;
                }
                if !self.take(',') {
                    return None;
                }
            }
        }
        self.comments()?;
        Some(count)
    }

    /// `local@domain`.
    fn plain(&mut self) -> Option<()> {
        self.blanks();
        if self.rest.starts_with('"') {
            self.quoted().filter(|length| *length > 0)?;
        } else {
            dots_between(self.atom()?)?;
        }
        if !self.take('@') {
            return None;
        }
        self.blanks();
        if self.rest.starts_with('[') {
            self.literal()
        } else {
            dots_between(self.atom()?)
        }
    }

    /// The display name of an address: one or more words.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.comments()?;
            }
            self.blanks();
            if self.rest.is_empty() {
                return Some(());
            }
            let word = match self.rest.starts_with('"') {
                true => self.quoted().map(|_| ()),
                false => self.atom().filter(|atom| is_decodable(atom)).map(|_| ()),
            };
            if word.is_none() {
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }

    fn atom(&mut self) -> Option<&str> {
        let end = self.rest.find(|c| !is_atom(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// A text in quotes; returns its length without the quotes. Consumes nothing if no quote follows.
    fn quoted(&mut self) -> Option<usize> {
        let mut escaped = false;
        let mut length = 0;
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                _ if !is_visible(c) && c != ' ' && c != '\t' => return None,
                '"' if !escaped => {
                    self.rest = &self.rest[at + 1..];
                    return Some(length);
                }
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                _ => length += 1,
            }
            escaped = false;
        }
        None
    }

    fn literal(&mut self) -> Option<()> {
        let (address, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = rest;
        address.parse::<IpAddr>().ok().map(|_| ())
    }

    fn comments(&mut self) -> Option<()> {
        self.blanks();
        while self.take('(') {
            self.comment()?;
            self.blanks();
        }
        Some(())
    }

    /// The rest of a comment after its opening parenthesis. Comments nest.
    fn comment(&mut self) -> Option<()> {
        let mut depth = 1;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => {}
                '\\' => {
                    escaped = true;
                    continue;
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            escaped = false;
            if depth == 0 {
                self.rest = &self.rest[at + 1..];
                return Some(());
            }
        }
        None
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }
}

fn dots_between(atom: &str) -> Option<()> {
    (!atom.starts_with('.') && !atom.ends_with('.') && !atom.contains("..")).then_some(())
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

fn is_atom(c: char) -> bool {
    is_visible(c) && !"()<>[]:;@\\,\"".contains(c)
}

/// Whether an encoded word (RFC 2047) has a known character set; other words always pass.
fn is_decodable(word: &str) -> bool {
    let parts: Vec<&str> = match word.strip_prefix("=?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(inner) => inner.split('?').collect(),
        None => return true,
    };
    match parts[..] {
        [set, encoding, _] if encoding.len() == 1 => ["utf-8", "iso-8859-1", "us-ascii"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(set)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_as_in_go() {
        for yes in [
            "a@b",
            "a.b@c.d",
            " a@b ",
            "A Name <a@b>",
            "\"q \\\" q\"@b",
            "<a@b>",
            "a@[1.2.3.4]",
            "a@b (c (d) e)",
            "g: a@b;",
            "é@ü",
            "\"A\" B. <a@b>",
        ] {
            assert!(is_address(yes), "{yes}");
        }
        for no in [
            "",
            "a",
            "a@",
            "@b",
            "a..b@c",
            ".a@b",
            "a.@b",
            "a b@c",
            "\"\"@b",
            "a@[x]",
            "a@b (c",
            "g: a@b, c@d;",
            "g: ;",
            "<a@b",
            "a@b c",
            "a@b,",
            "a <b>",
            "=?x?q?y?= <a@b>",
            "a\u{1}@b",
        ] {
            assert!(!is_address(no), "{no}");
        }
    }
}
