//! Parses and translates single characters and character classes.

use super::{
    names::{self, Class},
    reader::{Error, PatternReader},
};

impl<'a> PatternReader<'a> {
    /// Translates a class such as `\d`, `\pL` or `\p{Greek}`, if one is next.
    pub(super) fn class_escape(&mut self, inside: bool) -> Result<bool, Error> {
        let start = self.rest;
        let mut chars = start.chars();
        if chars.next() != Some('\\') {
            return Ok(false);
        }
        match chars.next() {
            Some(c @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                self.take(2);
                let members = match c.to_ascii_lowercase() {
                    'd' => "0-9",
                    's' => r"\t\n\x0C\r\x20",
                    _ => "0-9A-Za-z_",
                };
                match (c.is_ascii_uppercase(), inside) {
                    (true, _) => self.out.push_str(&format!("[^{members}]")),
                    (false, true) => self.out.push_str(members),
                    (false, false) => self.out.push_str(&format!("[{members}]")),
                }
                Ok(true)
            }
            Some('p' | 'P') => {
                let Some(first) = chars.next() else {
                    return self.error("invalid character class range", start);
                };
                let length = match (first, start.find('}')) {
                    ('{', None) => return self.error("invalid character class range", start),
                    ('{', Some(end)) => end + 1,
                    _ => 2 + first.len_utf8(),
                };
                self.take(length);
                self.unicode_class(self.since(start))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Translates `\pL`, `\P{Lu}` or `\p{^Lu}`.
    fn unicode_class(&mut self, written: &'a str) -> Result<(), Error> {
        let name = written.get(2..).unwrap_or_default().trim_matches(['{', '}']);
        let (name, inverted) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
        let negated = written.starts_with("\\P") != inverted;
        match (names::class(name), negated) {
            (None, _) => return self.error("invalid character class range", written),
            (Some(Class::Named(name)), _) => {
                let sign = if negated { 'P' } else { 'p' };
                self.out.push_str(&format!("\\{sign}{{{name}}}"));
            }
            (Some(Class::Surrogates), true) => self.out.push_str(r"[\x00-\x{10FFFF}]"),
            (Some(Class::Surrogates), false) => self.out.push_str(r"[^\x00-\x{10FFFF}]"),
        }
        Ok(())
    }

    /// Writes a single character.
    pub(super) fn literal(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(_) => self.out.push_str(&format!("\\x{{{code:X}}}")),
            // No text contains a surrogate.
            None => self.out.push_str(r"[^\x00-\x{10FFFF}]"),
        }
    }

    /// Writes a range of a class, without surrogates at its ends.
    fn range(&mut self, low: u32, high: u32) {
        let low = if char::from_u32(low).is_none() { 0xE000 } else { low };
        let high = if char::from_u32(high).is_none() { 0xD7FF } else { high };
        if low <= high {
            self.out.push_str(&format!("\\x{{{low:X}}}-\\x{{{high:X}}}"));
        } else {
            self.out.push_str(r"[^\x00-\x{10FFFF}]");
        }
    }

    /// Reads a character, escaped or not; returns its code point.
    pub(super) fn character(&mut self) -> Result<u32, Error> {
        let start = self.rest;
        let mut next = || {
            let c = self.rest.chars().next();
            self.rest = &self.rest[c.map_or(0, char::len_utf8)..];
            c
        };
        let first = next();
        if first != Some('\\') {
            return Ok(first.map_or(0, u32::from));
        }
        let Some(c) = next() else {
            return self.error("trailing backslash at end of expression", "");
        };
        match c {
            'a' => return Ok(7),
            'f' => return Ok(12),
            'n' => return Ok(10),
            'r' => return Ok(13),
            't' => return Ok(9),
            'v' => return Ok(11),
            '0'..='7' if c == '0' || self.rest.starts_with(|c| ('0'..='7').contains(&c)) => return Ok(self.octal(c)),
            'x' => {
                if let Some(code) = self.hexadecimal() {
                    return Ok(code);
                }
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(u32::from(c)),
            _ => {}
        }
        self.error("invalid escape sequence", self.since(start))
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)) else {
                break;
            };
            self.take(1);
            code = code * 8 + digit;
        }
        code
    }

    /// Reads the digits after `\x`: two digits, or any number of digits in braces. If they are missing, consumes the wrong text and
    /// returns `None`.
    fn hexadecimal(&mut self) -> Option<u32> {
        let braces = self.rest.starts_with('{');
        if braces {
            self.take(1);
        }
        let (mut code, mut digits) = (0u32, 0);
        while let Some(c) = self.rest.chars().next() {
            self.take(c.len_utf8());
            if braces && c == '}' {
                return (digits > 0).then_some(code);
            }
            let digit = c.to_digit(16);
            if braces || digits == 1 {
                code = code * 16 + digit?;
            } else {
                // Without braces Go consumes two characters before it checks that they are digits.
                code = digit.unwrap_or(u32::MAX / 32);
            }
            digits += 1;
            if code > u32::from(char::MAX) && (braces || digits == 2) {
                return None;
            }
            if !braces && digits == 2 {
                return Some(code);
            }
        }
        None
    }

    pub(super) fn class(&mut self) -> Result<(), Error> {
        let start = self.rest;
        self.take(1);
        self.out.push('[');
        if self.rest.starts_with('^') {
            self.take(1);
            self.out.push('^');
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.named_class()? || self.class_escape(true)? {
                continue;
            }
            let range = self.rest;
            let low = self.class_character(start)?;
            if self.rest.starts_with('-') && self.rest.len() >= 2 && !self.rest[1..].starts_with(']') {
                self.take(1);
                let high = self.class_character(start)?;
                if high < low {
                    return self.error("invalid character class range", self.since(range));
                }
                self.range(low, high);
            } else {
                self.range(low, low);
            }
        }
        self.take(1);
        self.out.push(']');
        Ok(())
    }

    fn class_character(&mut self, class: &'a str) -> Result<u32, Error> {
        if self.rest.is_empty() {
            self.error("missing closing ]", class)
        } else {
            self.character()
        }
    }

    /// Translates a class such as `[:alpha:]`, if one is next.
    fn named_class(&mut self) -> Result<bool, Error> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        let start = self.rest;
        let Some((name, _)) = start.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
            return Ok(false);
        };
        self.take(name.len() + 4);
        if NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            self.out.push_str(self.since(start));
            return Ok(true);
        }
        self.error("invalid character class range", self.since(start))
    }
}
